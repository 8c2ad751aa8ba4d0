#!/usr/bin/env python3
"""A cluster's topology report while parts of it are stopped: the parts that are down, and the impact."""
import math
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import ClusterUnderTest, wait_until, within  # noqa: E402

SEEN_WITHIN = 20  # seconds; two requests to the bus take at most 8 s, and a silent session is noticed in 4 s


def codes(topology):
    return {one["code"] for one in topology["impact"]}


def states(topology):
    return {node["id"]: node["state"] for node in topology["nodes"]}


class TopologyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--schedulers", "2", "--executors", "1")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=False)

    def setUp(self):
        self.await_topology(lambda seen: seen["state"] == "ok", 360)

    def tearDown(self):
        for name in ("kafka", "zookeeper", self.cluster.database()):
            self.cluster.run("kill", name, "CONT", check=False)

    def await_topology(self, holds, seconds=SEEN_WITHIN, member="scheduler-1"):
        api = self.cluster.api(member)
        seen = {}

        def look():
            seen.update(api.get("/api/system/topology"))
            return holds(seen) and seen
        try:
            return within(look, seconds, "the topology", every=0.3)
        except AssertionError:
            raise AssertionError(f"last seen: {states(seen)} {codes(seen)}") from None

    def lag(self, name, topic):
        return self.cluster.metric(name, "carillon_consumer_lag", topic=topic)

    def test_a_healthy_cluster_is_complete_and_has_no_lag(self):
        seen = self.await_topology(lambda seen: set(states(seen).values()) == {"ok"})
        self.assertEqual(set(states(seen)), {"store", "coordinator", "bus", "member:scheduler-1",
                                             "member:scheduler-2", "executor:executor-1"})
        self.assertEqual(seen["impact"], [])
        leaders = [node["name"] for node in seen["nodes"] if node.get("leader")]
        self.assertEqual(leaders, [self.cluster.leader()])
        api = self.cluster.api()
        api.post("/api/jobs", {"name": "quick", "job_id": "quick", "type": "noop",
                               "cron_expression": "* * * * * *"})
        wait_until(lambda: api.get("/api/jobs/quick/history")["items"], 30, "a run")
        wait_until(lambda: api.get("/api/system/status")["lag"] ==
                   {"tasks": 0, "results": 0, "logs": 0}, 30, "readers that are not behind")
        self.assertEqual(self.lag("executor-1", "carillon.tasks"), 0)
        api.post("/api/jobs/quick/pause")

    def test_a_hang_of_kafka_is_shown_until_it_ends(self):
        self.cluster.run("kill", "kafka", "STOP")
        for member in ("scheduler-1", "scheduler-2"):
            seen = self.await_topology(lambda seen: states(seen)["bus"] == "down", member=member)
            self.assertEqual(codes(seen), {
                "bus.planning.goes_on", "bus.starting.delayed", "bus.running.goes_on",
                "bus.results.delayed", "bus.logs.delayed"})
            self.assertEqual(states(seen)["store"], "ok")
            edge = next(e for e in seen["edges"] if e["from"] == "member:" + member and e["to"] == "bus")
            self.assertEqual(edge["state"], "down")
        status = self.cluster.api().get("/api/system/status")
        self.assertEqual((status["lag"]["results"], status["lag"]["logs"]), (None, None))
        within(lambda: math.isnan(self.lag("executor-1", "carillon.tasks")), SEEN_WITHIN,
                   "an executor that does not know its lag")
        _, text, _ = self.cluster.cli("system", "topology")
        self.assertIn("Current impact: starting delayed. Tasks are delayed.", text)
        self.cluster.run("kill", "kafka", "CONT")
        seen = self.await_topology(lambda seen: seen["state"] == "ok")
        self.assertEqual(seen["impact"], [])

    # Running attempts are ended only when neither the store nor ZooKeeper can prove who owns them.
    def test_hangs_of_the_store_and_of_zookeeper_are_shown(self):
        self.cluster.run("kill", self.cluster.database(), "STOP")
        seen = self.await_topology(lambda seen: states(seen)["store"] == "down")
        self.assertIn("store.running.goes_on", codes(seen))
        self.assertIn("store.starting.stops", codes(seen))
        self.cluster.run("kill", "zookeeper", "STOP")
        seen = self.await_topology(lambda seen: states(seen)["coordinator"] == "down")
        self.assertEqual(states(seen)["member:scheduler-2"], "unknown")
        ends = next(one for one in seen["impact"]
                    if one["code"] == "store_and_coordinator.running.stops")
        self.assertEqual((ends["after_s"], ends["nodes"]), (20, ["coordinator", "store"]))
        self.cluster.run("kill", self.cluster.database(), "CONT")
        self.cluster.run("kill", "zookeeper", "CONT")
        self.await_topology(lambda seen: seen["state"] == "ok", 360)

    def test_a_killed_executor_is_shown(self):
        self.cluster.run("kill", "executor-1")
        seen = self.await_topology(lambda seen: states(seen)["executor:executor-1"] == "down")
        self.assertEqual(codes(seen), {"last_executor.starting.stops", "last_executor.running.stops"})
        self.cluster.run("start", "executor-1")
        self.await_topology(lambda seen: seen["state"] == "ok" and not seen["impact"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
