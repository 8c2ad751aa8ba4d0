"""The log of a run has what its function prints and logs, and nothing else has it."""

import asyncio
import contextvars
import io
import logging
import logging.config
import subprocess
import sys
import threading
import unittest
import warnings

from fake_executor import LIMIT_S
from worker_case import WorkerCase

import carillon
from carillon import Worker, outcome, testing
from carillon import worker_pb2 as pb
from carillon.capture import PENDING_MAX

FORK = """

import logging, os
from carillon import capture
lines = []
capture.install()
with capture.current(lambda text, error: lines.append((text, error)), True):
    print("half ", end="")
    child = os.fork()
    if child == 0:
        print("from the child", flush=True)
        logging.getLogger().info("not sent")
        os._exit(len(lines))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), end="")
print(lines)
"""


class CaptureCase(WorkerCase):
    def setUp(self):
        # The streams of the program, before the worker replaces them.
        streams = sys.stdout, sys.stderr
        self.addCleanup(lambda: (setattr(sys, "stdout", streams[0]), setattr(sys, "stderr", streams[1])))
        sys.stdout, sys.stderr = self.out, self.err = io.StringIO(), io.StringIO()
        super().setUp()
        self.app_log = logging.getLogger("myapp")
        self.addCleanup(self.app_log.handlers.clear)
        self.addCleanup(self.app_log.setLevel, self.app_log.level)
        self.app_log.setLevel(logging.INFO)

    def lines_of(self, ticket, **facts):
        """Runs an attempt and returns its lines."""
        self.executor.run(ticket, **facts)
        done = self.executor.done()
        self.assertEqual((done.ticket, done.state, done.error), (ticket, pb.Done.COMPLETED, ""))
        return [text for one, text in self.executor.lines if one == ticket]

    def lines(self, function):
        """Runs one attempt of a new worker and returns its lines."""
        self.begin(function)
        return self.lines_of(b"1")


