"""Shell jobs on a fixed rate that write a journal, and the checks of that journal.

Every process appends "S job run attempt fire_time uptime" when it starts, and a line with E when it ends. The
expected lines follow from the schedules alone: a rate of `every_ms` from `start_time` fires at
start_time + k * every_ms. The checks ask Carillon for nothing. No-op jobs beside them are checked by their rows
in the database (noops.py).
"""
import collections
import datetime
import json
import os
import threading
import time

from harness import wait_until, within
from noops import Noops

EVERY_MS = 200
LONG_S = 8
LEASE_S = 26  # until an attempt whose lease is not renewed counts as lost: the lease and the owner's margin
CLOCK_STEP_S = 0.011  # the error of /proc/uptime, which is truncated to hundredths of a second
COMMAND = ('read u r </proc/uptime; '
           'echo "S $CARILLON_JOB_ID $CARILLON_RUN_ID $CARILLON_ATTEMPT $CARILLON_FIRE_TIME $u" '
           '>>"$JOURNAL"; %s; read u r </proc/uptime; '
           'echo "E $CARILLON_JOB_ID $CARILLON_RUN_ID $CARILLON_ATTEMPT $CARILLON_FIRE_TIME $u" '
           '>>"$JOURNAL"')
Attempt = collections.namedtuple("Attempt", "number start end")


def uptime():
    with open("/proc/uptime", encoding="utf-8") as f:
        return float(f.read().split()[0])


