#!/usr/bin/env python3
"""Hosts die, judged by what the processes write: a long run continues on another one from its last checkpoint, and each
attempt of the shards of a fire starts once, also if the leader dies as well."""
import collections
import datetime
import os
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402

STEPS = 200  # half a minute of work, if nothing happens
STEP_S = 0.1
AT_LEAST = 30  # steps before the host dies
SHARDS = 64
SLOTS, EXECUTORS = 8, 4
FIRES = 2
EVERY_S = 8  # a fire takes longer, so that the next one has to wait


class HostsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.begun = cls.passed = 0
        cls.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", str(SLOTS), "--executors", str(EXECUTORS))

    @classmethod
    def tearDownClass(cls):
        if cls.passed < cls.begun:
            print(cls.cluster.log_tails(), flush=True)
        cls.cluster.destroy(keep=cls.passed < cls.begun)

    def setUp(self):
        type(self).begun += 1
        self.journal = os.path.join(self.cluster.scratch, self.id().rsplit(".", 1)[-1])
        self.cluster.refresh()

    def kill_host(self, name):
        def warden_pid():
            self.cluster.refresh()
            return self.cluster.process(name)["warden_pid"]

        # A host that was started again tells it a moment later.
        warden = wait_until(warden_pid, 20, f"the warden of {name}", every=0.1)
        self.cluster.run("kill", name)
        os.kill(warden, signal.SIGKILL)

    # ---- checkpoints ----

    def command(self):
        carillon = os.path.join(os.path.abspath(BIN), "carillon")
        return (f"n=$({carillon} checkpoint load 2>/dev/null || echo 0)\n"
                f"while [ $n -lt {STEPS} ]; do n=$((n + 1))\n"
                f"  echo \"$CARILLON_ATTEMPT $n\" >> {self.journal}; sleep {STEP_S}\n"
                f"  echo $n | {carillon} checkpoint save - && {carillon} progress $((n * 100 / {STEPS}))\n"
                "done")

    def steps_of(self, attempt):
        with open(self.journal, encoding="utf-8") as file:
            lines = [line.split() for line in file]
        return [int(step) for number, step in lines if int(number) == attempt]

    def saved(self, run_id):
        status, _, body = self.cluster.api().raw("GET", f"/api/runs/{run_id}/checkpoint")
        return int(body) if status == 200 else 0

    def test_a_run_continues_on_another_host(self):
        api = self.cluster.api()
        job = api.post("/api/jobs", {"name": "long", "command": self.command(), "retry_count": 2, "retry_interval": 1})
        run_id = api.post(f"/api/jobs/{job['job_id']}/execute")["run_id"]
        seen = wait_until(lambda: (lambda n: n if n >= AT_LEAST else None)(self.saved(run_id)), 60, "a checkpoint")
        run = api.get(f"/api/runs/{run_id}")
        first = run["executor_id"]
        self.assertGreater(run["progress"]["percent"], 0)
        self.kill_host(first)

        def ended():
            run = api.get(f"/api/runs/{run_id}")
            return run if run["ended_at"] else None
        run = wait_until(ended, 150, "the run to end", every=0.5)
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertNotEqual(run["executor_id"], first)
        before, after = self.steps_of(1), self.steps_of(run["attempt"])
        print(f"saved when the host died: {seen}, done: {before[-1]}, continued at: {after[0]}", flush=True)
        self.assertEqual(before, list(range(1, before[-1] + 1)))
        self.assertEqual(after, list(range(after[0], STEPS + 1)))
        self.assertGreater(after[0], seen, "it began before what was stored when its host died")
        self.assertLessEqual(after[0], before[-1] + 1, "steps were left out")
        self.assertIsNone(run["checkpoint"], "a run that is complete keeps none")
        self.cluster.run("start", first)
        type(self).passed += 1

    # ---- shards ----

    def create_wide(self):
        def text(moment):
            return datetime.datetime.fromtimestamp(moment, datetime.timezone.utc).isoformat()
        mark = f'echo "$CARILLON_RUN_ID $CARILLON_ATTEMPT $CARILLON_SHARD_INDEX $CARILLON_SHARD_TOTAL $u" >>{self.journal}.'
        begin = time.time() + 1
        self.cluster.api().post("/api/jobs", {
            "job_id": "wide", "name": "wide", "shards": {"total": SHARDS}, "retry_count": 3, "retry_interval": 1,
            # The first ones stay until the hosts have died, however long that takes.
            "command": f"read u r </proc/uptime; {mark}begun; until [ -e {self.journal}.dead ]; do sleep 0.1; done; sleep 2; "
                       f"read u r </proc/uptime; {mark}ended",
            "overlap_policy": "queue_all", "misfire_policy": "all", "misfire_grace": 600,
            "schedules": [{"kind": "rate", "every_ms": EVERY_S * 1000, "start_time": text(begin),
                           "end_time": text(begin + EVERY_S * FIRES - 1)}]})

    def marks(self, kind):
        """{(run, attempt, index, total): [uptime in s]} of what the processes wrote."""
        marks = collections.defaultdict(list)
        if os.path.exists(f"{self.journal}.{kind}"):
            with open(f"{self.journal}.{kind}", encoding="utf-8") as file:
                for line in file:
                    run, *numbers, uptime = line.split()
                    marks[(run, *map(int, numbers))].append(float(uptime))
        return marks

    def fires(self):
        """The runs of the job, in their order, once all have ended."""
        runs = sorted(self.cluster.api().runs("wide"), key=lambda run: run["fire_time"])
        return runs if len(runs) == FIRES and all(run["ended_at"] for run in runs) else None

    def test_shards_start_once_though_two_hosts_and_the_leader_die(self):
        self.create_wide()
        leader = self.cluster.leader()
        wait_until(lambda: len(self.marks("begun")) == SLOTS * EXECUTORS, 60, "a shard in each slot of the hosts")
        for host in ("executor-1", "executor-2"):
            self.kill_host(host)
        with open(f"{self.journal}.dead", "w", encoding="utf-8"):
            pass
        self.cluster.run("kill", leader)
        wait_until(lambda: self.cluster.refresh()["leader"] not in (None, leader), 60,
                   "another leader while the hosts are away", every=0.2)
        for name in ("executor-1", "executor-2", leader):
            self.cluster.run("start", name)
        self.cluster.refresh()
        runs = wait_until(self.fires, 60, "all fires to end", every=0.5)
        begun, ended = self.marks("begun"), self.marks("ended")
        self.assertEqual([key for key, times in begun.items() if len(times) > 1], [], "attempts that started twice")
        self.assertEqual([(run["state"], run["attempt"]) for run in runs], [("COMPLETED", 1)] * FIRES)
        wanted, spans = set(), []
        for run in runs:
            shards = self.cluster.api().get(f"/api/runs/{run['run_id']}/shards")["shards"]
            self.assertEqual([shard["index"] for shard in shards], list(range(SHARDS)))
            last = {(shard["run_id"], shard["attempt"], shard["index"], SHARDS) for shard in shards}
            self.assertEqual(last - set(ended), set(), "COMPLETED, though the process has not come to its end")
            wanted.update((run_id, index, total) for run_id, _, index, total in last)
            ids = {shard["run_id"] for shard in shards}
            times = [when for marks in (begun, ended) for key, found in marks.items() if key[0] in ids for when in found]
            spans.append((min(times), max(times)))
        self.assertEqual({(run_id, index, total) for run_id, _, index, total in begun}, wanted, "processes of no shard")
        self.assertLess(spans[0][1], spans[1][0], "a fire began before all shards of the one before had ended")
        again = sum(attempt > 1 for _, attempt, _, _ in begun)
        self.assertGreaterEqual(again, 2 * SLOTS, "a shard that ran where a host died did not run again")
        print(f"{FIRES} fires in {SHARDS} shards, {len(begun)} starts; after a host had died: {again}", flush=True)
        type(self).passed += 1


if __name__ == "__main__":
    unittest.main(verbosity=2)
