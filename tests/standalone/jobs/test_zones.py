#!/usr/bin/env python3
"""Time zones that leave the host's tz database at an upgrade, as US/Eastern did in Debian 13."""
import os
import shutil
import sys
import tempfile
import unittest
from datetime import datetime, timedelta, timezone

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

EVERY_5_S = "*/5 * * * * *"
LOST = ("eastern", "mixed", "office")


def cron(**fields):
    return {"kind": "cron", "cron_expression": EVERY_5_S, "time_zone": "UTC", **fields}


def utc(ago=0):
    at = datetime.now(timezone.utc) - timedelta(seconds=ago)
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


class ZonesTest(ServerCase):
    JOB = {"type": "noop"}

    def make(self, job_id, *schedules):
        return self.api.post("/api/jobs", {"job_id": job_id, "name": job_id, "type": "noop",
                                           "schedules": list(schedules)})

    def restart(self, **env):
        self.server.stop()
        self.server.env.pop("TZDIR", None)
        self.server.env.update(env)
        self.server.start()
        self.api.close()
        type(self).api = self.server.api()
        return utc()

    def fires_after(self, job_id, since):
        return [run for run in self.api.runs(job_id) if run["fire_time"] > since]

    def unplanned(self):
        return [job["job_id"] for job in self.api.get("/api/system/status")["unplanned_jobs"]]

    def test_a_zone_that_vanishes_is_a_state_of_its_jobs(self):
        self.api.put("/api/calendars/west", {"time_zone": "US/Pacific"})
        made = self.make("eastern", cron(time_zone="US/Eastern"))
        self.assertIn("old_zone_name", [one["code"] for one in made["warnings"]])
        self.make("mixed", cron(time_zone="US/Eastern"), cron())
        self.make("office", cron(calendar="west"))
        self.make("sound", cron())
        wait_until(lambda: self.api.runs("eastern"), 30, "a run while the zone is known")

        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        newer = os.path.join(directory.name, "zoneinfo")
        shutil.copytree("/usr/share/zoneinfo", newer, symlinks=True,
                        ignore=shutil.ignore_patterns("US", "posix", "right", "localtime"))
        since = self.restart(TZDIR=newer)
        reason = "Schedule 1 cannot be planned: unknown time zone 'US/Eastern'; use its new name America/New_York"
        for job_id in LOST:
            problem = self.api.get(f"/api/jobs/{job_id}")["schedule_problem"]
            gone = "US/Pacific" if job_id == "office" else "US/Eastern"
            self.assertRegex(problem, f"^Schedule 1 cannot be planned: .*unknown time zone '{gone}'")
        self.assertNotIn("schedule_problem", self.api.get("/api/jobs/sound"))
        self.assertIn(reason, cli(self.server, "job", "get", "eastern")[1])
        listed = cli(self.server, "job", "list")[1]
        for line in listed.splitlines()[1:]:
            self.assertEqual("cannot be planned" in line, line.split()[0] in LOST, line)
        # Others fire, and the sound schedule of a job with two.
        for job_id in ("sound", "mixed"):
            wait_until(lambda: self.fires_after(job_id, since), 30, f"a run of {job_id} after the restart")
        wait_until(lambda: sorted(self.unplanned()) == sorted(LOST), 150, "the jobs under what needs attention")
        status = cli(self.server, "system", "status")[1]
        self.assertRegex(status, r"unplanned_jobs +3: ")
        why = cli(self.server, "job", "why", "eastern", utc(ago=20))[1]
        self.assertIn("unknown time zone 'US/Eastern'", why)
        self.assertEqual(self.fires_after("eastern", utc(ago=20)), [], "only what was planned before")

        since = self.restart()
        wait_until(lambda: self.fires_after("eastern", since), 60, "a run with the names back")
        self.assertNotIn("schedule_problem", self.api.get("/api/jobs/eastern"))
        gaps = self.api.get("/api/gaps?job_id=eastern")["items"]
        self.assertEqual([gap["reason"] for gap in gaps], ["misfire"], gaps)
        self.assertGreater(gaps[0]["count"], 1)
        wait_until(lambda: self.unplanned() == [], 30, "nothing to need attention")


if __name__ == "__main__":
    unittest.main(verbosity=2)
