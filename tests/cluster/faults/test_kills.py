#!/usr/bin/env python3
"""Kills, stops and restarts the parts of a cluster under load, and checks the journal that the jobs wrote.

The short form has two kills in about a minute, on MySQL also that of the database, the long form the whole list, with
CHAOS_PER_SECOND shell jobs a second and CHAOS_NOOPS_PER_SECOND no-op jobs.
"""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import LONG, ClusterUnderTest  # noqa: E402
from load import Load, uptime  # noqa: E402

PER_SECOND = int(os.environ.get("CHAOS_PER_SECOND", "100" if LONG else "40"))
NOOPS_PER_SECOND = int(os.environ.get("CHAOS_NOOPS_PER_SECOND", "1000" if LONG else "100"))
SESSION_S = 3


class KillsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", str(SESSION_S * 1000),
                                        "--slots", "32")
        self.addCleanup(self.finish)
        self.load = Load(self.cluster, PER_SECOND, noops_per_second=NOOPS_PER_SECOND)
        self.load.run_for(8)
        self.load.await_fires()

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def go_through(self, *faults):
        try:
            for fault, *arguments in faults:
                fault(*arguments)
            self.load.judge(self, self.load.settle())
        except Exception as error:
            print(f"FAILED: {error}\n{self.load.open_runs()}", flush=True)
            raise
        self.passed = True

    def calm(self, seconds=4):
        self.cluster.await_ready()
        self.load.await_fires()
        self.load.run_for(seconds)

    # ---- the faults ----

    def kill_scheduler(self, name, what):
        self.cluster.refresh()
        since = uptime()
        os.kill(self.cluster.process(name)["pid"], signal.SIGKILL)
        self.load.await_fires()
        self.load.run_for(2)
        silence = self.load.silence_after(since)
        print(f"kill -9 of {what} ({name}): {silence:.2f} s without fires of its jobs", flush=True)
        self.assertLessEqual(silence, SESSION_S + 1, f"without fires after {what} was killed")
        self.cluster.run("start", name)
        self.calm()

    def kill_leader(self):
        self.kill_scheduler(self.cluster.leader(), "the leader")

    def kill_other_owner(self):
        leader = self.cluster.leader()
        other = next(p["name"] for p in self.cluster.status["processes"]
                     if p["kind"] == "scheduler" and p["name"] != leader)
        self.kill_scheduler(other, "an owner that does not lead")

    def kill_executor(self):
        since = uptime()
        self.cluster.run("kill", "executor-1")
        self.load.run_for(3)
        self.cluster.run("start", "executor-1")
        self.calm()
        self.load.process_died(since)  # a claim that was on its way to this process is lost

    def kill_executor_and_warden(self):
        self.cluster.refresh()
        since = uptime()
        warden = self.cluster.process("executor-2")["warden_pid"]
        self.assertTrue(warden)
        self.cluster.run("kill", "executor-2")
        os.kill(warden, signal.SIGKILL)
        self.load.run_for(3)
        self.cluster.run("start", "executor-2")
        self.calm()
        self.load.process_died(since)

    def stop_owner(self):
        name = self.cluster.leader()
        self.cluster.run("kill", name, "STOP")
        self.load.run_for(30)
        self.assertEqual(self.cluster.refresh()["processes"][
            [p["name"] for p in self.cluster.status["processes"]].index(name)]["state"], "stopped")
        self.load.await_fires()
        self.cluster.run("kill", name, "CONT")
        self.calm()

    def restart(self, name, away_s):
        since = uptime()
        self.cluster.run("kill", name)
        self.load.run_for(away_s)
        self.cluster.run("start", name)
        self.calm()
        # The answer to a claim that was on its way is lost, and so is the attempt.
        if name == self.cluster.database():
            self.load.process_died(since)

    def zookeeper_away(self):
        self.cluster.run("kill", "zookeeper")
        since = uptime()
        while uptime() < since + 120:
            self.load.await_fires(10)
            self.load.run_for(2)
        self.cluster.run("start", "zookeeper")
        self.calm()

    # ---- the lists ----

    def test_killed_leader_and_executor_lose_nothing(self):
        self.go_through([self.kill_leader], [self.kill_executor])


class DatabaseTest(KillsTest):
    test_killed_leader_and_executor_lose_nothing = None

    def test_killed_leader_executor_and_database_lose_nothing(self):
        self.go_through([self.kill_leader], [self.kill_executor],
                        [self.restart, self.cluster.database(), 3])


class AllFaultsTest(KillsTest):
    test_killed_leader_and_executor_lose_nothing = None  # the long list includes these kills

    def test_kills_of_every_process_in_turn_lose_nothing(self):
        self.go_through([self.kill_leader],
                        [self.kill_other_owner],
                        [self.kill_executor],
                        [self.kill_executor_and_warden],
                        [self.stop_owner],
                        [self.restart, self.cluster.database(), 3],
                        [self.restart, "kafka", 3],
                        [self.restart, "zookeeper", 3],
                        [self.zookeeper_away])


if LONG:
    del KillsTest, DatabaseTest
elif os.environ.get("CARILLON_TEST_SERVER") == "mysql":
    del KillsTest, AllFaultsTest
else:
    del AllFaultsTest, DatabaseTest

if __name__ == "__main__":
    unittest.main(verbosity=2)
