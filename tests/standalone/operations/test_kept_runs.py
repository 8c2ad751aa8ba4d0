#!/usr/bin/env python3
"""The last runs of a job outlive their day: they are shown like others, and cannot be changed."""
import os
import subprocess
import sys
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import cli  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

DAY_US = 86_400_000_000


class KeptRunsTest(OwnServerCase):
    def sql(self, text):
        done = subprocess.run(["mariadb", "--no-defaults", "-N", "-B", "carillon",
                               "--socket=" + os.path.join(self.server.data_dir, "mariadb", "server.sock")],
                              input=text, capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def make_old(self, job, days):
        """Moves the runs of the job to the past, as if a schedule had made them then."""
        us = days * DAY_US
        self.sql(f"UPDATE job_runs SET kind = 'CRON', fire_us = fire_us - {us}, due_us = due_us - {us}, "
                 f"claimed_us = claimed_us - {us}, started_us = started_us - {us}, ended_us = ended_us - {us} "
                 f"WHERE job_no = (SELECT job_no FROM jobs WHERE job_id = '{job['job_id']}');")

    def add_old_day(self, days):
        """Adds the partition of a past day, as if the store had been in use then."""
        today = int(time.time() * 1e6) // DAY_US
        day = today - days
        name = time.strftime("p%Y%m%d", time.gmtime(day * 86_400))
        for table in ("job_runs", "run_attempts", "run_log_chunks", "run_checkpoints"):
            self.sql(f"ALTER TABLE {table} REORGANIZE PARTITION p_past INTO (PARTITION p_past VALUES LESS THAN "
                     f"({day * DAY_US}), PARTITION {name} VALUES LESS THAN ({(day + 1) * DAY_US}), PARTITION p_gap "
                     f"VALUES LESS THAN ({(today - 1) * DAY_US}));")
        return name

    def history(self, job):
        return self.api.get(f"/api/jobs/{job['job_id']}/history")["items"]

    def test_a_job_keeps_its_last_runs(self):
        dropped = self.create(job_id="monthly", command="echo hello; exit 3")
        past = self.create(job_id="yearly", command="echo bye")
        for job, state in ((dropped, "FAILED"), (past, "COMPLETED")):
            for _ in range(5):
                self.assertEqual(self.execute(job)["state"], state)
        name = self.add_old_day(40)
        self.make_old(dropped, 40)
        self.make_old(past, 60)
        before = {job["job_id"]: self.history(job) for job in (dropped, past)}
        self.restart()  # retention begins with the start
        self.assertNotIn(name, self.sql("SHOW CREATE TABLE job_runs"))
        self.assertEqual(self.sql("SELECT COUNT(*) FROM job_runs WHERE fire_us < UNIX_TIMESTAMP() * 1000000 - "
                                  f"{30 * DAY_US}").strip(), "0")
        for job in (dropped, past):
            kept = self.history(job)
            self.assertEqual(kept, [{**run, "kept": True} for run in before[job["job_id"]][:3]])
            recent = self.api.get("/api/recent-runs?n=5&job_id=" + job["job_id"])["items"][0]["runs"]
            self.assertEqual([run["run_id"] for run in recent], [run["run_id"] for run in kept])
        self.assertEqual(self.api.get("/api/runs")["items"], [])
        last = self.history(dropped)[0]
        shown = self.run_of(last["run_id"])
        self.assertEqual((shown["exit_code"], shown["output"], shown["allowed_actions"]), (3, "hello\n", ["execute"]))
        self.assertEqual(len(shown["attempts"]), 1)
        _, out, err = cli(self.server, "run", "logs", last["run_id"])
        self.assertEqual(out, "hello\n")
        self.assertIn("removed by the retention", err)
        code, _, err = cli(self.server, "run", "retry", last["run_id"], check=False)
        self.assertNotEqual(code, 0)
        self.assertIn("run its job instead", err)
        why = self.api.get("/api/jobs/monthly/why?at=" + urllib.parse.quote(last["fire_time"]))
        self.assertEqual((why["outcome"], why["run_id"]), ("run", last["run_id"]))
        self.execute(dropped)
        self.restart()
        self.assertEqual([run.get("kept", False) for run in self.history(dropped)], [False, True, True])


if __name__ == "__main__":
    unittest.main()
