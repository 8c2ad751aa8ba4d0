#!/usr/bin/env python3
"""Two hosts without Kafka and ZooKeeper: a standalone server, and an executor in a network namespace of its own."""
import datetime
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, alive, cli, wait_until  # noqa: E402
from server_case import FINAL, ServerCase  # noqa: E402

CUT_S = 30  # longer than a lease, 20 s
# Each start of an attempt is a line, so a second start would be seen from outside.
JOURNAL = 'echo "$CARILLON_RUN_ID $CARILLON_ATTEMPT" >> "$JOURNAL"'


class Host:
    """A network namespace that a pair of virtual interfaces connects to this one."""

    def __init__(self):
        pid = os.getpid()
        self.name = f"carillon-{pid}"
        self.outer = f"cx{pid}"
        net = f"10.{1 + pid % 250}.{1 + pid // 250 % 250}"
        self.server_address = f"{net}.1"
        self.ip("netns", "add", self.name)
        self.ip("link", "add", self.outer, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        self.ip("addr", "add", f"{net}.1/24", "dev", self.outer)
        self.ip("link", "set", self.outer, "up")
        self.ip("-n", self.name, "addr", "add", f"{net}.2/24", "dev", "eth0")
        self.ip("-n", self.name, "link", "set", "eth0", "up")
        self.ip("-n", self.name, "link", "set", "lo", "up")

    @staticmethod
    def ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, timeout=120)

    def connect(self, up):
        self.ip("link", "set", self.outer, "up" if up else "down")

    def start(self, log, *command):
        return subprocess.Popen(["ip", "netns", "exec", self.name, *command],
                                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def remove(self):
        self.ip("netns", "del", self.name)


def free_port(address):
    with socket.socket() as probe:
        probe.bind((address, 0))
        return probe.getsockname()[1]


class TwoHostsTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.host = Host()
        cls.addClassCleanup(cls.host.remove)
        cls.address = f"{cls.host.server_address}:{free_port(cls.host.server_address)}"
        cls.start_server(extra=["--executors", cls.address])
        cls.scratch = cls.server.scratch
        cls.journal = os.path.join(cls.scratch, "journal")
        cls.log = open(os.path.join(cls.scratch, "executor.log"), "ab")
        cls.addClassCleanup(cls.log.close)
        cls.executor = None
        cls.join()
        cls.addClassCleanup(cls.end_executor)

    @classmethod
    def tearDownClass(cls):
        cls.end_executor()
        super().tearDownClass()

    @classmethod
    def join(cls):
        """Does what the console tells a user to do on the other host."""
        token = cls.api.post("/api/executors/join-tokens", {"executor_id": "branch"})
        assert token["link_address"] == cls.address, token
        path = os.path.join(cls.scratch, "join-token")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(token["join_token"])
        cls.run_executor("--set", "link.join_token_file=" + path)

    @classmethod
    def run_executor(cls, *more):
        cls.executor = cls.host.start(
            cls.log, os.path.join(BIN, "carillon-executor"), "--data-dir", os.path.join(cls.scratch, "branch"),
            "--set", "executor.id=branch", "--set", "link.members=" + cls.address, "--set", "link.tls=mutual",
            "--set", "ops.port=0", *more)
        wait_until(lambda: any(one["executor_id"] == "branch" and one["state"] == "ONLINE"
                               for one in cls.api.get("/api/executors")["items"]), 60,
                   "the executor of the other host; log: " + cls.log.name)

    @classmethod
    def end_executor(cls):
        runtime = os.path.join(cls.scratch, "branch", "runtime.json")
        warden = None
        if os.path.exists(runtime):
            with open(runtime) as file:
                warden = json.load(file).get("warden_pid")
        if cls.executor.poll() is None:
            cls.executor.send_signal(signal.SIGTERM)
            try:
                cls.executor.wait(120)
            except subprocess.TimeoutExpired:
                cls.executor.kill()
                cls.executor.wait(120)
        if warden and alive(warden):
            os.kill(warden, signal.SIGKILL)

    def create(self, name, command, **fields):
        return super().create(job_id=name, name=name, command=f"{JOURNAL}; {command}",
                              env={"JOURNAL": self.journal}, executor_id="branch", **fields)

    def started(self, run_id, seconds=60):
        wait_until(lambda: any(line.startswith(run_id) for line in self.starts()), seconds, f"the start of {run_id}")

    def starts(self):
        if not os.path.exists(self.journal):
            return []
        with open(self.journal) as file:
            return file.read().splitlines()

    def test_1_runs_go_to_the_other_host_and_their_output_comes_back(self):
        run = self.execute(self.create("far", "ip -brief address show dev eth0; seq 30000"))
        self.assertEqual((run["state"], run["executor_id"]), ("COMPLETED", "branch"), run)
        log = wait_until(lambda: self.whole_log(run["run_id"]), 30, "the whole log")
        self.assertIn(self.host.server_address.rsplit(".", 1)[0] + ".2/24", log)

    def test_1_broadcast_runs_once_on_every_host(self):
        job = ServerCase.create(self, job_id="everywhere", name="everywhere", command="hostname", broadcast={})
        run = self.ended(self.start(job))
        self.assertEqual(run["state"], "COMPLETED", run)
        parts = self.api.get(f"/api/runs/{run['run_id']}/shards")["shards"]
        self.assertEqual(sorted(part["executor_id"] for part in parts),
                         sorted(one["executor_id"] for one in self.api.get("/api/executors")["items"]))

    def whole_log(self, run_id):
        text = cli(self.server, "run", "logs", run_id)[1]
        return text if "30000" in text else None

    def test_2_a_cut_longer_than_a_lease_loses_and_doubles_nothing(self):
        gate = os.path.join(self.scratch, "gate")
        wait = f'while [ ! -e "{gate}" ]; do sleep 0.2; done'
        held = self.create("held", f"{wait}; echo ended during the cut", on_lost="hold")
        again = self.create("again", f'{wait}; echo "attempt $CARILLON_ATTEMPT"', on_lost="retry", retry_count=1,
                            retry_interval=0)
        self.create("often", "true", overlap_policy="allow", misfire_policy="all", on_lost="retry", retry_count=3, retry_interval=0,
                    schedules=[{"kind": "rate", "every_ms": 1000}])
        held, again = self.start(held), self.start(again)
        self.started(held)
        self.started(again)
        wait_until(lambda: self.count("often", "COMPLETED") >= 3, 30, "the first fires")
        self.host.connect(False)
        cut_at = time.monotonic()
        wait_until(lambda: self.state_of("branch") == "LOST", 60, "the executor to be lost")
        # The first attempt of `again` is killed before its lease ends, so nothing may start in its place before.
        wait_until(lambda: self.run_of(again)["attempts"][0]["state"] == "LOST", CUT_S + 30,
                   "the lease to end")
        self.assertEqual(self.run_of(held)["state"], "HELD")
        with open(gate, "w"):
            pass  # `held` ends now, while no member can be reached
        wait_until(lambda: time.monotonic() > cut_at + CUT_S, CUT_S + 1, "the end of the cut")
        last = max(run["fire_time"] for run in self.api.runs("often"))  # planned ahead
        self.host.connect(True)
        self.assertEqual(self.ended(held)["output"], "ended during the cut\n")
        tried = self.ended(again)
        self.assertEqual((tried["state"], tried["output"]), ("COMPLETED", "attempt 2\n"), tried)

        def fires():
            return [run for run in self.api.runs("often") if run["fire_time"] <= last]
        wait_until(lambda: all(run["state"] in FINAL for run in fires()), 90, "all fires to end")
        self.api.post("/api/jobs/often/pause", {})
        self.assertEqual({run["state"] for run in fires()}, {"COMPLETED"})
        times = sorted(datetime.datetime.fromisoformat(run["fire_time"].replace("Z", "+00:00")) for run in fires())
        self.assertEqual({(b - a).total_seconds() for a, b in zip(times, times[1:])}, {1.0}, "a fire is missing")
        self.assertGreaterEqual((times[-1] - times[0]).total_seconds(), CUT_S - 5)
        starts = self.starts()
        self.assertEqual(len(starts), len(set(starts)), "an attempt was started twice")
        self.assertEqual([line.split()[1] for line in starts if line.startswith(again)], ["1", "2"])

    def count(self, job, state):
        return sum(run["state"] == state for run in self.api.runs(job))

    def state_of(self, executor):
        return next(one["state"] for one in self.api.get("/api/executors")["items"] if one["executor_id"] == executor)

    def test_3_a_run_survives_restarts_of_both_sides(self):
        gate = os.path.join(self.scratch, "gate-3")
        long = self.create("long", f'while [ ! -e "{gate}" ]; do sleep 0.2; done; echo through')
        run = self.start(long)
        self.started(run)
        self.executor.kill()
        self.executor.wait(120)
        self.run_executor()  # the token is used up; the certificate is enough
        self.server.kill()
        self.restart()
        wait_until(lambda: self.state_of("branch") == "ONLINE", 60, "the executor to come back")
        with open(gate, "w"):
            pass
        ended = self.ended(run)
        self.assertEqual((ended["state"], ended["output"], ended["attempt"]), ("COMPLETED", "through\n", 1), ended)
        self.assertEqual(self.starts().count(f"{run} 1"), 1)

    def test_4_an_executor_without_a_token_is_refused(self):
        refused = self.host.start(
            self.log, os.path.join(BIN, "carillon-executor"), "--data-dir", os.path.join(self.scratch, "stranger"),
            "--set", "executor.id=stranger", "--set", "link.members=" + self.address, "--set", "link.tls=mutual",
            "--set", "ops.port=0")
        self.assertNotEqual(refused.wait(120), 0)
        self.assertNotIn("stranger", {one["executor_id"] for one in self.api.get("/api/executors")["items"]})


if __name__ == "__main__":
    if os.geteuid() != 0:  # as root of a user namespace, which may have network namespaces
        os.execvp("unshare", ["unshare", "--user", "--map-root-user", "--net", "--mount", "sh", "-c",
                              'mount -t tmpfs none /run && ip link set lo up && exec "$0" "$@"',
                              sys.executable, *sys.argv])
    unittest.main(verbosity=2)
