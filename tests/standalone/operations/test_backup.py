"""`carillon backup` as an operator uses it: while a server works, killed in the middle, and restored elsewhere."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, Standalone, cli, wait_until  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

LOCK = "SELECT IS_USED_LOCK(CONCAT('carillon.maintain.', LEFT(SHA2('carillon', 256), 32)))"
WAITS = ("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = 'carillon' AND "
         "STATE LIKE 'Waiting for table metadata lock%'")


def backup(*arguments, check=True):
    """Runs `carillon backup`, which needs no address and no token. Returns (exit code, stdout, stderr)."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CARILLON_")}
    done = subprocess.run([os.path.join(BIN, "carillon"), "backup", *arguments], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    if check and done.returncode != 0:
        raise AssertionError(f"backup {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.returncode, done.stdout, done.stderr


class BackupTest(OwnServerCase):
    def setUp(self):
        super().setUp()
        self.file = os.path.join(self.server.scratch, "store.sql")
        cli(self.server, "secret", "set", "password", stdin="swordfish\n")
        cli(self.server, "job", "create", "--id", "tick", "--name", "tick", "--every", "1s", "--command", "true")
        cli(self.server, "job", "create", "--id", "quoted", "--name", "quoted", "--manual", "--command",
            "printf '%s\n' \"it's; (a)\"")
        cli(self.server, "job", "edit", "quoted", "--priority", "7")
        wait_until(lambda: len(self.completed(self.api)) >= 3, 30, "runs of tick")

    @staticmethod
    def completed(api):
        return {run["run_id"] for run in api.runs("tick") if run["state"] == "COMPLETED"}

    def command(self):
        return ["mariadb", "--no-defaults", "--socket=" + self.server.runtime["store"]["socket"], "-N", "-B", "carillon"]

    def sql(self, statement):
        return subprocess.run(self.command(), input=statement, capture_output=True, text=True, timeout=120,
                              check=True).stdout.strip()

    def stop_dumps(self):
        """Returns a client that stops every dump in the middle, until the client's input ends."""
        client = subprocess.Popen([*self.command(), "--unbuffered"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        client.stdin.write("LOCK TABLES id_blocks WRITE;\nSELECT 'locked';\n")
        client.stdin.flush()
        self.assertEqual(client.stdout.readline().strip(), "locked")
        self.addCleanup(lambda: (client.stdin.close(), client.wait(120), client.stdout.close()))
        return client

    def test_a_restored_server_has_everything_and_continues(self):
        before = self.completed(self.api)
        self.sql("UPDATE schema_migrations SET compatible_from = 0")  # as if the release was new
        _, out, err = backup("create", self.file, "--data-dir", self.server.data_dir, "-o", "json")
        made = json.loads(out)
        self.assertEqual(made["bytes"], os.path.getsize(self.file))
        for name in ("secrets.key", "admin.token"):
            self.assertIn(os.path.join(self.server.data_dir, name), err)
        with open(self.file, encoding="utf-8") as f:
            self.assertNotIn("swordfish", f.read())
        wait_until(lambda: len(self.completed(self.api)) > len(before) + 2, 30, "runs after the backup")

        code, _, err = backup("restore", self.file, "--data-dir", self.server.data_dir, check=False)
        self.assertEqual(code, 5, err)  # refused, because the server runs
        other = Standalone(extra=["--set", "scheduler.id=other"])
        self.addCleanup(other.remove)
        self.addCleanup(other.destroy)
        _, out, err = backup("restore", self.file, "--data-dir", other.data_dir, "-o", "json")
        self.assertEqual(json.loads(out)["rows"], made["rows"])
        self.assertIn("carillon standalone --data-dir " + other.data_dir, err)
        code, _, err = backup("restore", self.file, "--data-dir", other.data_dir, check=False)
        self.assertEqual(code, 5, err)
        self.assertIn("not empty", err)
        code, _, err = backup("restore", self.file, "--data-dir", other.data_dir, "--replace", check=False)
        self.assertEqual(code, 2, err)
        self.assertIn("--yes", err, "it drops what is there only when it is asked to")
        backup("restore", self.file, "--data-dir", other.data_dir, "--replace", "--yes")
        for name in ("secrets.key", "admin.token"):
            shutil.copy(os.path.join(self.server.data_dir, name), other.data_dir)
        other.start()
        api = other.api()
        self.addCleanup(api.close)
        self.assertLessEqual(before, self.completed(api))
        quoted = api.get("/api/jobs/quoted")
        self.assertEqual((quoted["priority"], quoted["version"]), (7, 2))
        self.assertEqual([version["version"] for version in api.get("/api/jobs/quoted/versions")["items"]], [2, 1])
        cli(other, "job", "edit", "quoted", "--env", "P={{secrets.password}}", "--command", "printf %s \"$P\" | wc -c")
        _, out, _ = cli(other, "job", "run", "quoted", "--wait")
        self.assertEqual(out.split()[-1], "9", out)
        known = len(self.completed(api))
        wait_until(lambda: len(self.completed(api)) > known, 30, "runs of the restored server")
        self.assertEqual(api.get("/api/system/status")["store"]["state"], "trusted")
        wait_until(lambda: not self.api.get("/api/system/upgrade")["finished"], 20, "a look at the level")
        self.assertTrue(api.get("/api/system/upgrade")["finished"], "a standalone server finishes at its start")
        other.stop()

    def test_a_killed_backup_leaves_no_file_and_no_lock(self):
        client = self.stop_dumps()
        child = subprocess.Popen([os.path.join(BIN, "carillon"), "backup", "create", self.file, "--data-dir",
                                  self.server.data_dir], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(child.stderr.close)
        wait_until(lambda: self.sql(WAITS) != "0", 30, "the dump to wait in its middle")
        self.assertNotEqual(self.sql(LOCK), "NULL")
        child.send_signal(signal.SIGKILL)
        child.wait(120)
        self.assertFalse(os.path.exists(self.file))
        wait_until(lambda: self.sql(LOCK) == "NULL", 30, "the lock to go with the backup")
        client.stdin.write("UNLOCK TABLES;\n")
        client.stdin.flush()
        _, out, _ = backup("create", self.file, "--data-dir", self.server.data_dir, "-o", "json")
        self.assertEqual(os.listdir(self.server.scratch).count("store.sql.part"), 0)
        counted = sum(int(self.sql(f"SELECT COUNT(*) FROM {table}")) for table in ("jobs", "job_versions", "secrets"))
        with open(self.file, encoding="utf-8") as f:
            tail = json.loads(re.search(r"^-- carillon backup is complete (.*)$", f.read(), re.M).group(1))
        self.assertEqual(sum(tail["rows"][table] for table in ("jobs", "job_versions", "secrets")), counted)
        self.assertEqual(json.loads(out)["rows"], sum(tail["rows"].values()))

    def test_backup_reports_a_store_that_it_cannot_reach(self):
        self.server.stop()
        code, _, err = backup("create", self.file, "--data-dir", self.server.data_dir, check=False)
        self.assertEqual(code, 3)
        self.assertIn("no server runs on the data directory", err)
        code, _, err = backup("restore", self.file, "--data-dir", self.server.data_dir, check=False)
        self.assertEqual(code, 2, err)
        self.assertIn(self.file, err)
        code, _, err = backup("create", self.file, "--set", "store.host=127.0.0.1", "--set", "store.port=1", check=False)
        self.assertEqual(code, 6, err)
        self.assertFalse(os.path.exists(self.file))

    def test_two_databases_are_refused(self):
        other = os.path.join(self.server.scratch, "other")
        members = os.path.join(self.server.scratch, "members.yaml")
        with open(members, "w", encoding="utf-8") as f:
            f.write("store:\n  host: 127.0.0.1\n  port: 1\n")
        backup("create", self.file, "--data-dir", self.server.data_dir)
        for verb, more in (("restore", []), ("restore", ["--replace", "--yes"]), ("create", [])):
            code, out, err = backup(verb, self.file, "--data-dir", other, "--config", members, *more, check=False)
            self.assertEqual((code, out), (2, ""), err)
            self.assertIn(other, err)
            self.assertIn("members.yaml:2", err)
        self.assertFalse(os.path.exists(other))
        standalone = os.path.join(self.server.scratch, "standalone.yaml")
        with open(standalone, "w", encoding="utf-8") as f:
            f.write("scheduler:\n  id: other\n")
        backup("restore", self.file, "--data-dir", other, "--config", standalone)  # the settings of the other server


if __name__ == "__main__":
    unittest.main(verbosity=2)
