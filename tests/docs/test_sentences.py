"""Sentences of the pages and summary lines of public Python have at most 25 words, as CONTRIBUTING.md asks."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST = 25
"""Words of a sentence, at most."""

PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "papers/README.md", "paper/paper.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PYTHON = sorted((ROOT / "python").rglob("*.py"))

NOT_PROSE = re.compile(
    r"^<!-- machines -->$.*?^<!-- end -->$"  # written by a program from the machines' files
    r"|^ *(?P<fence>`{3,}).*?^ *(?P=fence)$|<!--.*?-->"  # code, comments
    r"|^#[^\n]*$|^ *\|[^\n]*$|(?<=\n\n) {4}(?![-*] )[^\n]*$(?:\n {4}[^\n]*$)*",  # headings, tables, formulas
    re.DOTALL | re.MULTILINE,
)
FENCED = re.compile(r"^ *(`{3,}).*?^ *\1$", re.DOTALL | re.MULTILINE)
ITEM = re.compile(r" *(?:[-*+]|\d+\.|\[\^\w+\]:|[!?]{3}) +")
"""What begins an item of a list or a note, which is a paragraph of its own."""

CODE = re.compile(r"``[^`]+``|`[^`]+`|\$[^$\s][^$]*\$")
LINK = re.compile(r"!?\[([^\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|et al|cf|vs|etc|Figs?|Secs?|Eqs?|Nos?)\.(?=\s)")
END = re.compile(r"[.!?][)*_\"”]*\s+(?=[\"“(*_\[]*[A-Z0-9])")
"""Where a sentence ends: a full stop and a blank before a capital or a number."""


def paragraphs(page: str) -> Iterator[tuple[int, str]]:
    """Yield each paragraph and each item of a list, with the number of its first line."""
    text = NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", "", found[0]), page)
    start, lines = 1, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        item = ITEM.match(line)
        if lines and (item or not line.strip()):
            yield start, "\n".join(lines)
            lines = []
        if line.strip():
            start = start if lines else number
            lines.append(line[item.end() :] if item else line)


def sentences(paragraph: str) -> Iterator[tuple[int, str]]:
    """Yield the sentences of a paragraph and their lines; code is one word, a link is its text."""
    text = CODE.sub(lambda found: "Code" + "\n" * found[0].count("\n"), paragraph)
    text = LINK.sub(lambda found: found[1] + "\n" * (found[0].count("\n") - found[1].count("\n")), text)
    text = ABBREVIATION.sub(r"\1", text)
    start = 0
    for end in [*(found.end() for found in END.finditer(text)), len(text)]:
        yield text.count("\n", 0, start), " ".join(text[start:end].split())
        start = end


def words(sentence: str) -> int:
    """Count words: what has a letter or a digit, between blanks."""
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def long_sentences(page: str) -> list[str]:
    """Return the sentences of a page that are too long, each with its line and its number of words."""
    return [
        f"{start + line}: {words(sentence)} words: {sentence}"
        for start, paragraph in paragraphs(page)
        for line, sentence in sentences(paragraph)
        if words(sentence) > LONGEST
    ]


def public(node: ast.AST) -> Iterator[ast.Module | ast.ClassDef | ast.FunctionDef]:
    """Yield a module, and its classes, methods and functions without an underscore."""
    if isinstance(node, ast.Module | ast.ClassDef):
        yield node
        for inner in node.body:
            if isinstance(inner, ast.ClassDef | ast.FunctionDef) and not inner.name.startswith("_"):
                yield from public(inner)
    elif isinstance(node, ast.FunctionDef):
        yield node


def long_summaries(source: str) -> list[str]:
    """Return the summary lines of public docstrings that are too long, each with its line."""
    return [
        f"{getattr(node, 'lineno', 1)}: {found}"
        for node in public(ast.parse(source))
        for found in long_sentences((ast.get_docstring(node) or "").partition("\n\n")[0])
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_sentences_of(path):
    assert not long_sentences(path.read_text())


def broken_paragraphs(page: str) -> list[int]:
    """Return the lines of paragraphs that begin an item of a list by chance: with a dash or a plus sign."""
    text = NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", "", found[0]), page)
    lines = text.splitlines()
    return [
        number
        for number, (before, line) in enumerate(pairwise(lines), 2)
        if re.match(r"[-+*] ", line) and re.match(r"\S", before) and not ITEM.match(before)
    ]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_lists_begin_behind_an_empty_line_in(path):
    assert not broken_paragraphs(path.read_text())


def test_a_list_by_chance_is_found():
    assert broken_paragraphs("The links + and\n- lead on.\n\n- An item\n  of two lines\n- and another.") == [2]


def uneven_rows(page: str) -> list[int]:
    """Return the lines of tables that have another number of cells than the line above."""
    lines = [
        re.sub(r"`[^`]*`", "code", line).strip()
        for line in FENCED.sub(lambda found: "\n" * found[0].count("\n"), page).split("\n")
    ]
    return [
        number
        for number, (before, line) in enumerate(pairwise(lines), 2)
        if before[:1] == line[:1] == "|" and before.count("|") != line.count("|")
    ]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_rows_have_as_many_cells_as_their_tables_in(path):
    assert not uneven_rows(path.read_text())


def test_a_row_with_another_number_of_cells_is_found():
    assert uneven_rows("```\n| a |\n```\n\n| a | b |\n|---|---|\n| c | `d|e` |\n| f, | g | h |\n\n| i |") == [8]


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_summary_lines_of(path):
    assert not long_summaries(path.read_text())


LONG = "Word " + "word " * 24 + "word."


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        (LONG, [1]),
        (f"Good.\n\n- {LONG}\n- Good.\n  {LONG}", [3, 5]),
        (f"A link to\n[{LONG[:-1]}](a(b).md#c) and 0.5 s, e.g. here.", [1]),
        ("Word " + "word " * 12 + "takes 0.5 s. It " + "word " * 14 + "ends.", []),
        ("Word " + "word " * 12 + "is in [this](a.md). `It` " + "word " * 14 + "ends.", []),
        ("Word " + "`code with words` " * 12 + "is (in brackets, e.g. F. Any et al. 2024).", []),
        (f"# {LONG}\n\n```sh\n{LONG}\n\n{LONG}\n```\n\n| {LONG} |\n", []),
    ],
)
def test_a_long_sentence_is_found_where_it_is(page, lines):
    assert [int(found.partition(":")[0]) for found in long_sentences(page)] == lines


def test_a_long_summary_line_is_found():
    assert len(long_summaries(f'def f():\n    """{LONG}\n\n    {LONG}"""')) == 1
    assert not long_summaries(f'def _f():\n    """{LONG}"""')
