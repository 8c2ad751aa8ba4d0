#!/usr/bin/env python3
"""Notices of a cluster whose member is killed between the end of runs and the delivery of their notices."""
import base64
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from receivers import WebhookReceiver  # noqa: E402

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
JOBS = 40  # enough for most segments, and so for both members


class NoticesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.webhook = WebhookReceiver(SECRET).start()
        with tempfile.NamedTemporaryFile("w", prefix="carillon-secret-", delete=False) as f:
            f.write(SECRET + "\n")
        cls.secret_file = f.name
        cls.failed = False
        options = []
        for setting in (f"webhook_url={cls.webhook.url}", f"webhook_secret_file={f.name}",
                        "repeat_after_s=0"):
            options += ["--set", "notify." + setting]
        cls.cluster = ClusterUnderTest(*options)

    @classmethod
    def tearDownClass(cls):
        if cls.failed:
            print(cls.cluster.log_tails(), flush=True)
        cls.cluster.destroy(keep=cls.failed)
        cls.webhook.stop()
        os.unlink(cls.secret_file)

    def setUp(self):
        self.passed = False
        self.cluster.await_ready()

    def tearDown(self):
        type(self).failed = self.failed or not self.passed

    def test_each_failure_is_reported_whichever_process_is_killed(self):
        api = self.cluster.api("scheduler-2")
        jobs = [api.post("/api/jobs", {"name": f"n{i}", "command": "exit 7"})["job_id"]
                for i in range(JOBS)]
        self.webhook.stop()
        runs = [api.post(f"/api/jobs/{job}/execute")["run_id"] for job in jobs]
        wait_until(lambda: all(r["state"] == "FAILED" for job in jobs for r in api.runs(job)), 60,
                   "the ends")
        self.cluster.run("kill", "scheduler-1")
        self.webhook.start()
        wait_until(lambda: len(self.webhook.bodies("run.failed")) >= JOBS, 120,
                   f"{JOBS} webhooks")
        notified = [body["data"]["run_id"] for body in self.webhook.bodies("run.failed")]
        self.assertEqual(sorted(notified), sorted(runs), "each once: none was delivered before")

        # The member is killed while it delivers. A notice may then arrive twice, with the same id, but none is lost.
        self.cluster.run("start", "scheduler-1")
        self.cluster.await_ready()
        api = self.cluster.api("scheduler-2")
        more = [api.post(f"/api/jobs/{job}/execute")["run_id"] for job in jobs]
        wait_until(lambda: len(self.webhook.bodies("run.failed")) > JOBS, 60, "one of them")
        self.cluster.run("kill", "scheduler-1")
        wait_until(lambda: {b["data"]["run_id"] for b in self.webhook.bodies("run.failed")} >=
                   set(more), 120, "all of them")
        by_run = {}
        for message_id, body in self.webhook.received:
            by_run.setdefault(body["data"]["run_id"], set()).add(message_id)
        self.assertEqual([run for run, ids in by_run.items() if len(ids) != 1], [])
        self.assertEqual(self.webhook.forged, [])
        wait_until(lambda: not list(api.pages("/api/deliveries?state=PENDING")), 60,
                   "every delivery to be recorded")
        self.cluster.run("start", "scheduler-1")
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
