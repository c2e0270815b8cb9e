"""``topoloom import-lft``: forwarding tables of a subnet manager, checked against a network and proved."""

from pathlib import Path
from typing import Annotated

import typer

from topoloom import _core
from topoloom.cli import status
from topoloom.cli.console import print_json, say
from topoloom.cli.networks import load_network
from topoloom.cli.parameters import Force, Json, Spec
from topoloom.cli.verify import print_proof
from topoloom.cli.watching import watched
from topoloom.files import TABLES, check_writable, write_file


def import_lft(
    spec: Spec,
    dump: Annotated[
        Path,
        typer.Argument(metavar="DUMP", help="What OpenSM dumps (opensm-lfts.dump), or dump_lfts and ibroute print."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.csv", help="Write the tables as at,destination,port, for table:FILE.csv."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> int:
    """Check forwarding tables against a network; prove that they serve every pair and cannot deadlock."""
    check_writable(out, TABLES["csv"], force=force)
    network = load_network(spec)
    routing = f"table:{dump}"
    proof = watched(lambda: network.verify(routing), f"{network.spec}: proof")
    if out is not None:
        write_file(out, _core.Routing(network.core, routing).forwarding_text("csv"), TABLES["csv"], force=force)
    if json:
        print_json(proof)
    else:
        print_proof(proof)
    if out is not None:
        say(f"the tables are in {out}: --routing table:{out}")
    good = proof["deadlock_free"] and not proof["unserved_pairs"]
    return status.DONE if good else status.CHECK_FAILED
