#!/usr/bin/env python3
"""Backfills against a real server and its database: past fires are run once, in order, below live runs."""
import datetime
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

FIRES = 60


def text(time):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


class BackfillTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        now = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)
        cls.first = now - datetime.timedelta(minutes=FIRES + 1)
        cls.end = cls.first + datetime.timedelta(minutes=FIRES)
        cls.api.post("/api/jobs", {
            "job_id": "report", "name": "Report", "type": "noop",
            "schedules": [{"kind": "rate", "every_ms": 60_000, "start_time": text(cls.first)}]})

    def order(self, **more):
        return {"from": text(self.first), "to": text(self.end), **more}

    def start(self, **more):
        return self.api.post("/api/jobs/report/backfills", self.order(**more))

    def get(self, backfill):
        return self.api.get(f"/api/backfills/{backfill['backfill_id']}")

    def ended(self, backfill):
        return wait_until(lambda: (lambda now: now if now["end_time"] else None)(self.get(backfill)), 120, "its end")

    def runs(self):
        return list(self.api.pages("/api/jobs/report/history?kind=backfill"))

    def test_1_runs_every_fire_once(self):
        look = self.start(dry_run=True)
        self.assertEqual((look["fires"], look["to_run"]), (FIRES, FIRES))
        end = self.ended(self.start(concurrency=10))
        self.assertEqual((end["state"], end["created"], end["succeeded"]), ("COMPLETED", FIRES, FIRES))
        runs = self.runs()
        self.assertEqual(len({run["run_id"] for run in runs}), FIRES)
        self.assertEqual({(run["state"], run["kind"]) for run in runs}, {("COMPLETED", "backfill")})

    def test_2_a_second_one_finds_nothing_to_do(self):
        end = self.ended(self.start())
        self.assertEqual((end["existing"], end["created"], end["run_again"]), (FIRES, 0, 0))

    def test_3_runs_again_in_the_other_order(self):
        end = self.ended(self.start(rerun="all", order="descending", concurrency=20))
        self.assertEqual((end["state"], end["run_again"], end["succeeded"]), ("COMPLETED", FIRES, FIRES))
        self.assertEqual({run["attempt"] for run in self.runs()}, {2})

    def test_4_is_paused_and_cancelled(self):
        self.api.call("PATCH", "/api/jobs/report", {"type": "shell", "command": "sleep 0.2"}, {"If-Match": "*"})
        backfill = self.start(rerun="all")
        with self.assertRaises(ApiError) as second:
            self.start()
        self.assertIn("backfill_open", second.exception.body)
        path = f"/api/backfills/{backfill['backfill_id']}"
        wait_until(lambda: self.get(backfill)["done"] >= 2, 60, "some runs")
        self.api.post(path + "/pause", {})
        paused = wait_until(lambda: (lambda now: now if not now["running"] else None)(self.get(backfill)), 60,
                            "its runs")
        self.assertLess(paused["done"], FIRES)
        self.api.post(path + "/resume", {})
        wait_until(lambda: self.get(backfill)["done"] > paused["done"], 60, "more runs")
        self.api.post(path + "/cancel", {"reason": "enough"})
        end = self.ended(backfill)
        self.assertEqual((end["state"], end["running"]), ("CANCELLED", 0))
        self.assertLess(end["done"], FIRES)

    def test_5_on_the_command_line(self):
        listed = json.loads(cli(self.server, "backfill", "list", "--job-id", "report", "-o", "json")[1])
        self.assertEqual(len(listed["items"]), 4)
        code, out, _ = cli(self.server, "job", "backfill", "report", "--from", "30m", "--to", "5m", "--dry-run")
        self.assertEqual(code, 0)
        self.assertIn("report", out)

    def test_6_each_attempt_gets_its_own_parameters(self):
        """The rounds follow each other within a second, while the owner still remembers the attempts before."""
        seen = os.path.join(self.server.scratch, "seen")
        self.api.post("/api/jobs", {
            "job_id": "rounds", "name": "Rounds", "type": "shell", "parameters": {"round": "none"},
            "command": f'echo "$CARILLON_RUN_ID $CARILLON_ATTEMPT $CARILLON_PARAM_ROUND" >>{seen}',
            "schedules": [{"kind": "rate", "every_ms": 60_000, "start_time": text(self.first)}]})
        order = {"from": text(self.first), "to": text(self.first + datetime.timedelta(minutes=3)), "rerun": "all",
                 "concurrency": 3}
        for number in range(1, 4):
            backfill = self.api.post("/api/jobs/rounds/backfills", {**order, "parameters": {"round": str(number)}})
            self.assertEqual(self.ended(backfill)["succeeded"], 3)
            for run in self.api.pages("/api/jobs/rounds/history?kind=backfill"):
                self.assertEqual(self.api.get(f"/api/runs/{run['run_id']}")["parameters"], {"round": str(number)})
        with open(seen) as file:
            lines = [line.split() for line in file if not line.endswith(" none\n")]  # without live runs
        self.assertEqual(len(lines), 9)
        for run_id, attempt, given in lines:
            self.assertEqual(given, attempt, run_id)


if __name__ == "__main__":
    unittest.main()
