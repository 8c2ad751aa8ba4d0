"""The worker: attaches to the executor of this host and calls the functions."""

import asyncio
import collections
import datetime
import inspect
import json
import logging
import os
import random
import re
import signal
import threading
import time
import traceback
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

import grpc

from . import worker_pb2 as pb
from .run import Cancelled, Draining, Run, Stopped, TimedOut

PROTOCOL = 1
SDK = "python 0.1.0"
DEFAULT_SOCKET = "/run/carillon/worker.sock"
SOCKET_VARIABLE = "CARILLON_WORKER_SOCKET"

_METHOD = "/carillon.worker.v1.WorkerService/Attach"
_BATCH = 256  # items of one kind in a message
_LOG_BYTES_MAX = 4 << 20  # of lines that wait to be sent
_LINE_BYTES_MAX = 16 << 10
_OUTPUTS_BYTES_MAX = 16 << 10
_OUTPUTS_MAX = 64
_OUTPUT_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0
_LAST_WORDS_S = 10.0  # for the confirmation of the last results
_WARN_EVERY_S = 60.0
_MESSAGE_BYTES_MAX = 16 << 20
_FINAL = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
)

_log = logging.getLogger("carillon")

Function = Callable[[Run], Any]


class Refused(Exception):
    """The executor does not take this worker; the message says why."""


class _Attempt:
    def __init__(self, run: Run, masked: List[str]) -> None:
        self.run = run
        self.masked = masked


