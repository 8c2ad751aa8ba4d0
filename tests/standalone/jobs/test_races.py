#!/usr/bin/env python3
"""Edits, pauses, deletes and cancels race with fires: after its acknowledgement each of them is obeyed.

RACES is the number of races: 200, and 400 in the long form; docs/reliability.md reports a run with 10,000.
"""
import datetime
import os
import random
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import LONG, wait_until  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

RACES = int(os.environ.get("RACES", "400" if LONG else "200"))
WORKERS = 4
SEED = int(os.environ.get("SEED", str(random.SystemRandom().randrange(1 << 32))))


def micros(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1_000_000 + 0.5)


class RacesTest(OwnServerCase):
    def setUp(self):
        super().setUp()
        self.disobeyed = []
        self.decided = {"pause": 0, "delete": 0, "edit": 0, "cancel": 0}
        self.claims_before = 0
        self.lock = threading.Lock()

    def race(self, api, rng, number):
        job_id = f"race-{number}"
        job = api.post("/api/jobs", {"name": job_id, "job_id": job_id, "type": "noop",
                                     "schedules": [{"kind": "rate", "every_ms": 10}]})
        # Waits until fires are in progress, each time for a different time.
        threading.Event().wait(rng.uniform(0.02, 0.12))
        action = rng.choice(list(self.decided))
        if action == "pause":
            api.post(f"/api/jobs/{job_id}/pause", {"reason": "race"})
        elif action == "delete":
            api.raw("DELETE", f"/api/jobs/{job_id}", headers={"If-Match": f'"v{job["version"]}"'})
        elif action == "edit":
            status, _, _ = api.raw("PUT", f"/api/jobs/{job_id}", body={
                "name": job_id, "type": "noop", "priority": 7,
                "schedules": [{"kind": "rate", "every_ms": 10}]},
                headers={"If-Match": f'"v{job["version"]}"'})
            self.assertEqual(status, 200)
        else:
            api.post(f"/api/jobs/{job_id}/pause", {"reason": "so that only waiting runs are left"})
            run = api.post(f"/api/jobs/{job_id}/execute")["run_id"]
            api.post(f"/api/runs/{run}/cancel")
        acknowledged = time.time_ns() // 1000
        if action == "edit":
            threading.Event().wait(0.05)
            api.post(f"/api/jobs/{job_id}/pause", {"reason": "end of the race"})
        return job_id, action, acknowledged, job["version"]

    def check(self, api, job_id, action, acknowledged, version):
        before = after = 0
        for run in api.pages(f"/api/runs?job_id={job_id}"):
            if not run["claimed_at"]:
                continue
            late = micros(run["claimed_at"]) > acknowledged
            before, after = before + (not late), after + late
            if late and (action != "edit" or run["job_version"] == version):
                with self.lock:
                    self.disobeyed.append((job_id, action, acknowledged, run))
        with self.lock:
            self.decided[action] += 1
            self.claims_before += before

    def work(self, worker, failures):
        try:
            rng = random.Random(SEED * WORKERS + worker)
            api = self.server.api()
            done = [self.race(api, rng, n) for n in range(worker, RACES, WORKERS)]
            wait_until(lambda: not api.get("/api/runs?state=RUNNING")["items"], 60, "runs to end")
            for job_id, action, acknowledged, version in done:
                self.check(api, job_id, action, acknowledged, version)
        except BaseException as error:  # the main thread of the test reports it
            failures.append(error)

    def test_acknowledged_changes_are_obeyed(self):
        failures = []
        threads = [threading.Thread(target=self.work, args=(w, failures)) for w in range(WORKERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(f"seed {SEED}: {self.decided}, {self.claims_before} claims before the acknowledgements")
        self.assertEqual(failures, [])
        self.assertEqual(sum(self.decided.values()), RACES)
        self.assertEqual(self.disobeyed, [])
        # On a slow machine many races end before the first fire. Such races prove nothing.
        self.assertGreater(self.claims_before, RACES // 10, "the races hardly met a fire")


if __name__ == "__main__":
    unittest.main(verbosity=2)
