"""What a command line left behind."""

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)
