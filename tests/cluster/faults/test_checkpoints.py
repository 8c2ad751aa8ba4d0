#!/usr/bin/env python3
"""A long run whose host dies continues on another executor from its last checkpoint, judged by what it writes."""
import os
import signal
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402

STEPS = 200  # half a minute of work, if nothing happens
STEP_S = 0.1
AT_LEAST = 30  # steps before the host dies


class CheckpointsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "8")
        self.addCleanup(self.finish)
        self.journal = os.path.join(self.cluster.scratch, "journal")

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def command(self):
        carillon = os.path.join(os.path.abspath(BIN), "carillon")
        return (f"n=$({carillon} checkpoint load 2>/dev/null || echo 0)\n"
                f"while [ $n -lt {STEPS} ]; do n=$((n + 1))\n"
                f"  echo \"$CARILLON_ATTEMPT $n\" >> {self.journal}; sleep {STEP_S}\n"
                f"  echo $n | {carillon} checkpoint save - && {carillon} progress $((n * 100 / {STEPS}))\n"
                "done")

    def steps_of(self, attempt):
        with open(self.journal, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        return [int(step) for number, step in lines if int(number) == attempt]

    def saved(self, run_id):
        status, _, body = self.cluster.api().raw("GET", f"/api/runs/{run_id}/checkpoint")
        return int(body) if status == 200 else 0

    def kill_host(self, name):
        warden = self.cluster.process(name)["warden_pid"]
        self.cluster.run("kill", name)
        os.kill(warden, signal.SIGKILL)

    def test_a_run_continues_on_another_host(self):
        api = self.cluster.api()
        job = api.post("/api/jobs", {"name": "long", "command": self.command(), "retry_count": 2, "retry_interval": 1})
        run_id = api.post(f"/api/jobs/{job['job_id']}/execute")["run_id"]
        seen = wait_until(lambda: (lambda n: n if n >= AT_LEAST else None)(self.saved(run_id)), 60, "a checkpoint")
        run = api.get(f"/api/runs/{run_id}")
        first = run["executor_id"]
        self.assertGreater(run["progress"]["percent"], 0)
        self.cluster.refresh()
        self.kill_host(first)

        def ended():
            run = api.get(f"/api/runs/{run_id}")
            return run if run["ended_at"] else None
        run = wait_until(ended, 150, "the run to end", every=0.5)
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertNotEqual(run["executor_id"], first)
        before, after = self.steps_of(1), self.steps_of(run["attempt"])
        print(f"saved when the host died: {seen}, done: {before[-1]}, continued at: {after[0]}", flush=True)
        self.assertEqual(before, list(range(1, before[-1] + 1)))
        self.assertEqual(after, list(range(after[0], STEPS + 1)))
        self.assertGreater(after[0], seen, "it began before what was stored when its host died")
        self.assertLessEqual(after[0], before[-1] + 1, "steps were left out")
        self.assertIsNone(run["checkpoint"], "a run that is complete keeps none")
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
