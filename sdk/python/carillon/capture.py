"""The log of the run that is current, for what its function prints and logs.

Current is a context variable, so concurrent functions keep apart. Coroutines and tasks inherit it, as does what runs in
contextvars.copy_context(); a new thread does not. A forked process has no current run, and processes that a function
starts write to the output of the worker.
"""

import codecs
import contextlib
import contextvars
import logging
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from .outbox import LINE_BYTES_MAX

PENDING_MAX = LINE_BYTES_MAX  # characters of a line without its end; more become a line


class _Output:
    """The two streams of one run: text becomes lines."""

    def __init__(self, write: Callable[[str, bool], None], captures: bool) -> None:
        self.write = write
        self.captures = captures
        self._process = os.getpid()
        self._lock = threading.RLock()
        # ---- guarded by _lock; by "is it standard error"
        self._pending = {False: "", True: ""}
        self._split = {False: False, True: False}  # the line before was ended by its length
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders: Dict[bool, codecs.IncrementalDecoder] = {one: decoder("replace") for one in (False, True)}
        self._closed = False

    def is_open(self) -> bool:
        return not self._closed and os.getpid() == self._process

    def add(self, text: str, error: bool) -> None:
        if not text:
            return
        with self._lock:
            if self._split[error] and text[0] == "\n":
                text = text[1:]  # print() writes the end of a line by itself
            lines = (self._pending[error] + text).split("\n")
            self._split[error] = len(lines[-1]) >= PENDING_MAX
            if self._split[error]:
                lines.append("")
            self._pending[error] = lines[-1]
        if len(lines) > 1:
            lines[-1] = ""
            self.write("\n".join(lines), error)

    def add_bytes(self, data: bytes, error: bool) -> None:
        with self._lock:
            text = self._decoders[error].decode(data)
        self.add(text, error)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            rest = {one: self._pending[one] + self._decoders[one].decode(b"", True) for one in (False, True)}
        for error, text in rest.items():
            if text:
                self.write(text, error)


_current: "contextvars.ContextVar[Optional[_Output]]" = contextvars.ContextVar("carillon_run", default=None)
# True while the program's own handlers get a record: what they write to sys.stderr is not printed by the function.
_in_logging: "contextvars.ContextVar[bool]" = contextvars.ContextVar("carillon_in_logging", default=False)


@contextlib.contextmanager
def current(write: Callable[[str, bool], None], captures: bool) -> Iterator[None]:
    """Makes a run the current one. Partial lines are written at the end."""
    output = _Output(write, captures)
    token = _current.set(output)
    try:
        yield
    finally:
        _current.reset(token)
        output.close()


def _output() -> Optional[_Output]:
    output = _current.get()
    return output if output is not None and output.is_open() else None


def _captured() -> Optional[_Output]:
    output = _output()
    return output if output is not None and output.captures else None


class LogHandler(logging.Handler):
    """Writes records to the log of the current run, and nowhere outside of runs.

    A worker with capture=True needs it only for another format or level: what a LogHandler has written is not written
    again.
    """

    def __init__(self, level: int = logging.NOTSET) -> None:
        super().__init__(level)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        output = _output()
        if output is not None:
            write_record(self, record, output.write)


def write_record(handler: logging.Handler, record: logging.LogRecord, write: Callable[[str, bool], None]) -> None:
    """Writes a record, formatted by its handler, and notes that it need not be captured any more."""
    record._carillon_written = True  # type: ignore[attr-defined]
    try:
        write(handler.format(record), True)
    except Exception:  # a line that cannot be formatted must not fail the function
        handler.handleError(record)


class _Bytes:
    """The buffer of a _Router."""

    def __init__(self, router: "_Router", buffer: Any) -> None:
        self._router = router
        self._buffer = buffer

    def write(self, data: Any) -> int:
        output = self._router.captured()
        if output is None:
            return self._buffer.write(data)
        data = bytes(memoryview(data))
        output.add_bytes(data, self._router.error)
        return len(data)

    def writelines(self, lines: Iterable[Any]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._buffer, name)


class _Router:
    """In the place of sys.stdout or sys.stderr: what a function writes goes to its run, all else to the real stream."""

    def __init__(self, stream: Any, error: bool) -> None:
        # A process that was started without the stream has None there.
        self.stream = open(os.devnull, "w") if stream is None else stream
        self.error = error

    def captured(self) -> Optional[_Output]:
        return None if _in_logging.get() else _captured()

    def write(self, text: str) -> int:
        output = self.captured()
        if output is None:
            return self.stream.write(text)
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        output.add(text, self.error)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        if self.captured() is None:
            self.stream.flush()

    def isatty(self) -> bool:
        return self.captured() is None and self.stream.isatty()

    @property
    def buffer(self) -> _Bytes:
        return _Bytes(self, self.stream.buffer)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_defaults = LogHandler()


def _and_capture(before: Callable[[logging.Logger, logging.LogRecord], None]) -> Any:
    """Returns what stands in the place of Logger.callHandlers.

    A handler at the root logger would miss loggers that do not propagate, would make a later basicConfig() do nothing,
    and dictConfig() would remove it.
    """

    def call_handlers(logger: logging.Logger, record: logging.LogRecord) -> None:
        if _captured() is None:
            return before(logger, record)
        token = _in_logging.set(True)
        try:
            before(logger, record)
        finally:
            _in_logging.reset(token)
            if not hasattr(record, "_carillon_written"):
                _defaults.emit(record)

    return call_handlers


_lock = threading.Lock()
# ---- guarded by _lock
_workers = 0  # that capture
_restore: List[Callable[[], None]] = []


def install() -> None:
    """Begins to route what functions print and log, until each call had its uninstall()."""
    global _workers
    with _lock:
        _workers += 1
        if _workers == 1:
            _replace(sys, "stdout", _Router(sys.stdout, False))
            _replace(sys, "stderr", _Router(sys.stderr, True))
            _replace(logging.Logger, "callHandlers", _and_capture(logging.Logger.callHandlers))


def uninstall() -> None:
    """Ends it. A replacement that somebody else has replaced in turn stays; it passes everything on."""
    global _workers
    with _lock:
        _workers -= 1
        while _workers == 0 and _restore:
            _restore.pop()()


def _replace(owner: Any, name: str, new: Any) -> None:
    before = getattr(owner, name)
    setattr(owner, name, new)
    _restore.append(lambda: setattr(owner, name, before) if getattr(owner, name) is new else None)
