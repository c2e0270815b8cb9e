"""Mutants of Rust's sources that tests do not notice: `make mutants-rust FILES="flow/rates.rs" MUTANTS=25 TESTS=…`.

A mutant has one operator, number, condition, statement or result of a function exchanged. All mutants of a sample are
compiled into one copy of the crate, in `target/mutants`; the environment variable TOPOLOOM_MUTANT turns one of them on.
First each Rust test runs alone, to list the mutants that it reaches. Then each mutant runs with the tests that reach
it, and what survives these runs with Python's tests, if folders of them are given. What survives everything is printed
with its place, and either a test is missing or the mutant does the same. Status 1: some survived.

Usage: rust_mutants.py FILE... [--most 20] [--seed 27] [--python FOLDER...]
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter_rust
from tree_sitter import Language, Node, Parser

ROOT = Path(__file__).parents[2]
OUT = ROOT / "target/mutants"
"""The copy of the crates, what is compiled of it, and the lists."""
SOURCES = Path("crates/topoloom/src")
SECONDS = 60
"""A mutant with which a test runs for this much longer than ten times its usual time is noticed."""
PARSER = Parser(Language(tree_sitter_rust.language()))
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "/", "/": "*",
    "%": "*", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "+=": "-=", "-=": "+=", "*=": "/=",
    "/=": "*=", "|=": "&=", "&=": "|=", "<<=": ">>=", ">>=": "<<=",
}  # fmt: skip
METHODS = {"min": "max", "max": "min", "any": "all", "all": "any", "saturating_sub": "saturating_add"}
RESULTS = {"bool": ["false", "true"], "f64": ["0.0", "1.0"], "String": ["String::new()"]} | {
    kind: ["0", "1"] for kind in ("u8", "u16", "u32", "u64", "usize", "i32", "i64")
}
"""What a function returns at once instead of its result."""
FIXED = {"const_item", "static_item", "attribute_item", "macro_invocation", "type_arguments", "array_type", "enum_item",
         "match_pattern", "macro_definition", "let_condition_pattern"}  # fmt: skip
"""Nodes within which there is nothing to exchange: the compiler evaluates them, or they are not expressions."""
SWITCH = """
/// Which mutant is on, and which are reached.
#[doc(hidden)]
pub mod mutant {
    use std::io::Write;
    use std::sync::{LazyLock, Mutex};
    static ON: LazyLock<u32> =
        LazyLock::new(|| std::env::var("TOPOLOOM_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX));
    static LIST: LazyLock<Option<Mutex<(std::fs::File, Vec<bool>)>>> = LazyLock::new(|| {
        let path = std::env::var_os("TOPOLOOM_REACHED")?;
        Some(Mutex::new((std::fs::OpenOptions::new().append(true).create(true).open(path).ok()?, vec![false; 100_000])))
    });
    /// Whether a mutant is on.
    #[inline(never)]
    pub fn on(number: u32) -> bool {
        if let Some(list) = &*LIST {
            let mut list = list.lock().unwrap_or_else(|broken| broken.into_inner());
            if !std::mem::replace(&mut list.1[number as usize], true) {
                let _ = writeln!(list.0, "{number}");
            }
        }
        *ON == number
    }
}
"""


class Mutant(NamedTuple):
    """A change of a node of a file: what it is, and what replaces the node, with {} for the children's own texts."""

    file: str
    order: int
    start: int
    end: int
    rows: tuple[int, int]
    kind: str
    value: str


def mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all mutants of a file in the order of its text, those of its tests left out."""
    found: list[Mutant] = []
    for node in nodes(PARSER.parse(source).root_node):
        for kind, value in _changes(node):
            rows = node.start_point[0] + 1, node.end_point[0] + 1
            found.append(Mutant(file, len(found), node.start_byte, node.end_byte, rows, kind, value))
    return found


def nodes(node: Node) -> Iterator[Node]:
    """Yield the nodes that run when the program does, without those of tests and constants."""
    tests = False
    for child in node.children:
        text = _text_of(child)
        if child.type == "attribute_item":
            tests = tests or "cfg(test)" in text.replace(" ", "")
            continue
        if child.type in ("line_comment", "block_comment"):
            continue
        skipped, tests = tests, False
        if skipped or child.type in FIXED or child.type.endswith("_pattern") or _is_const(child):
            continue
        yield child
        yield from nodes(child)


def _is_const(node: Node) -> bool:
    """Return whether the compiler may evaluate a function."""
    head = _text_of(node).split("{")[0]
    return node.type == "function_item" and bool(re.search(r"\bconst fn\b", head))


def _changes(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the kinds and values of the changes of a node."""
    yield from CHANGES.get(node.type, lambda _: ())(node)


def _text_of(node: Node | None) -> str:
    """Return the text of a node; empty without one."""
    return (node.text or b"").decode() if node else ""


def _operator(node: Node) -> Iterator[tuple[str, str]]:
    sign = _text_of(node.child_by_field_name("operator"))
    if sign in OPERATORS:
        yield "operator", OPERATORS[sign]


def _number(node: Node) -> Iterator[tuple[str, str]]:
    text = _text_of(node)
    if node.type == "float_literal":
        found = re.fullmatch(r"([0-9_.]+(?:e-?[0-9]+)?)(f32|f64)?", text)
        if found:
            yield "replace", f"{float(found[1]) + 1!r}{found[2] or ''}"
    elif node.parent and node.parent.type != "field_expression":
        found = re.fullmatch(r"(0x[0-9a-fA-F_]+|0b[01_]+|[0-9_]+)([iu](?:8|16|32|64|128|size))?", text)
        if found:
            yield "replace", f"{int(found[1], 0) + 1}{found[2] or ''}"


def _truth(node: Node) -> Iterator[tuple[str, str]]:
    yield "replace", "false" if _text_of(node) == "true" else "true"


def _condition(node: Node) -> Iterator[tuple[str, str]]:
    condition = node.child_by_field_name("condition")
    if condition and condition.type not in ("let_condition", "let_chain"):
        yield "negate", "condition"


def _not(node: Node) -> Iterator[tuple[str, str]]:
    if _text_of(node).startswith("!"):
        yield "bare", ""


def _call(node: Node) -> Iterator[tuple[str, str]]:
    name = _text_of(_method(node))
    if name in METHODS:
        yield "method", METHODS[name]


def _statement(node: Node) -> Iterator[tuple[str, str]]:
    if node.children[0].type in ("call_expression", "assignment_expression", "compound_assignment_expr"):
        yield "delete", ""


def _function(node: Node) -> Iterator[tuple[str, str]]:
    if node.child_by_field_name("body"):
        result = node.child_by_field_name("return_type")
        for value in _results(_text_of(result) if result else "()"):
            yield "return", value


CHANGES: dict[str, Callable[[Node], Iterable[tuple[str, str]]]] = {
    "binary_expression": _operator, "compound_assignment_expr": _operator, "integer_literal": _number,
    "float_literal": _number, "boolean_literal": _truth, "if_expression": _condition, "while_expression": _condition,
    "unary_expression": _not, "call_expression": _call, "expression_statement": _statement, "function_item": _function,
}  # fmt: skip
"""What changes a node of each type."""


def _results(kind: str) -> list[str]:
    """Return what a function with a type of result may return at once."""
    if kind == "()":
        return [""]
    if kind.startswith("Option<"):
        return ["None"]
    if kind.startswith("Vec<"):
        return ["Vec::new()"]
    return RESULTS.get(kind, [])


def _method(node: Node) -> Node | None:
    """Return the name of the method that a node calls."""
    called = node.child_by_field_name("function")
    return called.child_by_field_name("field") if called and called.type == "field_expression" else None


def instrumented(source: bytes, chosen: dict[int, Mutant]) -> str:
    """Return a file's source with its chosen mutants, by number."""
    at: dict[tuple[int, int, str], list[tuple[int, Mutant]]] = {}
    for number, own in chosen.items():
        at.setdefault((own.start, own.end, _place(own.kind)), []).append((number, own))
    root = PARSER.parse(source).root_node
    return _render(root, source, at)


def _place(kind: str) -> str:
    """Return which kind of node has a kind of change; nodes of two kinds may have the same extent."""
    return {"delete": "statement", "return": "function"}.get(kind, "expression")


def _render(node: Node, source: bytes, at: dict) -> str:
    """Return the text of a node with the mutants in it."""
    own = [
        pair
        for pair in at.get((node.start_byte, node.end_byte, _node_place(node)), [])
        if any(change == (pair[1].kind, pair[1].value) for change in _changes(node))
    ]
    plain = _text(node, source, at, {})
    if not own:
        return plain
    if own[0][1].kind == "return":
        start = node.child_by_field_name("body")
        assert start is not None
        early = "".join(f" if crate::mutant::on({number}) {{ return {change.value}; }}" for number, change in own)
        return _text(node, source, at, {(start.start_byte, start.end_byte): early})
    if own[0][1].kind == "delete":
        return f"if !crate::mutant::on({own[0][0]}) {{ {plain} }}"
    if own[0][1].kind == "negate":
        return _negated(node, own[0][0], source, at)
    branches = ""
    for number, change in own:
        branches += f"if crate::mutant::on({number}) {{ {_changed(node, change, source, at)} }} else "
    return f"({branches}{{ {plain} }})"


def _node_place(node: Node) -> str:
    """Return which kind of place a node is."""
    return {"expression_statement": "statement", "function_item": "function"}.get(node.type, "expression")


def _negated(node: Node, number: int, source: bytes, at: dict) -> str:
    """Return the text of a node whose condition a mutant negates."""
    condition = node.child_by_field_name("condition")
    assert condition is not None
    text = f"(crate::mutant::on({number}) ^ ({_render(condition, source, at)}))"
    return _text(node, source, at, {}, {(condition.start_byte, condition.end_byte): text})


def _changed(node: Node, change: Mutant, source: bytes, at: dict) -> str:
    """Return the text of a node with one change."""
    if change.kind == "replace":
        return change.value
    if change.kind == "bare":
        inner = node.children[1]
        return _render(inner, source, at)
    token = node.child_by_field_name("operator") if change.kind == "operator" else _method(node)
    assert token is not None
    return _text(node, source, at, {}, {(token.start_byte, token.end_byte): change.value})


def _text(node: Node, source: bytes, at: dict, inserted: dict, instead: dict | None = None) -> str:
    """Return the text of a node, its children's with their mutants, with text inserted at or instead of some."""
    if not node.children:
        return source[node.start_byte : node.end_byte].decode()
    parts, last = [], node.start_byte
    for child in node.children:
        extent = (child.start_byte, child.end_byte)
        parts.append(source[last : child.start_byte].decode())
        if instead and extent in instead:
            parts.append(instead[extent])
        elif instead and child.type == "field_expression" and any(place[1] == child.end_byte for place in instead):
            parts.append(_text(child, source, at, {}, instead))
        else:
            text = _render(child, source, at)
            if extent in inserted and child.type == "block":
                text = text[0] + inserted[extent] + text[1:]
            parts.append(text)
        last = child.end_byte
    return "".join([*parts, source[last : node.end_byte].decode()])


def shown(own: Mutant, source: bytes) -> str:
    """Return a mutant in a line."""
    text = " ".join(source[own.start : own.end].decode().split())
    what = {
        "operator": f"operator {own.value}", "replace": own.value, "negate": "condition negated", "bare": "without !",
        "method": f".{own.value}()", "delete": "deleted", "return": f"returns {own.value} at once",
    }[own.kind]  # fmt: skip
    return f"{own.file}:{own.rows[0]}: #{own.order} {text[:110]} -> {what}"


def copy(changed: list[str]) -> None:
    """Copy the workspace, without what is changed there, and leave what is the same untouched."""
    own = {SOURCES / file for file in [*changed, "lib.rs"]}
    for folder in ("Cargo.toml", "Cargo.lock", "crates", "papers", "tests/data", "python/topoloom"):
        for source in [ROOT / folder, *(ROOT / folder).rglob("*")]:
            path = source.relative_to(ROOT)
            target = OUT / "copy" / path
            if not source.is_file() or source.suffix == ".so" or (path in own and target.exists()):
                continue
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


def cargo(*words: str) -> list[dict]:
    """Run cargo in the copy, and return its messages."""
    environment = os.environ | {"CARGO_TARGET_DIR": str(OUT / "target"), "RUSTFLAGS": "-A warnings",
                                "PYO3_PYTHON": sys.executable}  # fmt: skip
    run = subprocess.run(
        ["cargo", *words, "--message-format=json"], cwd=OUT / "copy", env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def write(chosen: dict[int, Mutant], sources: dict[str, bytes]) -> None:
    """Write the chosen mutants and what turns them on into the copy."""
    texts = {
        SOURCES / file: instrumented(source, {n: own for n, own in chosen.items() if own.file == file})
        for file, source in sources.items()
    }
    library = SOURCES / "lib.rs"
    texts[library] = (ROOT / library).read_text(encoding="utf-8") + SWITCH
    for path, text in texts.items():
        target = OUT / "copy" / path
        if target.read_text(encoding="utf-8") != text:
            target.write_text(text, encoding="utf-8")


def broken(messages: list[dict], chosen: dict[int, Mutant]) -> set[int]:
    """Return the mutants that do not compile."""
    found: set[int] = set()
    for message in messages:
        own = message.get("message")
        if not isinstance(own, dict) or own.get("level") != "error":
            continue
        for span in own["spans"]:
            inside = [
                (change.end - change.start, number)
                for number, change in chosen.items()
                if str(SOURCES / change.file).endswith(span["file_name"].removeprefix("crates/topoloom/"))
                and change.rows[0] <= span["line_end"] and span["line_start"] <= change.rows[1]
            ]  # fmt: skip
            if inside:
                found.add(min(inside)[1])
                break
        else:
            if own["spans"]:
                sys.exit(own["rendered"])
    return found


def sample(sources: dict[str, bytes], most: int, seed: int) -> dict[int, Mutant]:
    """Return the mutants of a sample that compile, by number, and leave the copy with them."""
    waiting: dict[str, list[Mutant]] = {}
    for file, source in sources.items():
        waiting[file] = mutants(file, source)
        print(f"{file}: {len(waiting[file])} mutants", file=sys.stderr)
        random.Random(seed).shuffle(waiting[file])
    chosen: dict[int, Mutant] = {}
    numbers = iter(range(100_000))
    while True:
        for file, left in waiting.items():
            for _ in range(most - sum(own.file == file for own in chosen.values())):
                if left:
                    chosen[next(numbers)] = left.pop(0)
        write(chosen, sources)
        lost = broken(cargo("check", "-p", "topoloom", "--lib"), chosen)
        print(f"{len(chosen)} mutants, {len(lost)} do not compile", file=sys.stderr)
        if not lost:
            return chosen
        for number in lost:
            del chosen[number]


def executable(messages: list[dict], name: str) -> Path:
    """Return what cargo has built."""
    for message in messages:
        if message.get("reason") == "compiler-artifact" and message["target"]["name"].replace("-", "_") == name:
            for path in [message.get("executable"), *message["filenames"]]:
                if path and (path == message.get("executable") or path.endswith((".so", ".dylib"))):
                    return Path(path)
    raise SystemExit(f"{name} was not built: {[m['message']['rendered'] for m in messages if 'message' in m][:1]}")


def reached(tests: Path, name: str) -> tuple[str, float, set[int]]:
    """Return the mutants that a test reaches, and how long it runs; a test that fails without any reaches none."""
    into = OUT / "reached" / re.sub(r"\W", "_", name)
    into.unlink(missing_ok=True)
    began = time.monotonic()
    run = subprocess.run(
        [tests, "--exact", name], env=os.environ | {"TOPOLOOM_REACHED": str(into)}, check=False,
        cwd=OUT / "copy/crates/topoloom", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    seconds = time.monotonic() - began
    if run.returncode:
        print(f"fails without a mutant: {name}", file=sys.stderr)
        return name, seconds, set()
    return name, seconds, set(map(int, into.read_text().split())) if into.exists() else set()


def passes(command: list, number: int, seconds: float, where: Path, also: dict[str, str] | None = None) -> bool:
    """Return whether tests pass with a mutant."""
    environment = os.environ | {"TOPOLOOM_MUTANT": str(number)} | (also or {})
    try:
        return not subprocess.run(
            command, env=environment, timeout=seconds, check=False, cwd=where,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return False


def survives(tests: Path, number: int, touching: list[tuple[float, str]]) -> bool:
    """Return whether all Rust tests that reach a mutant pass with it, the shortest first."""
    left = sorted(touching)
    while left:
        batch, total = [], 0.0
        while left and (not batch or total + left[0][0] < 2):
            total += left[0][0]
            batch.append(left.pop(0)[1])
        if not passes([tests, "--exact", *batch], number, SECONDS + 10 * total, OUT / "copy/crates/topoloom"):
            return False
    return True


def of_python(alive: list[int], folders: list[str]) -> list[int]:
    """Return the mutants of a list with which Python's tests pass as well."""
    built = executable(cargo("build", "--package", "topoloom-python"), "_core")
    shutil.copyfile(built, OUT / "copy/python/topoloom/_core.abi3.so")
    where = {"PYTHONPATH": str(OUT / "copy/python")}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *folders]
    began = time.monotonic()
    if not passes(command, 2**31, 3600, ROOT, where):
        sys.exit("Python's tests fail without a mutant")
    most = SECONDS + 10 * (time.monotonic() - began)
    return [number for number in alive if passes(command, number, most, ROOT, where)]


def main() -> int:
    """Make mutants, run the tests with them, and print those that survive."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("files", nargs="+", help="Rust sources below crates/topoloom/src")
    options.add_argument("--most", type=int, default=20, help="mutants per file")
    options.add_argument("--seed", type=int, default=27)
    options.add_argument("--python", nargs="*", default=[], help="folders of Python's tests for what survives Rust's")
    given = options.parse_args()
    (OUT / "reached").mkdir(parents=True, exist_ok=True)
    sources = {file: (ROOT / SOURCES / file).read_bytes() for file in given.files}
    copy(given.files)
    chosen = sample(sources, given.most, given.seed)
    texts = {number: shown(own, sources[own.file]) for number, own in chosen.items()}
    tests = executable(cargo("test", "--package", "topoloom", "--lib", "--no-run"), "topoloom")
    listed = subprocess.run([tests, "--list"], capture_output=True, text=True, check=True).stdout
    runs = [reached(tests, line.removesuffix(": test")) for line in listed.splitlines() if line.endswith(": test")]
    touching = {number: [(seconds, name) for name, seconds, all_ in runs if number in all_] for number in chosen}
    alive = [number for number in chosen if survives(tests, number, touching[number])]
    by_rust = set(chosen) - set(alive)
    if alive and given.python:
        alive = of_python(alive, given.python)
    for number in alive:
        print(f"{texts[number]}{'' if touching[number] else ' (no Rust test reaches it)'}", flush=True)
    for file in given.files:
        own = {number for number, change in chosen.items() if change.file == file}
        print(f"{file}: {len(own)} mutants; Rust's tests notice {len(own & by_rust)}, all {len(own - set(alive))}")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
