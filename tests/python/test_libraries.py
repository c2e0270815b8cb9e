"""The core runs without the libraries of the extras; what needs one says in a sentence how to install it."""

import ast
import json
import re
import subprocess
import sys
import tomllib

from packaging.requirements import Requirement

from harness.paths import ROOT
from topoloom.libraries import EXTRAS

PACKAGE = ROOT / "python/topoloom"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

WITHOUT = f"""
import contextlib, io, json, sys

class Missing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in {sorted(EXTRAS)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing)
from topoloom.cli.command import run

found = []
for command in sys.argv[1:]:
    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(io.StringIO()):
        found.append((run(command.split()), said.getvalue()))
print(json.dumps(found))
"""
"""Commands, one after the other, in an interpreter that finds none of these libraries: statuses, and stderr."""

CORE = (
    "list topologies",
    "show torus:4x4",
    "simulate torus:4x4 --load 0.2",
    "verify torus:4x4",
    "workload torus:4x4 --app allreduce:size=1KiB",
    "saturation mesh:3",
    "compare mesh:3",
    "bound mesh:3",
    "faults mesh:3x3 --trials 10",
    "layout mesh:3",
)
EXTRA = {
    "show mesh:3 --plot a.png": "plot",
    "layout mesh:3 --plot a.svg": "plot",
    "compare mesh:3 --out r.html": "report",
    "workload mesh:3 --app reduce --out r.html": "report",
    "workload mesh:3 --app reduce --plot r.svg": "plot",
    "bound mesh:3 --optimal": "studies",
    "saturation mesh:3 --store s": "studies",
    "design --terminals 12 --radix 6 --families hyperx": "studies",
    "calibrate": "studies",
    "run study.toml": "studies",
    "layout mesh:4 --layout cabinet=metis:2": "metis",
    "reproduce flex --quick": "report",
}


def without(folder, commands):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *commands], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(commands, json.loads(done.stdout), strict=True))


def test_the_core_needs_no_extra(tmp_path):
    assert {command: found for command, found in without(tmp_path, CORE).items() if found[0]} == {}


def test_a_bisection_that_was_found_without_metis_is_marked(tmp_path):
    """PyPI has METIS for some systems only; elsewhere the core runs without it, and reports what that may cost."""
    commands = ("show torus:4x4", "show random-regular:64,degree=4", "compare random-regular:64,degree=4 mesh:3")
    found = without(tmp_path, commands)
    assert [status for status, _ in found.values()] == [0, 0, 0]
    assert "METIS" not in found[commands[0]][1], "this cut is proved the smallest"
    for command in commands[1:]:
        sentences = [line for line in found[command][1].splitlines() if "METIS" in line]
        assert len(sentences) == 1
        assert "pip install 'topoloom[metis]'" in sentences[0]


def test_systems_for_which_pypi_has_no_metis_install_the_core_without_a_compiler():
    (needed,) = [Requirement(line) for line in PYPROJECT["dependencies"] if line.startswith("pymetis")]
    here = {"linux x86_64", "darwin arm64", "darwin x86_64"}
    for system in (*here, "linux aarch64", "win32 AMD64", "win32 ARM64"):
        platform, machine = system.split()
        assert needed.marker.evaluate({"sys_platform": platform, "platform_machine": machine}) == (system in here)


def test_what_needs_an_extra_names_it_before_anything_runs(tmp_path):
    (tmp_path / "study.toml").write_text('name = "s"\n[[sweep]]\nkind = "facts"\nnetworks = ["mesh:3"]\n')
    for command, (status, said) in without(tmp_path, tuple(EXTRA)).items():
        last = said.splitlines()[-1]
        assert status == 2, (command, said)
        assert last.endswith(f"install the extra that has it: pip install 'topoloom[{EXTRA[command]}]'"), (
            command,
            last,
        )
    assert [path.name for path in tmp_path.iterdir()] == ["study.toml"]


def test_every_library_is_in_its_extra():
    extras = PYPROJECT["optional-dependencies"]
    listed = {
        (re.split("[><]", line)[0].replace("-", "_"), extra)
        for extra in ("plot", "report", "studies", "cluster", "metis")
        for line in extras[extra]
    }
    assert set(EXTRAS.items()) <= listed
    core = {re.split("[><]", line)[0] for line in PYPROJECT["dependencies"] if ";" not in line}
    assert not core & set(EXTRAS)


def test_functions_check_a_library_before_they_import_it():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            own = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
            for node in own:
                name = (getattr(node, "module", None) or node.names[0].name).partition(".")[0]
                checks = f'require("{name}")'
                text = ast.unparse(function).replace("'", '"')
                if (
                    name in EXTRAS
                    and name != "distributed"
                    and checks not in text
                    and f'installed("{name}")' not in text
                ):
                    wrong.append(f"{path.relative_to(ROOT)}, line {node.lineno}: {checks} is missing")
    assert not wrong
