"""The worker against a stand-in for the executor: what cannot be arranged with a real one."""

import os
import queue
import sys
import tempfile
import threading
import time
import unittest
from concurrent import futures

import grpc

from carillon import Refused, Stopped, Worker
from carillon import testing
from carillon import worker_pb2 as pb

LIMIT_S = 10
FAR_US = 10**15


class FakeExecutor:
    """Speaks the protocol under the control of a test. `received` gets (session, message)."""

    def __init__(self, path):
        self.received = queue.Queue()
        self.ends = []
        self.session = 0
        self.out = None
        self.refuse = None
        self.server = grpc.server(futures.ThreadPoolExecutor(8))
        handler = grpc.stream_stream_rpc_method_handler(
            self.attach, request_deserializer=pb.FromWorker.FromString, response_serializer=pb.ToWorker.SerializeToString
        )
        self.server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("carillon.worker.v1.WorkerService", {"Attach": handler}),)
        )
        self.server.add_insecure_port("unix:" + path)
        self.server.start()

    def attach(self, messages, context):
        if self.refuse:
            context.abort(grpc.StatusCode.PERMISSION_DENIED, self.refuse)
        self.session += 1
        session, out = self.session, queue.Queue()
        self.out = out
        out.put(pb.ToWorker(welcome=pb.Welcome(session=session)))

        def read():
            try:
                for message in messages:
                    self.received.put((session, message))
            except Exception:
                pass
            out.put(None)

        threading.Thread(target=read, daemon=True).start()
        while True:
            message = out.get()
            if message is None:
                return
            yield message

    def hello(self):
        session, message = self.received.get(timeout=LIMIT_S)
        assert message.HasField("hello"), message
        return message.hello

    def run(self, ticket, session=None, handler="work", **facts):
        fields = dict(session=session or self.session, ticket=ticket, handler=handler, run_id="R", attempt=1,
                      deadline_us=FAR_US, lease_end_us=FAR_US)
        self.out.put(pb.ToWorker(runs=[pb.Run(**dict(fields, **facts))]))

    def done(self):
        """The next Done; log lines before it are kept in `lines`."""
        self.lines = []
        while not self.ends:
            _, message = self.received.get(timeout=LIMIT_S)
            self.lines += [line.text for line in message.logs]
            self.ends += message.done
        return self.ends.pop(0)

    def drop(self):
        self.out.put(None)


class WorkerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = os.path.join(self.folder.name, "w.sock")
        self.executor = FakeExecutor(path)
        self.addCleanup(lambda: self.executor.server.stop(0))
        self.worker = Worker("app", socket=path)
        self.calls = queue.Queue()
        self.gate = threading.Event()

    def begin(self, function):
        def work(run):
            self.calls.put(run)
            return function(run)

        self.worker.handler("work", concurrency=4)(work)
        self.worker.start()
        return self.executor.hello()

    def held(self, run):
        assert self.gate.wait(LIMIT_S)

    def test_hello_result_and_confirmation(self):
        hello = self.begin(lambda run: {"n": 1, "t": "x"})
        self.assertEqual((hello.app, hello.handlers[0].name, hello.handlers[0].concurrency), ("app", "work", 4))
        self.executor.run(b"1", parameters_json='{"a": true}', env={"B": "c"})
        done = self.executor.done()
        self.assertEqual((done.state, dict(done.outputs)), (pb.Done.COMPLETED, {"n": "1", "t": "x"}))
        run = self.calls.get(timeout=LIMIT_S)
        self.assertEqual((run.parameters, run.env), ({"a": True}, {"B": "c"}))
        self.executor.out.put(pb.ToWorker(done_stored=[b"1"]))
        self.executor.drop()
        self.wait_for_hello(lambda hello: not hello.done and not hello.held)

    def wait_for_hello(self, is_so):
        end = time.monotonic() + LIMIT_S
        while time.monotonic() < end:
            hello = self.executor.hello()
            if is_so(hello):
                return hello
            self.executor.drop()
        self.fail("no such Hello")

    def test_a_break_repeats_what_it_holds_and_what_is_not_confirmed(self):
        self.begin(lambda run: self.held(run) if run.parameters else None)
        self.executor.run(b"1", parameters_json='{"hold": true}', masked=["secret"])
        self.calls.get(timeout=LIMIT_S)
        self.executor.run(b"2")
        self.executor.done()
        self.executor.drop()
        hello = self.executor.hello()
        self.assertEqual((list(hello.held), [one.ticket for one in hello.done]), ([b"1"], [b"2"]))
        self.assertEqual([(one.ticket, list(one.values)) for one in hello.masked], [(b"1", ["secret"])])
        self.gate.set()
        self.assertEqual(self.executor.done().ticket, b"1")

    def test_a_run_of_an_earlier_session_is_never_called(self):
        self.begin(lambda run: None)
        self.executor.drop()
        self.executor.hello()
        self.executor.run(b"old", session=1)
        self.executor.run(b"new", run_id="NEW")
        self.assertEqual(self.executor.done().ticket, b"new")
        self.assertEqual(self.calls.get(timeout=LIMIT_S).run_id, "NEW")
        self.assertTrue(self.calls.empty())

    def test_a_run_that_is_sent_twice_is_called_once(self):
        self.begin(self.held)
        self.executor.run(b"1")
        self.executor.run(b"1")
        self.executor.run(b"2", run_id="2")
        self.assertEqual({self.calls.get(timeout=LIMIT_S).run_id for _ in range(2)}, {"R", "2"})
        self.gate.set()
        self.assertEqual({self.executor.done().ticket, self.executor.done().ticket}, {b"1", b"2"})
        self.executor.run(b"1")  # its Done is not confirmed yet
        self.executor.run(b"3", run_id="3")
        self.assertEqual(self.calls.get(timeout=LIMIT_S).run_id, "3")

    def test_why_a_function_stops(self):
        self.begin(lambda run: run.wait(LIMIT_S))
        for ticket, asks, facts, state in (
            (b"c", pb.Ask.CANCEL, {}, pb.Done.CANCELLED),
            (b"t", pb.Ask.TIMEOUT, {}, pb.Done.TIMED_OUT),
            (b"d", None, {"deadline_us": 1}, pb.Done.TIMED_OUT),
            (b"l", None, {"lease_end_us": time.monotonic_ns() // 1000 + 2_900_000}, pb.Done.LOST),
        ):
            self.executor.run(ticket, **facts)
            if asks:
                self.calls.get(timeout=LIMIT_S)
                self.executor.out.put(pb.ToWorker(asks=[pb.Ask(ticket=ticket, why=asks)]))
            self.assertEqual(self.executor.done().state, state, ticket)

    def test_a_lease_is_extended_and_never_shortened(self):
        self.begin(self.held)
        self.executor.run(b"1", lease_end_us=time.monotonic_ns() // 1000 + 4_000_000)
        run = self.calls.get(timeout=LIMIT_S)
        for end_us in (FAR_US, 1):
            self.executor.out.put(pb.ToWorker(leases=[pb.Lease(tickets=[b"1"], end_us=end_us)]))
        self.executor.run(b"2")  # comes after both
        self.calls.get(timeout=LIMIT_S)
        self.assertEqual(run._lease_end, FAR_US / 1e6)
        self.gate.set()

    def test_failures_are_told(self):
        def fail(run):
            run.log.info("line %d", 1)
            raise ValueError("no")

        self.begin(fail)
        self.executor.run(b"1")
        done = self.executor.done()
        self.assertEqual((done.state, done.error), (pb.Done.FAILED, "ValueError: no"))
        self.assertEqual(self.executor.lines[0], "line 1")
        self.assertIn("Traceback (most recent call last):", self.executor.lines)
        self.executor.run(b"2", handler="other")
        self.assertIn("no handler other", self.executor.done().error)

    def test_a_drain_takes_no_more_and_then_stops_functions(self):
        self.begin(lambda run: run.wait(LIMIT_S))
        self.executor.run(b"1")
        self.calls.get(timeout=LIMIT_S)
        drained = threading.Thread(target=self.worker.drain, args=(0.01,))
        drained.start()
        session, message = self.executor.received.get(timeout=LIMIT_S)
        self.assertTrue(message.draining)
        self.assertEqual(self.executor.done().state, pb.Done.LOST)
        self.executor.out.put(pb.ToWorker(done_stored=[b"1"]))
        drained.join(LIMIT_S)
        self.assertFalse(drained.is_alive())

    def test_a_refusal_is_final(self):
        self.executor.refuse = "the user x may not run the application app"
        self.worker.handler("work")(lambda run: None)
        with self.assertRaisesRegex(Refused, "may not run"):
            self.worker.run()


class TestingTest(unittest.TestCase):
    def test_a_handler_without_an_executor(self):
        self.assertEqual(testing.run(lambda run: {"day": run.parameters["day"]}, {"day": "today"}), {"day": "today"})
        run = testing.FakeRun()
        run.cancel()
        with self.assertRaises(Stopped):
            run.check()

    def test_wrong_outputs(self):
        for wrong in ([], {"no name": 1}, {"a": "x" * 17_000}, {"a": float("nan")}, {str(i): 1 for i in range(3)}):
            with self.assertRaises((TypeError, ValueError)):
                testing.run(lambda run: wrong)


if __name__ == "__main__":
    unittest.main()
