#!/usr/bin/env python3
"""Settings of a whole cluster that change while it runs: they reach every process, even when parts are unavailable.

GET reads the store, so it does not prove that a change has spread. The metric of each process proves it.
"""
import os
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until, within  # noqa: E402
from harness import ApiError  # noqa: E402

PATH = "/api/system/config"
MEMBERS = ("scheduler-1", "scheduler-2")
EXECUTORS = ("executor-1", "executor-2")
SPREAD_S = 5       # the limit when all parts are available; measured times are well below 1 s
SESSION_S = 2
FROM_STORE_S = 5   # the interval at which the leader reads the store


class ConfigTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--session-timeout-ms", str(SESSION_S * 1000))
        cls.failed = False

    @classmethod
    def tearDownClass(cls):
        if cls.failed:
            print(cls.cluster.log_tails(), flush=True)
        cls.cluster.destroy(keep=cls.failed)

    def setUp(self):
        self.passed = False
        self.cluster.await_ready()

    def tearDown(self):
        type(self).failed = self.failed or not self.passed

    def put(self, member, settings):
        """Changes the settings at this member and returns their new version."""
        api = self.cluster.api(member)
        status, headers, _ = api.raw("GET", PATH)
        self.assertEqual(status, 200)
        return api.call("PUT", PATH, {"settings": settings},
                        {"If-Match": headers["ETag"]})["version"]

    def version(self, name):
        """The version of the settings in force in this process; None while it does not answer."""
        try:
            return int(self.cluster.metric(name, "carillon_config_version"))
        except OSError:
            return None

    def await_version(self, names, version, seconds=SPREAD_S):
        began = time.monotonic()
        within(lambda: all(self.version(name) == version for name in names), seconds,
                   f"version {version} in {names}")
        return time.monotonic() - began

    def output_bytes(self):
        api = self.cluster.api()
        job = api.post("/api/jobs", {"name": "loud", "command": "head -c 5000 /dev/zero | tr '\\0' x"})
        run = api.post(f"/api/jobs/{job['job_id']}/execute")["run_id"]
        ended = wait_until(lambda: next(iter(
            r for r in [api.get(f"/api/runs/{run}")] if r["state"] == "COMPLETED"), None), 30,
            "the run to end")
        return ended["output"].count("x")  # without the note that the output was truncated

    def test_a_change_reaches_every_process_and_survives_their_restarts(self):
        self.assertEqual(self.output_bytes(), 5000)
        version = self.put("scheduler-1", {"executor.output_bytes_max": 1024, "executor.slots": 3})
        took = self.await_version(MEMBERS + EXECUTORS, version)
        print(f"in force everywhere after {took:.2f} s", flush=True)
        self.assertEqual(self.output_bytes(), 1024)
        for member in MEMBERS:
            wait_until(lambda m=member: [(e["slots"], e["config_version"]) for e in
                                         self.cluster.api(m).get("/api/executors")["items"]] ==
                       [(3, version)] * 2, 10, "both executors' slots at " + member)
        for name in ("executor-1", "scheduler-2"):
            self.cluster.run("kill", name)
            self.cluster.run("start", name)
        self.cluster.await_ready()
        self.await_version(MEMBERS + EXECUTORS, version)
        self.assertEqual(self.output_bytes(), 1024)
        version = self.put("scheduler-2", {"executor.output_bytes_max": None, "executor.slots": None})
        self.await_version(MEMBERS + EXECUTORS, version)
        self.assertEqual(self.output_bytes(), 5000)
        self.passed = True

    def test_the_second_of_two_changes_at_one_version_is_refused(self):
        one, two = (self.cluster.api(member) for member in MEMBERS)
        tag = one.raw("GET", PATH)[1]["ETag"]
        self.assertEqual(two.raw("GET", PATH)[1]["ETag"], tag)
        version = one.call("PUT", PATH, {"settings": {"retention_days": 20}}, {"If-Match": tag})["version"]
        with self.assertRaises(ApiError) as refused:
            two.call("PUT", PATH, {"settings": {"retention_days": 21}}, {"If-Match": tag})
        self.assertEqual(refused.exception.status, 412)
        self.await_version(MEMBERS, version)
        self.assertEqual(two.get(PATH)["settings"]["retention_days"], "20")
        self.passed = True

    def test_executors_follow_without_zookeeper_and_members_when_it_is_back(self):
        self.cluster.run("kill", "zookeeper")
        before = self.version("scheduler-2")
        version = self.put("scheduler-1", {"executor.slots": 5})
        self.await_version(("scheduler-1",) + EXECUTORS, version)
        self.assertEqual(self.version("scheduler-2"), before)
        self.cluster.run("start", "zookeeper")
        self.await_version(MEMBERS + EXECUTORS, version, 240)
        self.passed = True

    def test_a_change_arrives_although_its_member_died(self):
        for member in (self.cluster.leader(),
                       next(m for m in MEMBERS if m != self.cluster.leader())):
            other = next(m for m in MEMBERS if m != member)
            # The member can store the change, but cannot notify the others.
            self.cluster.run("kill", "zookeeper", "STOP")
            version = self.put(member, {"executor.slots": 6 if member == MEMBERS[0] else 7})
            self.cluster.run("kill", member)
            self.assertNotEqual(self.version(other), version)
            self.cluster.run("kill", "zookeeper", "CONT")
            took = self.await_version((other,), version, 2 * SESSION_S + FROM_STORE_S + 10)
            print(f"found in the store after {took:.1f} s", flush=True)
            self.cluster.run("start", member)
            self.cluster.await_ready()
            self.await_version(MEMBERS + EXECUTORS, version)
        self.passed = True

    def test_a_drain_reaches_the_executor(self):
        def states():
            with open(self.cluster.process("executor-2")["log"], encoding="utf-8",
                      errors="replace") as f:
                return re.findall(r"this executor is (\w+) member=scheduler-1", f.read())
        self.cluster.api("scheduler-2").post("/api/executors/executor-2/drain")
        within(lambda: states()[-1:] == ["draining"], 4, "word of the drain by the other member")
        self.cluster.api("scheduler-2").post("/api/executors/executor-2/enable")
        within(lambda: states()[-1:] == ["enabled"], 4, "word of its end")
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
