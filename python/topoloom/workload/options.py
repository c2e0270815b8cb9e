"""How an application is run."""

from typing import Literal

from pydantic import model_validator

from topoloom.simulation.options import EngineOptions


class WorkloadOptions(EngineOptions):
    """How an application is run; the other options are those of :class:`topoloom.simulation.options.EngineOptions`.

    Attributes:
        engine: The engine: flow, with fair shares of links, or cycle, flit by flit.
        mapping: Which terminal runs which task: linear, random, blocks or tiles.
        rate: Bits or bytes a second of a link, as in 10Gb/s, of networks whose links have no rates of their own.
        flit: Bytes of a flit, of the cycle engine.
        endpoint: What sending and receiving costs, such as ``overhead=500ns,latency=1us``.
        flow_engine: Options of the flow engine, such as ``model=share,injection=1``.
    """

    engine: Literal["flow", "cycle"] = "flow"
    mapping: str = "linear"
    rate: str = "10Gb/s"
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
