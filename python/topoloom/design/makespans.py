"""Makespans of a design: what is known of them before applications are played, and which are never played."""

from math import inf

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.design.criteria import Value
from topoloom.design.question import Question
from topoloom.network.networks import with_keys

EVERYWHERE = 100_000
"""Messages of an all-to-all that is played on every network, at most."""

FINALISTS = 500_000
"""Messages of one that finalists play, at most."""

OFF = 0.1
"""How far an estimate may be off that rests on channel loads, as a part of it."""

COALESCED = ((30_000, 0.05), (3000, 0.01))
"""With more tasks than the first number, completions within the second, a part of their time, are handled together."""

COALESCED_OFF = 0.1
"""… and a makespan may be off by this part of it."""

LEAST_CARRIED = 1e-9
"""A network that carries nothing takes as long as if it carried this."""

EXCHANGES = ("alltoall", "all-to-all")
SPREAD = ("direct", "pairwise")
"""The algorithms of an all-to-all whose messages go from each task to each other one."""


def with_tasks(app: str, tasks: int) -> str:
    """Return an application with a number of tasks, unless it has its own or takes it from a file.

    Args:
        app: The application.
        tasks: The number of tasks.

    Raises:
        TopoloomError: A text that is no name of an application.

    >>> with_tasks("alltoall", 64), with_tasks("allreduce:size=1MiB,tasks=8", 64)
    ('alltoall:tasks=64', 'allreduce:size=1MiB,tasks=8')
    """
    if any(key == "tasks" for key, _ in _core.Name("app", app).values):
        return app
    sized = with_keys(app, {"tasks": tasks})
    try:
        _core.Name("app", sized)
    except TopoloomError:
        return app
    return sized


def bytes_of_exchange(app: str, tasks: int, most: int) -> float | None:
    """Return what each task sends in an all-to-all of more than `most` messages, in bytes; None for all else.

    Args:
        app: The application.
        tasks: The number of tasks, unless the application has its own.
        most: The number of messages that can be played.

    Raises:
        TopoloomError: A mistake in the application.

    >>> bytes_of_exchange("alltoall:size=64KiB", 1001, 100_000) == 1000 * 65536
    True
    >>> bytes_of_exchange("allreduce", 1000, 100_000), bytes_of_exchange("alltoall", 100, 100_000)
    (None, None)
    """
    given = {key: str(value) for key, value in _core.Name("app", app).values}
    whole = given.get("algorithm", "direct") in SPREAD and "group" not in given
    if _core.head(app) not in EXCHANGES or not whole:
        return None
    told = _core.Workload(with_tasks(app, tasks), tasks)
    return told.total_bytes / told.tasks if told.num_messages > most else None


def time_of_exchange(sent: float, rate: str, throughput: Value) -> Value:
    """Return the time of an all-to-all, whose traffic is uniform, as an estimate in seconds.

    Args:
        sent: The bytes that each task sends.
        rate: The rate of a terminal's link, such as ``400Gb/s``.
        throughput: What a terminal carries of uniform traffic, as a fraction of this rate, measured or by bounds.

    Raises:
        TopoloomError: A rate that does not read.

    >>> time_of_exchange(50e9, "400Gb/s", Value(0.5, 0.4, 0.8, "measured"))
    Value(value=2.0, low=1.25, high=2.5, known='estimate')
    """
    alone, value = sent / _core.bytes_per_second(rate), throughput.value
    ends = (
        (throughput.high, throughput.low) if throughput.known == "measured" else (value * (1 + OFF), value * (1 - OFF))
    )
    low, high = (alone / max(LEAST_CARRIED, min(1.0, end)) for end in ends)
    return Value(alone / max(LEAST_CARRIED, value), low, high, "estimate")


def bytes_of_task(app: str, tasks: int) -> float:
    """Return what a task of an application sends on average, in bytes; 0 where that depends on the network.

    Args:
        app: The application.
        tasks: The number of tasks, unless the application has its own.

    Raises:
        TopoloomError: No such application, or a value of it that does not read.

    >>> bytes_of_task("permutation:size=1MiB,seed=1", 10) <= 2**20, bytes_of_task("goal:file=missing", 2)
    (True, 0.0)
    """
    sized = with_tasks(app, tasks)
    try:
        told = _core.Workload(sized, tasks)
    except TopoloomError:
        return 0.0
    return told.total_bytes / max(told.tasks, 1)


def time_before(sent: float, rate: str, throughput: Value) -> Value:
    """Return what is known of a makespan before it is played, in seconds.

    No network is faster than the links of its terminals. As an estimate, all messages are under way at once and spread
    like uniform traffic; one that waits for another may take any time.

    Args:
        sent: The bytes that each task sends, on average.
        rate: The rate of a terminal's link, such as ``400Gb/s``.
        throughput: What a terminal carries of uniform traffic, as a fraction of this rate.

    Raises:
        TopoloomError: A rate that does not read.

    >>> time_before(50e9, "400Gb/s", Value(0.5, 0.0, 0.8, "bound"))
    Value(value=2.0, low=1.0, high=inf, known='estimate')
    """
    alone = sent / _core.bytes_per_second(rate)
    return Value(alone / max(LEAST_CARRIED, min(1.0, throughput.value)), alone, inf, "estimate")


def played(makespan: float, tasks: int) -> Value:
    """Return what is known of a makespan that was played.

    Args:
        makespan: What the flow engine found, in seconds.
        tasks: The number of tasks.

    >>> played(1.0, 1000).to_dict()["interval"], played(1.0, 10_000).to_dict()["interval"]
    ([1.0, 1.0], [0.9, 1.1])
    """
    off = COALESCED_OFF if flow_options(tasks) else 0.0
    return Value(makespan, makespan * (1 - off), makespan * (1 + off), "measured")


def flow_options(tasks: int) -> dict[str, str]:
    """Return the options of the flow engine with which an application is played.

    Args:
        tasks: The number of tasks.

    >>> flow_options(1000), flow_options(10_000), flow_options(100_000)
    ({}, {'flow_engine': 'coalesce=0.01'}, {'flow_engine': 'coalesce=0.05'})
    """
    return next(({"flow_engine": f"coalesce={part:g}"} for most, part in COALESCED if tasks > most), {})


def makespans_note(question: Question) -> str:
    """Return which makespans are estimated, and how the others are played, for people; nothing if that is exact.

    Args:
        question: The question.

    >>> from topoloom.design.question import make_question
    >>> makespans_note(make_question({"terminals": 64, "radix": 8, "apps": "alltoall"}))
    ''
    >>> makespans_note(make_question({"terminals": 600, "radix": 32, "apps": "alltoall"}))
    'alltoall estimated by what uniform traffic carries, but played on finalists'
    """
    notes = []
    for app in question.apps:
        everywhere, last = (
            bytes_of_exchange(app, question.least_terminals, most) is not None for most in (EVERYWHERE, FINALISTS)
        )
        if everywhere:
            notes += [f"{app} estimated by what uniform traffic carries{'' if last else ', but played on finalists'}"]
        elif options := flow_options(question.least_terminals):
            notes += [f"{app} with {options['flow_engine']} of the flow engine"]
    return "; ".join(notes)
