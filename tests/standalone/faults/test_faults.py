#!/usr/bin/env python3
"""Kills, pauses and starves a standalone server under load, and judges by what the jobs wrote.

100 shell jobs a second (retry_count 3) append "S run attempt uptime" and "E run attempt uptime" to a
file. After each fault and its recovery: every fire has exactly one run, COMPLETED; no (run, attempt)
started twice; no two attempts of a run overlapped; attempts beyond the first only for runs that were
running at the fault.
"""
import collections
import datetime
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import LONG, Standalone, alive, wait_until  # noqa: E402

JOBS = 10
EVERY_MS = 100  # each: JOBS * 1000 / EVERY_MS fires a second together
WARM_UP_S = float(os.environ.get("FAULT_WARM_UP_S", "3"))
# Running attempts are given up this long after their owner fell silent, at the latest.
LEASE_S = 20
RECOVERY_S = 45
# Beyond every lease.
STOPPED_S = 30 if LONG else LEASE_S + 2
# A busy machine must not turn the load into a backlog.
MORE_SLOTS = {"CARILLON_EXECUTOR_SLOTS": "32"}


def uptime():
    with open("/proc/uptime") as f:
        return float(f.read().split()[0])


def parse_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Load:
    """The jobs, what they wrote, and the judgement."""

    def __init__(self, server, journal):
        self.server = server
        self.journal = journal
        self.jobs = []
        self.outages = []  # (from, to) in uptime seconds: when something was broken

    def start(self):
        api = self.server.api()
        command = ('read u r </proc/uptime; echo "S $CARILLON_RUN_ID $CARILLON_ATTEMPT $u" >>"$JOURNAL"; '
                   'sleep 0.02; read u r </proc/uptime; '
                   'echo "E $CARILLON_RUN_ID $CARILLON_ATTEMPT $u" >>"$JOURNAL"')
        for number in range(JOBS):
            job = api.post("/api/jobs", {
                "name": f"load {number}", "job_id": f"load-{number}", "command": command,
                "retry_count": 3, "retry_interval": 1, "env": {"JOURNAL": self.journal},
                "schedules": [{"kind": "rate", "every_ms": EVERY_MS}]})
            self.jobs.append(job["job_id"])
        # Runs long enough to be alive at every fault, so that leases have something to protect.
        api.post("/api/jobs", {
            "name": "long", "job_id": "long", "retry_count": 3, "retry_interval": 1, "env": {"JOURNAL": self.journal},
            "command": command.replace("sleep 0.02", "sleep 12"),
            "schedules": [{"kind": "rate", "every_ms": 5000}]})
        self.jobs.append("long")

    def settle(self):
        """Pauses everything and waits until nothing is open."""
        def paused():
            try:
                api = self.server.api()
                for job in self.jobs:
                    api.post(f"/api/jobs/{job}/pause", {"reason": "end of the test"})
                return True
            except Exception:  # the server may still be recovering; the deadline decides
                return False
        wait_until(paused, RECOVERY_S, "the jobs to be paused", every=0.5)
        api = self.server.api()

        def still_open():
            return list(api.pages("/api/runs?state=PENDING&state=RUNNING&state=HELD"))
        try:
            wait_until(lambda: not still_open(), LEASE_S + 6 + RECOVERY_S, "open runs to end", every=0.5)
        except AssertionError as error:
            told = [{**api.get("/api/runs/" + run["run_id"]), "output": None} for run in still_open()[:5]]
            raise AssertionError(f"{error}: {told}\n{self.server.tail()}") from None
        self.runs = {job: api.runs(job) for job in self.jobs}
        self.gaps = collections.defaultdict(list)
        for gap in api.pages("/api/gaps"):
            if gap["reason"] != "paused":
                self.gaps[gap["schedule_id"]].append(gap)

    def read_journal(self):
        starts, ends = collections.defaultdict(list), collections.defaultdict(list)
        with open(self.journal) as f:
            for line in f:
                word, run, attempt, when = line.split()
                (starts if word == "S" else ends)[(run, int(attempt))].append(float(when))
        return starts, ends

    def judge(self, test):
        starts, ends = self.read_journal()
        twice = [key for key, times in starts.items() if len(times) > 1]
        test.assertEqual(twice, [], "(run, attempt) started twice")
        test.assertEqual(dict(self.gaps), {}, "fires in gaps although every outage was short")
        retried = []
        total = 0
        for job, runs in self.runs.items():
            fires = sorted(parse_time(run["fire_time"]) for run in runs if run["kind"] == "rate")
            every = datetime.timedelta(milliseconds=5000 if job == "long" else EVERY_MS)
            missing = [(a, b) for a, b in zip(fires, fires[1:]) if b - a != every]
            test.assertEqual(missing, [], f"{job}: fires missed or doubled between these")
            total += len(fires)
            for run in runs:
                # A fire that was due and unclaimed when the job was paused at the end.
                if run["state"] == "SKIPPED" and run["reason"] == "paused":
                    continue
                test.assertEqual(run["state"], "COMPLETED", run)
                attempts = sorted(a for (r, a) in starts if r == run["run_id"])
                test.assertTrue(attempts, f"{run['run_id']} COMPLETED but wrote nothing")
                for first, second in zip(attempts, attempts[1:]):
                    over = ends.get((run["run_id"], first), [starts[(run["run_id"], first)][0]])[-1]
                    test.assertLessEqual(over, starts[(run["run_id"], second)][0] + 0.02,
                                         f"{run['run_id']}: attempts {first} and {second} overlapped")
                if run["attempt"] > 1:
                    retried.append(run["run_id"])
                    began = min(starts[(run["run_id"], attempts[0])])
                    near = any(began <= to and began >= since - 13 for since, to in self.outages)
                    test.assertTrue(near, f"{run['run_id']} was tried {run['attempt']} times, first "
                                          f"at {began}, without a fault: {self.outages}")
        test.assertGreater(total, 50, "the load hardly ran")
        print(f"{test.id()}: {total} fires, {sum(map(len, self.runs.values()))} runs, "
              f"{len(retried)} tried more than once: {retried[:12]}", flush=True)


