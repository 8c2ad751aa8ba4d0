"""The worker: attaches to the executor of this host and calls the functions."""

import collections
import datetime
import functools
import json
import logging
import os
import queue
import random
import re
import signal
import threading
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple, TypeVar

import grpc

from . import capture, outcome
from . import worker_pb2 as pb
from .outbox import ERROR_BYTES_MAX, LINE_BYTES_MAX, Outbox, cut, pieces
from .run import Cancelled, Draining, Run, TimedOut
from .threads import Threads

PROTOCOL = 1
SDK = "python 0.1.0"
DEFAULT_SOCKET = "/run/carillon/worker.sock"
SOCKET_VARIABLE = "CARILLON_WORKER_SOCKET"

_METHOD = "/carillon.worker.v1.WorkerService/Attach"
_APP = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}\Z")
_HANDLER = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}\Z")
_HANDLERS_MAX = 256
_VERSION_BYTES_MAX = 64
_RECENT_TICKETS_MAX = 10_000
_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 5.0
_LAST_WORDS_S = 10.0  # for the confirmation of the last results
_ANSWER_S = 2.0  # for the answer to `draining`, which an older executor does not give
_WARN_EVERY_S = 60.0
_MESSAGE_BYTES_MAX = 16 << 20
_INSTANCE_BYTES = 16
_GATHER_S = 0.002  # before each message, for what else there is to send: a message costs more than what it carries
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_FINAL = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
)

_log = logging.getLogger("carillon")

Function = Callable[[Run], Any]
_F = TypeVar("_F", bound=Function)


class Refused(Exception):
    """The executor does not take this worker; the message says why."""


