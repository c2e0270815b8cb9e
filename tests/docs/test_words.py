"""Words that the style guide in CONTRIBUTING.md excludes are in no page, docstring, comment, help or message."""

import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORDS = {
    re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead
    for pattern, instead in tomllib.loads((ROOT / "tests/docs/words.toml").read_text())["words"].items()
}
ANY = re.compile("|".join(pattern.pattern for pattern in WORDS), re.IGNORECASE)
"""All of them at once, which takes a tenth of the time: most texts have none."""
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "papers/README.md", "paper/paper.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PYTHON = sorted(path for path in (ROOT / "python").rglob("*") if path.suffix in {".py", ".j2"})
RUST = sorted((ROOT / "crates").rglob("*.rs"))
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”]*”|`[^`\n]*`")
BRACES = re.compile(r"\{[^{}\n]*\}|^ +\w+(?=: )", re.MULTILINE)
TEXTS = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
"""Tokens with words; from Python 3.12 on, the text of an f-string is a token of its own."""
RUST_TOKEN = re.compile(r"r#\".*?\"#|(?P<comment>//[^\n]*)|'(?:\\.|[^'\\])'|\"(?P<text>(?:\\.|[^\"\\])*)\"", re.DOTALL)
PEOPLE = re.compile(
    r"\b(?:(?:anyone|people|person|users?|readers?|those|maintainers?|authors?) who|who it is for|who can)\b",
    re.IGNORECASE,
)
"""Where *who* is right: a person."""


def blank(text: str, pattern: re.Pattern[str]) -> str:
    """Return the text with what matches as blanks, so that lines keep their numbers."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def prose(path: Path) -> str:
    """Return a page without code and quotations, and the strings and comments of a module or a Rust source."""
    text = path.read_text()
    if path.suffix == ".md":
        return blank(blank(text, FENCE), QUOTED)
    if path.suffix == ".rs":
        return comments_and_messages(text)
    if path.suffix != ".py":
        return text
    lines = [[" "] * len(line) for line in text.splitlines()]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        # A string without a blank is a key or a name; the braces of an f-string hold code.
        if token.type in TEXTS and (token.type == tokenize.COMMENT or " " in token.string):
            for number, line in enumerate(blank(token.string, BRACES).split("\n")):
                start = 0 if number else token.start[1]
                lines[token.start[0] - 1 + number][start : start + len(line)] = line
    return "\n".join("".join(line) for line in lines)


def comments_and_messages(text: str) -> str:
    """Return the comments of a Rust source, and its strings with words outside unit tests, without values in braces."""
    kept = [" " if letter != "\n" else letter for letter in text]
    tests = len(text.partition("#[cfg(test)]")[0])
    for token in RUST_TOKEN.finditer(text):
        if token["comment"]:
            kept[token.start() : token.end()] = blank(token["comment"], QUOTED)
        elif token["text"] and " " in token["text"] and token.start() < tests:
            kept[token.start("text") : token.end("text")] = blank(token["text"], BRACES)
    return "".join(kept)


def found(path: Path, text: str) -> Iterator[str]:
    """Yield a sentence for each word to avoid."""
    if not ANY.search(text):
        return
    text = blank(text, PEOPLE)
    for pattern, instead in WORDS.items():
        for match in pattern.finditer(text):
            number = text.count("\n", 0, match.start()) + 1
            yield f"{path.relative_to(ROOT)}:{number}: '{match[0]}'; write: {instead}"


@pytest.mark.parametrize("path", [*PAGES, *PYTHON, *RUST], ids=lambda path: str(path.relative_to(ROOT)))
def test_the_words_of(path):
    assert not list(found(path, prose(path)))


def test_a_word_is_found_where_it_is():
    page = ROOT / "docs/any.md"
    assert list(found(page, "Good.\nThe error is told.")) == ["docs/any.md:2: 'told'; write: reported, printed, given"]
    assert not list(found(page, "Anyone who reads this."))


def test_the_comments_of_rust_are_read_but_not_what_they_quote():
    source = (
        "// A queue is told.\nlet it = '\\''; // It `told` me.\n#[cfg(test)] mod tests { f(\"told you\"); /// whom\n}"
    )
    assert [sentence.partition("'")[2][:4] for sentence in found(ROOT / "any.rs", comments_and_messages(source))] == [
        "told",
        "whom",
    ]
