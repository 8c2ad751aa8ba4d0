#!/usr/bin/env python3
"""Members are killed while runs wait for runs of another job. Judged by what the processes write down: each waiting run
starts once, and not before the run of its own fire has ended, whoever owned it when that happened."""
import collections
import datetime
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402

WAITERS, FIRES = 24, 2
EVERY_S = 2
RELEASE_S = 40  # a takeover and a look, on a machine that is busy with other tests


def text(moment):
    return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class WaitsTest(unittest.TestCase):
    def setUp(self):
        self.passed, self.fires = False, []
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")
        self.addCleanup(self.finish)
        self.journal = os.path.join(self.cluster.scratch, "journal")

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        for number in range(len(self.fires)):
            self.let_end(number)  # no process is left
        self.cluster.destroy(keep=not self.passed)

    def create(self):
        """"up", whose runs end when the test says so, and jobs of the same fires that wait for it."""
        begin = int(time.time()) + 6
        self.fires = [text(begin + number * EVERY_S) for number in range(FIRES)]
        common = {"overlap_policy": "allow", "misfire_policy": "all", "misfire_grace": 600, "schedules": [
            {"kind": "rate", "every_ms": EVERY_S * 1000, "start_time": self.fires[0],
             "end_time": text(begin + (FIRES - 1) * EVERY_S + 0.5)}]}
        mark = f'echo "$CARILLON_JOB_ID $CARILLON_FIRE_TIME $CARILLON_RUN_ID $CARILLON_ATTEMPT" >>{self.journal}'
        until = f"until [ -e {self.journal}.$CARILLON_FIRE_TIME ]; do sleep 0.05; done"
        late = {"command": mark, "waits_for": [{"job": "up", "window": {"back_s": 3600}}], "wait_limit_s": 3600}
        jobs = [{"job_id": "up", "name": "up", "command": f"{until}; {mark}", **common}]
        jobs += [{"job_id": f"late-{number}", "name": f"late-{number}", **late, **common} for number in range(WAITERS)]
        applied = self.cluster.api().post("/api/apply", jobs)
        self.assertEqual(applied["counts"]["created"], len(jobs), applied)

    def let_end(self, number):
        with open(f"{self.journal}.{self.fires[number]}", "w", encoding="utf-8"):
            pass

    def waiting(self):
        """The fires of the runs that wait."""
        return [run["fire_time"] for run in self.cluster.api().pages("/api/runs?waiting=upstream_run")]

    def marks(self):
        """[(job, fire)] in the order in which the processes wrote them."""
        if not os.path.exists(self.journal):
            return []
        with open(self.journal, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        self.assertEqual({attempt for *_, attempt in lines} - {"1"}, set(), "a run was tried again")
        return [(job, fire) for job, fire, *_ in lines]

    def started(self, fire):
        return sum(1 for job, at in self.marks() if job != "up" and at == fire)

    def test_each_waiting_run_is_released_once_at_its_fire_though_its_owner_is_killed(self):
        self.create()
        first, second = self.fires
        wait_until(lambda: len(self.waiting()) == WAITERS * FIRES, 60, "all runs to wait", every=0.2)
        wait_until(lambda: len(list(self.cluster.api().pages("/api/jobs/up/history?state=RUNNING"))) == FIRES, 60,
                   "the runs for which they wait", every=0.2)
        self.assertEqual(self.marks(), [])
        killed = self.cluster.leader()
        other = next(p["name"] for p in self.cluster.status["processes"] if p["kind"] == "scheduler" and p["name"] != killed)
        wait_until(lambda: self.cluster.metric(killed, "carillon_awaiting_runs") > 0, 20, "it to own some of them", every=0.2)
        self.cluster.run("kill", killed)
        self.let_end(0)
        wait_until(lambda: self.started(first) == WAITERS, RELEASE_S, "the runs of the first fire", every=0.1)
        self.assertEqual(self.waiting(), [second] * WAITERS, "those of the second fire wait on")
        self.cluster.run("start", killed)
        wait_until(lambda: self.cluster.refresh()["ready"], 60, "the killed member", every=0.2)
        self.let_end(1)
        wait_until(lambda: self.started(second) > 0, RELEASE_S, "a run of the second fire", every=0.02)
        self.cluster.run("kill", other)  # in the middle of it
        wait_until(lambda: self.started(second) == WAITERS, RELEASE_S, "the runs of the second fire", every=0.1)
        self.cluster.run("start", other)
        wait_until(lambda: not list(self.cluster.api().pages("/api/runs?state=PENDING")) and
                   not list(self.cluster.api().pages("/api/runs?state=RUNNING")), 60, "all runs to end", every=0.2)
        marks = self.marks()
        self.assertEqual({mark: count for mark, count in collections.Counter(marks).items() if count > 1}, {})
        self.assertEqual(len(marks), (WAITERS + 1) * FIRES)
        for fire in self.fires:
            self.assertEqual([job for job, at in marks if at == fire][0], "up", f"one began before its run of {fire} had ended")
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
