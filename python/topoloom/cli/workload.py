"""``topoloom workload``: how long applications take on networks."""

import time
from pathlib import Path
from typing import Annotated

import typer

from topoloom._core import TopoloomError, endpoint_keys, flow_keys, noise_keys
from topoloom.cli import completion, status
from topoloom.cli.concurrent import require_no, run_jobs
from topoloom.cli.console import print_json, print_table, progress, say
from topoloom.cli.networks import load_networks
from topoloom.cli.parameters import Force, Json, Plot, Routing, Specs, split_names, takes_engine_options
from topoloom.cli.replay import run_replay
from topoloom.files import MAKESPANS, REPORT, TIMELINE, check_apart, check_writable, picture
from topoloom.plotting import check_plot
from topoloom.simulation.options import EngineOptions, checked
from topoloom.workload.chakra import trace_file, write_chakra
from topoloom.workload.goal import write_goal
from topoloom.workload.jobs import WorkloadJob
from topoloom.workload.options import DEFAULT_RATE, WorkloadOptions
from topoloom.workload.results import WorkloadResult, time_text
from topoloom.workload.training import STEP_COLUMNS, TRAFFIC_COLUMNS, step_rows, traffic_rows
from topoloom.workload.workloads import Workloads

BAR = 12
"""Columns of the longest bar."""

LONG_S = 10.0
"""Runs that take longer report their progress even without a terminal."""


@takes_engine_options
def workload(
    context: typer.Context,
    specs: Specs,
    app: Annotated[
        list[str] | None,
        typer.Option(
            "--app",
            metavar="NAME,…",
            help="Applications, also by several --app; see: topoloom list apps.",
            autocompletion=completion.apps,
        ),
    ] = None,
    job: Annotated[
        list[str] | None,
        typer.Option(
            "--job",
            metavar="APP,tasks=N,start=T",
            help="A job beside others on one network, instead of --app; or a list of them in TOML.",
        ),
    ] = None,
    sacct: Annotated[
        Path | None,
        typer.Option(
            "--sacct",
            metavar="FILE",
            help="Replay the jobs of a Slurm accounting file on one network, instead of --app.",
            show_default=False,
        ),
    ] = None,
    mix: Annotated[
        list[str] | None,
        typer.Option(
            "--mix",
            metavar="APP,computing=1s",
            help="The part that jobs of --sacct repeat, selected by their ids; several by several --mix.",
            show_default="an allreduce, an all-to-all, or a halo exchange",
        ),
    ] = None,
    allocator: Annotated[
        str | None,
        typer.Option(
            "--allocator",
            autocompletion=completion.allocators,
            help="The allocator of terminals to jobs; see: topoloom list allocators.",
            show_default="contiguous; of --sacct topology",
        ),
    ] = None,
    backfill: Annotated[
        bool | None,
        typer.Option(
            "--backfill",
            help="Jobs of --sacct may begin before one that waits, where that cannot delay it.",
            show_default=False,
        ),
    ] = None,
    engine: Annotated[
        str | None, typer.Option("--engine", help="flow, or cycle: flit by flit.", show_default="flow")
    ] = None,
    routing: Routing = "minimal",
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--mapping",
            metavar="NAME,…",
            help="Mappings of tasks to terminals, also by several --mapping; see: topoloom list mappings.",
            show_default="linear",
        ),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            help="Rate of links in bits or bytes per second, for networks whose links have no rates of their own.",
            show_default=DEFAULT_RATE,
        ),
    ] = None,
    flit: Annotated[str | None, typer.Option("--flit", help="Bytes of a flit.", show_default="64B")] = None,
    flow_engine: Annotated[
        str | None,
        typer.Option(
            "--flow-engine",
            metavar="KEY=VALUE,…",
            help="The flow engine: " + ", ".join(name for name, _ in flow_keys()) + ".",
            show_default=False,
        ),
    ] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="KEY=VALUE,…",
            help="Costs of sending and receiving: " + ", ".join(name for name, _ in endpoint_keys()) + ".",
            show_default=False,
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            "--noise",
            metavar="KEY=VALUE,…",
            help="Slow tasks and noise of computing: " + ", ".join(name for name, _ in noise_keys()) + ".",
            show_default=False,
        ),
    ] = None,
    scale: Annotated[
        int | None,
        typer.Option(
            "--scale", metavar="N", help="Messages and computations are N times smaller and shorter.", show_default="1"
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", metavar="SPEC", help="The network of makespan 1.", show_default="the first"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="report.html", help="Write the report, one HTML file.")
    ] = None,
    plot: Plot = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--table",
            metavar="FILE.csv",
            help="Write a row for each application, network and mapping.",
            show_default=False,
        ),
    ] = None,
    goal: Annotated[
        Path | None,
        typer.Option("--goal", metavar="FILE", help="Write the application as a schedule in GOAL.", show_default=False),
    ] = None,
    chakra: Annotated[
        Path | None,
        typer.Option(
            "--chakra",
            metavar="FOLDER",
            help="Write the application as Chakra traces, one file per rank.",
            show_default=False,
        ),
    ] = None,
    chakra_messages: Annotated[
        bool | None,
        typer.Option(
            "--chakra-messages",
            help="Traces hold the messages of collectives, not nodes for whole collectives.",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Write the timeline of tasks as JSON, for Perfetto or Chrome.",
            show_default=False,
        ),
    ] = None,
    force: Force = False,
    json: Json = False,
    *,
    options: EngineOptions,
) -> int:
    """Run applications on networks by mappings of their tasks, and compare the makespans."""
    mappings = _names("--mapping", mapping or ["linear"])
    own: dict[str, object] = {
        "engine": engine,
        "mapping": mappings[0] if mapping else None,
        "rate": rate,
        "flit": flit,
        "flow_engine": flow_engine,
    }
    own |= {"endpoint": endpoint, "noise": noise, "scale": scale}
    chosen = checked(WorkloadOptions, options.model_dump(by_alias=True, exclude_defaults=True) | own)
    alone: dict[str, object] = {"app": app, "baseline": baseline, "out": out, "plot": plot, "table": table}
    alone |= {"goal": goal, "chakra": chakra, "chakra-messages": chakra_messages, "timeline": timeline}
    _check_mappings(mappings, jobs=sacct is not None or bool(job))
    if sacct is not None:
        require_no("--sacct", alone | {"job": job})
        return run_replay(specs, sacct, mix, allocator, backfill, routing, chosen, json=json)
    if job:
        require_no("--job", alone | {"mix": mix, "backfill": backfill})
        return run_jobs(specs, job, allocator, routing, chosen, json=json)
    if backfill:
        raise TopoloomError("--backfill is for jobs of an accounting file; give --sacct with it")
    if chakra_messages and chakra is None:
        raise TopoloomError("--chakra-messages changes what --chakra writes; give --chakra with it")
    apps = _applications(app, allocator, mix)
    check_apart({"--out": out, "--plot": plot, "--table": table, "--timeline": timeline, "--goal": goal})
    _check_files(out, plot, table, timeline, force=force)
    runs = WorkloadJob(load_networks(specs), apps, routing, chosen, baseline, mappings)
    _export(runs, goal, chakra, messages=bool(chakra_messages), force=force)
    if timeline is not None:
        runs.keep_events()
    found = _run(runs, context.obj)
    if timeline is not None and found.finished:
        runs.write_timeline(timeline, force=force)
        say(f"the timeline is in {timeline}")
    _write(found, out, plot, table, force=force)
    if json:
        print_json(found.to_dict())
    else:
        _print_workloads(found)
        _print_training(found)
        _print_impacts(found)
    return _exit_status(found, len(runs.runs))


