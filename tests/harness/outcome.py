"""What a command line left behind."""

import json
from dataclasses import dataclass
from typing import Any

from harness.engine import TIMES


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


def timeless(value: Any) -> Any:
    """Return JSON without what differs from run to run."""
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if key not in (*TIMES, "command")}
    return [timeless(item) for item in value] if isinstance(value, list) else value
