#!/usr/bin/env python3
"""Cancels of runs that ignore SIGTERM: with a grace period, a kill during the grace period, and an immediate kill; over
REST and the command line, one run and many, and across a crash of the daemon."""
import json
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, alive, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

# Seconds for an immediate kill: far less than the grace period of 60 s, but enough for the owner's scan on
# a busy machine.
AT_ONCE = 5


class CancelTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.jobs = 0
        cls.script = os.path.join(cls.server.scratch, "ignores_sigterm.sh")
        with open(cls.script, "w") as f:
            f.write("trap 'echo 1 >> $1.term' TERM\necho $$ >> $1\nwhile :; do sleep 0.2; done\n")

    def note(self):
        return os.path.join(self.server.scratch, f"pids-{self.jobs}")

    def start_ignoring_sigterm(self, grace=60):
        """Starts a run that ignores SIGTERM, with a child in another session that ignores it too; returns their ids."""
        type(self).jobs += 1
        note = self.note()
        run_id = self.start(self.create(
            kill_grace=grace, command=f"setsid sh {self.script} {note} & exec sh {self.script} {note}"))

        def noted():
            if not os.path.exists(note):
                return None
            with open(note) as f:
                pids = [int(line) for line in f.read().splitlines() if line]
            return pids if len(pids) == 2 else None
        return run_id, wait_until(noted, 30, "both processes")

    def cancelled(self, run_id):
        def final():
            run = self.run_of(run_id)
            return run if run["state"] == "CANCELLED" else None
        return wait_until(final, 30, f"run {run_id} to be CANCELLED")

    def in_the_grace(self, run_id, pids):
        """Waits until the processes have received SIGTERM, and checks that they are still alive."""
        wait_until(lambda: os.path.exists(self.note() + ".term"), 15, "SIGTERM")
        self.assertTrue(all(alive(pid) for pid in pids))

    def dies_at_once(self, run_id, pids, since):
        run = self.cancelled(run_id)
        self.assertLess(time.monotonic() - since, AT_ONCE)
        self.assertEqual([pid for pid in pids if alive(pid)], [])
        self.assertEqual(run["reason"], "cancelled")
        return run

    def test_kill_gives_no_grace(self):
        run_id, pids = self.start_ignoring_sigterm()
        since = time.monotonic()
        answer = self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill"})
        self.assertEqual(answer["cancelled"], 1)
        self.assertEqual(self.dies_at_once(run_id, pids, since)["error"], "killed by token/admin")

    def test_kill_cuts_the_grace_short_and_is_not_taken_back(self):
        run_id, pids = self.start_ignoring_sigterm()
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.in_the_grace(run_id, pids)
        run = self.run_of(run_id)
        self.assertEqual((run["state"], run["cancel_requested"], run["cancel_mode"]), ("RUNNING", True, "graceful"))
        self.assertTrue(all(alive(pid) for pid in pids))
        since = time.monotonic()
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill", "reason": "stuck"})
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "graceful", "reason": "too late"})
        run = self.dies_at_once(run_id, pids, since)
        self.assertEqual(run["error"], "killed by token/admin: stuck")
        self.assertEqual((run["cancel_requested"], run["cancel_mode"]), (False, None))
        reasons = [item["reason"] for item in self.api.get(f"/api/audit?object_id={run_id}")["items"]]
        self.assertEqual(reasons[0:3], ["too late", "kill: stuck", None])

    def test_a_graceful_cancel_gives_the_grace(self):
        run_id, pids = self.start_ignoring_sigterm(grace=2)
        since = time.monotonic()
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        run = self.cancelled(run_id)
        self.assertGreaterEqual(time.monotonic() - since, 2)
        self.assertEqual(run["error"], "cancelled by token/admin")
        self.assertEqual([pid for pid in pids if alive(pid)], [])

    def test_kill_reaches_jobs_and_bulk_actions(self):
        for act in (lambda run: self.api.post(f"/api/jobs/{run['job_id']}/cancel", {"mode": "kill"}),
                    lambda run: self.api.post("/api/bulk", {"action": "cancel", "ids": [run["run_id"]], "mode": "kill"}),
                    lambda run: self.api.post("/api/bulk", {"action": "cancel", "kind": "job", "ids": [run["job_id"]],
                                                            "mode": "kill"}),
                    lambda run: self.api.post("/api/bulk", {"action": "cancel", "ids": [run["run_id"]], "mode": "kill",
                                                            "background": True})):
            run_id, pids = self.start_ignoring_sigterm()
            since = time.monotonic()
            act(self.run_of(run_id))
            self.dies_at_once(run_id, pids, since)

    def test_the_command_line_kills_runs(self):
        for verb in (["run", "cancel"], ["bulk", "cancel", "--yes"], ["bulk", "cancel", "--yes", "--background", "--wait"]):
            run_id, pids = self.start_ignoring_sigterm()
            cli(self.server, "run", "cancel", run_id)
            self.assertEqual(self.run_of(run_id)["cancel_mode"], "graceful")
            since = time.monotonic()
            cli(self.server, *verb, "--kill", run_id)
            self.dies_at_once(run_id, pids, since)
        run_id, pids = self.start_ignoring_sigterm()
        job_id = self.run_of(run_id)["job_id"]
        since = time.monotonic()
        _, out, _ = cli(self.server, "job", "cancel", "--yes", "--kill", job_id, "-o", "json")
        self.assertEqual(json.loads(out)["cancelled"], 1)
        self.dies_at_once(run_id, pids, since)

    def test_unknown_modes_are_refused(self):
        run_id = "069FNJDGV00000000000020000"
        for mode in ("KILL", "", 9):
            with self.assertRaises(ApiError) as refused:
                self.api.post(f"/api/runs/{run_id}/cancel", {"mode": mode})
            self.assertEqual(refused.exception.status, 400)
            self.assertEqual(json.loads(refused.exception.body)["errors"][0]["pointer"], "/mode")

    def test_kill_reaches_a_run_whose_daemon_crashed_during_the_grace(self):
        run_id, pids = self.start_ignoring_sigterm()
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.in_the_grace(run_id, pids)
        self.server.kill()
        self.restart()
        run = self.run_of(run_id)
        self.assertEqual((run["state"], run["cancel_mode"]), ("RUNNING", "graceful"))
        self.assertTrue(all(alive(pid) for pid in pids))
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill"})
        run = self.cancelled(run_id)
        self.assertEqual([pid for pid in pids if alive(pid)], [])
        self.assertEqual(run["error"], "killed by token/admin")


if __name__ == "__main__":
    unittest.main(verbosity=2)
