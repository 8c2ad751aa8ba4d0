#!/usr/bin/env python3
"""An executor of another host that is killed, and one that is upgraded, while runs of every kind are active. Starts are
counted from outside: by the commands, by the server that is called and by the worker."""
import collections
import http.server
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, alive, wait_until  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "journal_worker.py")
# A grandchild, and a child in a session of its own whose parent has ended. $0 of both names the test.
COMMAND = """echo "$CARILLON_RUN_ID $CARILLON_ATTEMPT" >> "$FOLDER/starts"
sh -c 'while :; do sleep 60; done' "$FOLDER-grandchild" &
(setsid sh -c 'while :; do sleep 60; done' "$FOLDER-daemon" &)
while [ ! -e "$FOLDER/gate" ]; do sleep 0.5; done"""


class Called(http.server.ThreadingHTTPServer):
    """Counts the attempts that call it, and answers when `release` is set."""
    daemon_threads = True
    request_queue_size = 64

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.attempts, self.release, self.lock = [], threading.Event(), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with self.server.lock:
            self.server.attempts.append((self.path[1:], int(self.headers["X-Carillon-Attempt"])))
        self.server.release.wait(120)
        try:
            self.send_response(204)
            self.end_headers()
        except OSError:
            pass  # the executor that called is gone

    def log_message(self, *_):
        """Nothing: the calls are counted."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def processes_of(folder):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                arguments = file.read().split(b"\0")
        except OSError:
            continue
        if any(one.startswith(folder.encode() + b"-") for one in arguments):
            found.append(int(pid))
    return found


class ExecutorKilledTest(OwnServerCase):
    JOB = {}

    def setUp(self):
        address = f"127.0.0.1:{free_port()}"
        self.start_server(extra=["--executors", address])
        self.folder = self.server.scratch
        token = os.path.join(self.folder, "join-token")
        made = self.api.post("/api/executors/join-tokens", {"executor_id": "branch"})
        with open(os.open(token, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(made["join_token"])
        self.home = os.path.join(self.folder, "branch")
        self.command = [os.path.join(BIN, "carillon-executor"), "--data-dir", self.home]
        for setting in ("executor.id=branch", "executor.slots=120", "link.members=" + address, "link.tls=mutual",
                        "ops.port=0", "executor.http_allow=127.0.0.0/8", "link.join_token_file=" + token):
            self.command += ["--set", setting]
        self.log = open(os.path.join(self.folder, "executor.log"), "ab")
        self.addCleanup(self.log.close)
        self.executor = None
        self.start_executor()
        self.addCleanup(self.end_executor)

    def start_executor(self):
        self.executor = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        wait_until(lambda: self.runtime().get("pid") == self.executor.pid and self.runtime().get("warden_pid"), 60,
                   "the executor; log: " + self.log.name)

    def runtime(self):
        try:
            with open(os.path.join(self.home, "runtime.json")) as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    def end_executor(self):
        pids = [self.runtime().get("warden_pid")]
        if self.executor.poll() is None:
            self.executor.kill()
            self.executor.wait(120)
        for pid in pids:
            if pid and alive(pid):
                os.kill(pid, signal.SIGKILL)

    def run_job(self, **fields):
        return self.start(self.create(**{"executor_id": "branch", "timeout": 300, "retry_interval": 0, **fields}))

    def shell(self, name, **fields):
        return self.run_job(name=name, command=COMMAND, env={"FOLDER": self.folder}, **fields)

    def starts(self):
        path = os.path.join(self.folder, "starts")
        if not os.path.exists(path):
            return []
        with open(path) as file:
            return [(run, int(attempt)) for run, attempt in map(str.split, file.read().splitlines())]

    def open_gate(self):
        with open(os.path.join(self.folder, "gate"), "w"):
            pass

    def states(self, runs):
        return collections.Counter(self.run_of(run)["state"] for run in runs)

    def all_are(self, runs, states, seconds=90):
        wait_until(lambda: set(self.states(runs)) <= states, seconds, f"{len(runs)} runs to be {states}", every=0.5)

    def once(self, starts):
        self.assertEqual([one for one, count in collections.Counter(starts).items() if count > 1], [])

    def start_worker(self):
        journal = os.path.join(self.folder, "journal")
        open(journal, "w").close()
        worker = subprocess.Popen(
            [os.environ["CARILLON_WORKER_PYTHON"], WORKER, "app", journal, "20"], stdin=subprocess.PIPE,
            env=dict(os.environ, CARILLON_WORKER_SOCKET=os.path.join(self.home, "executor", "worker.sock")),
            stdout=self.log, stderr=self.log)

        def end():
            worker.kill()
            worker.wait(120)
            worker.stdin.close()
        self.addCleanup(end)

        def begun():
            with open(journal) as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
            return [(one["run"], one["attempt"]) for one in lines if one["what"] == "begin"]
        wait_until(lambda: self.api.get("/api/handlers")["items"], 60, "the worker")
        return worker, begun

    def test_every_run_of_a_killed_executor_follows_its_policy(self):
        called = Called()
        self.addCleanup(called.server_close)
        self.addCleanup(called.shutdown)
        self.addCleanup(called.release.set)
        worker, begun = self.start_worker()
        shells = {policy: [self.shell(f"{policy} {n}", on_lost=policy, retry_count=1) for n in range(count)]
                  for policy, count in (("retry", 20), ("fail", 15), ("hold", 15))}
        url = f"http://127.0.0.1:{called.server_port}/"
        calls = [self.run_job(name=f"call {n}", type="http", on_lost="retry", retry_count=1,
                              http={"url": url + "{{run_id}}", "expect": {"status": ["2xx"]},
                                    "headers": {"X-Carillon-Attempt": "{{attempt}}"}}) for n in range(20)]
        handled = [self.run_job(name=f"handler {n}", type="handler", handler="app/hold", retry_count=1)
                   for n in range(20)]
        wait_until(lambda: (len(self.starts()), len(called.attempts), len(begun())) == (50, 20, 20), 120,
                   "all 90 to start", every=0.5)
        wait_until(lambda: len(processes_of(self.folder)) == 100, 30, "their descendants")

        for pid in (self.executor.pid, self.runtime()["warden_pid"]):
            os.kill(pid, signal.SIGKILL)
        self.executor.wait(120)
        wait_until(lambda: not processes_of(self.folder), 30, "the processes of a killed warden to be killed")
        self.start_executor()

        self.all_are(shells["fail"], {"FAILED"})
        self.all_are(shells["hold"], {"HELD"})
        for run in shells["hold"]:
            self.api.post(f"/api/runs/{run}/retry", {"confirm_overlap": True})
        again = shells["retry"] + shells["hold"]
        wait_until(lambda: len(self.starts()) == 50 + len(again), 90, "the second attempts", every=0.5)
        wait_until(lambda: len(called.attempts) == 40, 90, "the second calls")
        self.assertEqual(set(self.states(handled)), {"RUNNING"}, "the functions never noticed")
        self.open_gate()
        called.release.set()
        worker.stdin.close()
        self.all_are(again + calls + handled, {"COMPLETED"})
        self.once(self.starts())
        self.once(called.attempts)
        self.once(begun())
        self.assertEqual(len(begun()), 20)
        for run in again + calls:
            self.assertEqual(self.run_of(run)["attempt"], 2)
        wait_until(lambda: not processes_of(self.folder), 30, "what ended runs left behind to be killed")

    def test_an_upgrade_of_the_daemon_touches_no_run(self):
        runs = [self.shell(f"job {n}") for n in range(100)]
        wait_until(lambda: len(self.starts()) == 100, 120, "all to start", every=0.5)
        warden = self.runtime()["warden_pid"]
        self.executor.send_signal(signal.SIGTERM)
        self.assertEqual(self.executor.wait(120), 0)
        self.start_executor()
        self.assertEqual(self.runtime()["warden_pid"], warden)
        self.assertEqual(self.states(runs), {"RUNNING": 100})
        self.open_gate()
        self.all_are(runs, {"COMPLETED"})
        self.once(self.starts())
        self.assertEqual(len(self.starts()), 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
