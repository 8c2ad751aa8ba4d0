#!/usr/bin/env python3
"""Compares the fires of imported systemd timers with those that systemd-analyze prints.

    test_systemd_timers.py CARILLON FIRES_OF_JOBS
"""
import datetime
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

CARILLON, FIRES_OF_JOBS = (os.path.abspath(p) for p in sys.argv[1:3])
BASE = "2027-01-15 08:30:00 UTC"
AFTER = int(datetime.datetime(2027, 1, 15, 8, 30, tzinfo=datetime.timezone.utc).timestamp())
FIRES = 5

CALENDARS = """
minutely
hourly
daily
weekly
monthly
quarterly
semiannually
yearly
03:17
*:0/15
*:07
*-*-* *:*:0/20
*-*-* 0/2:00
*-*-* 5..9/2:30
*-*-* 22,23:05:10
Mon..Fri 09:00
Mon..Fri *-*-* 02:00
Sat,Sun 12:00
Mon,Wed..Fri 10:30:15
Sunday 04:00
Thu,fri *-*-* 11:12
*-*-01 00:00
*-*-01,15 04:30
*-*-1..7 18:00:00
*-*-31 01:00
*-*-1/2 03:00
*-02-29
*-1..3-* 00:00
*-3/4-05 07:08
12-25 06:00
2028-02-29
2027..2029-01-01
2028/2-03-04 05:06:07
27-07-04 05:06
Mon *-*-1..7 10:00
Tue *-*-8..14 03:00
Fri *-*-15..21,22..28 03:00
Mon *-*-29..31 03:00
Mon..Wed *-*-1..7 10:00
Tue *-*-01/2 03:00
*-*~01
*-*~03 12:00
*-*~02,05 12:00
*-02~01 23:59:59
*-*~07/1 00:00
Mon *-05~07/1
Fri *-*~07/1 18:00
*-*-* 02:30 Asia/Shanghai
Mon 07:00 America/New_York
*-*-01 00:00 Europe/Paris
*-*-* 23:59:59.000
""".split("\n")[1:-1]
REFUSED = ["*:*/15", "*-*-*/2", "Fri..Mon 10:00", "Funday 10:00", "25:00", "*-13-01", "10:60", "1-2-3-4"]
# systemd reads them, but no cron expression says them.
UNSAYABLE = ["Thu,Fri 2027-*-1,5 11:12:13", "Mon *-*-13 10:00", "*:*:0.5", "@1800000000"]


def imported(calendars):
    """The result of each calendar: a job, or the reasons why it was refused."""
    with tempfile.TemporaryDirectory() as folder:
        for i, text in enumerate(calendars):
            with open(f"{folder}/t{i:03}.timer", "w") as out:
                out.write(f"[Timer]\nOnCalendar={text}\n")
            with open(f"{folder}/t{i:03}.service", "w") as out:
                out.write("[Service]\nUser=nobody\nExecStart=/bin/true\n")
        report = os.path.join(folder, "report.json")
        command = [CARILLON, "import", "systemd", folder, "--tz", "UTC", "-o", "json", "--report", report]
        result = subprocess.run(command, capture_output=True, text=True)
        if result.returncode not in (0, 1):
            raise AssertionError(result.stderr)
        jobs = {job["job_id"]: job for job in json.loads(result.stdout)["jobs"]}
        with open(report) as rows:
            return [jobs[row["job_id"]] if row["job_id"] else row["remarks"] for row in json.load(rows)["rows"]]


def fires_of_systemd(calendar):
    out = subprocess.run(["systemd-analyze", "calendar", f"--iterations={FIRES}", "--base-time", BASE, calendar],
                         capture_output=True, text=True, env={**os.environ, "TZ": "UTC", "LC_ALL": "C"})
    if out.returncode != 0:
        return None
    times = re.findall(r"^ *(?:Next elapse|Iter\. #\d+): \w{3} (\S+ \S+) UTC$", out.stdout, re.M)
    return [int(datetime.datetime.strptime(time + " +0000", "%Y-%m-%d %H:%M:%S %z").timestamp()) for time in times]


class SystemdTimersTest(unittest.TestCase):
    maxDiff = None

    def test_timers_fire_as_in_systemd(self):
        jobs = imported(CALENDARS)
        for calendar, job in zip(CALENDARS, jobs):
            self.assertIsInstance(job, dict, f"{calendar}: {job}")
        request = json.dumps({"jobs": jobs, "after": AFTER, "count": FIRES})
        answer = json.loads(subprocess.run([FIRES_OF_JOBS], input=request, capture_output=True, text=True,
                                           check=True).stdout)
        for calendar, job, here in zip(CALENDARS, jobs, answer):
            theirs = fires_of_systemd(calendar)
            self.assertTrue(theirs, calendar)
            self.assertEqual(here, theirs, f"{calendar} became {job['schedules']}")

    def test_the_import_refuses_what_systemd_refuses(self):
        for calendar, job in zip(REFUSED, imported(REFUSED)):
            self.assertIsNone(fires_of_systemd(calendar), calendar)
            self.assertIsInstance(job, list, calendar)

    def test_the_import_refuses_what_cron_cannot_say(self):
        for calendar, job in zip(UNSAYABLE, imported(UNSAYABLE)):
            self.assertIsInstance(job, list, calendar)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
