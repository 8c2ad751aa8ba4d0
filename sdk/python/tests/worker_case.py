"""A test case with a worker and a fake executor."""

import logging
import os
import queue
import tempfile
import threading
import time
import unittest

import grpc
from fake_executor import LIMIT_S, FakeExecutor

from carillon import Worker

logging.getLogger("carillon").setLevel(logging.CRITICAL + 1)


def now_us():
    return time.monotonic_ns() // 1000


class WorkerCase(unittest.TestCase):
    OPTIONS = {}  # of the worker

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "w.sock")
        self.executor = FakeExecutor(self.path)
        self.addCleanup(self.executor.stop)
        self.addCleanup(self.end_worker)
        self.worker = Worker("app", socket=self.path, **self.OPTIONS)
        self.calls = queue.Queue()  # of (run, thread)
        self.gate = threading.Event()
        self.addCleanup(self.gate.set)

    def end_worker(self):
        self.executor.refusal = (grpc.StatusCode.PERMISSION_DENIED, "the test has ended")
        if self.executor.session:
            self.executor.drop()
        with self.worker._changed:
            self.worker._stopped = True  # it would not accept the refusal while it has something to report
            self.worker._changed.notify_all()
        self.worker._end_capture()

    def begin(self, function):
        """Starts a worker with one handler, and returns its Hello."""

        def work(run):
            self.calls.put((run, threading.current_thread()))
            return function(run)

        self.worker.handler("work", concurrency=4)(work)
        self.worker.start()
        return self.executor.hello()

    def called(self):
        return self.calls.get(timeout=LIMIT_S)[0]

    def hold(self, run):
        self.assertTrue(self.gate.wait(LIMIT_S))

    def disconnect(self):
        """Breaks the stream and lets no new one succeed."""
        self.executor.refusal = (grpc.StatusCode.UNAVAILABLE, "not now")
        self.executor.drop()
        self.executor.wait_for_refused()
