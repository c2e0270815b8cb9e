"""How an application is run."""

from typing import ClassVar, Literal

from pydantic import model_validator

from topoloom import _core
from topoloom.simulation.options import EngineOptions

DEFAULT_RATE = f"{_core.DEFAULT_GBPS:g}Gb/s"
"""The rate of links in each direction where neither the network nor the user gives one."""


Engine = Literal["flow", "cycle"]
"""An engine: fair shares of links, or flits."""


class WorkloadOptions(EngineOptions):
    """How an application is run; the other options are those of :class:`topoloom.simulation.options.EngineOptions`.

    Attributes:
        engine: The engine: flow, with fair shares of links, or cycle, flit by flit.
        mapping: Which terminal runs which task: linear, random, blocks or tiles.
        rate: Bits or bytes a second of a link, as in 400Gb/s, of networks whose links have no rates of their own.
        flit: Bytes of a flit, of the cycle engine.
        endpoint: What sending and receiving costs, such as ``overhead=500ns,latency=1us``.
        flow_engine: Options of the flow engine, such as ``model=share,injection=1``.
    """

    # Its default was 10 Gb/s once: results are stored with the rate that they rest on.
    stored: ClassVar[frozenset[str]] = frozenset({"rate"})

    engine: Engine = "flow"
    mapping: str = "linear"
    rate: str = DEFAULT_RATE
    flit: str = "64B"
    endpoint: str = ""
    flow_engine: str = ""

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
