"""The worker against a fake executor: what cannot be arranged with a real one."""

import asyncio
import datetime
import functools
import os
import queue
import signal
import sys
import threading
import time
import types
import unittest
import unittest.mock

import grpc
from fake_executor import FAR_US, LIMIT_S, FakeExecutor
from worker_case import WorkerCase, now_us

from carillon import Cancelled, Failure, LeaseLost, NoRetry, Refused, RetryAfter, Stopped, TimedOut, Worker, testing
from carillon import worker as worker_module
from carillon import worker_pb2 as pb
from carillon.outbox import BATCH_MAX, WAITING_BYTES_MAX, Outbox
from carillon.threads import Threads

class WorkerTest(WorkerCase):
    # ---- results

    def test_facts_result_and_confirmation(self):
        hello = self.begin(lambda run: {"n": 1, "t": "x", "list": [1, None]})
        self.assertEqual((hello.protocol, hello.app, hello.sdk), (1, "app", "python 0.1.0"))
        self.assertEqual([(one.name, one.concurrency) for one in hello.handlers], [("work", 4)])
        self.executor.run(b"1", parameters_json='{"a": true}', env={"B": "c"}, attempt=2, job_id="J", shard_index=1,
                          shard_total=3, trace_id="f", fire_wall_us=1_500_001)
        done = self.executor.done()
        self.assertEqual(done.state, pb.Done.COMPLETED)
        self.assertEqual(dict(done.outputs), {"n": "1", "t": "x", "list": "[1, null]"})
        run, thread = self.calls.get(timeout=LIMIT_S)
        self.assertIn("R", thread.name)
        self.assertEqual((run.parameters, run.env), ({"a": True}, {"B": "c"}))
        self.assertEqual((run.run_id, run.attempt, run.job_id, run.shard_index, run.shard_total, run.trace_id),
                         ("R", 2, "J", 1, 3, "f"))
        self.assertEqual(run.fire_time, datetime.datetime(1970, 1, 1, 0, 0, 1, 500_001, datetime.timezone.utc))
        self.executor.confirm(b"1")
        self.executor.run(b"2")  # when this one is called, the confirmation was read
        self.called()
        self.executor.done()
        self.executor.drop()
        hello = self.executor.hello()
        self.assertEqual((list(hello.held), [one.ticket for one in hello.done]), ([], [b"2"]))

    def test_a_coroutine_function(self):
        async def work(run):
            await asyncio.sleep(0)
            return {"thread": threading.current_thread().name}

        self.begin(work)
        self.executor.run(b"1", run_id="ASYNC")
        self.assertEqual(dict(self.executor.done().outputs), {"thread": "carillon-ASYNC"})

    def test_a_failure_and_its_log(self):
        def fail(run):
            run.log.info("line %d", 1)
            run.print("two\nlines")
            raise ValueError("no")

        self.begin(fail)
        self.executor.run(b"1")
        done = self.executor.done()
        self.assertEqual((done.state, done.error), (pb.Done.FAILED, "ValueError: no"))
        texts = [text for _, text in self.executor.lines]
        self.assertEqual(texts[:4], ["line 1", "two", "lines", "Traceback (most recent call last):"])
        self.assertEqual(texts[-1], "ValueError: no")

    def test_exceptions_that_cannot_be_sent_as_they_are(self):
        class Unprintable(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        errors = {"long": Cancelled("x" * 5000), "surrogate": Cancelled("\ud800"), "unprintable": Unprintable(),
                  "exit": SystemExit(3)}

        def fail(run):
            raise errors[run.parameters["what"]]

        self.begin(fail)
        for what, state in (("long", pb.Done.CANCELLED), ("surrogate", pb.Done.CANCELLED),
                            ("unprintable", pb.Done.FAILED), ("exit", pb.Done.FAILED)):
            self.executor.run(what.encode(), parameters_json='{"what": "%s"}' % what)
            done = self.executor.done()
            self.assertEqual((done.ticket, done.state), (what.encode(), state))
            self.assertLessEqual(len(done.error), 4096)

    def test_what_a_failure_says_about_its_retry(self):
        class OutOfStock(Exception):
            pass

        long = "x" * 60
        errors = {
            "plain": (OutOfStock("no"), "OutOfStock: no", "OutOfStock", False, None),
            "other": (type("Größe", (Exception,), {})(), "Größe", "Gr__e", False, None),
            "named": (Failure("no", code="out-of.stock"), "out-of.stock: no", "out-of.stock", False, None),
            "wrong": (Failure("no", code="a b,c" + long), None, ("a_b_c" + long)[:48], False, None),
            "final": (NoRetry("never"), "NoRetry: never", "NoRetry", True, None),
            "after": (RetryAfter(1.2, "later"), "RetryAfter: later", "RetryAfter", False, 2),
            "span": (RetryAfter(datetime.timedelta(minutes=2), code="busy"), "busy", "busy", False, 120),
            "long": (RetryAfter(float("inf")), None, "RetryAfter", False, 3600),
            "past": (RetryAfter(-5), None, "RetryAfter", False, 0)}

        def fail(run):
            raise errors[run.parameters["what"]][0]

        self.begin(fail)
        for what, (_, text, code, no_retry, retry_after) in errors.items():
            self.executor.run(what.encode(), parameters_json='{"what": "%s"}' % what)
            done = self.executor.done()
            after = done.retry_after if done.HasField("retry_after") else None
            self.assertEqual((done.state, done.code, done.no_retry, after), (pb.Done.FAILED, code, no_retry, retry_after))
            if text is not None:
                self.assertEqual(done.error, text)
        for wrong in ("soon", None, float("nan")):
            self.assertRaises((TypeError, ValueError), RetryAfter, wrong)

    def test_wrong_results_complete_the_attempt_and_are_explained(self):
        class Broken(dict):
            def items(self):
                raise SystemExit("no items")

        results = {"big": {"a": "x" * 17_000, "b": 1}, "list": [1], "true": True, "text": "done", "number": 7,
                   "object": {"a": object()}, "nan": {"a": float("nan")}, "name": {"no name": 1, "b": 1},
                   "number_name": {1: 2}, "many": {f"n{i}": 1 for i in range(65)}, "surrogate": {"a": "\ud800"},
                   "nul": {"a": "\0"}, "broken": Broken()}
        texts = {
            "big": "no output was kept: 17003 bytes; at most 16384 are allowed in all, and a has the most",
            "list": "the result of type list was not kept: return a dict of outputs, or None",
            "true": "the result of type bool was not kept", "text": "the result of type str was not kept",
            "number": "the result of type int was not kept",
            "object": "no output was kept: a is not JSON: Object of type object", "nan": "no output was kept: a is not JSON",
            "name": "'no name' is not the name of an output", "number_name": "1 is not the name of an output",
            "many": "65 outputs; at most 64", "surrogate": "a is not valid Unicode", "nul": "a has a NUL character",
            "broken": "no items"}
        self.assertEqual(results.keys(), texts.keys())
        self.begin(lambda run: results[run.parameters["what"]])
        for what, text in texts.items():
            self.executor.lines.clear()
            self.executor.run(what.encode(), parameters_json='{"what": "%s"}' % what)
            done = self.executor.done()
            self.assertEqual((done.state, done.error, dict(done.outputs)), (pb.Done.COMPLETED, "", {}), what)
            (_, line), = self.executor.lines
            self.assertTrue(line.startswith("carillon: "), line)
            self.assertIn(text, line)

    def test_results_that_are_kept(self):
        results = [None, {}, types.MappingProxyType({"a": True}), {"a": None, "b": 1.5, "c": {"d": [1]}, "e": "é"}]
        self.begin(lambda run: results[run.attempt])
        for attempt, outputs in enumerate(({}, {}, {"a": "true"}, {"a": "null", "b": "1.5", "c": '{"d": [1]}', "e": "é"})):
            self.executor.run(b"%d" % attempt, attempt=attempt)
            done = self.executor.done()
            self.assertEqual((done.state, dict(done.outputs)), (pb.Done.COMPLETED, outputs))
        self.assertEqual(self.executor.lines, [])

    def test_exits(self):
        codes = {"none": (None,), "zero": (0,), "no_argument": (), "false": (False,), "three": (3,), "text": ("no ledger",)}

        async def leave_later(run):
            await asyncio.sleep(0)
            sys.exit(*codes[run.parameters["code"]])

        def leave(run):
            return leave_later(run) if run.attempt == 2 else sys.exit(*codes[run.parameters["code"]])

        self.begin(leave)
        for attempt in (1, 2):
            for code, error in (("none", ""), ("zero", ""), ("no_argument", ""), ("false", ""), ("three", "SystemExit: 3"),
                                ("text", "SystemExit: no ledger")):
                self.executor.run(b"%s%d" % (code.encode(), attempt), parameters_json='{"code": "%s"}' % code,
                                  attempt=attempt)
                done = self.executor.done()
                state = pb.Done.FAILED if error else pb.Done.COMPLETED
                self.assertEqual((done.state, done.error), (state, error), code)

    def test_other_exceptions_that_are_no_errors_fail_the_attempt(self):
        errors = [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError]

        def fail(run):
            raise errors[run.attempt]

        self.begin(fail)
        for attempt, error in enumerate(errors):
            self.executor.run(b"%d" % attempt, attempt=attempt)
            done = self.executor.done()
            self.assertEqual((done.state, done.error), (pb.Done.FAILED, error.__name__))

    def test_generators(self):
        def generator(run):
            yield {"a": 1}

        async def async_generator(run):
            yield {"a": 1}

        class Callable:
            def __call__(self, run):
                yield {"a": 1}

        for wrong in (generator, async_generator, Callable(), functools.partial(generator)):
            with self.assertRaisesRegex(TypeError, "is a generator, so its call would run nothing"):
                self.worker.handler("wrong")(wrong)
        self.begin(lambda run: generator(run) if run.attempt == 1 else async_generator(run))
        for attempt in (1, 2):
            self.executor.run(b"%d" % attempt, attempt=attempt)
            done = self.executor.done()
            self.assertEqual(done.state, pb.Done.FAILED)
            self.assertEqual(done.error, "TypeError: the function returned a generator, whose body was not run")

    def test_a_long_line_becomes_several(self):
        texts = ["x" * 40_000, "aé" * 10_000, "\U0001f514" * 5_000, "y" * 16_384]
        self.begin(lambda run: run.print("\n".join(texts)))
        self.executor.run(b"1")
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)
        lines = [text for _, text in self.executor.lines]
        self.assertEqual("".join(lines), "".join(texts))
        self.assertEqual([len(line.encode()) for line in lines],
                         [16_383, 16_383, 7_234, 16_383, 13_617, 16_380, 3_620, 16_383, 1])

    def test_a_run_that_cannot_be_called(self):
        self.begin(lambda run: None)
        self.executor.run(b"1", handler="other")
        self.executor.run(b"2", parameters_json="[")
        for text in ("this worker has no handler other", "the function was not called: JSONDecodeError"):
            done = self.executor.done()
            self.assertEqual(done.state, pb.Done.FAILED)
            self.assertIn(text, done.error)
        self.executor.run(b"3")
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)

    # ---- stops

    def test_why_a_function_stops(self):
        self.begin(lambda run: run.wait(LIMIT_S))
        for ticket, ask, facts, state in (
            (b"c", pb.Ask.CANCEL, {}, pb.Done.CANCELLED),
            (b"t", pb.Ask.TIMEOUT, {}, pb.Done.TIMED_OUT),
            (b"d", None, {"deadline_us": now_us() + 20_000}, pb.Done.TIMED_OUT),
            (b"l", None, {"lease_end_us": now_us() + 3_040_000}, pb.Done.LOST),
        ):
            self.executor.run(ticket, **facts)
            if ask is not None:
                self.called()
                self.executor.ask(ticket, ask)
            self.assertEqual(self.executor.done().state, state, ticket)

    def test_a_stop_that_was_not_asked_for_tells_its_state(self):
        errors = [Cancelled, TimedOut, LeaseLost, Stopped]

        def fail(run):
            raise errors[run.attempt - 1]("x")

        self.begin(fail)
        states = []
        for attempt in range(1, 5):
            self.executor.run(b"%d" % attempt, attempt=attempt)
            states.append(self.executor.done().state)
        self.assertEqual(states, [pb.Done.CANCELLED, pb.Done.TIMED_OUT, pb.Done.LOST, pb.Done.FAILED])

    def test_a_function_that_returns_after_a_cancel_is_completed(self):
        def work(run):
            try:
                run.wait(LIMIT_S)
            except Cancelled:
                self.assertTrue(run.stopping)
            return {"a": 1}

        self.begin(work)
        self.executor.run(b"1")
        self.assertFalse(self.called().stopping)
        self.executor.ask(b"1", pb.Ask.CANCEL)
        done = self.executor.done()
        self.assertEqual((done.state, dict(done.outputs)), (pb.Done.COMPLETED, {"a": "1"}))

    def test_a_lease_is_extended_and_never_shortened(self):
        self.begin(self.hold)
        self.executor.run(b"1", lease_end_us=now_us())
        run = self.called()
        self.assertRaises(LeaseLost, run.check)
        for end_us in (FAR_US, 1):
            self.executor.send(leases=[pb.Lease(tickets=[b"1", b"unknown"], end_us=end_us)])
        self.executor.run(b"2")  # comes after both
        self.called()
        run.check()

    def test_a_lease_that_comes_with_its_run(self):
        def work(run):
            self.hold(run)
            run.check()

        self.begin(work)
        run = pb.Run(session=1, ticket=b"1", handler="work", deadline_us=FAR_US, lease_end_us=1)
        self.executor.send(runs=[run], leases=[pb.Lease(tickets=[b"1"], end_us=FAR_US)])
        self.called()
        self.executor.run(b"2")  # when this one is called, the message before was read
        self.called()
        self.gate.set()
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)

    # ---- sessions

    def test_a_break_repeats_held_and_done(self):
        self.begin(lambda run: self.hold(run) if run.parameters else None)
        self.executor.run(b"1", parameters_json='{"hold": true}', masked=["secret"])
        self.called()
        self.executor.run(b"2")
        self.executor.done()
        for _ in range(2):
            self.executor.drop()
            hello = self.executor.hello()
            self.assertEqual((list(hello.held), [one.ticket for one in hello.done]), ([b"1"], [b"2"]))
            self.assertEqual([(one.ticket, list(one.values)) for one in hello.masked], [(b"1", ["secret"])])
        self.executor.confirm(b"2")
        self.gate.set()
        self.assertEqual(self.executor.done().ticket, b"1")
        self.executor.drop()
        self.assertEqual([one.ticket for one in self.executor.hello().done], [b"1"])

    def test_a_run_of_an_earlier_session_is_never_called(self):
        self.begin(lambda run: None)
        self.executor.drop()
        self.executor.hello()
        self.executor.run(b"old", session=1, run_id="OLD")
        self.executor.run(b"new", run_id="NEW")
        self.assertEqual(self.executor.done().ticket, b"new")
        self.assertEqual(self.called().run_id, "NEW")
        self.assertTrue(self.calls.empty())

    def test_a_run_that_is_sent_again_is_called_once(self):
        self.begin(self.hold)
        self.executor.run(b"1")
        self.executor.run(b"1")  # while its function runs
        self.executor.run(b"2", run_id="2")
        self.assertEqual({self.called().run_id, self.called().run_id}, {"R", "2"})
        self.gate.set()
        self.assertEqual({self.executor.done().ticket, self.executor.done().ticket}, {b"1", b"2"})
        self.executor.run(b"1")  # while its end is not confirmed
        self.executor.confirm(b"1")
        self.executor.run(b"1")  # after that
        self.executor.run(b"3", run_id="3")
        self.assertEqual(self.called().run_id, "3")
        self.assertTrue(self.calls.empty())

    def test_lines_precede_an_end_that_came_without_a_session(self):
        def work(run):
            self.hold(run)
            for number in range(300):
                run.print(number)

        self.begin(work)
        self.executor.run(b"1")
        run = self.called()
        self.disconnect()
        self.gate.set()
        with self.worker._changed:
            self.assertTrue(self.worker._changed.wait_for(lambda: not self.worker._held, LIMIT_S))
        run.print("after the end")
        self.executor.refusal = None
        hello = self.executor.hello()
        self.assertEqual((list(hello.held), list(hello.done)), ([b"1"], []))
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)
        self.assertEqual(self.executor.lines, [(b"1", str(number)) for number in range(300)])

    # ---- the connection

    def test_refusals_are_final(self):
        self.worker.handler("work")(lambda run: None)
        for code in (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION,
                     grpc.StatusCode.INVALID_ARGUMENT):
            self.executor.refusal = (code, "the user x may not run the application app")
            with self.assertRaisesRegex(Refused, "^the user x may not run the application app$"):
                Worker("app", socket=self.path).run()

    def test_a_refusal_is_not_final_while_there_is_something_to_report(self):
        self.begin(self.hold)
        self.executor.run(b"1")
        self.called()
        self.executor.refusal = (grpc.StatusCode.PERMISSION_DENIED, "the user x may not run the application app")
        self.executor.drop()
        self.executor.wait_for_refused()
        self.gate.set()  # it returns, and its result is not confirmed
        self.executor.wait_for_refused()
        self.executor.refusal = None
        self.executor.hello()
        self.executor.confirm(b"1")
        self.executor.run(b"2")  # when this one is called, the confirmation was read
        self.called()
        while self.executor.done().ticket != b"2":
            pass
        self.executor.confirm(b"2")
        self.executor.run(b"3", handler="other")
        self.executor.done()
        self.executor.confirm(b"3")
        self.executor.refusal = (grpc.StatusCode.PERMISSION_DENIED, "the user x may not run the application app")
        self.executor.drop()
        self.worker._link.join(LIMIT_S)
        self.assertRaises(Refused, self.worker._raise_refused)

    def test_each_worker_has_an_instance_of_its_own(self):
        first = self.begin(lambda run: None).instance
        self.executor.drop()
        self.assertEqual(self.executor.hello().instance, first)
        other = Worker("app", socket=self.path)
        self.addCleanup(other.drain, 0)
        other.handler("work")(lambda run: None)
        other.start()
        second = self.executor.hello().instance
        self.assertNotEqual(first, second)
        self.assertEqual((len(first), len(second)), (16, 16))

    def test_other_errors_are_not_final(self):
        self.executor.refusal = (grpc.StatusCode.RESOURCE_EXHAUSTED, "this executor has 64 workers")
        self.worker.handler("work")(lambda run: None)
        self.worker.start()
        self.executor.wait_for_refused()
        self.executor.wait_for_refused()
        self.executor.refusal = None
        self.assertEqual(self.executor.hello().app, "app")

    def test_an_executor_that_starts_later(self):
        path = self.path + "2"
        warned = threading.Event()
        with unittest.mock.patch("carillon.worker._log.warning", lambda *_: warned.set()):
            worker = Worker("app", socket=path)
            worker.start()
            self.assertTrue(warned.wait(LIMIT_S))
            executor = FakeExecutor(path)
            self.addCleanup(executor.stop)
            self.assertEqual(executor.hello().app, "app")
            worker.drain()

    # ---- the end

    def drain(self, timeout):
        thread = threading.Thread(target=self.worker.drain, args=(timeout,))
        thread.start()
        return thread

    def ends(self, thread):
        thread.join(LIMIT_S)
        self.assertFalse(thread.is_alive())

    def test_a_drain_waits_for_functions_and_confirmations(self):
        self.begin(self.hold)
        self.executor.run(b"1")
        self.called()
        drained = self.drain(LIMIT_S)
        self.executor.wait_for_draining()
        self.executor.drop()
        self.executor.hello()
        self.executor.wait_for_draining()  # again in the new session
        self.gate.set()
        self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)
        self.assertTrue(drained.is_alive())
        self.executor.confirm(b"1")
        self.ends(drained)

    def test_a_drain_stops_functions_after_its_time(self):
        self.begin(lambda run: run.wait(LIMIT_S))
        self.executor.run(b"1")
        self.called()
        drained = self.drain(0.01)
        done = self.executor.done()
        self.assertEqual((done.state, done.never_began), (pb.Done.LOST, False))
        self.executor.run(b"2")  # was on its way
        done = self.executor.done()
        self.assertEqual((done.ticket, done.state, done.never_began), (b"2", pb.Done.LOST, True))
        self.assertTrue(self.calls.empty())
        self.executor.confirm(b"1", b"2")
        self.ends(drained)

    def test_a_drain_waits_for_what_is_on_its_way(self):
        self.executor.answers_draining = False
        self.begin(lambda run: None)
        drained = self.drain(LIMIT_S)
        self.executor.wait_for_draining()
        self.executor.run(b"1")  # crossed the message
        done = self.executor.done()
        self.assertEqual((done.state, done.never_began), (pb.Done.LOST, True))
        self.executor.confirm(b"1")
        self.executor.send(drained=True)
        self.ends(drained)

    def test_a_drain_does_not_wait_long_for_an_executor_that_does_not_answer(self):
        self.executor.answers_draining = False
        self.begin(lambda run: None)
        begun = time.monotonic()
        with unittest.mock.patch.object(worker_module, "_ANSWER_S", 0.2):
            self.worker.drain(LIMIT_S)
        self.assertGreaterEqual(time.monotonic() - begun, 0.2)

    def test_run_drains_on_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            before = signal.getsignal(number)
            worker = Worker("app", socket=self.path)

            worker.handler("work")(lambda run: None)

            def stop():
                self.executor.hello()
                self.executor.run(b"1")
                self.executor.done()
                os.kill(os.getpid(), number)
                self.executor.wait_for_draining()
                self.executor.confirm(b"1")

            stopper = threading.Thread(target=stop)
            stopper.start()
            worker.run()
            self.ends(stopper)
            self.assertEqual(signal.getsignal(number), before)


