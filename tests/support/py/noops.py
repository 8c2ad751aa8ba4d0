"""No-op jobs at a high rate beside the shell jobs, checked by their rows in job_runs.

Their fires are evenly spaced in time, and each moment is the fire of exactly one schedule.
"""
import datetime
import os
import subprocess
import time

EVERY_S = 1
SCHEDULES_PER_JOB = 32
SECOND_US = 1_000_000
# A run that is tried again fired at most this long before its executor died.
FIRED_BEFORE_DEATH_S = 13


def query(cluster, sql):
    """Runs `sql` in the cluster's database and returns the rows as lists of texts."""
    store = cluster.status["store"]
    with open(store["password_file"], encoding="utf-8") as f:
        password = f.read().strip()
    done = subprocess.run(
        ["mariadb", "--no-defaults", "-N", "-B", "-h", store["host"], "-P", str(store["port"]), "-u", store["user"],
         store["database"], "-e", sql],
        capture_output=True, text=True, timeout=120, env=dict(os.environ, MYSQL_PWD=password))
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()]


class Noops:
    def __init__(self, cluster, api, per_second):
        self.cluster = cluster
        self.step_us = SECOND_US // per_second
        self.begin_us = (int(time.time()) + 8) * SECOND_US
        self.jobs = []
        moments = [self.begin_us + i * self.step_us for i in range(per_second)]
        for first in range(0, per_second, SCHEDULES_PER_JOB):
            job_id = f"noop-{first // SCHEDULES_PER_JOB}"
            api.post("/api/jobs", {
                "name": job_id, "job_id": job_id, "type": "noop", "retry_count": 3, "retry_interval": 1,
                "misfire_policy": "all",
                "schedules": [{"kind": "rate", "every_ms": EVERY_S * 1000, "start_time": self.text_of(moment)}
                              for moment in moments[first:first + SCHEDULES_PER_JOB]]})
            self.jobs.append(job_id)
        if time.time() * SECOND_US > self.begin_us:
            raise AssertionError("the first fires were due before all jobs were created")

    @staticmethod
    def text_of(moment_us):
        whole, rest = divmod(moment_us, SECOND_US)
        moment = datetime.datetime.fromtimestamp(whole, datetime.timezone.utc)
        return moment.replace(microsecond=rest).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def judge(self, test, end, boot, deaths):
        """Checks all fires before `end` (epoch seconds). `boot`: the epoch seconds of uptime 0, for `deaths`."""
        end_us = int(end * SECOND_US)
        planned = (end_us - self.begin_us - 1) // self.step_us + 1
        of_noops = "job_runs r JOIN jobs j ON j.job_no = r.job_no WHERE j.job_id LIKE 'noop-%'"
        before_end = f"{of_noops} AND r.fire_us < {end_us}"
        rows, moments, off_grid, completed, early = (int(float(value)) for value in query(self.cluster, (
            "SELECT COUNT(*), COUNT(DISTINCT r.fire_us), "
            f"COALESCE(SUM(r.fire_us < {self.begin_us} OR (r.fire_us - {self.begin_us}) % {self.step_us} <> 0), 0), "
            "COALESCE(SUM(r.state = 'COMPLETED'), 0), COALESCE(SUM(r.started_us < r.fire_us), 0) "
            f"FROM {before_end}"))[0])
        still_open = int(query(
            self.cluster, f"SELECT COUNT(*) FROM {of_noops} AND r.state IN ('RUNNING', 'LOST')")[0][0])
        test.assertEqual((planned - moments, rows - moments, off_grid, early), (0, 0, 0, 0),
                         "no-op fires missed, doubled, at no moment of the schedule, early")
        test.assertEqual((rows - completed, still_open), (0, 0), "no-op runs that did not complete, that are open")
        retried = [(int(fire) / SECOND_US - boot, attempt) for fire, attempt in query(
            self.cluster, f"SELECT r.fire_us, r.attempt FROM {before_end} AND r.attempt > 1")]
        far = [fire for fire, _ in retried
               if not any(since - FIRED_BEFORE_DEATH_S <= fire <= to for since, to in deaths)]
        test.assertEqual(far[:5], [], f"{len(far)} no-op runs tried more than once though no process died: {deaths}")
        print(f"{test.id()}: {planned} no-op fires; missed 0, doubled 0, early 0; "
              f"tried more than once: {len(retried)}", flush=True)
