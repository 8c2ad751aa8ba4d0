#!/usr/bin/env python3
"""Secrets in a cluster: runs get them on any executor, but they appear neither in Kafka nor on any disk."""
import hashlib
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from secret_search import forms, hiding_places  # noqa: E402

VALUE = "zebra-quartz-7f3a9b"
FINAL = ("COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED", "LOST", "SKIPPED")
COMMAND = 'printf %s "$PASSWORD" | sha256sum; echo "out $PASSWORD"; echo "err $URL" >&2; test -z "$FAIL"'


class SecretsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--schedulers", "2", "--executors", "2", "--set", "log.level=debug")
        cls.failed = False
        value = os.path.join(cls.cluster.scratch, "value")
        with open(value, "w") as f:
            f.write(VALUE + "\n")
        cls.cluster.cli("secret", "set", "db", "--value-file", value)
        os.remove(value)
        cls.answers = []

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=cls.failed)

    def setUp(self):
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.addCleanup(self.note)

    def note(self):
        if any(error for _, error in getattr(self._outcome, "errors", [])):
            type(self).failed = True

    def get(self, path):
        status, _, data = self.api.raw("GET", path)
        self.answers.append(data.decode())
        self.assertEqual(status, 200, data)
        return data.decode()

    def make_job(self, job_id, env=None, **more):
        job = {"job_id": job_id, "name": job_id, "command": COMMAND,
               "env": {"PASSWORD": "{{secrets.db}}", "URL": "mysql://u:{{secrets.db}}@h", **(env or {})}}
        job.update(more)
        self.api.post("/api/jobs", job)

    def run_job(self, job_id, state="COMPLETED"):
        run_id = self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]

        def ended():
            run = self.api.get(f"/api/runs/{run_id}")
            return run if run["state"] in FINAL else None
        run = wait_until(ended, 40, f"the end of {run_id}")
        self.assertEqual(run["state"], state, run)
        self.get(f"/api/runs/{run_id}")
        return run

    def test_1_every_executor_has_the_secret_and_masks_it(self):
        for executor in ("executor-1", "executor-2"):
            self.make_job("on-" + executor, executor_id=executor)
            run = self.run_job("on-" + executor)
            self.assertIn(hashlib.sha256(VALUE.encode()).hexdigest(), run["output"])
            self.assertIn("out ***", run["output"])
            self.assertIn("err mysql://u:***@h", run["output"])
            wait_until(lambda: "out ***" in self.get(f"/api/runs/{run['run_id']}/logs"), 20, "its log")

    def test_2_a_failed_run_masks_it(self):
        self.make_job("failing", env={"FAIL": "1"})
        self.run_job("failing", "FAILED")
        self.get("/api/dead-letters")

    def test_3_other_members_read_it_once_its_creator_is_gone(self):
        for member in ("scheduler-1", "scheduler-2"):
            self.cluster.run("kill", member)
            self.cluster.refresh()
            survivor = next(m for m in ("scheduler-1", "scheduler-2") if m != member)
            self.api.close()
            self.api = wait_until(lambda: self.reach(survivor), 60, survivor)
            self.run_job("on-executor-1")
            self.cluster.run("start", member)
            self.cluster.await_ready()

    def reach(self, member):
        try:
            return self.cluster.api(member)
        except OSError:
            return None

    def test_4_neither_kafka_nor_a_file_contains_it(self):
        self.api.close()
        self.cluster.run("kill", self.cluster.database(), "TERM")  # so that it writes its memory to its files
        wait_until(lambda: self.cluster.refresh() and
                   self.cluster.process(self.cluster.database())["state"] == "dead", 60, "mariadbd to stop", every=0.2)
        # Texts that are no secret must be found by the same search: tasks and logs in Kafka, the rest in MariaDB.
        for known, place in ((b"mysql://u:", "/kafka/"), (b"out ***", "/kafka/"),
                             (b"mysql://u:{{secrets.db}}@h", "/mariadb/"), (b"out ***", "/mariadb/")):
            paths = [path for path, _ in hiding_places(self.cluster.dir, [known])]
            self.assertTrue(any(place in path for path in paths), (known, place, paths))
        self.assertEqual(hiding_places(self.cluster.dir, forms(VALUE)), [])
        for answer in self.answers:
            for needle in forms(VALUE):
                self.assertNotIn(needle.decode(), answer)


if __name__ == "__main__":
    unittest.main()
