#!/usr/bin/env python3
"""Records on Kafka, read and written by others, on a cluster whose format is JSON.

No matter which records are on the topics, only tasks that an owner has published, signed and granted are run.
"""
import base64
import json
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest, wait_until  # noqa: E402

TASKS, RESULTS = "carillon.tasks", "carillon.results"
PARTITIONS = 8
EXECUTOR = "executor-1"


class BusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--schedulers", "1", "--executors", "1",
                                       "--set", "bus.format=json")
        cls.journal = os.path.join(cls.cluster.scratch, "journal")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=False)

    # ---- helpers ----

    def tool(self, verb, topic, lines=""):
        done = subprocess.run(
            [os.path.join(BIN, "bus-tool"), self.cluster.status["kafka"]["bootstrap"],
             str(PARTITIONS), verb, topic], input=lines, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def read(self, topic):
        return [json.loads(line) for line in self.tool("read", topic).splitlines()]

    def write(self, topic, *records):
        self.tool("write", topic, "".join(json.dumps(record) + "\n" for record in records))

    def run_job(self, job_id, command, expect="COMPLETED"):
        """Creates a job that first writes its id down, runs it, and returns the run."""
        api = self.cluster.api()
        api.post("/api/jobs", {"name": job_id, "job_id": job_id,
                               "command": f"echo {job_id} >>{self.journal}; {command}"})
        return self.run_again(job_id, expect)

    def run_again(self, job_id, expect="COMPLETED"):
        api = self.cluster.api()
        run = api.post(f"/api/jobs/{job_id}/execute")["run_id"]
        return wait_until(lambda: next(
            (r for r in [api.get(f"/api/runs/{run}")] if r["state"] == expect), None), 30,
            f"{job_id} to be {expect}")

    def started(self, job_id):
        with open(self.journal, encoding="utf-8") as f:
            return f.read().split().count(job_id)

    def record_of(self, run):
        """The record that contains the run's task."""
        return next(record for record in self.read(TASKS)
                    if json.loads(bytes.fromhex(record["payload"]))["task_id"] == run["run_id"])

    def rejected(self, reason, name=EXECUTOR):
        return self.cluster.metric(name, "carillon_rejected_messages_total", reason=reason)

    def await_rejected(self, reason, count, name=EXECUTOR):
        wait_until(lambda: self.rejected(reason, name) >= count, 30, f"{count} times {reason}")
        self.assertEqual(self.rejected(reason, name), count, reason)

    # ---- tests ----

    def test_tasks_and_results_are_json_with_the_names_that_users_know(self):
        run = self.run_job("plain", "echo hello; exit 3", expect="FAILED")
        record = self.record_of(run)
        task = json.loads(bytes.fromhex(record["payload"]))
        for field in ("task_id", "job_id", "command", "timeout", "retry_count", "retry_interval",
                      "priority", "create_time"):
            self.assertIn(field, task)
        self.assertEqual((task["job_id"], task["timeout"]), ("plain", 3600))
        self.assertEqual(record["headers"]["carillon-target"], EXECUTOR)
        payloads = [bytes.fromhex(record["payload"]) for record in self.read(RESULTS)]
        result = json.loads(next(p for p in payloads if run["run_id"].encode() in p))
        for field in ("task_id", "job_id", "executor_id", "status", "start_time", "end_time",
                      "output", "error", "exit_code"):
            self.assertIn(field, result)
        self.assertEqual((result["status"], result["exit_code"]), ("FAILED", 3))
        self.assertEqual(base64.b64decode(result["output"]), b"hello\n")

    def test_unsigned_tasks_are_counted_and_never_run(self):
        record = self.record_of(self.run_job("signed", "true"))
        other = self.record_of(self.run_again("signed"))
        before = {reason: self.rejected(reason)
                  for reason in ("bad_headers", "bad_signature", "expired")}
        task = json.loads(bytes.fromhex(record["payload"]))
        task["command"] = f"echo forged >>{self.journal}"
        forged = dict(record, payload=json.dumps(task).encode().hex())
        headers = record["headers"]

        def with_headers(**changed):
            renamed = {"carillon-" + name.replace("_", "-"): v for name, v in changed.items()}
            return dict(record, headers={**headers, **renamed})
        self.write(
            TASKS,
            dict(record, headers={}),
            with_headers(signature="no hex"), with_headers(expires_us="soon"),
            forged,
            dict(record, payload=os.urandom(200).hex()),
            with_headers(signature="ab" * 64),
            with_headers(signature=other["headers"]["carillon-signature"]),
            with_headers(expires_us=str(int(headers["carillon-expires-us"]) + 1)),
            with_headers(expires_us="1"),
            with_headers(target="executor-7"))
        self.await_rejected("bad_headers", before["bad_headers"] + 3)
        self.await_rejected("bad_signature", before["bad_signature"] + 5)
        self.await_rejected("expired", before["expired"] + 1)
        self.run_again("signed")
        self.assertEqual((self.started("signed"), self.started("forged")), (3, 0))

    def test_a_replayed_record_is_refused_by_its_claim_and_by_a_later_process(self):
        run = self.run_job("replayed", "true")
        record = self.record_of(run)

        def refused():
            return self.cluster.metric("scheduler-1", "carillon_claims_total", result="not_pending")
        before = refused()
        self.write(TASKS, record, record)
        wait_until(lambda: refused() > before, 30, "a refused claim")
        self.cluster.run("kill", EXECUTOR)
        self.cluster.run("start", EXECUTOR)
        self.cluster.await_ready()
        before = self.rejected("other_incarnation")
        self.write(TASKS, record)
        self.await_rejected("other_incarnation", before + 1)
        self.run_again("replayed")
        self.assertEqual(self.started("replayed"), 2)
        self.assertEqual(self.cluster.api().get(f"/api/runs/{run['run_id']}")["attempt"], 1)

    def test_results_of_strangers_change_nothing(self):
        api = self.cluster.api()
        fifo = os.path.join(self.cluster.scratch, "fifo")
        os.mkfifo(fifo)
        run = self.run_job("guarded", f"read x <{fifo}; exit 5", expect="RUNNING")
        before = self.rejected("corrupt", "scheduler-1")
        result = {"task_id": run["run_id"], "job_id": "guarded", "executor_id": EXECUTOR,
                  "status": "COMPLETED", "exit_code": 0, "attempt": 1,
                  "claim_token": "0123456789abcdef" * 2}
        partitions = range(PARTITIONS)  # every owner reads all partitions
        garbage = b"\x07" + os.urandom(99)  # Protobuf has no type 7; 1 of 800 random texts is an empty bundle
        self.write(RESULTS, *[{"partition": p, "headers": {}, "payload": payload} for p in partitions
                              for payload in (garbage.hex(), b"{".hex(),
                                              json.dumps(result).encode().hex())])
        self.await_rejected("corrupt", before + 2 * PARTITIONS, "scheduler-1")
        self.assertEqual(api.get(f"/api/runs/{run['run_id']}")["state"], "RUNNING")
        with open(fifo, "w", encoding="utf-8") as f:
            f.write("\n")
        ended = wait_until(lambda: next((r for r in [api.get(f"/api/runs/{run['run_id']}")]
                                         if r["ended_at"]), None), 30, "the run to end")
        self.assertEqual((ended["state"], ended["exit_code"]), ("FAILED", 5))


if __name__ == "__main__":
    unittest.main(verbosity=2)
