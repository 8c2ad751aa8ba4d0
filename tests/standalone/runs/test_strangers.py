#!/usr/bin/env python3
"""Programs at the socket for workers that are none: they cost the executor no threads, delay no other job, and are soon
closed, whether their user may offer an application or not."""
import datetime
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import wait_until  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

STREAMS = 1000
THREADS_MORE = 130  # the door's quota, and some
NOBODY = 65_534
PROGRAM = """
import socket, sys
sockets = []
for _ in range(int(sys.argv[2])):
    sockets.append(socket.socket(socket.AF_UNIX))
    sockets[-1].settimeout(20)
    sockets[-1].connect(sys.argv[1])
closed = 0
for one in sockets:
    try:
        closed += one.recv(1) == b""
    except ConnectionError:
        closed += 1
print(closed)
"""


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def text(value):
    return bytes([len(value)]) + value.encode()


# POST, http, then literals: the path, the authority, and what gRPC asks for.
HEADERS = (b"\x83\x86\x04" + text("/carillon.worker.v1.WorkerService/Attach") + b"\x01" + text("localhost") +
           b"\x0f\x10" + text("application/grpc") + b"\x00" + text("te") + text("trailers"))


class StrangerAtSocketTest(OwnServerCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="strangers-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o755)
        self.path = os.path.join(self.folder, "w.sock")
        self.start_server(env={"CARILLON_EXECUTOR_WORKER_SOCKET": self.path,
                               "CARILLON_EXECUTOR_WORKER_USERS": "daemon=app"})

    def threads(self):
        with open(f"/proc/{self.server.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("Threads:"))

    def seconds_to_start(self):
        run = self.execute(self.create())
        self.assertEqual(run["state"], "COMPLETED", run)
        planned, started = (datetime.datetime.fromisoformat(run[key].replace("Z", "+00:00"))
                            for key in ("planned_at", "started_at"))
        return (started - planned).total_seconds()

    def connect(self):
        one = socket.socket(socket.AF_UNIX)
        self.addCleanup(one.close)
        one.settimeout(30)
        one.connect(self.path)
        return one

    def flood(self, one):
        """Opens streams without a message, more than the server allows, on one connection."""
        one.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0))
        try:
            for number in range(STREAMS):
                one.sendall(frame(1, 4, 2 * number + 1, HEADERS))
        except ConnectionError:
            pass  # the server has had enough

    def is_closed(self, one):
        try:
            while one.recv(65_536):
                pass
        except ConnectionError:
            pass
        return True

    def test_streams_without_a_message_cost_no_threads(self):
        self.seconds_to_start()  # what is only slow the first time
        before = self.threads()
        connections = [self.connect() for _ in range(4)]
        for one in connections:
            self.flood(one)
        self.assertLess(self.seconds_to_start(), 1)
        self.assertLess(self.threads(), before + THREADS_MORE)
        began = time.monotonic()
        for one in connections:
            self.assertTrue(self.is_closed(one))
        self.assertLess(time.monotonic() - began, 15)
        wait_until(lambda: self.threads() < before + 20, 30, "the threads to end")
        for one in [self.connect() for _ in range(4)]:
            self.flood(one)
        self.server.stop(20)

    def test_silent_connections_of_a_user_are_limited(self):
        connections = [self.connect() for _ in range(20)]
        for one in connections[4:]:
            self.assertEqual(one.recv(1), b"", "more than four")
        connections[0].setblocking(False)
        with self.assertRaises(BlockingIOError):
            while connections[0].recv(1024):  # its settings
                pass

    def test_a_user_without_an_application_is_closed_at_once(self):
        assert os.geteuid() == 0, "this test changes users"
        began = time.monotonic()
        stranger = subprocess.run([shutil.which("python3", path="/usr/bin"), "-c", PROGRAM, self.path, "50"], user=NOBODY,
                                  capture_output=True, text=True, timeout=60, cwd="/")
        self.assertEqual(stranger.stdout, "50\n", stranger.stderr)
        self.assertLess(time.monotonic() - began, 4, "before a silent one would have been closed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
