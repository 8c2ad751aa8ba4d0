#!/usr/bin/env python3
"""MariaDB, Kafka and ZooKeeper hang, one after the other: a stopped server accepts connections but answers nothing.
Running attempts must continue to their end, without a retry. The same holds when daemons start while Kafka is not
available.

The short form stops each server for longer than a lease, and longer than a statement or a connection may take. With
CARILLON_TEST_LONG=1 each is stopped for a minute, during runs of two minutes and with a cluster's default leases.
"""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from harness import LONG, alive  # noqa: E402
from load import uptime  # noqa: E402

# A killed executor returns after its ZooKeeper session has ended, it has started, and it has waited 2 s for Kafka. Its
# warden waits for it for the lease less 3 s.
LEASE_S = 20 if LONG else 15
HANG_S = 60 if LONG else 26  # a statement fails after 15 s, and its repetition on a new connection 5 s later
RUN_S = 120 if LONG else 45
RESTARTS_S = 45  # the time for the restarts of two daemons, beside a lease
RUNS = 12


class HangTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.passed = 0
        cls.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32",
                                       "--set", f"scheduler.lease_ms={LEASE_S * 1000}")

    @classmethod
    def tearDownClass(cls):
        if cls.passed < 4:
            print(cls.cluster.log_tails(), flush=True)
        cls.cluster.destroy(keep=cls.passed < 4)

    def start_runs(self, what, seconds=RUN_S):
        """Starts runs in so many segments that each member owns some of them."""
        api = self.cluster.api()
        runs = []
        for i in range(RUNS):
            job_id = f"{what}-{i}"
            api.post("/api/jobs", {"name": job_id, "job_id": job_id, "retry_count": 2, "retry_interval": 1,
                                   "command": f"echo $$ >>{self.pids(what)}; exec sleep {seconds}"})
            runs.append(api.post(f"/api/jobs/{job_id}/execute")["run_id"])
        wait_until(lambda: all(api.get(f"/api/runs/{run}")["state"] == "RUNNING" for run in runs),
                   30, "the runs to start", every=0.2)
        executors = {api.get(f"/api/runs/{run}")["executor_id"] for run in runs}
        self.assertEqual(executors, {"executor-1", "executor-2"})
        return runs

    def pids(self, what):
        return os.path.join(self.cluster.scratch, what + ".pids")

    def expect_all_still_run(self, what):
        """Checks that no run has ended yet: otherwise the ends would prove nothing about leases."""
        with open(self.pids(what), encoding="utf-8") as f:
            pids = [int(line) for line in f]
        self.assertEqual([alive(pid) for pid in pids], [True] * RUNS, f"the runs outlast {what}")

    def hang(self, what):
        self.cluster.await_ready()
        runs = self.start_runs(what)
        self.cluster.run("kill", what, "STOP")
        until = uptime() + HANG_S
        wait_until(lambda: uptime() > until, HANG_S + 30, "the hang to be over", every=0.2)
        self.expect_all_still_run(what)
        self.cluster.run("kill", what, "CONT")
        self.expect_first_attempts(f"{what} hung for {HANG_S} s", runs)

    def expect_first_attempts(self, why, runs):
        api = wait_until(self.api_that_answers, 60, "a member to answer", every=0.5)
        wait_until(lambda: all(api.get(f"/api/runs/{run}")["ended_at"] for run in runs),
                   RUN_S + RESTARTS_S + 60, "the runs to end", every=0.5)
        ended = [api.get(f"/api/runs/{run}") for run in runs]
        print(f"{why} (lease {LEASE_S} s): attempts "
              f"{[run['attempt'] for run in ended]}", flush=True)
        self.assertEqual([(run["state"], run["attempt"]) for run in ended], [("COMPLETED", 1)] * RUNS)
        type(self).passed += 1

    def api_that_answers(self):
        try:
            return self.cluster.api()
        except Exception:  # the members may still wait for the server that hung
            return None

    def end(self, name):
        self.cluster.run("kill", name, "KILL")
        wait_until(lambda: self.cluster.refresh() and self.cluster.process(name)["state"] == "dead",
                   60, f"{name} to end", every=0.2)

    def test_daemons_start_without_kafka(self):
        """Without Kafka they still renew the leases of running attempts, and a member still takes segments."""
        self.cluster.await_ready()
        runs = self.start_runs("away", RUN_S + RESTARTS_S)
        self.end("kafka")
        for name in ("executor-1", "scheduler-2"):
            self.end(name)
            self.cluster.run("start", name)
        self.cluster.refresh()
        wait_until(lambda: self.cluster.metric("scheduler-2", "carillon_owned_segments") > 0, 30,
                   "scheduler-2 to own segments", every=0.5)
        until = uptime() + LEASE_S + 5
        wait_until(lambda: uptime() > until, LEASE_S + 30, "leases to have ended", every=0.2)
        self.assertNotEqual(self.cluster.refresh() and self.cluster.process("kafka")["state"],
                            "running")
        self.expect_all_still_run("away")
        self.cluster.run("start", "kafka")
        self.expect_first_attempts("executor-1 and scheduler-2 started without Kafka", runs)

    def test_a_hang_of_mariadb_loses_nothing(self):
        self.hang(self.cluster.database())

    def test_a_hang_of_kafka_loses_nothing(self):
        self.hang("kafka")

    def test_a_hang_of_zookeeper_loses_nothing(self):
        self.hang("zookeeper")


if __name__ == "__main__":
    unittest.main(verbosity=2)
