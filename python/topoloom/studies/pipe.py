"""Messages between a program and its worker over a socket: pickles, each behind its length.

The program never waits for a worker: :class:`Pipe` keeps what the socket does not take, and what has come in part. A
worker may wait for the program, which always reads. So there is no order of events in which both wait for each other.
"""

import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")

_PIECE = 1 << 18
"""Bytes that are read at a time."""


def packed(message: object) -> bytes:
    """Return a message as it goes through the socket: its length in 8 bytes, and its pickle.

    Args:
        message: What pickle can hold.

    >>> packed(None)[:8] == (len(packed(None)) - 8).to_bytes(8)
    True
    """
    text = pickle.dumps(message)
    return _LENGTH.pack(len(text)) + text


def receive(end: socket.socket) -> Any:
    """Return the next message, once it has come.

    Args:
        end: The worker's end of the socket.

    Raises:
        EOFError: The other end is closed.

    >>> ours, theirs = socket.socketpair()
    >>> with ours, theirs:
    ...     ours.sendall(packed("done"))
    ...     receive(theirs)
    'done'
    """
    (length,) = _LENGTH.unpack(_exactly(end, _LENGTH.size))
    return pickle.loads(_exactly(end, length))


def _exactly(end: socket.socket, count: int) -> bytes:
    text = bytearray()
    while len(text) < count:
        piece = end.recv(min(count - len(text), _PIECE))
        if not piece:
            raise EOFError
        text += piece
    return bytes(text)


class Pipe:
    """The program's end of a socket; none of its methods waits.

    Args:
        end: The socket, which becomes non-blocking.

    >>> ours, theirs = socket.socketpair()
    >>> pipe = Pipe(ours)
    >>> with theirs:
    ...     pipe.send("point")
    ...     pipe.flush()
    ...     theirs.sendall(packed(receive(theirs)))
    ...     pipe.fileno() == ours.fileno(), pipe.is_behind, pipe.receive()
    (True, False, ['point'])
    >>> pipe.close()
    """

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._end = end
        self._out = bytearray()
        self._in = bytearray()

    def fileno(self) -> int:
        """Return the socket's number, for :mod:`selectors`."""
        return self._end.fileno()

    @property
    def is_behind(self) -> bool:
        """Whether something waits until the socket takes it."""
        return bool(self._out)

    def close(self) -> None:
        """Close the socket; what waits is thrown away."""
        self._end.close()

    def send(self, message: object) -> None:
        """Send a message, or as much of it as there is room for; :meth:`flush` sends the rest.

        Args:
            message: What pickle can hold.

        Raises:
            OSError: The other end is closed.
        """
        self._out += packed(message)
        self.flush()

    def flush(self) -> None:
        """Hand over as much of what waits as there is room for.

        Raises:
            OSError: The other end is closed.
        """
        while self._out:
            try:
                sent = self._end.send(self._out)
            except BlockingIOError:
                return
            del self._out[:sent]

    def receive(self) -> list[Any]:
        """Return the messages that have come whole.

        Raises:
            EOFError: The other end is closed, and everything that it had sent has been returned.
        """
        ended = False
        while not ended:
            try:
                piece = self._end.recv(_PIECE)
            except BlockingIOError:
                break
            except ConnectionError:
                piece = b""
            ended = not piece
            self._in += piece
        messages = self._messages()
        if ended and not messages:
            raise EOFError
        return messages

    def _messages(self) -> list[Any]:
        messages, first = [], 0
        while len(self._in) - first >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._in, first)
            end = first + _LENGTH.size + length
            if end > len(self._in):
                break
            messages.append(pickle.loads(self._in[first + _LENGTH.size : end]))
            first = end
        del self._in[:first]
        return messages
