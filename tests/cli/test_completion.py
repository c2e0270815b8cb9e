"""Shells complete commands, options and the catalogue's names; a Bash runs the script that it gets."""

import os
import shutil
import subprocess
import sys

import pytest

from topoloom.cli import completion

SCRIPT = """
eval "$(topoloom --show-completion)"
for words in "$@"; do
    COMP_WORDS=($words)
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _topoloom_completion topoloom
    echo "${COMPREPLY[*]}"
done
"""


def names(topoloom, what):
    return [item["name"] for item in topoloom("list", what, "--json").json()]


@pytest.mark.skipif(shutil.which("bash") is None, reason="no Bash is installed")
def test_a_shell_completes_commands_options_and_names(topoloom, tmp_path):
    program = tmp_path / "topoloom"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m topoloom "$@"\n')
    program.chmod(0o755)
    words = [
        "topoloom sat",
        "topoloom show mesh:4 --pri",
        "topoloom simulate tor",
        "topoloom bound mesh:4 --routing ug",
    ]
    path = f"{tmp_path}:{os.environ['PATH']}"
    # Without exec, Bash itself is the parent that Typer looks at.
    command = ["bash", "--norc", "-c", SCRIPT + "true", "bash", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | {"PATH": path})
    routings = [name for name in names(topoloom, "routings") if name.startswith("ug")]
    assert [line.split() for line in done.stdout.splitlines()] == [["saturation"], ["--prices"], ["torus"], routings]
    assert len(routings) >= 2
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("what", "offered"),
    [
        ("topologies", completion.topologies), ("traffic", completion.traffic), ("apps", completion.apps),
        ("layouts", completion.layouts), ("prices", completion.prices), ("allocators", completion.allocators),
    ],
)  # fmt: skip
def test_names_are_those_of_the_catalogue(topoloom, what, offered):
    all_names = names(topoloom, what)
    assert offered("") == all_names
    for name in all_names:
        assert name in offered(name[:2])
        assert offered(f"mine,{name[:3]}") == [f"mine,{own}" for own in all_names if own.startswith(name[:3])]
    assert offered("no such name") == []


def test_roles_are_completed_with_the_routings(topoloom):
    assert completion.routings("") == ["minimal", "adaptive", "best", *names(topoloom, "routings")]
