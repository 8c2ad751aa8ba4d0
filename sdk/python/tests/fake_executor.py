"""An executor that does only what a test tells it, on a unix socket."""

import queue
import threading
from concurrent import futures

import grpc

from carillon import worker_pb2 as pb

LIMIT_S = 60
FAR_US = 10**15  # of CLOCK_MONOTONIC: 31 years after the start of the host


class FakeExecutor:
    """Welcomes workers, and confirms ends only when confirm() is called.

    `refusal` is None or (status code, text), which ends each new stream. Only a newer executor answers `draining`, so
    `answers_draining` may be false. `lines` has the log lines so far, as
    (ticket, text).
    """

    def __init__(self, path):
        self.session = 0
        self.refusal = None
        self.answers_draining = True
        self.lines = []
        self._hellos = queue.Queue()
        self._messages = queue.Queue()
        self._ends = []
        self._out = None
        self._refused = queue.Queue()
        self._server = grpc.server(futures.ThreadPoolExecutor(8))
        handler = grpc.stream_stream_rpc_method_handler(
            self._attach, request_deserializer=pb.FromWorker.FromString,
            response_serializer=pb.ToWorker.SerializeToString,
        )
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("carillon.worker.v1.WorkerService", {"Attach": handler}),)
        )
        self._server.add_insecure_port("unix:" + path)
        self._server.start()

    def _attach(self, messages, context):
        if self.refusal:
            self._refused.put(None)
            context.abort(*self.refusal)
        self.session += 1
        out = self._out = queue.Queue()
        out.put(pb.ToWorker(welcome=pb.Welcome(session=self.session)))

        def read():
            answered = False
            try:
                for message in messages:
                    if message.draining and self.answers_draining and not answered:
                        answered = True
                        out.put(pb.ToWorker(drained=True))
                    (self._hellos if message.HasField("hello") else self._messages).put(message)
            except Exception:  # the stream broke
                pass
            out.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            message = out.get()
            if message is None:
                return
            yield message

    # ---- to the worker

    def send(self, **fields):
        self._out.put(pb.ToWorker(**fields))

    def run(self, ticket, session=None, **facts):
        fields = dict(session=session or self.session, ticket=ticket, handler="work", run_id="R", attempt=1,
                      deadline_us=FAR_US, lease_end_us=FAR_US)
        fields.update(facts)
        self.send(runs=[pb.Run(**fields)])

    def ask(self, ticket, why):
        self.send(asks=[pb.Ask(ticket=ticket, why=why)])

    def confirm(self, *tickets):
        self.send(done_stored=tickets)

    def drop(self):
        """Breaks the stream. The worker then connects again."""
        self._out.put(None)

    def stop(self):
        self._server.stop(0).wait(LIMIT_S)

    # ---- from the worker

    def hello(self):
        return self._hellos.get(timeout=LIMIT_S).hello

    def message(self):
        """Returns the next message that is not Hello, and notes its lines."""
        message = self._messages.get(timeout=LIMIT_S)
        self.lines += [(line.ticket, line.text) for line in message.logs]
        return message

    def done(self):
        """Returns the next Done."""
        while not self._ends:
            self._ends += self.message().done
        return self._ends.pop(0)

    def wait_for_draining(self):
        while not self.message().draining:
            pass

    def wait_for_refused(self):
        self._refused.get(timeout=LIMIT_S)
