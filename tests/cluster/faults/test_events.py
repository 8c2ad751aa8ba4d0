#!/usr/bin/env python3
"""The leader is killed while it reads events from a topic of Kafka, and a member while it accepts the same calls as
another one. Each event starts one run of a trigger, whoever took it, and a record that is no event is refused once."""
import collections
import concurrent.futures
import http.client
import json
import os
import random
import signal
import subprocess
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402
from harness import ApiError  # noqa: E402

TOPIC, PARTITIONS = "orders", 3
EVENTS = 2_000
EACH_AGAIN = 10  # of so many events, one is sent twice
EVENTS_OF_TWO, TRIGGERS = 3_000, 3  # that two members get
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

    def send_again_and_again(self, member, seed, answers, stop):
        """Sends all events to this member, in an order and in parts of its own, until nothing is left or it is killed."""
        drawn = random.Random(seed)
        left = list(range(EVENTS_OF_TWO))
        drawn.shuffle(left)
        api = self.cluster.api(member)
        while left and not stop.is_set():
            size = drawn.randint(1, 100)
            part = [{"id": f"t-{number}", "source": "two", "type": "two.sent"} for number in left[:size]]
            try:
                items = api.post("/api/events?namespace=sales", part)["items"]
            except (OSError, http.client.HTTPException):  # it was killed
                break
            except ApiError as error:  # nothing is known about this part, so it is sent again
                self.assertIn(error.status, (429, 500, 503), error)
                continue
            for item in items:
                self.assertIn(item["status"], ("started", "duplicate"))
                answers[item["id"]].add(tuple(sorted(start["run_id"] for start in item["starts"])))
            del left[:size]
        api.close()
        return left

    def test_members_that_accept_the_same_events_start_each_once_though_one_is_killed(self):
        for trigger in range(TRIGGERS):
            self.cluster.api().post("/api/jobs", {
                "job_id": f"two-{trigger}", "name": "two", "namespace": "sales", "type": "noop", "overlap_policy": "allow",
                "schedules": [{"kind": "event", "type": "two.*"}]})
        killed, other = (p["name"] for p in self.cluster.status["processes"] if p["kind"] == "scheduler")
        answers = collections.defaultdict(set)
        stop = threading.Event()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            senders = [pool.submit(self.send_again_and_again, member, seed, answers, stop)
                       for seed, member in enumerate((killed, killed, other))]
            try:
                wait_until(lambda: len(answers) > EVENTS_OF_TWO / 4, 60, "a quarter of the events", every=0.005)
                os.kill(self.cluster.process(killed)["pid"], signal.SIGKILL)
            except BaseException:
                stop.set()
                raise
            left = [sender.result() for sender in senders]
        self.assertTrue(left[0] or left[1], "the killed member had accepted all")
        self.assertEqual(left[2], [])
        self.assertEqual(self.send_again_and_again(other, 9, answers, stop), [])
        self.assertEqual({len(fates) for fates in answers.values()}, {1})  # every answer names the same runs
        told = {run for [runs] in answers.values() for run in runs}
        self.assertEqual((len(answers), len(told)), (EVENTS_OF_TWO, EVENTS_OF_TWO * TRIGGERS))
        stored = [run["run_id"] for trigger in range(TRIGGERS) for run in self.cluster.api(other).runs(f"two-{trigger}")]
        self.assertEqual((len(stored), set(stored)), (len(told), told))
        self.cluster.run("start", killed)
        self.passed = True


if __name__ == "__main__":
    unittest.main(verbosity=2)
