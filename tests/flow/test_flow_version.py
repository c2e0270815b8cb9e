"""Stored makespans hold as long as the version of the models: what changes one of these raises the version.

Flows of several sizes whose adaptive routings compare backlogs, and applications with messages that begin one by one.
"""

import pytest

import topoloom
from topoloom import flows

LINK = 10**9
SHIFTS = [
    ("dragonfly:a=4,h=2,p=2", "ugal-l", 8, "paths=1", 2.2416666665000005, 0.9696326511593006),
    ("dragonfly:a=4,h=2,p=2", "ugal-l", 8, "paths=8", 1.5996185726814396, 0.8094002410978881),
    ("hyperx:4x4,p=4", "dimwar", 5, "paths=4", 1.6381828926742454, 0.8867429913195651),
    ("torus:6x6", "amin", 7, "paths=4,latency=10us", 1.5437382703251135, 0.780404511502056),
    ("torus:6x6", "ugal-l", 3, "paths=2,coalesce=0.05", 1.5, 0.8335742013394066),
    ("slimfly:q=3,p=2", "ugal-l", 5, "paths=4,model=share", 2.00625, 0.9327160492530866),
    ("xgft:down=4x4,up=2", "anca", 5, "paths=2,model=sticky", 2.7272727272727275, 1.0643046451943101),
]
"""Network, routing, shift, options, and the makespan and the mean time of messages in seconds."""

APPS = [
    ("dragonfly:a=4,h=2,p=2", "ugal-l", "all-to-all-v:size=1MiB", "paths=1", 0.005955911679999996),
    ("hyperx:4x4,p=2", "dimwar", "nbodies", "paths=4", 8.388608e-05),
    ("torus:4x4", "amin", "unstructured", "paths=2", 1.572864e-05),
    ("fattree:k=4,levels=2", "nca", "sweep3d", "paths=1", 4.194304e-05),
]
"""Network, routing, application, options, and its makespan in seconds."""

LATER = [
    ("dragonfly:a=4,h=2,p=2", "ugal-l", 8, "paths=1", 4.0, 2.6645348287124726),
    ("dragonfly:a=4,h=2,p=2", "ugal-l", 8, "paths=4", 3.8645492342501124, 2.3033778381361207),
    ("hyperx:4x4,p=4", "ugal-l", 4, "paths=2", 3.7676372635143656, 2.4972361667726286),
    ("torus:6x6", "amin", 3, "paths=4", 2.2714911020338975, 1.7944699008484628),
]
"""Network, routing, shift, options, and the makespan and the mean time of messages in seconds."""


@pytest.mark.parametrize(("spec", "routing", "shift", "options", "makespan", "mean"), SHIFTS)
def test_times_of_flows_are_those_of_this_version_of_the_models(spec, routing, shift, options, makespan, mean):
    network = topoloom.network(spec)
    ids = range(network.num_terminals)
    twice = [*ids, *ids]
    targets = [(place + shift) % len(ids) for place in ids] + [(place + 1) % len(ids) for place in ids]
    sizes = [LINK // (1 + place % 5) for place in range(len(twice))]
    run = flows.run(network, twice, targets, sizes, routing=routing, flow=f"gbps=8,seed=3,{options}")
    assert (run.makespan_s, run.facts["messages"]["mean_s"]) == pytest.approx((makespan, mean), rel=1e-9)


@pytest.mark.parametrize(("spec", "routing", "app", "options", "makespan"), APPS)
def test_makespans_are_those_of_this_version_of_the_models(spec, routing, app, options, makespan):
    (result,) = topoloom.workload(spec, app, routing=routing, rate="100Gb/s", flow_engine=options).results
    assert result.makespan_s == pytest.approx(makespan, rel=1e-9)


def schedule(tasks: int, shift: int) -> str:
    """Return a schedule in which each task sends far at once, and a while later to the next task there."""
    lines = [f"num_ranks {tasks}"]
    for task in range(tasks):
        first, later = (task + shift) % tasks, (task + shift + 1) % tasks
        lines += [
            f"rank {task} {{",
            f"a: send {LINK}b to {first} tag 1",
            f"wait: calc {LINK // 10 * (1 + task % 7)}",
            f"b: send {LINK // 2}b to {later} tag 2",
            "b requires wait",
            f"c: recv {LINK}b from {(task - shift) % tasks} tag 1",
            f"d: recv {LINK // 2}b from {(task - shift - 1) % tasks} tag 2",
            "}",
        ]
    return "\n".join(lines)


@pytest.mark.parametrize(("spec", "routing", "shift", "options", "makespan", "mean"), LATER)
def test_messages_that_begin_later_avoid_what_those_under_way_have_left(
    spec, routing, shift, options, makespan, mean, tmp_path
):
    goal = tmp_path / "later.goal"
    goal.write_text(schedule(topoloom.network(spec).num_terminals, shift))
    (result,) = topoloom.workload(spec, f"goal:{goal}", routing=routing, rate="8Gb/s", flow_engine=options).results
    assert (result.makespan_s, result.message_mean_s) == pytest.approx((makespan, mean), rel=1e-9)
