"""`make mutants` changes functions one place at a time, also where other modules have imported them."""

import ast
import importlib.util
import os
import subprocess
import sys
from types import ModuleType

from harness.paths import ROOT

SPEC = importlib.util.spec_from_file_location("mutants", ROOT / "tests/external/mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(mutants)

SOURCE = """LIMIT = 3

def most(numbers):
    return max(numbers) + 1 if len(numbers) < 2 and True else 0

class Own:
    @property
    def size(self):
        return 2 * 3
"""


def test_every_change_of_a_function_is_made_once_and_alone():
    found = {ast.unparse(mutants.mutant(SOURCE, number)) for number in range(len(mutants.changes(ast.parse(SOURCE))))}
    whole = ast.unparse(ast.parse(SOURCE))
    pairs = [
        ("max(", "min("), ("+ 1", "- 1"), ("+ 1", "+ 2"), ("< 2", "<= 2"), ("< 2", "< 3"), ("and", "or"),
        ("True", "False"), ("else 0", "else 1"), ("2 * 3", "2 / 3"), ("2 * 3", "3 * 3"), ("2 * 3", "2 * 4"),
        ("if len(numbers) < 2 and True", "if not (len(numbers) < 2 and True)"),
    ]  # fmt: skip
    assert found == {whole.replace(old, new, 1) for old, new in pairs}


def test_functions_change_where_they_were_imported():
    module = ModuleType("own")
    module.__file__ = "own.py"
    exec(compile(SOURCE, "own.py", "exec"), module.__dict__)
    imported, one = module.most, module.Own()
    assert (imported([5]), one.size) == (6, 6)
    mutants.put(module, ast.parse(SOURCE.replace("+ 1", "- 1").replace("2 * 3", "2 / 4")))
    assert (imported([5]), one.size) == (4, 0.5)


MADE = """import functools

def times(factor):
    return lambda number: number * factor

@functools.cache
def four():
    return 2 + 2

rows, pair = [times(2)], (lambda: 3, lambda: 4)
"""


def test_functions_that_others_made_or_wrap_change_too():
    module = ModuleType("made")
    module.__file__ = "made.py"
    exec(compile(MADE, "made.py", "exec"), module.__dict__)
    double, four = module.rows[0], module.four
    mutants.put(module, ast.parse(MADE.replace("* factor", "/ factor").replace("2 + 2", "2 - 2").replace("3", "5")))
    assert (double(8), four()) == (4, 0)
    assert [own() for own in module.pair] == [3, 4], "two lambdas on a line are not told apart"


def test_tests_that_use_the_threads_of_the_engine_notice_what_is_wrong_alone(tmp_path):
    """A mutant that changes nothing survives them: they do not wait for threads of the process that began them."""
    (tmp_path / "own.py").write_text("def size(side):\n    return side * side\n\ndef unused():\n    return 7\n")
    (tmp_path / "test_own.py").write_text(
        "import topoloom\nfrom own import size\n\n"
        "def test_size():\n    assert topoloom.network('mesh:24x24').facts()['routers'] == size(24)\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    command = [sys.executable, ROOT / "tests/external/mutants.py", "own", "9", "1", "test_own.py"]
    run = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert (run.returncode, run.stdout.splitlines()[1:]) == (1, ["own: 1 of 2 mutants noticed; there are 2"]), run
