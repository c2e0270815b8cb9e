"""``topoloom verify``: proves that a routing cannot deadlock, or prints the cycle."""

from typing import Annotated, Any

import typer

from topoloom.cli import status
from topoloom.cli.console import print_json
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import Fail, Json, Routing, Spec
from topoloom.cli.watching import watched
from topoloom.simulation.options import make_options, parse_pairs
from topoloom.wording import counted

METHODS = {
    "acyclic": "no cycle among the dependencies of channels",
    "escape": "escape channels without a cycle can be reached from every state",
    "bubble": "cycles in rings only, and each ring keeps a bubble",
}


def verify(
    spec: Spec,
    routing: Routing = "minimal",
    router: Annotated[
        str | None,
        typer.Option(
            "--router", metavar="vcs=N", help="Verify it with so few VCs that classes share them.", show_default=False
        ),
    ] = None,
    fail: Fail = None,
    json: Json = False,
) -> int:
    """Prove that a routing cannot deadlock and serves every pair of routers, or show where it fails."""
    network = load_network(spec, fail)
    options = make_options(parse_pairs("--router", router, ("vcs",)) if router is not None else {})
    proof = watched(lambda: network.verify(routing, vcs=options.vcs), f"{network.spec}: proof of {routing}")
    if json:
        print_json(proof)
    else:
        print_proof(proof)
    good = proof["deadlock_free"] and not proof["unserved_pairs"]
    return status.DONE if good else status.CHECK_FAILED


def print_proof(proof: dict[str, Any]) -> None:
    """Print a proof.

    Args:
        proof: The result of :meth:`topoloom.Network.verify`.

    >>> from topoloom.network.networks import Network
    >>> print_proof(Network("mesh:2x2").verify("dor"))  # doctest: +ELLIPSIS
    mesh:2x2  routing dor: deadlock free
    ...
    """
    verdict = "deadlock free" if proof["deadlock_free"] else "NOT deadlock free"
    print(f"{proof['spec']}  routing {proof['routing']}: {verdict}")
    if proof["deadlock_free"]:
        method = proof["method"]
        print(f"  method        {method}: {METHODS.get(method, '')}".rstrip(": "))
    if proof["states_without_escape"]:
        print(f"  no escape     in {proof['states_without_escape']:,} states of packets")
    print(f"  channels      {proof['channels']:,}")
    print(f"  dependencies  {proof['dependencies']:,}")
    print(f"  VCs needed    {proof['vcs_needed']}")
    if proof.get("note"):
        print(f"  note          {proof['note']}")
    print(
        f"  unserved      {counted(proof['unserved_pairs'], 'pair')} of routers{_examples(proof['unserved_examples'])}"
    )
    if proof["cycle"]:
        print("  a cycle of channels, each waiting for the next:")
    for hop in proof["cycle"]:
        print(
            f"    router {hop['from']} port {hop['port']} → router {hop['to']}, {hop['link']}, class {hop['vc_class']}"
        )


def _examples(pairs: list[tuple[int, int]]) -> str:
    return ": " + ", ".join(f"{source} to {destination}" for source, destination in pairs) if pairs else ""
