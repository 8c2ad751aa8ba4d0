#!/usr/bin/env python3
"""Limits of active runs, and of starts in a time, under kill -9 and SIGSTOP of the members, judged from what the
processes write."""
import datetime
import http.client
import os
import sys
import threading
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from harness import ApiError  # noqa: E402

LIMIT = 3  # of one job
RUNS = 90
GROUP_LIMIT = 5  # of all jobs of a group
GROUP_JOBS = 4
GROUP_RUNS = 200
STARTS = 5  # of a group, in any second
TIMED_RUNS = 80
CALM_RUNS = 40
JITTER_S = 0.25  # between claims and what the processes write, of a busy machine
LONGEST_WAIT_S = 3  # beside a free slot, once nothing fails


class Journal:
    """What the processes of some jobs write when they begin and end."""

    def __init__(self, path):
        self.path = path

    def command(self):
        return (f'n() {{ read t _ </proc/uptime; echo "$1 $t $CARILLON_RUN_ID $CARILLON_ATTEMPT" >>{self.path}; }}; '
                "n begin; sleep 0.3; n end")

    def entries(self):
        """[kind, uptime in s, run, attempt] of each line, in the order of the writes."""
        if not os.path.exists(self.path):
            return []
        with open(self.path, encoding="utf-8") as file:
            return [line.split() for line in file]

    def begun(self):
        return [(run, attempt) for kind, _, run, attempt in self.entries() if kind == "begin"]

    def ended(self):
        return {run for kind, _, run, _ in self.entries() if kind == "end"}

    def most_at_once(self):
        active, most = set(), 0
        for kind, _, run, attempt in self.entries():
            if kind == "begin":
                active.add((run, attempt))
                most = max(most, len(active))
            else:
                active.discard((run, attempt))
        return most


class SlotsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")
        self.addCleanup(self.finish)
        self.of_job = Journal(os.path.join(self.cluster.scratch, "job"))
        self.of_group = Journal(os.path.join(self.cluster.scratch, "group"))
        self.of_timed = Journal(os.path.join(self.cluster.scratch, "timed"))

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def api(self):
        return self.cluster.api()

    def create(self, job_id, journal, **fields):
        self.api().post("/api/jobs", {"name": job_id, "job_id": job_id, "command": journal.command(), **fields})

    def execute(self, job_id):
        """Through whichever member answers: one of them may be killed or stopped. The key makes a repeated request, whose
        first answer was lost, the same run."""
        key = {"Idempotency-Key": uuid.uuid4().hex}
        failures = []

        def ask():
            for member in ("scheduler-1", "scheduler-2"):
                try:
                    return self.cluster.api(member).post(f"/api/jobs/{job_id}/execute", headers=key)["run_id"]
                except (OSError, http.client.HTTPException) as error:
                    failures.append(repr(error))
                except ApiError as error:
                    if error.status not in (409, 503):  # the first request is not finished; the store is between owners
                        raise
                    failures.append(str(error))
            return None
        try:
            # A member that was killed while it handled the request counts as dead after a minute. Until then the other
            # ones answer that the request is in progress.
            return wait_until(ask, 100, f"a member that executes {job_id}", every=0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}: {failures[-4:]}") from error

    def test_limits_hold_while_members_are_killed_and_stopped(self):
        self.create("limited", self.of_job, overlap_policy="queue_all", queue_max=1000, max_running=LIMIT)
        self.api().put("/api/groups/shared", {"limit": GROUP_LIMIT})
        members_of_group = [f"shared-{i}" for i in range(GROUP_JOBS)]
        for job_id in members_of_group:
            self.create(job_id, self.of_group, concurrency_group="shared")
        self.api().put("/api/groups/timed", {"limit": STARTS, "per_s": 1})
        self.create("timed", self.of_timed, concurrency_group="timed")
        wanted, wanted_of_group, timed = [], [], []
        callers = [threading.Thread(target=lambda: wanted.extend(self.execute("limited") for _ in range(RUNS)))] + [
            threading.Thread(target=lambda job_id=job_id: wanted_of_group.extend(
                self.execute(job_id) for _ in range(GROUP_RUNS // GROUP_JOBS))) for job_id in members_of_group] + [
            threading.Thread(target=lambda: timed.extend(self.execute("timed") for _ in range(TIMED_RUNS)))]
        for caller in callers:
            caller.start()
        wait_until(lambda: min(len(self.of_job.entries()), len(self.of_group.entries())) > 12, 30, "runs to start")
        self.cluster.run("kill", "scheduler-1")
        self.cluster.run("start", "scheduler-1")
        self.cluster.await_ready()
        self.cluster.run("kill", "scheduler-2", "STOP")
        wait_until(lambda: self.owns_all("scheduler-1"), 30, "the other member to own all segments")
        self.cluster.run("kill", "scheduler-2", "CONT")
        self.cluster.await_ready()
        for caller in callers:
            caller.join(120)
        self.assertEqual((len(wanted), len(wanted_of_group), len(timed)), (RUNS, GROUP_RUNS, TIMED_RUNS))
        wait_until(lambda: self.of_job.ended() == set(wanted) and self.of_group.ended() == set(wanted_of_group), 120,
                   "all runs to end")
        for journal, limit in ((self.of_job, LIMIT), (self.of_group, GROUP_LIMIT)):
            begun = journal.begun()
            self.assertEqual(len(begun), len(set(begun)), "an attempt was started twice")
            self.assertEqual(journal.most_at_once(), limit)
        self.check_starts_in_a_time(timed)
        self.check_that_slots_are_handed_on(self.of_job, ["limited"], LIMIT)
        self.check_that_slots_are_handed_on(self.of_group, members_of_group, GROUP_LIMIT)
        self.passed = True

    def check_starts_in_a_time(self, runs):
        """Claims are exact at any time. Once nothing fails, processes begin soon after them, and no time is lost."""
        wait_until(lambda: self.of_timed.ended() == set(runs), 60, "all runs of the group to end")
        gaps = self.gaps(self.claimed(run) for run in runs)
        self.assertGreaterEqual(min(gaps), 1)
        calm = [self.execute("timed") for _ in range(CALM_RUNS)]
        wait_until(lambda: self.of_timed.ended() >= set(calm), 60, "the later runs of the group to end")
        gaps = self.gaps(self.claimed(run) for run in calm)
        self.assertGreaterEqual(min(gaps), 1)
        begun = self.gaps(float(t) for kind, t, run, _ in self.of_timed.entries() if kind == "begin" and run in calm)
        self.assertGreaterEqual(min(begun), 1 - JITTER_S)
        rate = STARTS * len(gaps) / sum(gaps)
        print(f"{rate:.2f} of {STARTS} starts a second; {STARTS} processes began within {min(begun):.3f} s", flush=True)
        self.assertGreater(rate, 0.8 * STARTS)

    def claimed(self, run):
        claimed_at = self.api().get(f"/api/runs/{run}")["claimed_at"]
        return datetime.datetime.fromisoformat(claimed_at.replace("Z", "+00:00")).timestamp()

    @staticmethod
    def gaps(times):
        """Between each start and the one that may take its slot again."""
        times = sorted(times)
        return [round(later - earlier, 6) for earlier, later in zip(times, times[STARTS:])]

    def owns_all(self, member):
        segments = self.cluster.api(member).get("/api/system/status")["segments"]
        return all(one["owner"] == member for one in segments)

    def check_that_slots_are_handed_on(self, journal, job_ids, limit):
        """Nothing fails any more: while runs are queued, a slot that becomes free is used soon."""
        already, more = len(journal.entries()), 4 * limit
        for i in range(more):
            self.execute(job_ids[i % len(job_ids)])
        wait_until(lambda: len(journal.entries()) >= already + 2 * more, 60, "the runs to end")
        ends, waits = [], []
        for kind, t, _, _ in journal.entries()[already:]:
            if kind == "end":
                ends.append(float(t))
            elif ends:
                waits.append(float(t) - ends.pop(0))
        print(f"slots of {job_ids[0]} handed on in {[round(w, 2) for w in waits]} s", flush=True)
        self.assertLessEqual(max(waits), LONGEST_WAIT_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