class CaptureTest(CaptureCase):
    def test_printed_text(self):
        def work(run):
            print("one", 2, "drei", sep="-")
            print()
            print("to standard error", file=sys.stderr)
            print("in ", end="")
            print("parts\nand a last", end=" ", flush=True)
            sys.stdout.writelines(["line", "\r\n", "end"])
            self.assertFalse(sys.stdout.isatty())
            self.assertRaises(TypeError, sys.stdout.write, b"bytes")

        self.assertEqual(self.lines(work), ["one-2-drei", "", "to standard error", "in parts", "and a last line", "end"])
        self.assertEqual((self.out.getvalue(), self.err.getvalue()), ("", ""))

    def test_standard_error_is_told_apart(self):
        def work(run):
            print("out")
            sys.stderr.write("half a line")

        self.begin(work)
        self.executor.run(b"1")
        lines = []
        while len(lines) < 2:
            lines += [(line.text, line.error) for line in self.executor.message().logs]
        self.assertEqual(lines, [("out", False), ("half a line", True)])

    def test_bytes(self):
        sys.stdout = io.TextIOWrapper(io.BytesIO())

        def work(run):
            data = "läuft 🔔\n".encode()
            for number in range(len(data)):
                sys.stdout.buffer.write(data[number : number + 1])
            sys.stdout.buffer.writelines([b"\xff", bytearray(b"!")])
            sys.stdout.buffer.flush()
            sys.stdout.buffer.write(memoryview(b" \xc3"))

        self.assertEqual(self.lines(work), ["läuft 🔔", "\ufffd! \ufffd"])
        self.assertEqual(sys.stdout.buffer.getvalue(), b"")

    def test_a_line_without_an_end_is_not_held_for_ever(self):
        def work(run):
            for number in range(3000):
                print("\r%9d %%" % number, end="")
            self.hold(run)

        self.begin(work)
        self.executor.run(b"1")
        self.called()
        while not self.executor.lines:
            self.executor.message()
        self.gate.set()
        self.executor.done()
        lines = [text for _, text in self.executor.lines]
        self.assertEqual("".join(lines), "".join("\r%9d %%" % number for number in range(3000)))
        self.assertLess(max(map(len, lines)), PENDING_MAX + 20)

    def test_a_line_that_was_split_has_one_end(self):
        def work(run):
            print("x" * PENDING_MAX)
            print("y" * PENDING_MAX, end="")
            print("\n\nafter an empty line")
            print("z" * PENDING_MAX, end="")
            print("rest")

        self.assertEqual(
            self.lines(work),
            ["x" * PENDING_MAX, "y" * PENDING_MAX, "", "after an empty line", "z" * PENDING_MAX, "rest"],
        )

    def test_functions_at_the_same_time_keep_apart(self):
        together = threading.Barrier(4)

        def work(run):
            for number in range(50):
                together.wait(LIMIT_S)
                print(run.run_id, end=" ")
                together.wait(LIMIT_S)
                print(number)

        self.begin(work)
        for number in range(4):
            self.executor.run(b"%d" % number, run_id=f"R{number}")
        for _ in range(4):
            self.assertEqual(self.executor.done().state, pb.Done.COMPLETED)
        for number in range(4):
            lines = [text for ticket, text in self.executor.lines if ticket == b"%d" % number]
            self.assertEqual(lines, [f"R{number} {count}" for count in range(50)])

    def test_coroutines_and_threads(self):
        async def step(name):
            await asyncio.sleep(0)
            print(name)

        async def work(run):
            await asyncio.gather(step("a"), step("b"))
            await asyncio.get_running_loop().run_in_executor(None, print, "a thread without the context")
            await asyncio.get_running_loop().run_in_executor(None, contextvars.copy_context().run, print, "one with it")

        self.assertEqual(self.lines(work), ["a", "b", "one with it"])
        self.assertEqual(self.out.getvalue(), "a thread without the context\n")

    def test_text_after_the_end_and_outside_of_runs_is_not_lost(self):
        printed = threading.Event()

        def late():
            self.gate.wait(LIMIT_S)
            print("after the end")
            printed.set()

        def work(run):
            threading.Thread(target=contextvars.copy_context().run, args=(late,)).start()
            print("in time")

        self.assertEqual(self.lines(work), ["in time"])
        self.gate.set()
        self.assertTrue(printed.wait(LIMIT_S))
        print("outside")
        self.app_log.warning("of no run")
        self.assertEqual(self.out.getvalue(), "after the end\noutside\n")
        self.assertEqual(self.err.getvalue(), "of no run\n")  # by the handler of last resort

    def test_a_forked_process_writes_to_its_own_output(self):
        # In a process without the threads of gRPC.
        done = subprocess.run([sys.executable, "-c", FORK], stdout=subprocess.PIPE, timeout=LIMIT_S, text=True)
        self.assertEqual(done.stdout.splitlines(), ["from the child", "[('half 0', False)]"])

    def test_a_process_without_a_standard_output(self):
        sys.stdout = None

        def work(run):
            print("kept")

        self.assertEqual(self.lines(work), ["kept"])
        print("nowhere")
        self.worker._end_capture()
        self.assertIsNone(sys.stdout)

    # ---- logging

    def test_records(self):
        quiet = logging.getLogger("myapp.quiet")
        quiet.propagate = False
        self.addCleanup(setattr, quiet, "propagate", True)

        def work(run):
            self.app_log.debug("below the level")
            self.app_log.info("closing %d", 3)
            quiet.warning("does not propagate")
            run.log.info("as it is")
            try:
                raise ValueError("no ledger")
            except ValueError:
                self.app_log.exception("failed")
            self.app_log.info("%d", "no number")
            warnings.warn("old")

        errors = []
        logging.Handler.handleError, before = lambda handler, record: errors.append(record), logging.Handler.handleError
        self.addCleanup(setattr, logging.Handler, "handleError", before)
        lines = self.lines(work)
        self.assertEqual(lines[:4], ["INFO myapp: closing 3", "WARNING myapp.quiet: does not propagate", "as it is",
                                     "ERROR myapp: failed"])
        self.assertEqual((lines[4], lines[-3]), ("Traceback (most recent call last):", "ValueError: no ledger"))
        self.assertIn("UserWarning: old", lines[-2])
        self.assertTrue(errors)

    def test_the_handlers_of_the_program_get_records_as_before_and_none_is_written_twice(self):
        def work(run):
            self.app_log.info("once")

        self.begin(work)
        now, own = logging.StreamHandler(), io.StringIO()  # the first writes to what sys.stderr is now
        self.app_log.addHandler(now)
        self.app_log.addHandler(logging.StreamHandler(own))
        self.assertEqual(self.lines_of(b"1"), ["INFO myapp: once"])
        self.assertEqual((self.err.getvalue(), own.getvalue()), ("once\n", "once\n"))

    def test_a_handler_that_raises_costs_no_line(self):
        class Broken(logging.Handler):
            def emit(self, record):
                raise OSError("no space left")

        def work(run):
            self.assertRaises(OSError, self.app_log.info, "kept")
            print("and this")

        self.app_log.addHandler(Broken())
        self.assertEqual(self.lines(work), ["INFO myapp: kept", "and this"])

    def test_a_handler_with_a_format_of_its_own(self):
        config = {"version": 1, "disable_existing_loggers": False,
                  "formatters": {"short": {"format": "%(levelname).1s %(message)s"}},
                  "handlers": {"run": {"class": "carillon.LogHandler", "formatter": "short", "level": "WARNING"}},
                  "loggers": {"myapp": {"handlers": ["run"]}}}

        def work(run):
            self.app_log.warning("formatted")
            self.app_log.info("below its level")

        logging.config.dictConfig(config)
        self.app_log.setLevel(logging.INFO)
        self.assertEqual(self.lines(work), ["W formatted", "INFO myapp: below its level"])

    # ---- begin and end

    def test_the_streams_of_the_program_come_back_after_the_last_worker(self):
        call_handlers = logging.Logger.callHandlers
        # It finds no executor, so that it takes nothing that is meant for the worker.
        other = Worker("other", socket=self.path + ".absent")
        other.handler("work")(lambda run: None)
        other.start()
        self.begin(lambda run: print("captured"))
        other.drain(0)
        other.drain(0)
        self.assertEqual(self.lines_of(b"1"), ["captured"])
        self.worker._end_capture()
        self.assertIs(sys.stdout, self.out)
        self.assertIs(sys.stderr, self.err)
        self.assertIs(logging.Logger.callHandlers, call_handlers)

    def test_what_somebody_else_has_replaced_stays(self):
        self.begin(lambda run: print("captured"))
        mine = sys.stdout = io.StringIO()
        self.worker._end_capture()
        self.assertIs(sys.stdout, mine)
        self.assertIs(sys.stderr, self.err)

    def test_the_output_of_a_process_that_a_function_starts_is_not_captured(self):
        """The example of the documentation for it."""
        def work(run):
            done = subprocess.run([sys.executable, "-c", "print('from a process')"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S)
            print(done.stdout, end="")

        self.assertEqual(self.lines(work), ["from a process"])


class WithoutCaptureTest(CaptureCase):
    OPTIONS = {"capture": False}

    def test_only_the_handler_writes_to_the_run(self):
        def work(run):
            print("to the output of the program")
            self.app_log.info("by the handler")
            logging.getLogger("other").warning("to standard error")

        self.app_log.addHandler(carillon.LogHandler())
        self.assertEqual(self.lines(work), ["INFO myapp: by the handler"])
        self.assertIs(sys.stdout, self.out)
        self.assertEqual(self.out.getvalue(), "to the output of the program\n")
        self.assertEqual(self.err.getvalue(), "to standard error\n")


class FakeRunTest(CaptureCase):
    def test_a_handler_under_test_logs_to_its_fake_run(self):
        def work(run):
            self.app_log.info("line")

        self.app_log.addHandler(carillon.LogHandler())
        run = testing.FakeRun()
        outcome.call(work, run)
        self.assertEqual(run.lines, [("INFO myapp: line", True)])


if __name__ == "__main__":
    unittest.main()
