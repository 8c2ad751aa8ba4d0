"""Log lines until they are sent; saves and ends of attempts until the executor has confirmed the ends."""

import collections
import time
from typing import Deque, Dict, Iterator, Optional

from . import worker_pb2 as pb

BATCH_MAX = 256  # entries of one kind in a message; the executor refuses a worker that sends more
BATCH_BYTES_MAX = 1 << 20  # of a message, roughly
WAITING_BYTES_MAX = 4 << 20  # of lines that wait to be sent
LINE_BYTES_MAX = (16 << 10) - 1  # the executor stores a line with its end
ERROR_BYTES_MAX = 4 << 10
SAVE_EVERY_S = 1.0  # the least time between two saves of a running attempt

# Added to the bytes of each waiting line, so that empty lines are bounded as well.
_LINE_COST = 64


def cut(text: str, most: int) -> str:
    """Returns the text in at most `most` bytes of UTF-8. Lone surrogates become "?"."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def pieces(text: str, most: int) -> Iterator[str]:
    """Splits a text into pieces of at most `most` bytes of UTF-8. Lone surrogates become "?"."""
    data = text.encode("utf-8", "replace")
    begin = 0
    while len(data) - begin > most:
        end = begin + most
        while data[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        yield data[begin:end].decode("utf-8")
        begin = end
    yield data[begin:].decode("utf-8")


class _Lines:
    """The state of the lines of one running attempt."""

    def __init__(self) -> None:
        self.last = 0  # the number of its last line
        self.dropped = 0


class _End:
    def __init__(self, done: pb.Done, last: int) -> None:
        self.done = done
        self.last = last  # this line and all before it are sent first


class _Save:
    """The latest progress and checkpoint of one attempt, and what of them is still to be sent."""

    def __init__(self) -> None:
        self.progress: Optional[str] = None
        self.checkpoint: Optional[bytes] = None
        self.sends_progress = False
        self.sends_checkpoint = False
        self.due = 0.0  # by time.monotonic()

    def sends(self) -> bool:
        return self.sends_progress or self.sends_checkpoint


class Outbox:
    """Not thread-safe; the worker's lock guards it.

    The executor ignores lines and saves that come after the end of their attempt, so an end is never sent before
    them. Lines that were on their way when a stream broke are lost, because the protocol does not confirm lines. The
    latest save of each attempt is sent again on the next stream.
    """

    def __init__(self) -> None:
        self._waiting: Deque[pb.LogLine] = collections.deque()
        self._waiting_bytes = 0
        self._added = 0  # the number of the newest line
        self._sent = 0  # the number of the last line that was sent
        self._lines: Dict[bytes, _Lines] = {}
        self._unconfirmed: Dict[bytes, _End] = {}
        self._unsent: Deque[_End] = collections.deque()
        self._saves: Dict[bytes, _Save] = {}

    def add_progress(self, ticket: bytes, progress: str) -> None:
        save = self._saves.setdefault(ticket, _Save())
        save.progress, save.sends_progress = progress, True

    def add_checkpoint(self, ticket: bytes, checkpoint: bytes) -> None:
        save = self._saves.setdefault(ticket, _Save())
        save.checkpoint, save.sends_checkpoint = checkpoint, True

    def add_line(self, ticket: bytes, text: str, error: bool) -> None:
        """Adds a line, of up to 16 KiB, of a running attempt, or counts it as dropped if 4 MiB of lines wait."""
        line = pb.LogLine(ticket=ticket, wall_us=time.time_ns() // 1000, error=error, text=text)
        lines = self._lines.setdefault(ticket, _Lines())
        if self._waiting_bytes + _cost(line) > WAITING_BYTES_MAX:
            lines.dropped += 1
            return
        self._report_dropped(ticket, lines)
        self._append(lines, line)

    def add_end(self, done: pb.Done) -> None:
        """Adds the end of an attempt. No line of it may follow."""
        lines = self._lines.pop(done.ticket, None) or _Lines()
        self._report_dropped(done.ticket, lines)
        end = _End(done, lines.last)
        self._unconfirmed[done.ticket] = end
        self._unsent.append(end)

    def confirm(self, ticket: bytes) -> None:
        """Forgets an end that the executor has stored."""
        self._unconfirmed.pop(ticket, None)
        self._saves.pop(ticket, None)

    def is_unconfirmed(self, ticket: bytes) -> bool:
        return ticket in self._unconfirmed

    def all_confirmed(self) -> bool:
        return not self._unconfirmed

    def describe(self, hello: pb.Hello) -> None:
        """Names all unconfirmed ends in the first message of a session.

        Ends whose lines were not sent yet, ends of attempts that saved something, and ends beyond 1 MiB, are named as
        held and follow later. The executor then neither concludes that they never began nor sees an end before its
        lines and saves.
        """
        for save in self._saves.values():
            save.sends_progress = save.progress is not None
            save.sends_checkpoint = save.checkpoint is not None
            save.due = 0.0
        self._unsent.clear()
        size = 0
        for end in self._unconfirmed.values():
            size += end.done.ByteSize()
            if end.last <= self._sent and size <= BATCH_BYTES_MAX and end.done.ticket not in self._saves:
                hello.done.append(end.done)
            else:
                hello.held.append(end.done.ticket)
                self._unsent.append(end)

    def has_batch(self) -> bool:
        now = time.monotonic()
        return bool(self._waiting or self._unsent) or any(self._is_due(t, s, now) for t, s in self._saves.items())

    def has_full_batch(self) -> bool:
        return len(self._waiting) >= BATCH_MAX or len(self._unsent) >= BATCH_MAX

    def next_due(self) -> Optional[float]:
        """Returns the seconds until has_batch() is true without any change, or None if it stays false."""
        due = [save.due for save in self._saves.values() if save.sends()]
        return max(min(due) - time.monotonic(), 0.0) if due else None

    def take_batch(self, message: pb.FromWorker) -> None:
        """Moves up to 256 saves, 256 lines and 256 ends, about 1 MiB and the last save, into the message."""
        size = self._take_saves(message)
        while self._waiting and len(message.logs) < BATCH_MAX and size < BATCH_BYTES_MAX:
            line = self._waiting.popleft()
            self._waiting_bytes -= _cost(line)
            self._sent += 1
            size += line.ByteSize()
            message.logs.append(line)
        while self._unsent and len(message.done) < BATCH_MAX and size < BATCH_BYTES_MAX:
            save = self._saves.get(self._unsent[0].done.ticket)
            if self._unsent[0].last > self._sent or (save is not None and save.sends()):
                break
            end = self._unsent.popleft()
            size += end.done.ByteSize()
            message.done.append(end.done)

    def _take_saves(self, message: pb.FromWorker) -> int:
        now = time.monotonic()
        size = 0
        for ticket, save in self._saves.items():
            if len(message.saves) == BATCH_MAX or size >= BATCH_BYTES_MAX:
                break
            if not self._is_due(ticket, save, now):
                continue
            taken = message.saves.add(ticket=ticket)
            if save.sends_progress:
                taken.progress = save.progress
            if save.sends_checkpoint:
                taken.checkpoint = save.checkpoint
            save.sends_progress = save.sends_checkpoint = False
            save.due = now + SAVE_EVERY_S
            size += taken.ByteSize()
        return size

    def _is_due(self, ticket: bytes, save: _Save, now: float) -> bool:
        return save.sends() and (now >= save.due or ticket in self._unconfirmed)

    def _report_dropped(self, ticket: bytes, lines: _Lines) -> None:
        """Appends the number of dropped lines even if the buffer is full: that line is short and rare."""
        if lines.dropped > 0:
            text = f"carillon: {lines.dropped} log lines were dropped, because the worker's buffer was full"
            lines.dropped = 0
            wall_us = time.time_ns() // 1000
            self._append(lines, pb.LogLine(ticket=ticket, wall_us=wall_us, error=True, text=text))

    def _append(self, lines: _Lines, line: pb.LogLine) -> None:
        self._waiting.append(line)
        self._waiting_bytes += _cost(line)
        self._added += 1
        lines.last = self._added


def _cost(line: pb.LogLine) -> int:
    return line.ByteSize() + _LINE_COST
