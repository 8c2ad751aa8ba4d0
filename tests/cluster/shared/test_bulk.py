#!/usr/bin/env python3
"""A bulk action whose member is killed in the middle: another member completes it, and no item is executed twice."""
import collections
import getpass
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402

JOBS = 500
ITEMS = "carillon_bulk_items_total"


class BulkTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest()
        self.addCleanup(self.finish)
        self.cluster.await_ready()

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def sql(self, statement):
        home = os.path.dirname(self.cluster.process(self.cluster.database())["log"])
        done = subprocess.run(
            ["mariadb", "--no-defaults", "--socket=" + os.path.join(home, "data", "mariadbd.sock"),
             f"--user={getpass.getuser()}", "--batch", "--skip-column-names", "carillon"],
            input=statement, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def worker(self):
        """The member that has executed some items of the action."""
        return next((name for name in ("scheduler-1", "scheduler-2")
                     if self.cluster.metric(name, ITEMS) > 0), None)

    def ended(self, api, action):
        now = api.get("/api/bulk/" + action["bulk_id"])
        return now if now["end_time"] else None

    def test_each_job_is_run_once_although_the_member_dies(self):
        api = self.cluster.api("scheduler-1")
        jobs = [{"job_id": f"b{i}", "name": f"b{i}", "type": "noop"} for i in range(JOBS)]
        api.post("/api/apply", jobs)
        action = api.post("/api/bulk", {"action": "run", "background": True,
                                        "ids": [job["job_id"] for job in jobs]})
        victim = wait_until(self.worker, 30, "a member to work on it")
        self.cluster.run("kill", victim)
        other = {"scheduler-1": "scheduler-2", "scheduler-2": "scheduler-1"}[victim]
        api = self.cluster.api(other)
        done = api.get("/api/bulk/" + action["bulk_id"])["done"]
        self.assertGreater(done, 0)
        self.assertLess(done, JOBS, "it was killed in the middle")
        end = wait_until(lambda: self.ended(api, action), 180, "its end")
        self.assertEqual((end["state"], end["done"], end["failed"]), ("DONE", JOBS, 0))
        self.assertGreater(self.cluster.metric(other, ITEMS), 0)

        runs = self.sql("SELECT j.job_id, COUNT(*) FROM job_runs r JOIN jobs j ON j.job_no = r.job_no "
                        "WHERE j.job_id LIKE 'b%' GROUP BY j.job_id")
        self.assertEqual(len(runs), JOBS)
        self.assertEqual([row for row in runs if row[1] != "1"], [], "each has exactly one run")
        items = list(api.pages(f"/api/bulk/{action['bulk_id']}/items"))
        self.assertEqual(len({item["run_id"] for item in items}), JOBS)

        # The audit log has each item once; the item in progress when the member died may be there twice.
        runs_of = collections.Counter({row[0]: int(row[1]) for row in self.sql(
            "SELECT object_id, COUNT(*) FROM audit_log WHERE action = 'job.execute' "
            "GROUP BY object_id")})
        self.assertEqual(len(runs_of), JOBS)
        self.assertLessEqual(sum(runs_of.values()), JOBS + 1)
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
