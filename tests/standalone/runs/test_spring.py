#!/usr/bin/env python3
"""The example of the Spring Boot starter, packed as an application is deployed, on a standalone server: its methods run,
and it outlives a killed executor. The starter's own tests cover what it accepts."""
import os
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

APPLICATION = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx96m", "-jar",
               os.path.join(os.environ["CARILLON_WORKER_JAVA"], "spring", "billing.jar")]


class SpringTest(ServerCase):
    JOB = {"type": "handler", "retry_interval": 0}

    application = None

    def setUp(self):
        if self.application is None or self.application.poll() is not None:
            self.start_application()
        self.offered()

    @classmethod
    def start_application(cls):
        cls.log_path = os.path.join(cls.server.scratch, "application.log")
        socket = os.path.join(cls.server.data_dir, "executor", "worker.sock")
        with open(cls.log_path, "ab") as log:
            cls.application = subprocess.Popen([*APPLICATION, "--carillon.worker.socket=" + socket],
                                               stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cls.addClassCleanup(cls.end, cls.application)

    @staticmethod
    def end(application):
        if application.poll() is None:
            application.kill()
            application.wait(60)

    def offered(self):
        names = {"billing/close_day", "billing/send_invoices"}
        wait_until(lambda: names == {one["name"] for one in self.api.get("/api/handlers")["items"]}, 60,
                   "the application; log: " + self.log_path)

    def start_closing(self, accounts):
        """Starts a run that takes a tenth of a second for each account, and waits until it is at work."""
        run_id = self.start(self.create(handler="billing/close_day", parameters={"accounts": accounts}, retry_count=3))
        wait_until(lambda: self.run_of(run_id).get("progress"), 30, "the first account")
        return run_id

    def log(self, run_id):
        def text():
            status, headers, body = self.api.raw("GET", f"/api/runs/{run_id}/logs")
            return body.decode() if status == 200 and dict(headers).get("X-Log-Complete") == "true" else None
        return wait_until(text, 30, "the log")

    def test_methods_of_beans_run(self):
        run = self.execute(self.create(handler="billing/close_day", parameters={"accounts": 2}))
        self.assertEqual((run["state"], run["outputs"]), ("COMPLETED", {"closed": "2"}), run)
        self.assertIn(f"closed account 2 for {run['run_id']}", self.log(run["run_id"]))

    def test_loggers_write_to_the_log_of_the_run(self):
        run = self.execute(self.create(handler="billing/send_invoices", parameters={"customer": "Jane"}))
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertEqual(self.log(run["run_id"]).strip(), "INFO com.example.billing.Invoices: sent an invoice to Jane")

    def test_an_exception_keeps_its_stack_trace(self):
        run = self.execute(self.create(handler="billing/send_invoices"))
        self.assertEqual(run["state"], "FAILED", run)
        self.assertEqual(run["attempts"][0]["error"], "IllegalArgumentException: the parameter customer is missing")
        text = self.log(run["run_id"])
        self.assertIn("java.lang.IllegalArgumentException: the parameter customer is missing", text)
        self.assertIn("at com.example.billing.Invoices.send(Invoices.java:", text)

    def test_the_application_outlives_a_killed_executor(self):
        minder = self.create(handler="billing/send_invoices", parameters={"customer": "Jane"}, cron_expression="* * * * * *")
        run_id = self.start_closing(30)
        self.server.kill()
        self.restart()
        self.offered()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"], run["outputs"]), ("COMPLETED", 1, {"closed": "30"}), run)
        latest = self.api.get(f"/api/jobs/{minder['job_id']}/history")["items"][0]["fire_time"]

        def fired():
            items = self.api.get(f"/api/jobs/{minder['job_id']}/history")["items"]
            return any(one["fire_time"] > latest and one["state"] == "COMPLETED" for one in items)
        wait_until(fired, 60, "a fire after the restart")
        self.assertIsNone(self.application.poll())

    def test_a_stop_waits_for_the_methods(self):
        run_id = self.start_closing(20)
        self.application.terminate()
        self.assertEqual(self.application.wait(60), 128 + signal.SIGTERM)
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"], run["outputs"]), ("COMPLETED", 1, {"closed": "20"}), run)


if __name__ == "__main__":
    unittest.main()
