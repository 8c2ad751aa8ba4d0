#!/usr/bin/env python3
"""A cluster whose control link uses TLS: executors join with tokens, and their certificates identify them."""
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, ClusterUnderTest  # noqa: E402


class TlsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = ClusterUnderTest("--tls", "--schedulers", "1", "--executors", "1")
        cls.failed = False

    @classmethod
    def tearDownClass(cls):
        cls.cluster.destroy(keep=cls.failed)

    def setUp(self):
        self.addCleanup(self.note)

    def note(self):
        if any(error for _, error in getattr(self._outcome, "errors", [])):
            type(self).failed = True

    def home(self, name):
        return os.path.dirname(self.cluster.process(name)["data"])

    def run_job(self, name):
        code, out, err = self.cluster.cli("job", "create", "--id", name, "--name", name, "--command",
                                          "echo over TLS", "--cron", "0 3 1 1 *", check=False)
        self.assertEqual(code, 0, err)
        code, out, err = self.cluster.cli("job", "run", name, "--wait", check=False)
        self.assertEqual(code, 0, out + err)

    def test_1_jobs_run_over_tls(self):
        self.run_job("first")
        path = os.path.join(self.home("executor-1"), "data", "link.pem")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)

    def test_2_a_certificate_outlives_its_executor(self):
        self.cluster.run("kill", "executor-1")
        os.remove(os.path.join(self.home("executor-1"), "join-token"))
        with open(os.path.join(self.home("executor-1"), "join-token"), "w") as f:
            f.write("used up\n")
        self.cluster.run("start", "executor-1")
        self.cluster.await_ready()
        self.run_job("second")

    def test_3_a_token_works_once(self):
        self.cluster.run("add", "executor")
        self.cluster.await_ready()
        self.cluster.run("kill", "executor-2")  # while it lives, a second one is refused for that reason
        copy = os.path.join(self.cluster.scratch, "copy")
        os.makedirs(copy)
        shutil.copy(os.path.join(self.home("executor-2"), "join-token"), copy)
        with open(os.path.join(self.home("executor-2"), "carillon.yaml")) as f:
            settings = f.read()
        with open(os.path.join(copy, "carillon.yaml"), "w") as f:
            f.write(settings.replace(self.home("executor-2"), copy))
        done = subprocess.run(
            [os.path.join(BIN, "carillon-executor"), "--config", os.path.join(copy, "carillon.yaml"),
             "--set", "ops.port=0"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("already used", done.stderr)
        self.cluster.run("start", "executor-2")
        self.cluster.await_ready()

    def test_4_a_certificate_is_valid_for_its_executor_only(self):
        self.cluster.run("add", "executor")
        self.cluster.await_ready()
        self.cluster.run("kill", "executor-3")
        source = os.path.join(self.home("executor-2"), "data", "link.pem")
        shutil.copy(source, os.path.join(self.home("executor-3"), "data", "link.pem"))
        done = subprocess.run(
            [os.path.join(BIN, "carillon-executor"), "--config",
             os.path.join(self.home("executor-3"), "carillon.yaml")],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("the certificate is for executor-2", done.stderr)

    def test_5_an_executor_without_tls_is_refused(self):
        before = self.cluster.metric("scheduler-1", "carillon_link_refused_total")
        directory = os.path.join(self.cluster.scratch, "plain")
        os.makedirs(directory)
        with open(os.path.join(self.home("executor-2"), "carillon.yaml")) as f:
            lines = [line for line in f if not line.startswith(("link.", "data_dir", "ops.port",
                                                                "executor.id"))]
        secret = os.path.join(self.cluster.dir, "secrets", "join")
        with open(os.path.join(directory, "carillon.yaml"), "w") as f:
            f.write("".join(lines) + f"data_dir: {directory}/data\nexecutor.id: intruder\n"
                    f"ops.port: 0\nlink.join_secret_file: {secret}\n")
        with open(os.path.join(directory, "log"), "wb") as log:
            intruder = subprocess.Popen(
                [os.path.join(BIN, "carillon-executor"), "--config",
                 os.path.join(directory, "carillon.yaml")], stdout=log, stderr=log)
        try:
            self.run_job("third")  # after this the intruder has had enough time
            names = [e["executor_id"] for e in self.cluster.api().get("/api/executors")["items"]]
            self.assertNotIn("intruder", names)
            self.assertIn("executor-1", names)
        finally:
            intruder.kill()
            intruder.wait(120)
        self.assertGreaterEqual(
            self.cluster.metric("scheduler-1", "carillon_link_refused_total"), before)


if __name__ == "__main__":
    unittest.main()