class Worker:
    """Offers functions of this process as handlers "app/name".

    app      [a-z0-9][a-z0-9_-]{0,62}
    version  of the application, for people
    socket   of the executor of this host; else $CARILLON_WORKER_SOCKET, else /run/carillon/worker.sock
    capture  if the log of a run also has what its function prints and logs by `logging`; from start() to drain(),
             sys.stdout and sys.stderr are replaced

    Raises ValueError for another app. An attempt has a thread for itself. A process may have several workers. A worker
    must not be used in a process that was forked from its own.
    """

    def __init__(self, app: str, *, version: str = "", socket: Optional[str] = None, capture: bool = True) -> None:
        if not _APP.match(app):
            raise ValueError(f"{app!r} is not the name of an application ([a-z0-9][a-z0-9_-]{{0,62}})")
        self._app = app
        self._version = cut(version, _VERSION_BYTES_MAX)
        self._socket = socket or os.environ.get(SOCKET_VARIABLE) or DEFAULT_SOCKET
        self._capture = capture
        self._handlers: Dict[str, Tuple[Function, int]] = {}  # does not change after start()
        # Tells the executor the workers of this process apart, and also the new worker from the old one after the
        # program has replaced itself by exec.
        self._instance = os.urandom(_INSTANCE_BYTES)
        # An attempt that Hello names neither as held nor as done never began. So one lock guards the acceptance of a
        # Run, the break of a session, the end of a function and the making of Hello.
        self._changed = threading.Condition(threading.RLock())
        # ---- guarded by _changed
        self._session: Optional[int] = None  # None: no session, and no Run is obeyed
        self._streams = False  # there is a stream, perhaps without a session yet
        self._call: Any = None
        self._held: Dict[bytes, Run] = {}  # the attempts whose functions run
        self._outbox = Outbox()
        self._masked: Dict[bytes, List[str]] = {}
        self._recent: "collections.OrderedDict[bytes, None]" = collections.OrderedDict()
        self._draining = False
        self._told_draining: Optional[float] = None  # to the current session: when, by time.monotonic()
        self._drained = False  # the executor has answered: no Run of the current session is on its way
        self._stopping = False  # the time to drain has ended: what comes now does not begin
        self._stopped = False
        self._refused: Optional[Refused] = None
        self._captures = False  # the output of this process
        # ----
        self._threads = Threads()
        self._link: Optional[threading.Thread] = None
        # Ends the wait in run(). Only SimpleQueue may be used in a signal handler: its put() is reentrant.
        self._wake: "queue.SimpleQueue[None]" = queue.SimpleQueue()

    def handler(self, name: str, *, concurrency: int = 1) -> Callable[[_F], _F]:
        """Registers the decorated function. Up to `concurrency` attempts run at once in this process.

        The function gets a Run. Its result, a dict or None, has the outputs of the run; an exception fails the
        attempt. It may be a coroutine function. Raises ValueError for a wrong or repeated name and for a concurrency
        beyond 1 to 10,000, TypeError for a generator, and RuntimeError after the start of the worker.
        """
        if not isinstance(name, str) or not _HANDLER.match(name):
            raise ValueError(f"{name!r} is not the name of a handler ([a-z0-9][a-z0-9_.-]{{0,62}})")
        if not 1 <= concurrency <= 10_000:
            raise ValueError("concurrency must be 1 to 10,000")

        def register(function: _F) -> _F:
            outcome.refuse_generator(function)
            if self._link is not None:
                raise RuntimeError("register handlers before the worker starts")
            if name in self._handlers:
                raise ValueError(f"the handler {name} is registered twice")
            if len(self._handlers) == _HANDLERS_MAX:
                raise ValueError(f"a worker has at most {_HANDLERS_MAX} handlers")
            self._handlers[name] = (function, concurrency)
            return function

        return register

    def start(self) -> None:
        """Attaches in the background, and again whenever the connection is lost. Raises RuntimeError if repeated."""
        if self._link is not None:
            raise RuntimeError("the worker was started before")
        if self._capture:
            with self._changed:
                self._captures = True
            capture.install()
        self._link = threading.Thread(target=self._stay_attached, name="carillon-worker", daemon=True)
        self._link.start()

    def run(self, drain_timeout: float = 30.0) -> None:
        """Works until SIGTERM or SIGINT, then drains for up to `drain_timeout` seconds. Call it in the main thread.

        Raises Refused with the executor's message if the executor does not take this worker.
        """
        before = {}
        try:
            for number in (signal.SIGTERM, signal.SIGINT):
                before[number] = signal.signal(number, lambda *_: self._wake.put(None))
            self.start()
            self._wake.get()
            self._raise_refused()
            self.drain(drain_timeout)
            self._raise_refused()
        finally:
            self._end_capture()
            for number, handler in before.items():
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def drain(self, timeout: float = 30.0) -> None:
        """Takes no further runs, and waits until all functions have returned.

        After `timeout` seconds check() raises Draining in those that still run. Returns when all results were
        confirmed, or 10 s later.
        """
        with self._changed:
            self._draining = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._held or self._refused, timeout)
            self._stopping = True
            for run in self._held.values():
                run._ask(Draining)
            self._wait_until_drained()
            self._stopped = True
            self._changed.notify_all()
            call = self._call
        if call is not None:
            call.cancel()
        if self._link is not None:
            self._link.join(_LAST_WORDS_S)
        self._end_capture()
        self._wake.put(None)

    def _end_capture(self) -> None:
        with self._changed:
            ends, self._captures = self._captures, False
        if ends:
            capture.uninstall()

    def _wait_until_drained(self) -> None:
        begun = time.monotonic()
        end = begun + _LAST_WORDS_S
        while not self._refused:
            now = time.monotonic()
            answer_due = min((self._told_draining or begun) + _ANSWER_S, end)
            if now >= end or self._is_drained(now >= answer_due):
                return
            self._changed.wait((answer_due if now < answer_due else end) - now)

    def _is_drained(self, answer_overdue: bool) -> bool:
        """True if nothing is on its way from this worker or to it: a Run that it never read would count as lost."""
        nothing_comes = not self._streams or self._drained or answer_overdue
        return nothing_comes and not self._held and self._outbox.all_confirmed()

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
            welcomed, error = False, None
            try:
                welcomed, error = self._attach()
            except Exception:  # the worker never gives up
                _log.exception("the connection to the executor failed; trying again")
            if error is not None and error.code() in _FINAL and self._end_refused(error.details()):
                return
            if welcomed:
                wait = _FIRST_WAIT_S
            elif time.monotonic() >= warned + _WARN_EVERY_S or warned == 0.0:
                warned = time.monotonic()
                _log.warning("no executor at %s: %s", self._socket, error.details() if error else "closed")
            with self._changed:
                self._changed.wait_for(lambda: self._stopped, wait * random.uniform(0.7, 1.0))
            wait = min(wait * 2, _LONGEST_WAIT_S)

    def _end_refused(self, details: str) -> bool:
        """Ends the worker, unless it has something to lose: the executor may change its mind."""
        with self._changed:
            if self._held or not self._outbox.all_confirmed():
                return False
            self._refused = Refused(details)
            self._changed.notify_all()
        self._wake.put(None)
        _log.error("the executor refuses this worker: %s", details)
        return True

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
                self._streams = True
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
                self._streams = False
                self._call = None
                over.set()
                self._changed.notify_all()
            channel.close()

    def _hello(self) -> pb.FromWorker:
        hello = pb.Hello(
            protocol=PROTOCOL, app=self._app, version=self._version, sdk=SDK, instance=self._instance
        )
        for name, (_, concurrency) in sorted(self._handlers.items()):
            hello.handlers.add(name=name, concurrency=concurrency)
        hello.held.extend(self._held)
        self._outbox.describe(hello)
        for ticket, values in self._masked.items():
            hello.masked.add(ticket=ticket, values=values)
        self._told_draining = None  # the executor reads only Hello in the first message
        self._drained = False
        return pb.FromWorker(hello=hello)

    def _messages(self, first: pb.FromWorker, over: threading.Event) -> Iterator[pb.FromWorker]:
        """The messages of a session. gRPC runs this on its sending thread, and asks for one after the other."""
        yield first
        while True:
            with self._changed:
                while not over.is_set() and not self._has_news():
                    self._changed.wait(self._outbox.next_due() if self._session is not None else None)
                gathers = not self._outbox.has_full_batch()
            if gathers:
                over.wait(_GATHER_S)
            if over.is_set():
                return
            with self._changed:
                message = pb.FromWorker(draining=self._draining)
                if self._draining and self._told_draining is None:
                    self._told_draining = time.monotonic()
                    self._changed.notify_all()
                self._outbox.take_batch(message)
            yield message

    def _has_news(self) -> bool:
        if self._session is None:
            return False
        return self._outbox.has_batch() or (self._draining and self._told_draining is None)

    def _take(self, message: pb.ToWorker) -> None:
        with self._changed:
            if message.HasField("welcome"):
                self._session = message.welcome.session
                self._changed.notify_all()
            calls = [call for call in map(self._begin, message.runs) if call is not None]
            for lease in message.leases:
                for ticket in lease.tickets:
                    if ticket in self._held:
                        self._held[ticket]._renew(lease.end_us / 1e6)
            for ask in message.asks:
                why = {pb.Ask.CANCEL: Cancelled, pb.Ask.TIMEOUT: TimedOut}.get(ask.why)
                if why is not None and ask.ticket in self._held:
                    self._held[ask.ticket]._ask(why)
            for ticket in message.done_stored:
                self._outbox.confirm(ticket)
                self._masked.pop(ticket, None)
            self._drained = self._drained or message.drained
            if message.done_stored or message.drained:
                self._changed.notify_all()
        for ticket, call in calls:
            try:
                self._threads.call(call)
            except RuntimeError as error:
                self._end(ticket, pb.Done.FAILED, f"the function was not called: {error}")

    # ---- attempts

    def _begin(self, message: pb.Run) -> Optional[Tuple[bytes, Callable[[], None]]]:
        """Returns the attempt and what is to be called for it, or None."""
        ticket = message.ticket
        if message.session != self._session:
            return None  # the executor has concluded from Hello that this attempt never began
        if ticket in self._held or ticket in self._recent or self._outbox.is_unconfirmed(ticket):
            return None
        self._recent[ticket] = None
        if len(self._recent) > _RECENT_TICKETS_MAX:
            self._recent.popitem(last=False)
        if message.masked:
            self._masked[ticket] = list(message.masked)
        if message.handler not in self._handlers:
            return self._end(ticket, pb.Done.FAILED, f"this worker has no handler {message.handler}")
        if self._stopping:
            text = "the worker is stopping; the function was not called"
            return self._end(ticket, pb.Done.LOST, text, never_began=True)
        try:
            run = self._run_of(message)
        except Exception as error:
            text = f"the function was not called: {type(error).__name__}: {outcome.message_of(error)}"
            return self._end(ticket, pb.Done.FAILED, text)
        self._held[ticket] = run
        return ticket, functools.partial(self._work, ticket, self._handlers[message.handler][0], run)

    def _run_of(self, message: pb.Run) -> Run:
        ticket = message.ticket
        parameters = json.loads(message.parameters_json or "{}")
        if not isinstance(parameters, dict):
            raise ValueError("the parameters are not an object")
        return Run(
            run_id=message.run_id,
            attempt=message.attempt,
            job_id=message.job_id,
            fire_time=_EPOCH + datetime.timedelta(microseconds=message.fire_wall_us),
            shard_index=message.shard_index,
            shard_total=message.shard_total,
            parameters=parameters,
            env=dict(message.env),
            trace_id=message.trace_id,
            checkpoint=message.checkpoint if message.HasField("checkpoint") else None,
            write=lambda text, error: self._write(ticket, text, error),
            save=lambda progress, checkpoint: self._save(ticket, progress, checkpoint),
            deadline=message.deadline_us / 1e6,
            lease_end=message.lease_end_us / 1e6,
        )

    def _work(self, ticket: bytes, function: Function, run: Run) -> None:
        """Calls the function of an attempt. Runs on a thread that the attempt has for itself."""
        threading.current_thread().name = f"carillon-{run.run_id}"
        fields: Dict[str, Any] = {}
        try:
            fields["outputs"], problem = outcome.kept(outcome.call(function, run, self._capture))
            state = pb.Done.COMPLETED
            if problem:
                self._write(ticket, f"carillon: {problem}", True)
        except BaseException as error:  # also SystemExit: only this attempt ends with it
            state = outcome.state_of(error)
            fields = {"error": outcome.message_of(error)}
            if state == pb.Done.FAILED:
                fields = outcome.failure_of(error)
                self._write(ticket, _trace_of(error), True)
        self._end(ticket, state, **fields)

    def _end(self, ticket: bytes, state: "pb.Done.State", error: str = "", **fields: Any) -> None:
        done = pb.Done(ticket=ticket, state=state, error=cut(error, ERROR_BYTES_MAX), **fields)
        with self._changed:
            self._held.pop(ticket, None)
            self._outbox.add_end(done)
            self._changed.notify_all()

    def _write(self, ticket: bytes, text: str, error: bool) -> None:
        lines = text.split("\n")
        if len(lines) > 1 and not lines[-1]:
            lines.pop()
        lines = [piece for line in lines for piece in pieces(line.rstrip("\r"), LINE_BYTES_MAX)]
        with self._changed:
            if ticket not in self._held:
                return  # from a thread that outlives its attempt
            for line in lines:
                self._outbox.add_line(ticket, line, error)
            self._changed.notify_all()

    def _save(self, ticket: bytes, progress: Optional[str], checkpoint: Optional[bytes]) -> None:
        with self._changed:
            if ticket not in self._held:
                return  # from a thread that outlives its attempt
            if progress is not None:
                self._outbox.add_progress(ticket, progress)
            if checkpoint is not None:
                self._outbox.add_checkpoint(ticket, checkpoint)
            self._changed.notify_all()


def _trace_of(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:
        return f"{type(error).__name__} (its stack trace cannot be shown)"
