#!/usr/bin/env python3
"""An owner that freezes between the fence and the commit of a transaction, and continues when it is no longer owner.

A test program of the scheduler stops itself at this point; all other programs are the installed ones.
"""
import datetime
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402
from load import Load, uptime  # noqa: E402

SESSION_S = 3
TAKEOVER_S = 3  # from the new assignment to the takeover


class FrozenOwnerTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        faulty = os.path.join(BIN, "faulty-scheduler")
        self.cluster = ClusterUnderTest(
            "--session-timeout-ms", str(SESSION_S * 1000), "--slots", "32",
            "--program", f"scheduler-1={faulty}", "--program", f"scheduler-2={faulty}")
        self.addCleanup(self.finish)
        self.load = Load(self.cluster, 40)
        self.load.run_for(8)
        self.load.await_fires()

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def told_yet(self, name, what, since):
        """Returns when the process first logged `what` after `since`, in seconds since 1970; None if it has not yet."""
        with open(self.cluster.process(name)["log"], encoding="utf-8", errors="replace") as f:
            for line in f:
                if what in line:
                    when = datetime.datetime.fromisoformat(line.split(" ", 1)[0]).timestamp()
                    if when >= since:
                        return when
        return None

    def logged(self, name, what, since):
        when = self.told_yet(name, what, since)
        self.assertIsNotNone(when, f"{name} did not log '{what}'")
        return when

    def test_a_frozen_owner_is_replaced_and_its_later_write_is_refused(self):
        leader = self.cluster.leader()
        frozen = next(p["name"] for p in self.cluster.status["processes"]
                      if p["kind"] == "scheduler" and p["name"] != leader)
        began, since = self.load.boot + uptime(), uptime()
        home = os.path.dirname(self.cluster.process(frozen)["log"])
        with open(os.path.join(home, "stop-after-fence"), "w", encoding="utf-8"):
            pass
        wait_until(lambda: self.cluster.refresh() and
                   self.cluster.process(frozen)["state"] == "stopped", 20, "the owner to freeze", every=0.2)
        self.load.await_fires()
        assigned = self.logged(leader, "assignment written", began)
        taken = self.logged(leader, "segments taken", assigned)
        self.assertLessEqual(taken - assigned, TAKEOVER_S)
        self.load.run_for(2)
        silence = self.load.silence_after(since)
        print(f"owner frozen in a transaction: taken {taken - assigned:.2f} s after the assignment, "
              f"{silence:.2f} s without fires of its jobs", flush=True)
        self.assertLessEqual(silence, SESSION_S + TAKEOVER_S)
        woken = self.load.boot + uptime()
        self.cluster.run("kill", frozen, "CONT")
        # The fence refuses the write, or its connection was ended. In the second case the process learns the reason
        # when it next reads the epochs.
        wait_until(lambda: self.told_yet(frozen, "cause=fenced", woken), 20, "the frozen write to be refused")
        self.cluster.await_ready()
        self.load.await_fires()
        self.load.run_for(3)
        self.load.judge(self, self.load.settle())
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
