#!/usr/bin/env python3
"""Secrets: a job gets their values, but no file and no answer of the server contains them."""
import base64
import json
import os
import stat
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, Standalone, cli, wait_until  # noqa: E402
from secret_search import forms, hiding_places  # noqa: E402
from server_case import FINAL, ServerCase  # noqa: E402

VALUE = "zebra-quartz-7f3a9b"
LINES = "-----BEGIN NONSENSE-----\nbGluZSBvbmUgb2YgaXQ\nbGluZSB0d28gb2YgaXQ\n-----END NONSENSE-----"
# Prints the value in every form that must be masked, and proves with its hash that the job has the value.
COMMAND = ('printf %s "$PASSWORD" | sha256sum; echo "out $PASSWORD"; echo "err $URL" >&2; '
           'printf zebra-quartz-; sleep 0.3; printf 7f3a9b; echo; echo "$KEY"; '
           'test -z "$FAIL" || exit 3')


class SecretsTest(ServerCase):
    OPTIONS = {"extra": ["--set", "log.level=debug"]}  # the server logs as much as it can

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.answers = []  # all answers of the server
        for name, value in (("db", VALUE), ("key", LINES)):
            cls.answers += cli(cls.server, "secret", "set", name, stdin=value + "\n")[1:]

    def get(self, path):
        status, _, data = self.api.raw("GET", path)
        self.assertEqual(status, 200, data)
        self.answers.append(data.decode())
        return json.loads(data) if data.startswith(b"{") else data.decode()

    def make_job(self, job_id, **more):
        job = {"job_id": job_id, "name": job_id, "command": COMMAND,
               "env": {"PASSWORD": "{{secrets.db}}", "URL": "mysql://u:{{secrets.db}}@h/{{job_id}}",
                       "KEY": "{{secrets.key}}"}}
        job.update(more)
        self.answers.append(json.dumps(self.api.post("/api/jobs", job)))

    def run_job(self, job_id, state="COMPLETED"):
        run_id = self.api.post(f"/api/jobs/{job_id}/execute")["run_id"]

        def ended():
            run = self.get(f"/api/runs/{run_id}")
            return run if run["state"] in FINAL else None
        run = wait_until(ended, 30, f"the end of {run_id}")
        self.assertEqual(run["state"], state, run)
        return run

    def log_of(self, run_id, text):
        def whole():
            self.get(f"/api/runs/{run_id}/logs")
            return self.answers[-1] if text in self.answers[-1] else None
        return wait_until(whole, 20, f"the log of {run_id}")

    def assert_nowhere(self, values=(VALUE, LINES)):
        needles = set().union(*(forms(value) for value in values))
        # Texts that are no secret must be found by the same search, in the database and in the log.
        for known in (b"mysql://u:{{secrets.db}}@h", b"out ***"):
            self.assertTrue(any("mariadb" in path for path, _ in
                                hiding_places(self.server.scratch, [known])), known)
        self.assertEqual(hiding_places(self.server.scratch, needles), [])
        for answer in self.answers:
            for needle in needles:
                self.assertNotIn(needle.decode(), answer)

    def test_1_a_run_has_the_secret_and_masks_it(self):
        self.make_job("with")
        run = self.run_job("with")
        digest = subprocess.run(["sha256sum"], input=VALUE.encode(), capture_output=True, check=True)
        self.assertIn(digest.stdout.decode().split()[0], run["output"])
        self.assertIn("out ***", run["output"])
        self.assertIn("err mysql://u:***@h/with", run["output"])
        self.assertEqual(run["output"].count("***"), 7, run["output"])
        log = self.log_of(run["run_id"], "err mysql")
        self.assertIn("out ***", log)
        self.assertNotIn("zebra", log)

    def test_2_a_failed_run_and_its_dead_letter_mask_it(self):
        self.make_job("failing", env={"PASSWORD": "{{secrets.db}}", "URL": "{{secrets.db}}",
                                      "KEY": "none", "FAIL": "1"})
        self.run_job("failing", "FAILED")
        self.get("/api/dead-letters")
        for path in ("/api/jobs", "/api/runs", "/api/audit?page_size=100", "/api/secrets",
                     "/api/secrets/db", "/api/jobs/failing/versions", "/api/system/config"):
            self.get(path)

    def test_3_no_file_contains_it(self):
        # The server is stopped, so that the database writes its memory to its files.
        self.api.close()
        self.server.stop()
        self.assert_nowhere()
        self.restart()

    def test_4_a_run_without_its_secret_fails_unstarted_and_a_new_job_is_refused(self):
        cli(self.server, "secret", "set", "short_lived", stdin="gone-very-soon")
        self.make_job("orphan", env={"PASSWORD": "{{secrets.short_lived}}", "KEY": "x", "URL": "y"})
        cli(self.server, "secret", "delete", "short_lived", "--yes")
        run = self.run_job("orphan", "FAILED")
        self.assertEqual(run["reason"], "secret_missing")
        self.assertIn("short_lived", run["error"])
        self.assertFalse(run["output"])
        with self.assertRaises(ApiError) as refused:
            self.make_job("another", env={"PASSWORD": "{{secrets.short_lived}}"})
        self.assertEqual(refused.exception.status, 422)
        self.assertIn("unknown_secret", refused.exception.body)

    def test_5_secrets_stay_readable_while_keys_are_rotated(self):
        path = os.path.join(self.server.data_dir, "secrets.key")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path) as f:
            old = f.read()
        new = base64.b64encode(os.urandom(32)).decode() + "\n"
        self.write_keys(path, new + old)
        self.run_job("with")
        done = json.loads(cli(self.server, "secret", "rewrap", "-o", "json")[1])
        self.assertEqual((done["rewrapped"], done["unreadable"]), (2, []))
        self.write_keys(path, new)
        self.run_job("with")
        # The old key alone opens no secret any more: this run reports that. Later runs work again.
        self.write_keys(path, old)
        run = self.run_job("with", "FAILED")
        self.assertEqual(run["reason"], "secret_unreadable")
        self.write_keys(path, new)
        self.run_job("with")

    def test_6_a_key_file_that_others_can_read_is_not_read(self):
        path = os.path.join(self.server.data_dir, "secrets.key")
        with open(path) as f:
            text = f.read()
        self.write_keys(path, base64.b64encode(os.urandom(32)).decode() + "\n", 0o644)
        self.run_job("with")  # the previous keys stay in use
        self.write_keys(path, text)
        self.run_job("with")

    def test_7_a_server_without_a_key_does_everything_else(self):
        # A key that did not seal the secrets of this store is as useless as no key.
        self.api.close()
        self.server.stop()
        key = base64.b64encode(os.urandom(32)).decode()
        other = Standalone(directory=self.server.scratch, env={"CARILLON_SECRETS_KEY": key})
        other.start()
        try:
            type(self).api = other.api()
            run = self.run_job("with", "FAILED")
            self.assertEqual(run["reason"], "secret_unreadable")
            self.api.post("/api/jobs", {"job_id": "plain", "name": "plain",
                                        "command": "env | grep -c SECRETS_KEY; true"})
            self.assertEqual(self.run_job("plain")["output"].strip(), "0")
            # The values are not visible in the environments of processes either.
            self.api.post("/api/jobs", {"job_id": "curious", "name": "curious",
                                        "command": "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | "
                                                   f"grep -c -F '{key}'; true"})
            self.assertEqual(self.run_job("curious")["output"].strip(), "0")
        finally:
            other.stop()
            self.restart()
        self.run_job("with")

    def test_8_no_file_contains_it_at_the_end(self):
        self.api.close()
        self.server.stop()
        self.assert_nowhere()
        self.restart()

    @staticmethod
    def write_keys(path, text, mode=0o600):
        fresh = path + ".new"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as f:
            os.fchmod(f.fileno(), mode)
            f.write(text)
        os.rename(fresh, path)


if __name__ == "__main__":
    unittest.main()