def seconds_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Load:
    def __init__(self, server, per_second, long_jobs=2, noops_per_second=0, journal=None):
        """`server`: a cluster or a standalone server; `journal`: the file, if not in the server's directory."""
        self.server = server
        self.journal = journal or os.path.join(server.scratch, "journal")
        open(self.journal, "ab").close()
        self.boot = time.time() - uptime()
        self.every = {}  # job id -> seconds
        self.begin = {}  # job id -> epoch seconds of the first fire
        self.deaths = []  # (from, to) in uptime: when a process that runs attempts was dead
        self.position = 0  # how far the journal was read, in bytes
        self.starts, self.ends, self.where, self.twice = {}, {}, {}, []
        self.newest = collections.defaultdict(float)  # the latest start of each job
        api = server.api()
        count = max(1, per_second * EVERY_MS // 1000)
        first = int(time.time()) + 5
        for i in range(count):
            self.create(api, f"load-{i}", EVERY_MS, first + i * EVERY_MS / 1000 / count, ":")
        for i in range(long_jobs):
            self.create(api, f"long-{i}", 3000, first + i * 0.7, f"sleep {LONG_S}")
        self.noops = Noops(server, api, noops_per_second) if noops_per_second else None

    def create(self, api, job_id, every_ms, begin, work):
        begin = round(begin, 3)
        text = datetime.datetime.fromtimestamp(begin, datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%S.%fZ")
        api.post("/api/jobs", {
            "name": job_id, "job_id": job_id, "retry_count": 3, "retry_interval": 1,
            "command": COMMAND % work, "env": {"JOURNAL": self.journal}, "misfire_policy": "all",
            "schedules": [{"kind": "rate", "every_ms": every_ms, "start_time": text}]})
        self.every[job_id], self.begin[job_id] = every_ms / 1000, begin

    @staticmethod
    def run_for(seconds):
        """Lets the load run for a while. No check depends on this time."""
        threading.Event().wait(seconds)

    def process_died(self, since):
        """Records that a process died at `since`: from then on, its attempts may be tried again."""
        self.deaths.append((since, uptime() + 2))

    def follow(self):
        """Reads the lines that were added since the last call; in all there may be hundreds of thousands."""
        with open(self.journal, "rb") as f:
            f.seek(self.position)
            lines = f.read().rpartition(b"\n")[0]
        if not lines:
            return
        self.position += len(lines) + 1
        for line in lines.decode().split("\n"):
            word, job, run, attempt, fire, when = line.split()
            key = (run, int(attempt))
            self.where[run] = (job, fire)
            if word == "S":
                if key in self.starts:
                    self.twice.append(key)
                self.starts[key] = float(when)
                self.newest[job] = max(self.newest[job], float(when))
            else:
                self.ends[key] = float(when)

    def read(self):
        """Returns the whole journal as {job: {fire time in epoch seconds: {run: [Attempt]}}}."""
        self.follow()
        found = collections.defaultdict(lambda: collections.defaultdict(dict))
        for (run, number), start in sorted(self.starts.items(), key=lambda item: item[1]):
            job, fire = self.where[run]
            found[job][seconds_of(fire)].setdefault(run, []).append(
                Attempt(number, start, self.ends.get((run, number))))
        return found

    def await_fires(self, promised_s=None):
        """Waits until jobs of every owner have started again. `promised_s`: within this time."""
        since = uptime()

        def fired():
            self.follow()
            return all(self.newest[job] > since for job in self.every if job.startswith("load-"))
        if promised_s:
            within(fired, promised_s, "fires of every job", every=0.3)
        else:
            wait_until(fired, 90, "fires of every job", every=0.3)

    def open_runs(self):
        """The five oldest runs that have not ended, as text for the failure message."""
        try:
            api = self.server.api()
            runs = sorted(api.pages("/api/runs?state=PENDING&state=RUNNING&state=HELD"),
                          key=lambda run: run["fire_time"])
            return "\n".join(json.dumps(api.get("/api/runs/" + run["run_id"])) for run in runs[:5])
        except Exception as error:  # perhaps no member answers; the failure itself is reported anyway
            return f"open runs: {error}"

    def settle(self, calm=True):
        """Waits until everything due has run, pauses all jobs, and waits until all runs have ended. Returns the time
        (epoch seconds) before which every fire must have run. `calm`: first waits until there is no backlog and none
        comes back, which a busy machine may not reach."""
        def overdue_s():
            try:
                overdue_ms = self.server.api().get("/api/system/status")["oldest_overdue_ms"]
            except Exception:  # a member may still be recovering; the deadline decides
                return float("inf")
            return float("inf") if overdue_ms is None else overdue_ms / 1000
        if calm:
            wait_until(lambda: overdue_s() < 0.5, 120, "the backlog to go", every=0.3)
            self.run_for(2)
            wait_until(lambda: overdue_s() < 0.5, 60, "the backlog to stay away", every=0.3)

        # The attempts of a process that died are tried again when their lease is over. A pause before
        # that would prevent it.
        now = time.time()

        def those_of_before_ended():
            if time.time() - overdue_s() < now:
                return False
            oldest = next(self.server.api().pages(
                "/api/runs?state=PENDING&state=RUNNING&sort=fire_time"), None)
            return oldest is None or seconds_of(oldest["fire_time"]) >= now
        wait_until(those_of_before_ended, LEASE_S + (60 if calm else 180), "what was due, and what was lost, to be run",
                   every=0.5)
        end = time.time() - 1 if calm else now
        api = self.server.api()
        for job in list(self.every) + (self.noops.jobs if self.noops else []):
            api.post(f"/api/jobs/{job}/pause", {"reason": "end of the test"})
        wait_until(lambda: not any(True for _ in self.server.api().pages(
            "/api/runs?state=PENDING&state=RUNNING&state=HELD")), 90, "open runs to end", every=0.5)
        return end

    def judge(self, test, end):
        found = self.read()
        test.assertEqual(self.twice, [], "(run, attempt) started twice")
        missed, doubled, early, overlapping, unfinished, retried = [], [], [], [], [], []
        expected_count = 0
        for job, every in self.every.items():
            count = int((end - self.begin[job]) / every) + 1
            expected = {round(self.begin[job] + k * every, 3) for k in range(count)}
            expected_count += count
            seen = {round(fire, 3): runs for fire, runs in found[job].items()}
            missed += [(job, fire) for fire in sorted(expected - set(seen))]
            for fire, runs in seen.items():
                if len(runs) > 1 or fire < self.begin[job]:
                    doubled.append((job, fire, sorted(runs)))
                for run, attempts in runs.items():
                    if self.boot + attempts[0].start < fire - 2 * CLOCK_STEP_S:
                        early.append((job, run, self.boot + attempts[0].start - fire))
                    if attempts[-1].end is None:
                        unfinished.append((job, run, attempts))
                    for one, next_one in zip(attempts, attempts[1:]):
                        over = one.end if one.end is not None else one.start
                        if over > next_one.start + CLOCK_STEP_S:
                            overlapping.append((job, run, one, next_one))
                    if len(attempts) > 1 or attempts[0].number > 1:
                        retried.append((job, run, attempts))
        for name, wrong in (("missed", missed), ("doubled", doubled), ("early", early),
                            ("overlapping attempts", overlapping), ("never ended", unfinished)):
            test.assertEqual(wrong[:5], [], f"{len(wrong)} {name}")
        for job, run, attempts in retried:
            near = any(a.start <= to and a.start >= since - 13 for since, to in self.deaths
                       for a in attempts[:-1]) if len(attempts) > 1 else bool(self.deaths)
            test.assertTrue(near, f"{job} {run} was tried more than once though no process died: "
                                  f"{attempts}, {self.deaths}")
        print(f"{test.id()}: {expected_count} fires; missed 0, doubled 0, early 0, overlapping 0; "
              f"tried more than once: {len(retried)}", flush=True)
        if self.noops:
            self.noops.judge(test, end, self.boot, self.deaths)
        return found

    def silence_after(self, moment):
        """The longest time after `moment` (uptime) during which some job of the load did not start."""
        found = self.read()
        longest = 0
        for job in self.every:
            if not job.startswith("load-"):
                continue
            begun = sorted(a.start for runs in found[job].values() for attempts in runs.values()
                           for a in attempts[:1])
            around = [s for s in begun if s <= moment][-1:] + [s for s in begun if s > moment]
            around.append(uptime())
            longest = max([longest] + [b - max(a, moment) for a, b in zip(around, around[1:])])
        return longest
