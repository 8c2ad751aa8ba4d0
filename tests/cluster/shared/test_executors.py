#!/usr/bin/env python3
"""Operations on executors and members: labels, drain, disable, adding one and removing one."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until, within  # noqa: E402
from load import Load  # noqa: E402

RUNS = 12


class ExecutorsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=False)

    # ---- helpers ----

    def cli_json(self, *arguments):
        return json.loads(self.cluster.cli(*arguments, "-o", "json")[1])

    def executor(self, name):
        return self.cli_json("executor", "get", name)

    def hosts_of(self, job_id, **fields):
        """Creates a job, starts several runs at once, and returns the number of runs of each executor."""
        api = self.cluster.api()
        api.post("/api/jobs", {"name": job_id, "job_id": job_id, "command": "sleep 0.3", **fields})
        runs = [api.post(f"/api/jobs/{job_id}/execute")["run_id"] for _ in range(RUNS)]
        hosts = {}
        for run in runs:
            ended = wait_until(lambda: next((r for r in [api.get(f"/api/runs/{run}")]
                                             if r["ended_at"]), None), 30, f"{job_id} to end")
            self.assertEqual(ended["state"], "COMPLETED")
            hosts[ended["executor_id"]] = hosts.get(ended["executor_id"], 0) + 1
        return hosts

    def label(self, name, *labels):
        self.cluster.cli("executor", "label", name, *labels)
        self.await_known(name, "labels")

    def await_known(self, name, field):
        """Waits until every member knows the stored value of this field, which it also routes by."""
        wanted = self.executor(name)[field]
        members = [p["name"] for p in self.cluster.refresh()["processes"]
                   if p["kind"] == "scheduler"]
        wait_until(lambda: all(self.cluster.api(m).get(f"/api/executors/{name}")[field] == wanted
                               for m in members), 30, f"{field} of {name} at every member")

    def await_idle_heartbeats(self):
        """Waits until the owners know that nothing runs. Only the second heartbeat from now was surely sent after
        everything had ended."""
        for name in ("executor-1", "executor-2"):
            seen = set()

            def enough():
                shown = self.executor(name)
                seen.add(shown["last_heartbeat_time"])
                return len(seen) > 2 and shown["running"] == 0
            wait_until(enough, 30, f"heartbeats of {name}", every=0.2)

    # ---- tests ----

    def test_labels_and_routing_choose_the_executor(self):
        self.label("executor-1", "zone=a")
        self.label("executor-2", "zone=b", "disk=ssd")
        for name, fields, hosts in (
                ("selected", {"executor_selector": "zone = b"}, {"executor-2": RUNS}),
                ("left-out", {"executor_selector": "!disk"}, {"executor-1": RUNS}),
                ("pinned", {"executor_id": "executor-2"}, {"executor-2": RUNS}),
                ("first", {"routing": "first_healthy"}, {"executor-1": RUNS})):
            self.assertEqual(self.hosts_of(name, **fields), hosts, name)
        # All runs of one job belong to one owner, which distributes them.
        for routing in ("round_robin", "least_loaded", "weighted"):
            self.await_idle_heartbeats()
            hosts = self.hosts_of(routing.replace("_", "-"), routing=routing)
            self.assertEqual(set(hosts), {"executor-1", "executor-2"}, routing)
            self.assertGreaterEqual(min(hosts.values()), RUNS // 4, routing)
        self.assertEqual(sum(self.hosts_of("random", routing="random").values()), RUNS)
        self.await_idle_heartbeats()
        self.assertEqual(list(self.hosts_of("hashed", routing="consistent_hash").values()), [RUNS])

    def test_a_run_waits_for_a_matching_executor(self):
        api = self.cluster.api()
        api.post("/api/jobs", {"name": "later", "job_id": "later", "command": "true",
                               "executor_selector": "gpu in (a100, h100)"})
        run = api.post("/api/jobs/later/execute")["run_id"]
        self.assertEqual(self.hosts_of("meanwhile").keys() - {"executor-1", "executor-2"}, set())
        self.assertEqual(api.get(f"/api/runs/{run}")["state"], "PENDING")
        self.cluster.cli("executor", "label", "executor-2", "gpu=h100")
        ended = wait_until(lambda: next((r for r in [api.get(f"/api/runs/{run}")]
                                         if r["ended_at"]), None), 30, "the run to end")
        self.assertEqual((ended["state"], ended["executor_id"]), ("COMPLETED", "executor-2"))
        self.cluster.cli("executor", "label", "executor-2", "gpu-")
        self.assertNotIn("gpu", self.executor("executor-2")["labels"])

    def test_disabled_and_draining_executors_start_nothing_new_and_finish_what_runs(self):
        api = self.cluster.api()
        api.post("/api/jobs", {"name": "long", "job_id": "long", "command": "sleep 4",
                               "executor_id": "executor-1"})
        run = api.post("/api/jobs/long/execute")["run_id"]
        wait_until(lambda: api.get(f"/api/runs/{run}")["state"] == "RUNNING", 20, "it to run")
        self.cluster.cli("executor", "drain", "executor-1")
        self.assertIs(self.executor("executor-1")["draining"], True)
        self.assertEqual(self.hosts_of("drained"), {"executor-2": RUNS})
        self.cluster.cli("executor", "drain", "executor-1", "--wait")
        ended = api.get(f"/api/runs/{run}")
        self.assertEqual((ended["state"], ended["attempt"]), ("COMPLETED", 1))
        self.cluster.cli("executor", "enable", "executor-1")
        self.cluster.cli("executor", "disable", "executor-2")
        self.assertIs(self.executor("executor-2")["enabled"], False)
        self.assertEqual(self.hosts_of("disabled"), {"executor-1": RUNS})
        self.cluster.cli("executor", "enable", "executor-2")
        names = [e["executor_id"] for e in self.cli_json("executor", "list")["items"]]
        self.assertEqual(sorted(names), ["executor-1", "executor-2"])
        self.assertNotEqual(self.cluster.cli("executor", "get", "nobody", check=False)[0], 0)

    def test_a_stopped_executor_signs_off_and_its_successor_is_used_at_once(self):
        api = self.cluster.api()
        members = [p["name"] for p in self.cluster.refresh()["processes"] if p["kind"] == "scheduler"]

        def seen():
            return {m: self.cluster.api(m).get("/api/executors/executor-1")["state"] for m in members}
        api.post("/api/jobs", {"name": "survives", "job_id": "survives", "command": "sleep 25", "executor_id": "executor-1"})
        run = api.post("/api/jobs/survives/execute")["run_id"]
        wait_until(lambda: api.get(f"/api/runs/{run}")["state"] == "RUNNING", 20, "it to run")
        self.cluster.run("kill", "executor-1", "TERM")
        # The executor waits 10 s for its runs and then reports that it leaves. If it only fell silent, the members
        # would notice 6 s later, and it would become UNHEALTHY.
        within(lambda: set(seen().values()) == {"OFFLINE"}, 14, "every member to know that it left", every=0.2)
        self.assertEqual(self.hosts_of("without-it"), {"executor-2": RUNS})
        self.assertEqual(set(seen().values()), {"OFFLINE"})
        self.cluster.run("start", "executor-1")
        wait_until(lambda: set(seen().values()) == {"ONLINE"}, 20, "it to be back")
        ended = wait_until(lambda: next((r for r in [api.get(f"/api/runs/{run}")] if r["ended_at"]), None), 40, "its run to end")
        self.assertEqual((ended["state"], ended["attempt"]), ("COMPLETED", 1))

    def test_the_command_line_continues_with_the_remaining_member(self):
        for name in ("scheduler-1", "scheduler-2"):
            self.cluster.run("kill", name)
            status = self.cli_json("system", "status")
            self.assertIn("segments", status)
            self.cluster.run("start", name)
            self.cluster.await_ready()

    def test_third_member_and_executor_come_and_go_under_load(self):
        load = Load(self.cluster, 40)
        load.run_for(6)
        load.await_fires()
        scheduler = self.cluster.run("add", "scheduler").stdout.split()[-1]
        executor = self.cluster.run("add", "executor").stdout.split()[-1]
        self.assertEqual((scheduler, executor), ("scheduler-3", "executor-3"))

        def works():
            self.cluster.refresh()
            return (self.cluster.process(scheduler)["owned_segments"] or 0) > 5 and \
                self.executor(executor)["running"] > 0
        wait_until(works, 60, "work to move to them", every=0.2)
        self.cluster.await_ready()
        load.await_fires()
        load.run_for(3)
        self.cluster.cli("executor", "drain", executor, "--wait")
        self.cluster.run("remove", executor)
        load.await_fires()
        self.cluster.run("remove", scheduler)
        self.cluster.await_ready()
        load.await_fires()
        load.run_for(3)
        found = load.judge(self, load.settle())  # no process died: one attempt for each run
        runs = [r for r in self.cluster.api().pages(f"/api/runs?executor_id={executor}")]
        self.assertGreater(len(runs), 10)
        self.assertEqual({r["state"] for r in runs}, {"COMPLETED"})
        self.assertTrue(found)


if __name__ == "__main__":
    unittest.main(verbosity=2)
