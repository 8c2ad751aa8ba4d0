#!/usr/bin/env python3
"""A limit of active runs under kill -9 and SIGSTOP of the members, judged from what the processes write."""
import http.client
import os
import sys
import threading
import unittest
import uuid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until  # noqa: E402
from harness import ApiError  # noqa: E402

LIMIT = 3
RUNS = 90
LONGEST_WAIT_S = 3  # beside a free slot, once nothing fails


class SlotsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")
        self.addCleanup(self.finish)
        self.journal = os.path.join(self.cluster.scratch, "journal")

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def api(self):
        return self.cluster.api()

    def create(self, job_id, command, **fields):
        self.api().post("/api/jobs", {"name": job_id, "job_id": job_id, "command": command,
                                      "overlap_policy": "queue_all", "queue_max": 1000, **fields})

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
            return wait_until(ask, 60, f"a member that executes {job_id}", every=0.2)
        except AssertionError as error:
            raise AssertionError(f"{error}: {failures[-4:]}") from error

    def entries(self):
        """[kind, uptime in s, run, attempt] of each line, in the order of the writes."""
        with open(self.journal, encoding="utf-8") as file:
            return [line.split() for line in file]

    def most_at_once(self):
        active, most = set(), 0
        for kind, _, run, attempt in self.entries():
            if kind == "begin":
                active.add((run, attempt))
                most = max(most, len(active))
            else:
                active.discard((run, attempt))
        return most

    def test_limit_holds_while_members_are_killed_and_stopped(self):
        note = (f'n() {{ read t _ </proc/uptime; echo "$1 $t $CARILLON_RUN_ID $CARILLON_ATTEMPT" '
                f'>>{self.journal}; }}; ')
        self.create("limited", note + "n begin; sleep 0.3; n end", max_running=LIMIT)
        wanted = []
        caller = threading.Thread(target=lambda: wanted.extend(
            self.execute("limited") for _ in range(RUNS)))
        caller.start()
        wait_until(lambda: os.path.exists(self.journal) and len(self.entries()) > 12, 30, "runs to start")
        self.cluster.run("kill", "scheduler-1")
        self.cluster.run("start", "scheduler-1")
        self.cluster.await_ready()
        self.cluster.run("kill", "scheduler-2", "STOP")
        wait_until(lambda: self.owns_all("scheduler-1"), 30, "the other member to own all segments")
        self.cluster.run("kill", "scheduler-2", "CONT")
        self.cluster.await_ready()
        caller.join(120)
        self.assertEqual(len(wanted), RUNS)
        wait_until(lambda: self.api().get("/api/jobs/limited/queue")["length"] == 0 and
                   len({run for kind, _, run, _ in self.entries() if kind == "end"}) >= RUNS,
                   120, "all runs to end")
        begun = [(run, attempt) for kind, _, run, attempt in self.entries() if kind == "begin"]
        self.assertEqual(len(begun), len(set(begun)), "an attempt was started twice")
        self.assertEqual({run for run, _ in begun}, set(wanted))
        most = self.most_at_once()
        self.assertLessEqual(most, LIMIT)
        self.assertEqual(most, LIMIT)
        self.check_that_slots_are_handed_on()
        self.passed = True

    def owns_all(self, member):
        segments = self.cluster.api(member).get("/api/system/status")["segments"]
        return all(one["owner"] == member for one in segments)

    def check_that_slots_are_handed_on(self):
        """Nothing fails any more: the next run begins soon after the end of the one before it."""
        already = len(self.entries())
        for _ in range(10):
            self.execute("limited")
        wait_until(lambda: len(self.entries()) >= already + 20, 60, "the runs to end")
        ends, waits = [], []
        for kind, t, _, _ in self.entries()[already:]:
            if kind == "end":
                ends.append(float(t))
            elif len(ends) > 0:
                waits.append(float(t) - ends.pop(0))
        print(f"slots handed on in {[round(w, 2) for w in waits]} s", flush=True)
        self.assertLessEqual(max(waits), LONGEST_WAIT_S)


if __name__ == "__main__":
    unittest.main(verbosity=2)
