#!/usr/bin/env python3
"""`./dev cluster`: its verbs, and the form of its status, which scripts rely on."""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import JARS, ROOT, ClusterUnderTest, wait_until  # noqa: E402
from harness import BIN, alive  # noqa: E402

STATUS_S = 5 + 1  # as promised, whatever has died or hangs; and a start of Python


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--session-timeout-ms", "2000")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=False)

    def state(self, name):
        self.cluster.ask_command(STATUS_S)
        return self.cluster.process(name)["state"]

    def test_status_has_the_promised_shape(self):
        # A member that returned just before gets its segments when all have owners already.
        status = wait_until(lambda: (seen := self.cluster.ask_command())["ready"] and seen, 90,
                            "the cluster to be ready", every=0.3)
        self.assertEqual(status["schema"], 1)
        self.assertIs(status["ready"], True)
        self.assertIn(status["leader"], ("scheduler-1", "scheduler-2"))
        self.assertEqual(status["segments"], 64)
        self.assertEqual(status["store"]["user"], "reader")
        self.assertEqual(set(status["store"]), {"host", "port", "database", "user", "password_file"})
        self.assertRegex(status["kafka"]["bootstrap"], r"^127\.0\.0\.1:\d+$")
        self.assertRegex(status["zookeeper"]["connect"], r"^127\.0\.0\.1:\d+/carillon$")
        self.assertEqual(status["zookeeper"]["session_timeout_ms"], 2000)
        self.assertTrue(os.access(status["cli"], os.X_OK))
        names = [p["name"] for p in status["processes"]]
        self.assertEqual(sorted(names), ["executor-1", "executor-2", "kafka", self.cluster.database(),
                                         "scheduler-1", "scheduler-2", "zookeeper"])
        for process in status["processes"]:
            self.assertEqual(set(process), {
                "name", "kind", "pid", "state", "url", "ops_url", "grpc", "executor_id",
                "warden_pid", "owned_segments", "log", "data"})
            self.assertEqual(process["state"], "running")
            self.assertTrue(alive(process["pid"]))
            self.assertTrue(os.path.exists(process["log"]))
        schedulers = [p for p in status["processes"] if p["kind"] == "scheduler"]
        wait_until(lambda: all(
            p["owned_segments"] for p in self.cluster.refresh()["processes"]
            if p["kind"] == "scheduler"), 20, "both members to own segments", every=0.2)
        self.assertTrue(all(p["url"] and p["grpc"] for p in schedulers))
        for process in status["processes"]:
            if process["kind"] == "executor":
                self.assertEqual(process["executor_id"], process["name"])
                self.assertTrue(alive(process["warden_pid"]))
        mode = os.stat(status["store"]["password_file"]).st_mode & 0o777
        self.assertEqual(mode, 0o600)

    def test_pid_is_the_process_itself(self):
        for name, word in (("scheduler-1", b"carillon-scheduler"), ("kafka", b"kafka.Kafka"),
                           ("zookeeper", b"QuorumPeerMain"), (self.cluster.database(), b"mariadbd.sock")):
            with open(f"/proc/{self.cluster.process(name)['pid']}/cmdline", "rb") as f:
                self.assertIn(word, f.read())

    def test_a_killed_member_is_dead_until_it_is_started(self):
        self.cluster.await_ready()
        before = self.cluster.process("scheduler-2")
        self.cluster.run("kill", "scheduler-2")
        self.assertEqual(self.state("scheduler-2"), "dead")
        self.assertIs(self.cluster.status["ready"], False)
        self.assertNotEqual(self.cluster.run("kill", "scheduler-2", check=False).returncode, 0)
        self.cluster.run("start", "scheduler-2")
        after = self.cluster.refresh() and self.cluster.process("scheduler-2")
        self.assertEqual(after["state"], "running")
        self.assertNotEqual(after["pid"], before["pid"])
        self.assertEqual((after["url"], after["grpc"]), (before["url"], before["grpc"]))
        self.cluster.await_ready()

    def test_a_stopped_leader_is_shown_as_stopped(self):
        self.cluster.await_ready()
        name = self.cluster.leader()
        self.cluster.run("kill", name, "STOP")
        try:
            self.assertEqual(self.state(name), "stopped")
            self.assertNotEqual(self.cluster.run("start", name, check=False).returncode, 0)
            other = wait_until(lambda: self.cluster.refresh()["leader"] not in (name, None) and
                               self.cluster.status["leader"], 15, "another leader", every=0.2)
            self.assertNotEqual(other, name)
        finally:
            self.cluster.run("kill", name, "SIGCONT")
        wait_until(lambda: self.cluster.refresh()["leader"] == other, 15, "one leader again", every=0.2)
        self.cluster.await_ready()

    def test_servers_that_hang_do_not_delay_the_status(self):
        self.cluster.await_ready()
        servers = (self.cluster.database(), "kafka", "zookeeper")
        try:
            for name in servers:
                self.cluster.run("kill", name, "STOP")
            self.assertEqual([self.state(name) for name in servers], ["stopped"] * 3)
        finally:
            for name in servers:
                self.cluster.run("kill", name, "CONT")
        self.cluster.await_ready()

    def test_a_second_executor_of_one_id_is_refused(self):
        self.cluster.await_ready()
        config = os.path.join(self.cluster.dir, "executor-1", "carillon.yaml")
        done = subprocess.run(
            [os.path.join(BIN, "carillon-executor"), "--config", config, "--set", "ops.port=0",
             "--data-dir", os.path.join(self.cluster.scratch, "second")],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1)
        self.assertIn("another start", done.stderr)
        self.assertEqual(self.state("executor-1"), "running")

    def test_two_executors_start_at_the_same_time(self):
        self.cluster.await_ready()
        for name in ("executor-1", "executor-2"):
            self.cluster.run("kill", name)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda name: self.cluster.run("start", name),
                          ("executor-1", "executor-2")))
        self.cluster.await_ready()

    def test_wrong_names_are_refused(self):
        for arguments in (("kill", "scheduler-9"), ("kill", "scheduler-1", "NOSUCH"),
                          ("start", "nobody")):
            done = self.cluster.run(*arguments, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertNotIn("Traceback", done.stderr)

    def test_a_stopped_member_hands_over_at_once(self):
        self.cluster.await_ready()
        self.cluster.run("kill", "scheduler-1", "TERM")
        wait_until(lambda: self.state("scheduler-1") == "dead", 15, "the member to end", every=0.2)
        wait_until(lambda: self.cluster.process("scheduler-2")["owned_segments"] == 64 or
                   not self.cluster.refresh(), 10, "the other one to own everything", every=0.2)
        self.cluster.run("start", "scheduler-1")
        self.cluster.await_ready()

    def test_the_command_line_reads_the_cluster(self):
        self.cluster.await_ready()
        env = dict(os.environ, CARILLON_ADDR=self.cluster.process("scheduler-1")["url"],
                   CARILLON_TOKEN_FILE=self.cluster.status["token_file"])
        done = subprocess.run([self.cluster.status["cli"], "system", "status", "-o", "json"],
                              env=env, capture_output=True, text=True, timeout=120, check=True)
        status = json.loads(done.stdout)
        self.assertEqual(status["leader"], self.cluster.status["leader"])
        self.assertEqual(sorted(m["id"] for m in status["members"]), ["scheduler-1", "scheduler-2"])
        self.assertEqual(len(status["segments"]), 64)
        self.assertEqual(status["executors"]["ONLINE"], 2)


class UpTest(unittest.TestCase):
    def test_a_foreign_directory_is_left_alone(self):
        with tempfile.TemporaryDirectory() as scratch:
            with open(os.path.join(scratch, "mine"), "w", encoding="utf-8") as f:
                f.write("x")
            done = subprocess.run(
                [sys.executable, os.path.join(ROOT, "deploy", "cluster", "cluster.py"), "--bin",
                 BIN, "--jars", JARS, "up", "--dir", scratch], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(os.listdir(scratch), ["mine"])
            os.unlink(scratch + ".lock")


class DownTest(unittest.TestCase):
    def test_down_ends_everything_and_up_continues(self):
        cluster = ClusterUnderTest("--schedulers", "1", "--executors", "1")
        self.addCleanup(cluster.destroy, keep=False)
        api = cluster.api()
        api.post("/api/jobs", {"name": "kept", "job_id": "kept", "command": "true"})
        pids = [p["pid"] for p in cluster.status["processes"]]
        pids.append(cluster.process("executor-1")["warden_pid"])
        cluster.run("down")
        self.assertEqual([pid for pid in pids if alive(pid)], [])
        self.assertEqual({p["state"] for p in cluster.ask_command(STATUS_S)["processes"]}, {"dead"})
        cluster.run("up")
        cluster.refresh()
        self.assertEqual(cluster.api().get("/api/jobs/kept")["job_id"], "kept")
        again = cluster.run("up", check=False)
        self.assertEqual(again.returncode, 1)
        cluster.run("down", "--purge")
        self.assertFalse(os.path.exists(cluster.dir))


if __name__ == "__main__":
    unittest.main(verbosity=2)
