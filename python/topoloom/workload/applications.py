"""Applications: tasks, and the messages between them."""

from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from topoloom import _core
from topoloom._core import TopoloomError
from topoloom.simulation.option_types import MOST_U32
from topoloom.simulation.options import check_whole
from topoloom.workload.chakra import write_chakra
from topoloom.workload.goal import write_goal

if TYPE_CHECKING:
    import numpy as np


class Application:
    """An application: tasks, their messages, and what each does in which order.

    Args:
        spec: ``name:key=value,…`` such as ``allreduce:size=64KiB``; ``topoloom list apps`` shows all of them.
        tasks: The tasks that there is room for: as many as it has unless its spec states otherwise.

    Raises:
        TopoloomError: An application or a key that does not exist, a schedule that cannot be read, messages that do not
            fit into memory.

    >>> Application("reduce", tasks=16).num_messages
    15

    >>> import tempfile
    >>> app = Application("allreduce:size=64", tasks=2)
    >>> app.messages()["bytes"].tolist(), app.program(0), app.carried()[0]
    ([64, 64], [('send', 0), ('receive', 1)], (True, [(0, 64)]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     app.write_goal(f"{folder}/allreduce.goal"), app.write_chakra(f"{folder}/traces")
    ([], [])
    """

    def __init__(self, spec: str, tasks: int) -> None:
        check_whole("tasks", tasks, 0, MOST_U32)
        self.core, self._room = _core.Workload(spec, int(tasks)), int(tasks)

    def __repr__(self) -> str:
        return f"Application({self.core.spec!r}, tasks={self.core.tasks})"

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return self.core.tasks

    @property
    def num_messages(self) -> int:
        """The number of messages."""
        return self.core.num_messages

    @property
    def total_bytes(self) -> int:
        """The sum of the sizes of all messages."""
        return self.core.total_bytes

    @property
    def notes(self) -> list[str]:
        """What is worth knowing, a sentence each: tasks that a grid leaves over."""
        return self.core.notes

    def messages(self) -> "np.ndarray[Any, Any]":
        """Return the messages: an array, one row per message, with the fields ``source``, ``target`` and ``bytes``."""
        import numpy as np  # noqa: PLC0415 - needed by those who look at messages only

        table = np.empty(self.num_messages, [("source", np.uint32), ("target", np.uint32), ("bytes", np.uint64)])
        table["source"], table["target"], table["bytes"] = self.core.messages()
        return table

    def carried(self) -> list[tuple[bool, list[tuple[int, int]]]]:
        """Return what each message of a collective carries: (combined, spans).

        `combined` is False where the receiver takes what it gets instead of what it has. A span is (first byte,
        bytes) of the collective's buffer: ``size`` bytes that all ranks of the group have alike, of which block i is
        that of its i-th rank. Of an all-to-all, what its i-th rank has for its j-th one is block n i + j; of
        ``send-recv``, block i is what the i-th rank sends.

        Raises:
            TopoloomError: An application that is no collective.
        """
        told = _core.Workload(self.core.spec, self._room, records=True).carried()
        if told is None or len(told) != self.num_messages or not all(spans for _, spans in told):
            raise TopoloomError(f"{self.core.spec} is no collective; its messages do not declare what they carry")
        return told

    def write_goal(self, path: str | Path, *, force: bool = False) -> list[str]:
        """Write the tasks as a schedule in GOAL, which other simulators run.

        Computing is rounded to whole nanoseconds.

        Args:
            path: The file.
            force: Overwrite a file of another kind.

        Returns:
            A sentence for each kind of data that is lost.

        Raises:
            TopoloomError: An application that repeats its messages; a file of another kind exists, and `force` is
                not given; a place that cannot be written to.
        """
        return write_goal(self.core, path, force=force)

    def write_chakra(self, path: str | Path, *, messages: bool = False, force: bool = False) -> list[str]:
        """Write the tasks as Chakra execution traces, one file per task, which other simulators run.

        Args:
            path: A folder, or the file of task 0, as in ``step.0.et``.
            messages: Write the messages of collectives that the application knows, instead of nodes ``COMM_COLL_NODE``
                for which each simulator chooses its algorithm.
            force: Overwrite files of other kinds.

        Returns:
            A sentence for each kind of data that is lost.

        Raises:
            TopoloomError: An application that repeats its messages; a file of another kind exists, and `force` is
                not given; a place that cannot be written to.
        """
        core = self.core if messages else _core.Workload(self.core.spec, self._room, calls=True)
        return write_chakra(core, path, force=force)

    def program(self, task: int) -> list[tuple[str, float]]:
        """Return the operations of a task: ``("send", message)``, ``("receive", message)``, ``("compute", seconds)``.

        Args:
            task: The id of the task.

        Raises:
            TopoloomError: A task that the application does not have.
        """
        if not isinstance(task, Integral) or not 0 <= task < self.tasks:
            raise TopoloomError(f"task is {task!r}; {self.core.spec} has tasks 0 to {self.tasks - 1}")
        return [(what, value if what == "compute" else int(value)) for what, value in self.core.program(int(task))]
