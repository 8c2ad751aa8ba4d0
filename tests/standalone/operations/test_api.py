#!/usr/bin/env python3
"""The REST API and the command line: answers while the database hangs, jobs exported and edited, complete lists."""
import http.client
import json
import os
import signal
import sys
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402


class ApiTest(ServerCase):
    def ops(self, path):
        """Returns (status, body, seconds) of an answer of the ops port."""
        parts = urllib.parse.urlsplit(self.server.runtime["ops_url"])
        began = time.monotonic()
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=15)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, body, time.monotonic() - began

    def test_a_database_that_hangs_delays_no_answer(self):
        status, body, _ = self.ops("/readyz?verbose")
        self.assertEqual(status, 200, body)
        self.assertTrue(self.api.get("/api/system/status")["store_reachable"])
        mariadbd = self.server.kill("mariadbd_pid", signal.SIGSTOP)
        waiting = [threading.Thread(target=self.ask_and_forget) for _ in range(12)]
        try:
            for thread in waiting:
                thread.start()
            wait_until(lambda: self.ops("/readyz")[0] == 503, 15, "not ready")
            for _ in range(5):
                for path, expected in (("/livez", 200), ("/metrics", 200), ("/readyz?verbose", 503)):
                    status, body, seconds = self.ops(path)
                    self.assertEqual(status, expected, body)
                    self.assertLess(seconds, 5, path)
                began = time.monotonic()
                status = self.api.get("/api/system/status")
                self.assertLess(time.monotonic() - began, 5)
                self.assertFalse(status["store_reachable"])
                self.assertIsNotNone(status["unknown_since"])
                self.assertIsNone(status["members"][0]["owned_segments"])
                self.assertIsNone(status["oldest_overdue_ms"])
                self.assertEqual(sum(status["executors"].values()), 1)
        finally:
            os.kill(mariadbd, signal.SIGCONT)
            for thread in waiting:
                thread.join()
        wait_until(lambda: self.ops("/readyz")[0] == 200, 60, "ready again")
        wait_until(lambda: self.api.get("/api/system/status")["store_reachable"], 60, "the store")

    def ask_and_forget(self):
        api = Api(self.server.runtime["url"], self.server.token, timeout=15)
        try:
            api.raw("GET", "/api/jobs")
        except (OSError, http.client.HTTPException):
            pass  # any answer is right while the database hangs
        finally:
            api.close()

    def test_an_exported_job_is_edited_and_stored(self):
        self.api.post("/api/jobs", {"job_id": "round", "name": "round", "command": "true",
                                    "cron_expression": "0 3 * * *", "time_zone": "Europe/Paris"})
        text = cli(self.server, "job", "get", "round", "-o", "yaml")[1]
        self.assertIn("0 3 * * *", text)
        edited = text.replace("cron_expression: 0 3 * * *", "cron_expression: 0 4 * * *", 1)
        edited = edited.replace('cron_expression: "0 3 * * *"', 'cron_expression: "0 4 * * *"', 1)
        self.assertNotEqual(text, edited)
        cli(self.server, "job", "edit", "round", "-f", "-", stdin=edited)
        job = self.api.get("/api/jobs/round")
        self.assertEqual(job["schedules"][0]["cron_expression"], "0 4 * * *")
        self.assertEqual(job["version"], 2)
        status, _, _ = self.api.raw("PUT", "/api/jobs/round", job, {"If-Match": '"v2"'})
        self.assertEqual((status, self.api.get("/api/jobs/round")["version"]), (200, 2))

    def test_a_job_is_reverted_to_an_earlier_version(self):
        self.api.post("/api/jobs", {"job_id": "versions", "name": "Versions", "command": "echo one"})
        cli(self.server, "job", "edit", "versions", "--command", "echo two")
        listed = json.loads(cli(self.server, "job", "versions", "versions", "-o", "json")[1])
        self.assertEqual([v["version"] for v in listed["items"]], [2, 1])
        differs = cli(self.server, "job", "diff", "versions", check=False)
        self.assertEqual(differs[:2], (1, "command\n  - echo one\n  + echo two\n"))
        cli(self.server, "job", "revert", "versions", "1", "--yes")
        self.assertEqual(cli(self.server, "job", "run", "versions", "--wait")[1].splitlines()[0], "one")

    def test_lists_for_programs_are_complete(self):
        for number in range(60):
            self.api.post("/api/jobs", {"name": f"many {number}", "command": "true"})
        total = len(list(self.api.pages("/api/jobs")))
        self.assertGreaterEqual(total, 60)
        for form in (["-q"], ["-o", "name"], ["-o", "jsonl"]):
            self.assertEqual(len(cli(self.server, "job", "list", *form)[1].splitlines()), total)
        _, out, err = cli(self.server, "job", "list")
        self.assertEqual(len(out.splitlines()), 51)
        self.assertIn("--limit", err)
        self.assertEqual(cli(self.server, "job", "list", "--limit", "-1", check=False)[0], 2)

    def test_reasons_and_settings_are_kept(self):
        job_id = self.api.post("/api/jobs", {"name": "slow", "command": "sleep 60"})["job_id"]
        run_id = self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]
        run = f"/api/runs/{run_id}"
        wait_until(lambda: self.api.get(run)["state"] == "RUNNING", 30, "running")
        cli(self.server, "run", "cancel", run_id, "--reason", "wrong day")
        wait_until(lambda: self.api.get(run)["state"] == "CANCELLED", 30, "cancelled")
        self.assertIn("wrong day", self.api.get(run)["error"])
        self.api.post("/api/executors/executor-1/disable", {"reason": "new disk"})
        self.api.post("/api/executors/executor-1/enable", {"reason": "disk is in"})
        audit = self.api.get("/api/audit?object_id=executor-1")["items"]
        self.assertEqual([(a["action"], a["reason"]) for a in audit[:2]],
                         [("executor.enable", "disk is in"), ("executor.disable", "new disk")])
        config = self.api.get("/api/system/config")
        self.assertEqual(config["settings"]["rest.workers"], "8")

    def output_bytes(self):
        job_id = self.api.post("/api/jobs", {
            "name": "loud", "command": "head -c 5000 /dev/zero | tr '\\0' x"})["job_id"]
        run = "/api/runs/" + self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]
        wait_until(lambda: self.api.get(run)["state"] == "COMPLETED", 30, "completed")
        return self.api.get(run)["output"].count("x")  # without the note that the output was truncated

    def test_settings_change_in_a_running_server_and_outlive_it(self):
        path = "/api/system/config"
        _, headers, _ = self.api.raw("GET", path)
        stale = {"If-Match": headers["ETag"]}
        self.assertEqual(self.output_bytes(), 5000)
        cli(self.server, "system", "config", "set", "executor.output_bytes_max=2048", "log.level=debug")
        self.assertEqual(self.output_bytes(), 2048)
        with open(self.server.log_path, encoding="utf-8") as f:
            self.assertIn(" debug api: GET ", f.read())
        status, _, body = self.api.raw("PUT", path, {"settings": {"log.level": "info"}}, stale)
        self.assertEqual(status, 412, body)
        status, _, body = self.api.raw(
            "PUT", path, {"settings": {"retention_days": 0, "log.level": "info"}}, {"If-Match": "*"})
        self.assertEqual(status, 400, body)
        self.restart()
        self.assertEqual(self.output_bytes(), 2048)
        shown = self.api.get(path)
        self.assertEqual((shown["settings"]["log.level"], shown["sources"]["log.level"]),
                         ("debug", "live"))
        cli(self.server, "system", "config", "unset", "executor.output_bytes_max", "log.level",
            "--reason", "found it")
        self.assertEqual(self.output_bytes(), 5000)
        self.assertEqual(self.api.get(path)["sources"]["log.level"], "default")
        audit = self.api.get("/api/audit?object_id=config")["items"]
        self.assertEqual([(a["action"], a["reason"]) for a in audit],
                         [("config.change", "found it"), ("config.change", None)])

    def test_a_dead_letter_ends_when_its_run_succeeds(self):
        flag = os.path.join(self.server.scratch, "cured")
        job_id = self.api.post("/api/jobs", {"name": "ill", "command": f"test -e {flag}"})["job_id"]
        run_id = self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]
        run = f"/api/runs/{run_id}"

        def letters():
            return [x for x in self.api.pages("/api/dead-letters") if x["run_id"] == run_id]
        wait_until(lambda: self.api.get(run)["state"] == "FAILED", 30, "failed")
        self.assertEqual(len(letters()), 1)
        self.api.post(run + "/retry")
        wait_until(lambda: self.api.get(run)["state"] == "FAILED", 30, "failed again")
        self.assertEqual(len(letters()), 1)
        with open(flag, "w"):
            pass
        self.api.post(run + "/retry")
        wait_until(lambda: self.api.get(run)["state"] == "COMPLETED", 30, "cured")
        self.assertEqual(letters(), [])

    def test_manual_runs_and_cancels_are_counted(self):
        def value(name):
            return self.server.metrics().get(name, 0)
        before = value('carillon_fires_total{kind="manual"}')
        job_id = self.api.post("/api/jobs", {"name": "c", "command": "true", "enabled": False})["job_id"]
        self.api.post("/api/executors/executor-1/disable")
        try:
            run_id = self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]
            self.assertEqual(value('carillon_fires_total{kind="manual"}'), before + 1)
            cancelled = value('carillon_runs_total{state="CANCELLED"}')
            self.api.post(f"/api/runs/{run_id}/cancel")
            self.assertEqual(value('carillon_runs_total{state="CANCELLED"}'), cancelled + 1)
        finally:
            self.api.post("/api/executors/executor-1/enable")


if __name__ == "__main__":
    unittest.main(verbosity=2)