class Worker:
    """Offers functions of this process as handlers "app/name".

    app      [a-z0-9][a-z0-9_-]{0,62}
    version  of the application, for people
    socket   of the executor of this host; else $CARILLON_WORKER_SOCKET, else /run/carillon/worker.sock

    Each attempt gets a thread of its own. A worker must not be used in a process forked from its own.
    """

    def __init__(self, app: str, *, version: str = "", socket: Optional[str] = None) -> None:
        self._app = app
        self._version = version
        self._socket = socket or os.environ.get(SOCKET_VARIABLE) or DEFAULT_SOCKET
        self._handlers: Dict[str, Tuple[Function, int]] = {}
        self._changed = threading.Condition(threading.RLock())
        # ---- guarded by _changed
        self._session: Optional[int] = None  # None: no session, and no Run is obeyed
        self._call: Any = None
        self._held: Dict[bytes, _Attempt] = {}
        self._done: Dict[bytes, pb.Done] = {}  # until confirmed
        self._unsent_done: Deque[bytes] = collections.deque()
        self._masked: Dict[bytes, List[str]] = {}
        self._logs: Deque[pb.LogLine] = collections.deque()
        self._log_bytes = 0
        self._dropped: Dict[bytes, int] = {}
        self._draining = False
        self._told_draining = False
        self._stopped = False
        self._refused: Optional[Refused] = None
        # ----
        self._link: Optional[threading.Thread] = None

    def handler(self, name: str, *, concurrency: int = 1) -> Callable[[Function], Function]:
        """Registers the decorated function. Up to `concurrency` attempts run at once in this process.

        The function gets a Run. What it returns, a dict or None, are the outputs of the run; an exception fails the
        attempt. It may be a coroutine function.
        """

        def register(function: Function) -> Function:
            if name in self._handlers:
                raise ValueError(f"the handler {name} is registered twice")
            if not 1 <= concurrency <= 10_000:
                raise ValueError("concurrency must be 1 to 10,000")
            self._handlers[name] = (function, concurrency)
            return function

        return register

    def start(self) -> None:
        """Attaches in the background, and again whenever the connection is lost."""
        if self._link is not None:
            raise RuntimeError("the worker was started before")
        self._link = threading.Thread(target=self._stay_attached, name="carillon-worker", daemon=True)
        self._link.start()

    def run(self, drain_timeout: float = 30.0) -> None:
        """Works until SIGTERM or SIGINT, then drains. Call it in the main thread. Raises Refused."""
        asked = threading.Event()
        before = {}
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, lambda *_: asked.set())
        try:
            self.start()
            while not asked.wait(0.2):
                self._raise_refused()
            self.drain(drain_timeout)
            self._raise_refused()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def drain(self, timeout: float = 30.0) -> None:
        """Takes no further runs, and waits until all functions have returned.

        After `timeout` seconds check() raises Draining in those that still run. Returns when their results were
        confirmed, or 10 s later.
        """
        with self._changed:
            self._draining = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held or self._refused, timeout)
            for attempt in self._held.values():
                attempt.run._ask(Draining)
            self._changed.wait_for(lambda: not (self._held or self._done) or self._refused, _LAST_WORDS_S)
            self._stopped = True
            self._changed.notify_all()
            call = self._call
        if call is not None:
            call.cancel()
        if self._link is not None:
            self._link.join(_LAST_WORDS_S)

    # ---- the connection

    def _raise_refused(self) -> None:
        with self._changed:
            if self._refused is not None:
                raise self._refused

    def _stay_attached(self) -> None:
        wait = _FIRST_WAIT_S
        warned = 0.0
        while True:
            with self._changed:
                if self._stopped or self._refused:
                    return
            welcomed, error = self._attach()
            if error is not None and error.code() in _FINAL:
                with self._changed:
                    self._refused = Refused(error.details())
                    self._changed.notify_all()
                _log.error("the executor refuses this worker: %s", error.details())
                return
            if welcomed:
                wait = _FIRST_WAIT_S
            elif time.monotonic() >= warned + _WARN_EVERY_S or warned == 0.0:
                warned = time.monotonic()
                _log.warning("no executor at %s: %s", self._socket, error.details() if error else "closed")
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, wait * random.uniform(0.7, 1.0))
            wait = min(wait * 2, _LONGEST_WAIT_S)

    def _attach(self) -> Tuple[bool, Optional[grpc.RpcError]]:
        """One session. Returns whether it was welcomed, and the error that ended it."""
        channel = grpc.insecure_channel(
            "unix:" + self._socket,
            options=[
                ("grpc.max_receive_message_length", _MESSAGE_BYTES_MAX),
                ("grpc.max_send_message_length", _MESSAGE_BYTES_MAX),
                ("grpc.default_authority", "localhost"),
                ("grpc.use_local_subchannel_pool", 1),
            ],
        )
        over = threading.Event()
        welcomed = False
        try:
            with self._changed:
                first = self._hello()
            attach = channel.stream_stream(
                _METHOD,
                request_serializer=pb.FromWorker.SerializeToString,
                response_deserializer=pb.ToWorker.FromString,
            )
            call = attach(self._messages(first, over))
            with self._changed:
                self._call = call
                if self._stopped:
                    call.cancel()
            for message in call:
                welcomed = True
                self._take(message)
            return welcomed, None
        except grpc.RpcError as error:
            return welcomed, error
        finally:
            with self._changed:
                self._session = None
                self._call = None
                over.set()
                self._changed.notify_all()
            channel.close()

    def _hello(self) -> pb.FromWorker:
        hello = pb.Hello(protocol=PROTOCOL, app=self._app, version=self._version[:64], sdk=SDK)
        for name, (_, concurrency) in sorted(self._handlers.items()):
            hello.handlers.add(name=name, concurrency=concurrency)
        hello.held.extend(self._held)
        hello.done.extend(self._done.values())
        for ticket, values in self._masked.items():
            hello.masked.add(ticket=ticket, values=values)
        self._unsent_done.clear()
        self._told_draining = False
        return pb.FromWorker(hello=hello)

    def _messages(self, first: pb.FromWorker, over: threading.Event):
        """What is sent in a session. Runs on a thread of gRPC."""
        yield first
        while True:
            with self._changed:
                self._changed.wait_for(lambda: over.is_set() or self._has_news())
                if over.is_set():
                    return
                message = self._next_message()
            yield message

    def _has_news(self) -> bool:
        if self._session is None:
            return False
        return bool(self._logs or self._dropped or self._unsent_done) or (self._draining and not self._told_draining)

    def _next_message(self) -> pb.FromWorker:
        message = pb.FromWorker(draining=self._draining)
        self._told_draining = self._draining
        while self._logs and len(message.logs) < _BATCH:
            line = self._logs.popleft()
            self._log_bytes -= len(line.text)
            message.logs.append(line)
        if self._logs:
            return message  # the lines of an attempt go before its end
        for ticket, lines in self._dropped.items():
            text = f"{lines} lines were dropped, because they came faster than they could be sent"
            message.logs.add(ticket=ticket, wall_us=time.time_ns() // 1000, error=True, text=text)
        self._dropped.clear()
        while self._unsent_done and len(message.done) < _BATCH:
            done = self._done.get(self._unsent_done.popleft())
            if done is not None:
                message.done.append(done)
        return message

    def _take(self, message: pb.ToWorker) -> None:
        with self._changed:
            if message.HasField("welcome"):
                self._session = message.welcome.session
                self._changed.notify_all()
            for lease in message.leases:
                for ticket in lease.tickets:
                    if ticket in self._held:
                        self._held[ticket].run._renew(lease.end_us / 1e6)
            for run in message.runs:
                self._begin(run)
            for ask in message.asks:
                if ask.ticket in self._held:
                    why = Cancelled if ask.why == pb.Ask.CANCEL else TimedOut
                    self._held[ask.ticket].run._ask(why)
            for ticket in message.done_stored:
                self._done.pop(ticket, None)
                self._masked.pop(ticket, None)
            if message.done_stored:
                self._changed.notify_all()

    # ---- attempts

    def _begin(self, message: pb.Run) -> None:
        ticket = message.ticket
        if message.session != self._session or ticket in self._held or ticket in self._done:
            return
        run = Run(
            run_id=message.run_id,
            attempt=message.attempt,
            job_id=message.job_id,
            fire_time=datetime.datetime.fromtimestamp(message.fire_wall_us / 1e6, datetime.timezone.utc),
            shard_index=message.shard_index,
            shard_total=message.shard_total,
            parameters=json.loads(message.parameters_json or "{}"),
            env=dict(message.env),
            trace_id=message.trace_id,
            write=lambda text, error: self._write(ticket, text, error),
            deadline=message.deadline_us / 1e6,
            lease_end=message.lease_end_us / 1e6,
        )
        self._held[ticket] = _Attempt(run, list(message.masked))
        if message.masked:
            self._masked[ticket] = list(message.masked)
        threading.Thread(
            target=self._call_function,
            args=(ticket, message.handler, run),
            name=f"carillon-{message.run_id}",
            daemon=True,
        ).start()

    def _call_function(self, ticket: bytes, name: str, run: Run) -> None:
        done = pb.Done(ticket=ticket, state=pb.Done.FAILED)
        try:
            if name not in self._handlers:
                raise LookupError(f"this worker has no handler {name}")
            result = self._handlers[name][0](run)
            if inspect.isawaitable(result):
                result = asyncio.run(_await(result))
            for output, value in _outputs_of(result).items():
                done.outputs[output] = value
            done.state = pb.Done.COMPLETED
        except Stopped as stopped:
            done.outputs.clear()
            done.state = (
                pb.Done.CANCELLED
                if isinstance(stopped, Cancelled)
                else pb.Done.TIMED_OUT
                if isinstance(stopped, TimedOut)
                else pb.Done.LOST
            )
            done.error = str(stopped)
        except BaseException as error:  # also SystemExit: only this attempt ends with it
            done.outputs.clear()
            done.error = _cut(f"{type(error).__name__}: {error}", 4096)
            self._write(ticket, traceback.format_exc(), True)
        with self._changed:
            self._done[ticket] = done
            self._held.pop(ticket, None)
            self._unsent_done.append(ticket)
            self._changed.notify_all()

    def _write(self, ticket: bytes, text: str, error: bool) -> None:
        now = time.time_ns() // 1000
        with self._changed:
            for line in text.splitlines() or [""]:
                line = _cut(line, _LINE_BYTES_MAX)
                if self._log_bytes + len(line) > _LOG_BYTES_MAX:
                    self._dropped[ticket] = self._dropped.get(ticket, 0) + 1
                    continue
                self._log_bytes += len(line)
                self._logs.append(pb.LogLine(ticket=ticket, wall_us=now, error=error, text=line))
            self._changed.notify_all()


async def _await(result: Any) -> Any:
    return await result


def _cut(text: str, most: int) -> str:
    """The text in at most `most` bytes of UTF-8; what is no text, such as half a surrogate, becomes "?"."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def _outputs_of(result: Any) -> Dict[str, str]:
    """The outputs as texts: other values than texts are written as JSON."""
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise TypeError(f"a handler returns a dict of outputs or None, not {type(result).__name__}")
    outputs = {}
    for name, value in result.items():
        if not isinstance(name, str) or not _OUTPUT_NAME.match(name):
            raise ValueError(f"{name!r} is no name of an output")
        outputs[name] = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
    size = sum(len(name) + len(value.encode("utf-8")) for name, value in outputs.items())
    if size > _OUTPUTS_BYTES_MAX or len(outputs) > _OUTPUTS_MAX:
        raise ValueError(f"{len(outputs)} outputs of {size} bytes; at most {_OUTPUTS_MAX} of 16 KiB in all")
    return outputs