class NamesTest(unittest.TestCase):
    def test_wrong_names_are_refused_at_once(self):
        for app in ("", "A", "a/b", "a" * 64):
            self.assertRaises(ValueError, Worker, app)
        worker = Worker("app")
        for name, concurrency in (("", 1), ("Work", 1), ("app/work", 1), ("work", 0), ("work", 10_001)):
            self.assertRaises(ValueError, worker.handler, name, concurrency=concurrency)
        worker.handler("work")(print)
        self.assertRaises(ValueError, worker.handler("work"), print)
        self.assertRaises(ValueError, worker.handler, print)  # @worker.handler without a name
        self.assertRaises(TypeError, worker.handler("other"), "print")


class OutboxTest(unittest.TestCase):
    def batches(self, outbox):
        batches = []
        while outbox.has_batch():
            batches.append(pb.FromWorker())
            outbox.take_batch(batches[-1])
        return batches

    def test_batches_are_bounded(self):
        outbox = Outbox()
        for number in range(600):
            outbox.add_line(b"%d" % number, "x", False)
            outbox.add_end(pb.Done(ticket=b"%d" % number))
        batches = self.batches(outbox)
        self.assertLessEqual(max(max(len(one.logs), len(one.done)) for one in batches), BATCH_MAX)
        lines = set()
        for batch in batches:
            lines |= {line.ticket for line in batch.logs}
            self.assertLessEqual({done.ticket for done in batch.done}, lines)
        self.assertEqual(sum(len(one.done) for one in batches), 600)

    def test_lines_beyond_the_buffer_are_counted(self):
        outbox = Outbox()
        for _ in range(1000):
            outbox.add_line(b"1", "é" * 8192, True)
        outbox.add_end(pb.Done(ticket=b"1"))
        batches = self.batches(outbox)
        self.assertLess(max(one.ByteSize() for one in batches), 2 << 20)
        lines = [line.text for one in batches for line in one.logs]
        self.assertEqual(set(lines[:-1]), {"é" * 8192})
        self.assertLessEqual((len(lines) - 1) * 16_384, WAITING_BYTES_MAX)
        self.assertGreater(len(lines), 240)
        self.assertIn(f"{1000 - len(lines) + 1} log lines were dropped", lines[-1])
        self.assertEqual([done.ticket for done in batches[-1].done], [b"1"])

    def test_a_hello_is_bounded(self):
        outbox = Outbox()
        for number in range(300):
            outbox.add_end(pb.Done(ticket=b"%d" % number, error="x" * 4096))
        hello = pb.Hello()
        outbox.describe(hello)
        self.assertEqual(len(hello.done) + len(hello.held), 300)
        self.assertLess(hello.ByteSize(), 2 << 20)
        self.assertEqual([one.ticket for batch in self.batches(outbox) for one in batch.done], list(hello.held))


    def test_only_the_latest_save_is_sent_and_before_its_end(self):
        outbox = Outbox()
        for number in range(100):
            outbox.add_progress(b"1", str(number))
        outbox.add_checkpoint(b"1", b"state")
        first, = self.batches(outbox)
        self.assertEqual([(one.progress, one.checkpoint) for one in first.saves], [("99", b"state")])
        outbox.add_progress(b"1", "100")
        self.assertFalse(outbox.has_batch(), "the next one waits for a second")
        self.assertGreater(outbox.next_due(), 0)
        outbox.add_end(pb.Done(ticket=b"1"))
        second, = self.batches(outbox)
        self.assertEqual([one.progress for one in second.saves], ["100"])
        self.assertFalse(second.saves[0].HasField("checkpoint"))
        self.assertEqual(len(second.done), 1)

    def test_a_save_is_sent_again_on_the_next_stream(self):
        outbox = Outbox()
        outbox.add_checkpoint(b"1", b"x" * (1 << 20))
        outbox.add_checkpoint(b"2", b"y" * (1 << 20))
        outbox.add_end(pb.Done(ticket=b"1"))
        outbox.add_end(pb.Done(ticket=b"3"))
        self.assertEqual(sum(len(one.saves) for one in self.batches(outbox)), 2)
        hello = pb.Hello()
        outbox.describe(hello)
        self.assertEqual(([done.ticket for done in hello.done], list(hello.held)), ([b"3"], [b"1"]))
        batches = self.batches(outbox)
        self.assertEqual([one.ticket for batch in batches for one in batch.saves], [b"1", b"2"])
        self.assertLess(max(one.ByteSize() for one in batches), 4 << 20)
        self.assertEqual([one.ticket for batch in batches for one in batch.done], [b"1"])
        outbox.confirm(b"1")
        outbox.describe(pb.Hello())
        self.assertEqual([one.ticket for batch in self.batches(outbox) for one in batch.saves], [b"2"])


