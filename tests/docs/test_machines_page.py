"""The page on machines: its catalogue is written from the machines that are built in."""

from pathlib import Path

from topoloom import _core

PAGE = Path(__file__).parents[2] / "docs" / "machines.md"
FIRST, LAST = "<!-- machines -->", "<!-- end -->"


def number(value: float) -> str:
    """Return a number as people read it."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def catalogue() -> str:
    """Return the table of all machines, and a section for each."""
    machines = _core.machines()
    lines = ["| machine | what it is | scaled form |", "|---|---|---|"]
    lines += [f"| [`{m.name}`](#{m.name}) | {m.summary} | `{m.scaled}` |" for m in machines]
    for machine in machines:
        lines += ["", f"### {machine.name}", "", f"{machine.summary}. It stands for", ""]
        lines += [f"    {machine.stands_for}", "", f"and runs the routing `{machine.routing}`.", ""]
        lines += ["| figure | value | published in |", "|---|---|---|"]
        lines += [
            f"| `{figure['fact']}` | {number(figure['value'])} | {figure['source'] or '*assumed*'} |"
            for figure in machine.figures
        ]
        lines += ["", "Assumed:", "", *(f"- {sentence}" for sentence in machine.assumptions)]
    return "\n".join(lines)


def written(text: str) -> str:
    """Return the page with the catalogue as it is now."""
    return f"{text[: text.index(FIRST)]}{FIRST}\n{catalogue()}\n{text[text.index(LAST) :]}"


def test_the_page_has_every_machine_with_its_figures():
    text = PAGE.read_text()
    assert written(text) == text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text()))