def _applications(app: list[str] | None, allocator: str | None, mix: list[str] | None) -> list[str]:
    """Return the applications that are named, each once."""
    if mix:
        raise TopoloomError("--mix is what jobs of an accounting file repeat; give --sacct with it")
    if not app:
        raise TopoloomError("nothing is named to run; give --app, or --job for each of several jobs at once")
    if allocator is not None:
        raise TopoloomError(
            "--allocator gives jobs their terminals; give --job for each, or --mapping for an application"
        )
    return _names("--app", app)


def _check_mappings(mappings: list[str], *, jobs: bool) -> None:
    """Reject several mappings of jobs, which share one network."""
    if jobs and len(mappings) > 1:
        raise TopoloomError("several mappings are for --app; jobs on one network take one")


def _names(option: str, texts: list[str]) -> list[str]:
    """Return the names in several texts, each once."""
    return list(dict.fromkeys(name for text in texts for name in split_names(option, text)))


def _export(job: WorkloadJob, goal: Path | None, chakra: Path | None, *, messages: bool, force: bool) -> None:
    """Write the application as a schedule or as traces, if that was asked for."""
    apps = list(dict.fromkeys(run.app for run in job.runs))
    for option, path in (("--goal", goal), ("--chakra", chakra)):
        if path is not None and len(apps) > 1:
            raise TopoloomError(f"{option} writes one application; {len(apps)} are named")
    if goal is None and chakra is None:
        return
    run = job.runs[0]
    lost = [] if goal is None else write_goal(run.workload(), goal, force=force)
    if chakra is not None:
        workload = run.workload(calls=not messages)
        lost += write_chakra(workload, chakra, force=force)
    for sentence in lost:
        say(sentence)
    if goal is not None:
        say(f"the schedule is in {goal}")
    if chakra is not None:
        say(f"the traces are in {trace_file(chakra, 0)} to {trace_file(chakra, workload.tasks - 1)}")


