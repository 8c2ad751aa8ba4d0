"""One attempt of a run, as its function sees it."""

import datetime
import json
import logging
import math
import threading
import time
from typing import Any, Callable, Dict, Optional, Union

from .capture import write_record

# The function is asked to stop this long before its lease ends, in seconds.
LEASE_MARGIN_S = 3.0
# Run.wait computes anew how long it may sleep after this time, in seconds.
_SLEEP_MAX_S = 3600.0
CHECKPOINT_BYTES_MAX = 1 << 20
_PROGRESS_CHARACTERS_MAX = 500


class Stopped(Exception):
    """The function should stop now. Let it pass, after cleaning up."""


class Cancelled(Stopped):
    """A user or a policy of the job cancelled the run."""


class TimedOut(Stopped):
    """The job's timeout has ended."""


class LeaseLost(Stopped):
    """The scheduler could not be reached for so long that it counts this attempt as lost."""


class Draining(Stopped):
    """The worker is about to end, and its time for that is over."""


class Failure(Exception):
    """The attempt failed. Conditions of its job such as retry_on know it as "error:CODE".

    code  up to 48 letters, digits, "_", "." and "-"; else the name of the class, as for every other exception
    """

    def __init__(self, message: str = "", *, code: Optional[str] = None) -> None:
        super().__init__(message)
        self.code = code


class NoRetry(Failure):
    """The attempt failed, and another one would fail as well."""


class RetryAfter(Failure):
    """The attempt failed; the next one, if its job allows one, is not to begin before `seconds`, at most an hour.

    Raises TypeError or ValueError for what is not a number or a timedelta.
    """

    def __init__(
        self, seconds: Union[float, datetime.timedelta], message: str = "", *, code: Optional[str] = None
    ) -> None:
        super().__init__(message, code=code)
        self.seconds = seconds.total_seconds() if isinstance(seconds, datetime.timedelta) else float(seconds)
        if math.isnan(self.seconds):
            raise ValueError("the seconds are not a number")


class _RunLog(logging.Handler):
    def __init__(self, write: Callable[[str, bool], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        write_record(self, record, self._write)


class Run:
    """One attempt of a run. It may be used from any thread.

    run_id       the same for all attempts of a run: the key to do something only once
    attempt      1 for the first one; higher ones come later, so it can order writes
    job_id       the id of the job
    fire_time    the planned time, with a time zone (UTC)
    shard_index  0 to shard_total - 1
    parameters   the parameters of the run: texts, numbers and booleans by name
    env          the variables of the job, with the values of secrets
    trace_id     32 hexadecimal digits
    checkpoint   the bytes that an earlier attempt of the run saved last, or None
    log          a logging.Logger whose lines go to the log of the run
    """

    def __init__(
        self,
        *,
        run_id: str = "0" * 26,
        attempt: int = 1,
        job_id: str = "",
        fire_time: Optional[datetime.datetime] = None,
        shard_index: int = 0,
        shard_total: int = 1,
        parameters: Optional[Dict[str, Any]] = None,
        env: Optional[Dict[str, str]] = None,
        trace_id: str = "",
        checkpoint: Optional[bytes] = None,
        write: Callable[[str, bool], None] = lambda text, error: None,
        save: Callable[[Optional[str], Optional[bytes]], None] = lambda progress, checkpoint: None,
        deadline: float = float("inf"),
        lease_end: float = float("inf"),
    ) -> None:
        self.run_id = run_id
        self.attempt = attempt
        self.job_id = job_id
        self.fire_time = fire_time or datetime.datetime.now(datetime.timezone.utc)
        self.shard_index = shard_index
        self.shard_total = shard_total
        self.parameters = dict(parameters or {})
        self.env = dict(env or {})
        self.trace_id = trace_id
        self.checkpoint = checkpoint
        self._write = write
        self._save = save
        self._deadline = deadline
        self._lease_end = lease_end
        self._asked = threading.Condition()
        self._why: Optional[type] = None
        self._log: Optional[logging.Logger] = None

    @property
    def log(self) -> logging.Logger:
        # Made when it is used: it costs more than everything else here.
        if self._log is None:
            log = logging.Logger("carillon.run")
            log.addHandler(_RunLog(self._write))
            self._log = log
        return self._log

    def print(self, text: Any) -> None:
        """Writes lines to the standard output of the run."""
        self._write(str(text), False)

    def progress(self, done: float, of: float = 100, text: str = "") -> None:
        """Shows that `done` of `of` is done, with a text of up to 500 characters. It costs little: call it as often as you like.

        Raises ValueError if that is not between 0 and 100 %.
        """
        if not (math.isfinite(of) and of > 0 and 0 <= done <= of):
            raise ValueError(f"{done} of {of} is not between 0 and 100 %")
        text = str(text)[:_PROGRESS_CHARACTERS_MAX].encode("utf-8", "replace").decode("utf-8").replace("\0", "")
        # Escaped characters beyond ASCII could exceed the 4 KiB that the executor takes.
        self._save(json.dumps({"percent": 100 * done / of, "text": text}, ensure_ascii=False), None)

    def save_checkpoint(self, data: bytes) -> None:
        """Keeps up to 1 MiB for the next attempt of the run, which finds the latest such bytes in `checkpoint`.

        They are in the database a few seconds later, and in any case before the attempt is over, unless its process
        or its host ends. Raises TypeError for anything but bytes, and ValueError for more than 1 MiB.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"a checkpoint is bytes, not {type(data).__name__}")
        data = bytes(data)
        if len(data) > CHECKPOINT_BYTES_MAX:
            raise ValueError(f"a checkpoint of {len(data)} bytes; at most {CHECKPOINT_BYTES_MAX} are allowed")
        self._save(None, data)

    @property
    def stopping(self) -> bool:
        """True if check() would raise."""
        return self._reason() is not None

    def check(self) -> None:
        """Raises Cancelled, TimedOut, LeaseLost or Draining if the function should stop. Call it often."""
        reason = self._reason()
        if reason is not None:
            raise reason(reason.__doc__)

    def wait(self, seconds: float) -> None:
        """Sleeps for `seconds`, but raises as check() does as soon as the function should stop.

        It blocks its thread. In a coroutine use asyncio.sleep() and check().
        """
        end = time.monotonic() + seconds
        while True:
            self.check()
            now = time.monotonic()
            if now >= end:
                return
            # A lease can only be extended, so nothing but _ask() makes an earlier stop necessary.
            until = min(end, self._deadline, self._lease_end - LEASE_MARGIN_S, now + _SLEEP_MAX_S)
            with self._asked:
                if self._why is None:
                    self._asked.wait(max(until - now, 0))

    # ---- for the worker

    def _reason(self) -> Optional[type]:
        if self._why is not None:
            return self._why
        now = time.monotonic()
        if now >= self._deadline:
            return TimedOut
        if now >= self._lease_end - LEASE_MARGIN_S:
            return LeaseLost
        return None

    def _ask(self, why: type) -> None:
        with self._asked:
            if self._why is None:
                self._why = why
            self._asked.notify_all()

    def _renew(self, lease_end: float) -> None:
        self._lease_end = max(self._lease_end, lease_end)
