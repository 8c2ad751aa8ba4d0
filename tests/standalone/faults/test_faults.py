#!/usr/bin/env python3
"""Kills and pauses a standalone server under load, fills its disk, and checks the journal that the jobs wrote.

The load is shell jobs at a fixed rate (tests/support/py/load.py): 50 a second, 100 in the long form. After each fault and
its recovery every fire must have exactly one run, and it is COMPLETED; no (run, attempt) was started twice; no two
attempts of a run overlapped; only runs that were running at the fault have more than one attempt.
"""
import os
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import LONG, Standalone, alive, wait_until, within  # noqa: E402
from load import Load, uptime  # noqa: E402

PER_SECOND = 100 if LONG else 50
WARM_UP_S = float(os.environ.get("FAULT_WARM_UP_S", "3"))
# Running attempts are given up at the latest this long after their owner fell silent.
LEASE_S = 20
RECOVERY_S = 45
# Longer than every lease.
STOPPED_S = 30 if LONG else LEASE_S + 2
# More slots, so that the load does not become a backlog on a busy machine.
MORE_SLOTS = {"CARILLON_EXECUTOR_SLOTS": "32"}


class FaultsTest(unittest.TestCase):
    def setUp(self):
        self.server = Standalone(env=MORE_SLOTS)
        self.addCleanup(self.finish)
        self.server.start()
        self.begin(Load(self.server, PER_SECOND))

    def begin(self, load):
        self.load = load
        load.await_fires()
        load.run_for(WARM_UP_S)

    def finish(self):
        failed = any(error for _, error in self._outcome.errors) if hasattr(self._outcome, "errors") \
            else not self._outcome.success
        if failed:
            print(f"kept: {self.server.scratch}\n{self.server.tail()}", flush=True)
        self.server.destroy()
        if not failed:
            self.server.remove()

    def outage(self, action):
        """Runs `action`. Attempts that were running when it began may be tried again."""
        since = uptime()
        action()
        self.load.process_died(since)

    def finish_load(self):
        try:
            self.load.judge(self, self.load.settle(calm=False))
        except Exception as error:
            print(f"FAILED: {error}\n{self.load.open_runs()}", flush=True)
            raise
        self.judge_rows()

    def judge_rows(self):
        """Checks that every run completed and wrote its lines, except runs that the final pause skipped."""
        api = self.server.api()
        gaps = [gap for gap in api.pages("/api/gaps") if gap["reason"] != "paused"]
        self.assertEqual(gaps[:5], [], "fires in gaps although every outage was short")
        runs = [run for job in self.load.every for run in api.runs(job)
                if (run["state"], run["reason"]) != ("SKIPPED", "paused")]
        wrong = [run for run in runs if run["state"] != "COMPLETED" or run["run_id"] not in self.load.where]
        self.assertEqual(wrong[:5], [], f"{len(wrong)} runs did not complete, or wrote nothing")

    def test_a_killed_server_loses_no_fire(self):
        def fault():
            self.server.kill("pid")
            self.load.run_for(3)
            self.server.start()
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()

    def test_a_killed_database_loses_no_fire(self):
        def fault():
            pid = self.server.kill("mariadbd_pid")
            wait_until(lambda: not alive(pid), 10, "mariadbd to die")
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()

    def test_a_killed_warden_loses_no_fire(self):
        def fault():
            pid = self.server.kill("warden_pid")
            wait_until(lambda: not alive(pid), 10, "the warden to die")
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()

    def executor_state(self):
        return self.server.api().get("/api/executors")["items"][0]["state"]

    def test_a_warden_that_hangs_gets_no_tasks(self):
        """The executor is UNHEALTHY within 10 s, gets no tasks meanwhile, and continues afterwards."""
        def claims():
            return sum(value for name, value in self.server.metrics().items()
                       if name.startswith("carillon_claims_total") and "accepted" in name)

        def fault():
            self.server.kill("warden_pid", signal.SIGSTOP)
            try:
                within(lambda: self.executor_state() == "UNHEALTHY", 10, "the report of the hung warden")
                self.assertEqual(self.server.metrics()["carillon_warden_answers"], 0)
                before = claims()
                self.load.run_for(2)
                self.assertEqual(claims(), before, "claimed for a warden that does nothing")
            finally:
                self.server.kill("warden_pid", signal.SIGCONT)
            within(lambda: self.executor_state() == "ONLINE", RECOVERY_S, "the warden to be back")
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()

    def test_a_server_stopped_beyond_every_lease_loses_no_fire(self):
        def fault():
            self.server.kill("pid", signal.SIGSTOP)
            self.load.run_for(STOPPED_S)
            self.server.kill("pid", signal.SIGCONT)
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()


class FullDiskTest(FaultsTest):
    """The same load on a separate small file system that fills up."""

    SIZE_MIB = 700

    def setUp(self):
        self.mount_point = tempfile.mkdtemp(prefix="carillon-disk-")
        self.addCleanup(lambda: os.rmdir(self.mount_point))
        sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
        self.sudo = sudo
        subprocess.run([*sudo, "mount", "-t", "tmpfs", "-o", f"size={self.SIZE_MIB}m,mode=0777",
                        "tmpfs", self.mount_point], check=True)
        self.addCleanup(lambda: subprocess.run([*sudo, "umount", "-l", self.mount_point], check=True))
        # Without the template, whose files have holes: a server that creates its files has the space of all of them.
        self.server = Standalone(directory=os.path.join(self.mount_point, "c"), env=MORE_SLOTS, template=None)
        os.mkdir(self.server.scratch)
        self.addCleanup(self.finish)
        self.server.start()
        # The journal of the jobs must not be on the full disk, because the checks read it.
        self.journal_dir = tempfile.TemporaryDirectory(prefix="carillon-journal-")
        self.addCleanup(self.journal_dir.cleanup)
        self.begin(Load(self.server, PER_SECOND, journal=os.path.join(self.journal_dir.name, "journal")))

    def test_a_full_disk_loses_no_fire(self):
        filler = os.path.join(self.mount_point, "filler")

        def fault():
            with open(filler, "wb") as f:
                try:
                    for _ in range(self.SIZE_MIB + 1):  # never more than the size of the file system
                        f.write(b"\0" * (1 << 20))
                        f.flush()
                except OSError:
                    pass
            self.load.run_for(8)
            os.unlink(filler)
            if self.server.process.poll() is not None:
                self.server.start()
            self.load.await_fires(RECOVERY_S)
        self.outage(fault)
        self.finish_load()

    # The faults of the base class are not repeated here, because they do not need a small disk.
    test_a_killed_server_loses_no_fire = None
    test_a_killed_database_loses_no_fire = None
    test_a_killed_warden_loses_no_fire = None
    test_a_warden_that_hangs_gets_no_tasks = None
    test_a_server_stopped_beyond_every_lease_loses_no_fire = None


if __name__ == "__main__":
    unittest.main(verbosity=2)