def _check_files(
    out: Path | None, plot: Path | None, table: Path | None, timeline: Path | None, *, force: bool
) -> None:
    """Find out before anything runs whether the files can be written."""
    if plot is not None:
        check_plot(plot)
        check_writable(plot, picture(plot), force=force)
    check_writable(out, REPORT, force=force)
    check_writable(table, MAKESPANS, force=force)
    check_writable(timeline, TIMELINE, force=force)


def _write(found: Workloads, out: Path | None, plot: Path | None, table: Path | None, *, force: bool) -> None:
    """Report the notes, and write the requested files."""
    for note in found.notes:
        say(note)
    if out is not None:
        found.write_report(out, force=force)
        say(f"the report is in {out}")
    if plot is not None:
        found.write_plot(plot, force=force)
        say(f"the chart is in {plot}")
    if table is not None:
        found.write_table(table, force=force)
        say(f"the table is in {table}")


def _run(job: WorkloadJob, command: list[str]) -> Workloads:
    with progress() as bar:
        task = bar.add_task("applications", total=len(job.runs), now="")
        what = "messages" if job.runs[0].options.engine == "flow" else "cycles"
        done, begun = 0, time.monotonic()

        def on_result(result: WorkloadResult) -> None:
            nonlocal done
            done += 1
            bar.update(task, advance=1, now=f"{result.app} on {result.spec}")
            if bar.disable and time.monotonic() > begun + LONG_S:
                say(f"{done} of {len(job.runs)}: {result.app} on {result.spec} {time_text(result.makespan_s)}")

        def on_progress(units: int) -> None:
            bar.update(task, now=f"{units:,} {what}")

        return job.run(command, on_result, on_progress)


def _print_workloads(found: Workloads) -> None:
    """Print one row per result, with a bar for how long it took beside the baseline."""
    collective = any(result.busbw_gb_s is not None for result in found.results)
    mapped = len(found.mappings) > 1
    relative = {(r.app, r.spec, r.mapping): found.relative(r.spec, r.app, r.mapping) for r in found.results}
    longest = max((value for value in relative.values() if value is not None), default=1.0)
    rows = []
    for result in found.results:
        value = relative[result.app, result.spec, result.mapping]
        rows.append([
            result.app,
            result.spec,
            result.routing_text,
            *([result.mapping] if mapped else []),
            "" if value is None else "█" * max(1, round(BAR * value / longest)),
            time_text(result.makespan_s) if result.state == "finished" else result.state,
            "–" if value is None else f"{value:.3f}",
            time_text(result.ideal_s),
            "–" if result.over_ideal is None else f"{result.over_ideal:.2f}",
            f"{result.tasks:,}",
            f"{result.flows:,}",
            *([_rate(result.algbw_gb_s), _rate(result.busbw_gb_s)] if collective else []),
        ])  # fmt: skip
    names = ["application", "network", "routing", *(["mapping"] if mapped else []), ""]
    columns = [*names, "makespan", "relative", "ideal", "/ ideal", "tasks", "messages"]
    print_table([*columns, *(["algbw GB/s", "busbw GB/s"] if collective else [])], rows, left=len(names))
    for assumption in found.assumptions:
        print(assumption)
    _print_coalesced(found.results)


def _rate(gb_s: float | None) -> str:
    return "–" if gb_s is None else f"{gb_s:.4g}"


def _print_coalesced(results: list[WorkloadResult]) -> None:
    """Report how long critical paths have waited for completions that are served together, at most."""
    most = max(results, key=lambda result: result.coalesced_share, default=None)
    if most is not None and most.coalesced_share > 0.0:
        say(
            "completions were served together: messages of a critical path waited for that up to "
            f"{100 * most.coalesced_share:.2g} % of the makespan ({most.app} on {most.spec})"
        )


def _print_training(found: Workloads) -> None:
    """Print where the time of training steps went, if there are any."""
    for columns, rows in ((STEP_COLUMNS, step_rows(found.results)), (TRAFFIC_COLUMNS, traffic_rows(found.results))):
        if rows:
            print()
            print_table(columns, rows, left=2 if columns is STEP_COLUMNS else 4)


def _print_impacts(found: Workloads) -> None:
    """Print the congestion impact factors, if there are any."""
    if not found.impacts:
        return
    rows = [
        [own.spec, own.canary, own.congestor, time_text(own.alone_s), f"{own.mean:.3f}", f"{own.p99:.3f}"]
        for own in found.impacts
    ]
    print()
    print_table(["network", "canary", "congestor", "alone", "impact, mean", "impact, p99"], rows, left=3)


def _exit_status(found: Workloads, wanted: int) -> int:
    if not found.finished:
        say(f"interrupted; {len(found.results)} of {wanted} were done")
        return status.INTERRUPTED
    for result in found.results:
        if result.state != "finished":
            say(f"{result.app} on {found.label(result.spec, result.mapping)}: {result.state}")
    return status.DONE if all(result.state == "finished" for result in found.results) else status.NO_ANSWER
