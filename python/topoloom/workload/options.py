"""How an application is run."""

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from topoloom import _core
from topoloom.simulation.option_types import Reads
from topoloom.simulation.options import EngineOptions

DEFAULT_RATE = f"{_core.DEFAULT_GBPS:g}Gb/s"
"""The rate of links in each direction where neither the network nor the user gives one."""


MOST_SCALE = 1_000_000
"""How many times smaller messages may be made."""

Engine = Literal["flow", "cycle"]
"""An engine: fair shares of links, or flits."""


class WorkloadOptions(EngineOptions):
    """How an application is run; the other options are those of :class:`topoloom.simulation.options.EngineOptions`.

    Attributes:
        engine: The engine: flow, with fair shares of links, or cycle, flit by flit.
        mapping: Which terminal runs which task: linear, random, blocks, tiles or a file.
        rate: Bits or bytes per second of a link, as in 400Gb/s, of networks whose links have no rates of their own.
        flit: Bytes of a flit, of the cycle engine.
        endpoint: What sending and receiving costs, such as ``overhead=500ns,latency=1us``.
        flow_engine: Options of the flow engine, such as ``model=share,injection=1``.
        noise: Slow tasks and noise of computing, such as ``stragglers=1%,jitter=5%``.
        scale: How many times smaller messages and shorter computations are, in either engine.
    """

    # Its default was 10 Gb/s once: results are stored with the rate that they rest on.
    stored: ClassVar[frozenset[str]] = frozenset({"rate"})

    engine: Engine = "flow"
    mapping: Annotated[str, Reads(partial(_core.files_of, "mapping"))] = "linear"
    rate: str = DEFAULT_RATE
    flit: str = "64B"
    endpoint: str = ""
    flow_engine: str = ""
    noise: str = ""
    scale: Annotated[int, Field(ge=1, le=MOST_SCALE)] = 1

    @property
    def changes(self) -> tuple[int, str]:
        """What changes an application before it runs: its scale and its noise."""
        return self.scale, self.noise

    def changed(self) -> dict[str, int | str]:
        """Return the same by their names, as far as they change anything.

        >>> WorkloadOptions(scale=64).changed()
        {'scale': 64}
        """
        return {name: value for name, value in (("scale", self.scale), ("noise", self.noise)) if value not in (1, "")}

    @model_validator(mode="after")
    def _belong_to_the_engine(self) -> "WorkloadOptions":
        cycle = {*EngineOptions.model_fields, "flit"} - {"seed", "fail"}
        other = {"flow": cycle, "cycle": {"flow_engine"}}[self.engine]
        default = type(self).model_fields
        for name in sorted(other):
            if getattr(self, name) != default[name].get_default():
                wrong, owner = name.rstrip("_").replace("_", "-"), "cycle" if self.engine == "flow" else "flow"
                raise ValueError(f"{wrong} is an option of the {owner} engine, but engine is {self.engine}")
        return self
