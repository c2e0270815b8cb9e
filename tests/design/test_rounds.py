"""Which networks are simulated, and which of them make the front: against the front of what every network is worth."""

import random

import pytest

from topoloom.design.candidates import Candidate
from topoloom.design.criteria import FIXED, Criterion, Value, beats
from topoloom.design.entrant import Entrant
from topoloom.design.rounds import ALIKE, Rounds

CRITERIA = [
    Criterion("cost", "", "", "low", 0),
    Criterion("saturation.uniform", "", "", "high", 3, "saturation", "uniform"),
    Criterion("saturation.worst-case", "", "", "high", 3, "saturation", "worst-case"),
]
OFF = (0.2, 0.05)
"""How far the windows of these tests are off."""


class Field:
    """Networks that are worth what a test says, bounded as exactly as it says, and how often each is simulated."""

    def __init__(self, worth, above=1.3, places=(100, 100)):
        self.worth = worth
        self.entrants = []
        for spec, (cost, *loads) in worth.items():
            own = Entrant(Candidate(spec, "", 1, 1, 1, 1, 1, "exact", 1.0, "exact", None))
            own.values["cost"] = Value.exact(cost)
            for each, load in zip(CRITERIA[1:], loads, strict=True):
                most = own.most[each.of] = min(1.0, load * above)
                own.values[each.name] = Value(min(most, load), 0.0, most, "bound")
            self.entrants.append(own)
        self.rounds = Rounds(self.entrants, CRITERIA, places)
        self.simulated = []

    def measured(self, own):
        """What a window shows: as far off as it may be in the first, the truth in the second."""
        return [load * (1 + random.Random(f"{own.spec}{each}").uniform(-1, 1) * (OFF[0] if own.windows == 0 else 0))
                for each, load in enumerate(self.worth[own.spec][1:])]  # fmt: skip

    def play(self):
        while wave := self.rounds.wave():
            assert len({own.windows for own in wave}) == 1
            for own in wave:
                off = OFF[own.windows]
                for each, load in zip(CRITERIA[1:], self.measured(own), strict=True):
                    high = min(own.most[each.of], load / (1 - off))
                    own.values[each.name] = Value(load, load / (1 + off), high, "measured")
                own.windows += 1
            self.simulated += [own.spec for own in wave]
        return {own.spec for own in self.rounds.front()}


def covers(one, other, slack):
    return one[0] <= other[0] and all(a >= b * (1 - slack) for a, b in zip(one[1:], other[1:], strict=True))


def drawn(seed, count):
    random_ = random.Random(seed)
    worth = {}
    for place in range(count):
        cost = random_.uniform(1, 10)
        worth[f"{place}"] = (cost, *(min(1.0, cost / 10 * random_.uniform(0.2, 1.5)) for _ in range(2)))
    return worth


@pytest.mark.parametrize("seed", range(20))
def test_the_front_is_that_of_what_networks_are_worth(seed):
    field = Field(drawn(seed, 60))
    front = field.play()
    for spec, mine in field.worth.items():
        # What two windows that are off by twice 5 % leave open, beside what counts as alike.
        assert any(covers(field.worth[other], mine, ALIKE + 2 * OFF[1]) for other in front), spec
    for spec in front:
        _, *loads = field.worth[spec]
        clear = [load * (1 + ALIKE + 2 * OFF[1]) for load in loads]
        assert not any(covers(theirs, (field.worth[spec][0], *clear), 0) for theirs in field.worth.values()), spec


def test_what_is_clearly_beaten_is_never_simulated_and_what_is_clear_only_once():
    good = {f"good{cost}": (cost, cost / 10, cost / 10) for cost in (1, 2, 4, 8)}
    bad = {f"bad{cost}": (cost + 0.5, cost / 20, cost / 20) for cost in (1, 2, 4, 8)}
    field = Field(good | bad)
    assert field.play() == set(good)
    assert sorted(field.simulated) == sorted(good)


def test_a_bound_that_reaches_above_saves_a_network_from_being_dropped_unseen():
    field = Field({"cheap": (1, 0.5, 0.5), "dear": (2, 0.5, 0.9)}, above=1.0)
    assert field.play() == {"cheap", "dear"}


def test_a_network_returns_if_what_beat_it_turns_out_worse():
    """The first window shows more than the second: what was ruled out by it is simulated after all."""
    field = Field({"praised": (1, 0.9, 0.9), "passed": (2, 0.7, 0.7), "near": (1.1, 0.91, 0.95)}, above=1.0)
    shown = {("praised", 0): [0.9, 0.9], ("praised", 1): [0.5, 0.5], ("near", 0): [0.86, 0.86], ("near", 1): [0.4, 0.4]}
    field.measured = lambda own: shown.get((own.spec, own.windows), field.worth[own.spec][1:])
    assert "passed" in field.play()


def test_differences_that_count_as_none_do_not_add_up():
    """Each is 1.5 % better than the one before it and dearer; the best is 6 % better than the cheapest."""
    worth = {f"{step}": (1 + step, *[0.9 * 1.015**step] * 2) for step in range(5)}
    front = Field(worth, above=1.0).play()
    assert all(any(covers(worth[other], mine, ALIKE) for other in front) for mine in worth.values())
    assert len(front) < len(worth)


def test_no_more_enter_the_second_window_than_there_are_places():
    field = Field(drawn(3, 60), places=(60, 7))
    front = field.play()
    assert sum(field.simulated.count(spec) == 2 for spec in set(field.simulated)) == 7
    assert front <= set(field.simulated)


def test_what_bounds_estimate_counts_where_nothing_is_simulated():
    field = Field({"good": (1, 0.5, 0.5), "bad": (2, 0.4, 0.4), "best": (3, 0.9, 0.9)}, places=())
    assert field.play() == {"good", "best"}
    assert not field.simulated


def test_a_network_without_a_place_counts_as_its_bounds_estimate_and_beats_nothing():
    worth = {"good": (1, 0.2, 0.2), "less": (2, 0.8, 0.8), "unseen": (1.9, 0.9, 0.3), "beaten": (2, 0.1, 0.1)}
    field = Field(worth, above=1.0, places=(2, 0))
    field.rounds._promise = lambda own: list(worth).index(own.spec)
    field.measured = lambda own: {"good": [0.2, 0.2], "less": [0.4, 0.25]}[own.spec]
    assert field.play() == {"good", "less", "unseen"}
    assert field.simulated == ["good", "less"]


@pytest.mark.parametrize(
    ("cost", "power", "wins"),
    [
        (90.0, 100.0, True),
        (99.0, 101.0, False),  # alike in both
        (90.0, 101.0, True),  # better in one, alike in the other
        (90.0, 103.0, False),  # worse in the other
        (98.0, 100.0, False),  # alike up to the very end
        (97.9, 102.0, True),
    ],
)
def test_what_is_alike_neither_wins_nor_loses(cost, power, wins):
    """Values that are not exact count as equal up to a fiftieth of the other's."""
    one = [Value(value, value, value, "measured") for value in (cost, power)]
    other = [Value.exact(100.0)] * 2
    assert beats(one, other, FIXED[:2], 0.02) is wins


def test_exact_values_differ_by_whatever_they_differ():
    one, other = ([Value.exact(value)] for value in (99.999, 100.0))
    assert beats(one, other, FIXED[:1], 0.02)
    assert not beats(other, one, FIXED[:1], 0.02)
