#!/usr/bin/env python3
"""The whole cluster is paused: nothing starts, running attempts continue, and a resume loses nothing."""
import datetime
import os
import sys
import unittest
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import cli, wait_until  # noqa: E402
from server_case import OwnServerCase  # noqa: E402


class PauseTest(OwnServerCase):
    def started(self):
        return sorted(run["run_id"] for run in self.api.runs("tick") if run["claimed_at"])

    def nothing_starts(self, before=None):
        """Checks that nothing starts during three fires, except the runs in `before` (default: all started so far)."""
        waiting = self.api.post("/api/jobs/noop/execute")["run_id"]
        before = self.started() if before is None else before
        end = self.clock() + 3

        def over():
            self.assertEqual(self.started(), before)
            self.assertEqual(self.run_of(waiting)["state"], "PENDING")
            return self.clock() > end
        wait_until(over, 20, "three seconds of the pause", every=0.2)
        return waiting

    def why(self, job, at):
        return self.api.get(f"/api/jobs/{job}/why?at=" + urllib.parse.quote(at.isoformat()))

    @staticmethod
    def clock():
        return os.times().elapsed

    def test_a_paused_cluster_starts_nothing_and_a_resume_loses_nothing(self):
        self.api.post("/api/jobs", {"job_id": "tick", "name": "tick", "type": "noop",
                                    "schedules": [{"kind": "rate", "every_ms": 1000}],
                                    "misfire_policy": "all", "misfire_grace": 5})
        self.api.post("/api/jobs", {"job_id": "noop", "name": "noop", "type": "noop"})
        self.api.post("/api/jobs", {"job_id": "long", "name": "long", "command": "sleep 3"})
        wait_until(lambda: len(self.started()) >= 2, 30, "two fires")
        long = self.api.post("/api/jobs/long/execute")["run_id"]
        self.running(long)
        code, _, _ = cli(self.server, "system", "pause", "--reason", "a move", check=False)
        self.assertEqual(code, 2, "without a terminal it needs --yes")
        cli(self.server, "system", "pause", "--reason", "a move", "--yes")
        paused = self.api.get("/api/system/status")["paused"]
        self.assertEqual(paused["reason"], "a move")
        with urllib.request.urlopen(self.server.runtime["ops_url"] + "/readyz?verbose") as ready:
            self.assertIn("member ok, paused", ready.read().decode())
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
        self.api.post("/api/jobs", {"job_id": "once", "name": "once", "type": "noop", "misfire_policy": "skip",
                                    "misfire_grace": 1, "schedules": [
                                        {"kind": "rate", "every_ms": 3_600_000, "start_time": soon.isoformat()}]})
        waiting = [self.nothing_starts()]
        self.assertEqual(self.run_of(waiting[0])["waiting"]["code"], "cluster_paused")
        wait_until(lambda: self.run_of(long)["state"] == "COMPLETED", 20, "the end of the long run")
        before = self.started()
        self.restart()
        self.assertEqual(self.api.get("/api/system/status")["paused"], paused)
        waiting.append(self.nothing_starts(before))  # nor did anything start before the settings were read
        self.assertEqual(self.run_of(waiting[0])["state"], "PENDING")
        cli(self.server, "system", "resume", "--wait")
        self.assertIsNone(self.api.get("/api/system/status")["paused"])
        for run_id in waiting:
            wait_until(lambda run_id=run_id: self.run_of(run_id)["state"] == "COMPLETED", 20, run_id)
            self.assertEqual(self.run_of(run_id)["attempt"], 1)
        wait_until(lambda: len(self.started()) >= len(before) + 6, 30, "the fires of the pause")
        # misfire_policy is all: each second from the first fire to the last has exactly one run.
        fires = sorted(datetime.datetime.fromisoformat(run["fire_time"].replace("Z", "+00:00"))
                       for run in self.api.runs("tick"))
        steps = {(b - a).total_seconds() for a, b in zip(fires, fires[1:])}
        self.assertEqual(steps, {1.0})
        why = wait_until(lambda: next((w for w in [self.why("once", soon)] if w["outcome"] == "gap"), None), 20, "the gap")
        self.assertEqual((why["cluster_pause"]["reason"], why["cluster_pause"]["by"]), ("a move", paused["by"]))
        self.assertIn("The cluster was paused from", why["explanation"])
        actions = [record["action"] for record in self.api.get("/api/audit")["items"]]
        self.assertIn("system.pause", actions)
        self.assertIn("system.resume", actions)


if __name__ == "__main__":
    unittest.main()