class FaultsTest(unittest.TestCase):
    def setUp(self):
        self.server = Standalone(env=MORE_SLOTS)
        self.addCleanup(self.finish)
        self.server.start()
        self.load = Load(self.server, os.path.join(self.server.scratch, "journal"))
        self.load.start()
        self.wait(WARM_UP_S)

    def finish(self):
        failed = any(error for _, error in self._outcome.errors) if hasattr(self._outcome, "errors") \
            else not self._outcome.success
        if failed:
            print(f"kept: {self.server.scratch}\n{self.server.tail()}", flush=True)
        self.server.destroy()
        if not failed:
            self.server.remove()

    @staticmethod
    def wait(seconds):
        """Lets the load run for a while; nothing is concluded from the time itself."""
        threading.Event().wait(seconds)

    def outage(self, action):
        since = uptime()
        action()
        self.load.outages.append((since, uptime() + 2))

    def finish_load(self):
        self.wait(WARM_UP_S)
        self.load.settle()
        self.load.judge(self)

    def fires_again(self, seconds=RECOVERY_S):
        """A fire of after this moment completes."""
        since = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")

        def fired():
            try:
                api = self.server.api()
                page = api.get(f"/api/runs?job_id=load-0&state=COMPLETED&since={since}")
                return bool(page["items"])
            except Exception:  # unreachable while recovering; the deadline decides
                return False
        wait_until(fired, seconds, "fires after the fault", every=0.2)

    def test_kill_9_of_the_process(self):
        def fault():
            self.server.kill("pid")
            self.wait(3)
            self.server.start()
            self.fires_again()
        self.outage(fault)
        self.finish_load()

    def test_kill_9_of_mariadbd(self):
        def fault():
            pid = self.server.kill("mariadbd_pid")
            wait_until(lambda: not alive(pid), 10, "mariadbd to die")
            self.fires_again()
        self.outage(fault)
        self.finish_load()

    def test_kill_9_of_the_warden(self):
        def fault():
            pid = self.server.kill("warden_pid")
            wait_until(lambda: not alive(pid), 10, "the warden to die")
            self.fires_again()
        self.outage(fault)
        self.finish_load()

    def executor_state(self):
        return self.server.api().get("/api/executors")["items"][0]["state"]

    def test_warden_that_hangs(self):
        """It is told within 10 s, gets nothing meanwhile, and goes on where it was."""
        def claims():
            return sum(value for name, value in self.server.metrics().items()
                       if name.startswith("carillon_claims_total") and "accepted" in name)

        def fault():
            self.server.kill("warden_pid", signal.SIGSTOP)
            try:
                wait_until(lambda: self.executor_state() == "UNHEALTHY", 10, "the hung warden to be told")
                self.assertEqual(self.server.metrics()["carillon_warden_answers"], 0)
                before = claims()
                self.wait(2)
                self.assertEqual(claims(), before, "claimed for a warden that does nothing")
            finally:
                self.server.kill("warden_pid", signal.SIGCONT)
            wait_until(lambda: self.executor_state() == "ONLINE", RECOVERY_S, "the warden to be back")
            self.fires_again()
        self.outage(fault)
        self.finish_load()

    def test_sigstop_beyond_every_lease(self):
        def fault():
            self.server.kill("pid", signal.SIGSTOP)
            self.wait(STOPPED_S)
            self.server.kill("pid", signal.SIGCONT)
            self.fires_again()
        self.outage(fault)
        self.finish_load()


class FullDiskTest(FaultsTest):
    """The same load on a small file system of its own that fills up."""

    SIZE_MIB = 700

    def setUp(self):
        self.mount_point = tempfile.mkdtemp(prefix="carillon-disk-")
        self.addCleanup(lambda: os.rmdir(self.mount_point))
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        self.sudo = sudo
        subprocess.run([*sudo, "mount", "-t", "tmpfs", "-o", f"size={self.SIZE_MIB}m,mode=0777",
                        "tmpfs", self.mount_point], check=True)
        self.addCleanup(lambda: subprocess.run([*sudo, "umount", "-l", self.mount_point], check=True))
        self.server = Standalone(directory=os.path.join(self.mount_point, "c"), env=MORE_SLOTS)
        os.mkdir(self.server.scratch)
        self.addCleanup(self.finish)
        self.server.start()
        # The jobs' own journal must not be on the full disk: it is how they are judged.
        self.journal_dir = tempfile.TemporaryDirectory(prefix="carillon-journal-")
        self.addCleanup(self.journal_dir.cleanup)
        self.load = Load(self.server, os.path.join(self.journal_dir.name, "journal"))
        self.load.start()
        self.wait(WARM_UP_S)

    def test_full_disk(self):
        filler = os.path.join(self.mount_point, "filler")

        def fault():
            with open(filler, "wb") as f:
                try:
                    for _ in range(self.SIZE_MIB + 1):  # never more than is ours to fill
                        f.write(b"\0" * (1 << 20))
                        f.flush()
                except OSError:
                    pass
            self.wait(8)
            os.unlink(filler)
            if self.server.process.poll() is not None:
                self.server.start()
            self.fires_again()
        self.outage(fault)
        self.finish_load()

    # The faults of the base class need no second disk.
    test_kill_9_of_the_process = None
    test_kill_9_of_mariadbd = None
    test_kill_9_of_the_warden = None
    test_warden_that_hangs = None
    test_sigstop_beyond_every_lease = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
