"""`make mutants` changes functions one place at a time, also where other modules have imported them."""

import ast
import importlib.util
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