class ThreadsTest(unittest.TestCase):
    def test_calls_at_once_have_threads_of_their_own_and_later_ones_use_them_again(self):
        threads = Threads()
        names = queue.Queue()
        for _ in range(3):
            together = threading.Barrier(20)

            def call():
                together.wait(LIMIT_S)
                names.put(threading.get_ident())

            for _ in range(20):
                threads.call(call)
            self.assertEqual(len({names.get(timeout=LIMIT_S) for _ in range(20)}), 20)
            self.wait_for_idle(threads, 20)

    def wait_for_idle(self, threads, count):
        end = time.monotonic() + LIMIT_S
        while threads._idle != count:
            self.assertLess(time.monotonic(), end)
            threading.Event().wait(0.001)

    def test_unused_threads_end(self):
        with unittest.mock.patch("carillon.threads._IDLE_S", 0.001):
            threads = Threads()
            called = queue.Queue()
            for number in range(500):  # the end of one thread falls into the beginning of the next call
                threads.call(lambda number=number: called.put(number))
                threading.Event().wait(0.001 * (number % 3))
            self.assertEqual({called.get(timeout=LIMIT_S) for _ in range(500)}, set(range(500)))
            self.wait_for_idle(threads, 0)


class TestingTest(unittest.TestCase):
    def test_handlers_without_an_executor(self):
        async def work(run):
            return {"shard": run.shard_index}

        self.assertEqual(testing.run(lambda run: {"day": run.parameters["day"]}, {"day": "today"}), {"day": "today"})
        self.assertEqual(testing.run(work, shard_index=2), {"shard": "2"})
        self.assertEqual(testing.run(lambda run: run.wait(0)), {})
        self.assertRaises(TypeError, testing.run, lambda run: [])
        self.assertRaises(ValueError, testing.run, lambda run: {"no name": 1})
        self.assertEqual(testing.run(lambda run: sys.exit()), {})

    def test_what_a_function_saves(self):
        run = testing.FakeRun(checkpoint=b"7")
        self.assertEqual(run.checkpoint, b"7")
        run.progress(1, of=8, text="rows")
        run.save_checkpoint(bytearray(b"8"))
        self.assertEqual(run.progresses, ['{"percent": 12.5, "text": "rows"}'])
        self.assertEqual(run.saved, [b"8"])
        for character in ("\U0001f514", "\x01", "\ud800", "\\", "é"):
            run.progress(99.123456789, text=character * 1000)
            self.assertLessEqual(len(run.progresses.pop().encode("utf-8")), 4096, ascii(character))
        self.assertRaises(TypeError, run.save_checkpoint, "text")
        self.assertRaises(ValueError, run.save_checkpoint, bytes((1 << 20) + 1))
        for wrong in ((9, 8), (-1, 8), (0, 0), (float("nan"), 1), (float("inf"), float("inf"))):
            self.assertRaises(ValueError, run.progress, *wrong)

    def test_a_fake_run(self):
        for stop, error in (("cancel", Cancelled), ("time_out", TimedOut), ("lose_lease", LeaseLost)):
            run = testing.FakeRun()
            run.log.warning("%s", stop)
            run.print("out")
            self.assertEqual(run.lines, [(stop, True), ("out", False)])
            getattr(run, stop)()
            self.assertRaises(error, run.wait, LIMIT_S)


if __name__ == "__main__":
    unittest.main()
