#!/usr/bin/env python3
"""The leader is killed while it reads events from a topic of Kafka. Each event starts one run, whoever read it, and a
record that is no event is refused once."""
import collections
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402

TOPIC, PARTITIONS = "orders", 3
EVENTS = 2_000
EACH_AGAIN = 10  # of so many events, one is sent twice
ACCEPTED_S = 60  # a new leader, and the longest wait of its reader


class EventsTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--executors", "1",
                                        "--set", f"events.kafka.topics={TOPIC}=sales")
        self.addCleanup(self.finish)

    def finish(self):
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    def tool(self, verb, lines=""):
        bootstrap = self.cluster.status["kafka"]["bootstrap"]
        done = subprocess.run([os.path.join(BIN, "bus-tool"), bootstrap, str(PARTITIONS), verb, TOPIC], input=lines,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def write(self, numbers):
        records = []
        for number in numbers:
            event = {"specversion": "1.0", "id": f"o-{number}", "source": "shop", "type": "order.paid",
                     "data": {"number": number}}
            records += [json.dumps(event)] * (2 if number % EACH_AGAIN == 0 else 1)
        self.tool("write", "".join(
            json.dumps({"partition": place % PARTITIONS, "headers": {}, "payload": text.encode().hex()}) + "\n"
            for place, text in enumerate(records)))

    def started_by(self, member):
        return self.cluster.metric(member, "carillon_events_total", door="topic", result="started")

    def events(self, outcome):
        return list(self.cluster.api().pages(f"/api/events?outcome={outcome}"))

    def test_each_event_of_a_topic_starts_one_run_though_the_leader_is_killed(self):
        self.tool("create")
        self.cluster.api().post("/api/jobs", {
            "job_id": "bill", "name": "bill", "namespace": "sales", "type": "noop", "overlap_policy": "allow",
            "schedules": [{"kind": "event", "type": "order.*", "parameters": {"number": "{{event.data.number}}"}}]})
        killed = self.cluster.leader()
        self.write(range(100))
        wait_until(lambda: self.started_by(killed) > 0, ACCEPTED_S, "the first events", every=0.05)
        before = self.started_by(killed)
        self.tool("write", json.dumps({"partition": 0, "headers": {}, "payload": b"no event".hex()}) + "\n")
        self.write(range(100, EVENTS // 2))
        wait_until(lambda: self.started_by(killed) > before, 20, "the leader to read on", every=0.01)
        self.cluster.run("kill", killed)
        self.write(range(EVENTS // 2, EVENTS))
        wait_until(lambda: len(self.events("started")) == EVENTS, ACCEPTED_S, "all events", every=0.5)
        self.cluster.run("start", killed)
        wait_until(lambda: self.cluster.refresh()["ready"], 60, "the killed member", every=0.2)
        runs = [start["run_id"] for event in self.events("started") for start in event["starts"]]
        self.assertEqual({run: count for run, count in collections.Counter(runs).items() if count > 1}, {})
        history = [run["run_id"] for run in self.cluster.api().pages("/api/jobs/bill/history")]
        self.assertEqual(sorted(history), sorted(runs), "a run for each event, and no other")
        self.assertEqual([event["id"] for event in self.events("started") if len(event["starts"]) != 1], [])
        self.assertEqual(len(self.events("refused")), 1)
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
