#!/usr/bin/env python3
"""The leader is killed while the cluster is paused: its successor stays paused, attempts go on, no run is lost."""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from load import Load, uptime  # noqa: E402

SESSION_S = 3
STILL_S = 3  # the time in which nothing may start


class PauseTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", str(SESSION_S * 1000), "--slots", "32")
        self.addCleanup(self.finish)
        self.load = Load(self.cluster, 20, long_jobs=0)
        self.load.await_fires()

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def members(self):
        return [p["name"] for p in self.cluster.status["processes"]
                if p["kind"] == "scheduler" and p["state"] == "running"]

    def paused_everywhere(self, paused):
        self.cluster.refresh()
        wait_until(lambda: {self.cluster.metric(name, "carillon_paused") for name in self.members()} == {float(paused)},
                   10, f"paused {paused} at {self.members()}")

    def stillness(self):
        """Checks that no job starts for more than STILL_S. Returns the number of starts so far."""
        self.load.follow()
        count = len(self.load.starts)
        until = uptime() + STILL_S

        def over():
            self.load.follow()
            self.assertEqual(len(self.load.starts), count, "something started while the cluster is paused")
            return uptime() > until
        wait_until(over, 30, "the still seconds", every=0.2)
        return count

    def test_a_pause_survives_the_kill_of_the_leader(self):
        api = self.cluster.api()
        api.post("/api/jobs", {"job_id": "goes-on", "name": "goes-on", "command": "sleep 12"})
        goes_on = api.post("/api/jobs/goes-on/execute")["run_id"]
        wait_until(lambda: api.get("/api/runs/" + goes_on)["state"] == "RUNNING", 30, "the run that goes on")
        leader = self.cluster.leader()
        self.cluster.cli("system", "pause", "--reason", "the switch is changed", "--yes", "--wait")
        self.paused_everywhere(True)
        # An attempt whose claim was accepted just before the pause starts a moment later.
        self.load.run_for(1)
        before = self.stillness()
        self.assertGreater(before, 0)

        os.kill(self.cluster.process(leader)["pid"], signal.SIGKILL)
        wait_until(lambda: self.cluster.refresh()["leader"] not in (None, leader), 30, "another leader", every=0.2)
        survivor = self.cluster.status["leader"]
        api = self.cluster.api(survivor)
        wait_until(lambda: all(one["owner"] == survivor for one in api.get("/api/system/status")["segments"]),
                   30, "every segment to be its own", every=0.2)
        self.assertEqual(api.get("/api/system/status")["paused"]["reason"], "the switch is changed")
        self.paused_everywhere(True)
        by_hand = api.post("/api/jobs/goes-on/execute")["run_id"]
        self.assertEqual(self.stillness(), before)
        wait_until(lambda: api.get("/api/runs/" + goes_on)["state"] == "COMPLETED", 30, "the run that goes on to end")
        self.assertEqual(api.get("/api/runs/" + goes_on)["attempt"], 1)
        waits = api.get("/api/runs/" + by_hand)
        self.assertEqual((waits["state"], waits["waiting"]["code"]), ("PENDING", "cluster_paused"))

        # A member that starts during the pause must know of it before its loops begin.
        self.cluster.run("start", leader)
        self.cluster.await_ready()
        self.paused_everywhere(True)
        self.assertEqual(self.stillness(), before)

        self.cluster.cli("system", "resume")
        self.paused_everywhere(False)
        self.load.await_fires()
        wait_until(lambda: api.get("/api/runs/" + by_hand)["state"] == "COMPLETED", 60, "the run by hand")
        self.load.judge(self, self.load.settle())
        self.passed = True


if __name__ == "__main__":
    unittest.main()
