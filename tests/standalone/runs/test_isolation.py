#!/usr/bin/env python3
"""Limits of processes, and processes of another user, on a standalone server that runs as root."""
import json
import os
import pwd
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

PASSWORD = "a long enough password"
USER = "nobody"


class IsolationTest(ServerCase):
    JOB = {"type": "shell"}

    @classmethod
    def setUpClass(cls):
        assert os.geteuid() == 0, "these tests change users"
        scratch = tempfile.mkdtemp(prefix="carillon-e2e-")
        os.chmod(scratch, 0o711)
        cls.start_server(directory=scratch, env={
            "CARILLON_EXECUTOR_RUN_AS_ALLOWED": f"{USER}, no-such-user",
            "CARILLON_EXECUTOR_RUN_AS_DIRECTORY": os.path.join(scratch, "runs")})

    def executed(self, **fields):
        return self.execute(self.create(**fields))

    def executor(self):
        return self.api.get("/api/executors/" + self.api.get("/api/executors")["items"][0]["executor_id"])

    def features(self):
        def heard():
            executors = self.api.get("/api/executors")["items"]
            features = executors[0]["features"] if executors else None
            return features if features and "limits" in features else None
        return wait_until(heard, 30, "the executor's features")

    def test_open_files_and_the_size_of_files_are_limited(self):
        job = self.create(command="ulimit -n; exec head -c 3000000 /dev/zero > big",
                          limits={"open_files": 99, "file_size_mb": 1})
        self.assertEqual(self.api.get(f"/api/jobs/{job['job_id']}")["limits"],
                         {"open_files": 99, "file_size_mb": 1, "enforce": "required"})
        run = self.ended(self.start(job))
        self.assertEqual((run["state"], run["reason"], run["output"]), ("FAILED", "signal", "99\n"), run)
        self.assertIn("SIGXFSZ", run["error"])
        self.assertEqual(run["limits_not_enforced"], [])

    def test_a_command_runs_as_another_user(self):
        self.assertIn("run_as", self.features())
        entry = pwd.getpwnam(USER)
        run = self.executed(run_as=USER, command="id -u; id -un; echo $HOME $USER $LOGNAME; stat -c %u .; "
                                               "echo done=yes >> $CARILLON_OUTPUT_FILE; cd $PWD; echo x > file; cat file")
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertEqual(run["output"], f"{entry.pw_uid}\n{USER}\n{entry.pw_dir} {USER} {USER}\n{entry.pw_uid}\nx\n")
        self.assertEqual(run["outputs"], {"done": "yes"})

    def test_a_script_as_another_user_is_cancelled(self):
        job = self.create(type="script", run_as=USER, command="",
                          script={"interpreter": "python3",
                                  "body": "import os, signal\nprint(os.getuid(), flush=True)\nsignal.pause()\n"})
        run_id = self.start(job)
        self.running(run_id)
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill"})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")

    def test_a_user_that_is_not_allowed_starts_nothing(self):
        for user in ("root", "daemon", "no-such-user"):
            with self.subTest(user):
                run = self.executed(run_as=user, command="id -u")
                self.assertEqual((run["state"], run["reason"], run["output"]), ("FAILED", "spawn", ""), run)
                self.assertIn(user, run["error"])

    def test_only_administrators_set_run_as(self):
        self.api.post("/api/users", {"name": "anna", "role": "user", "password": PASSWORD})
        anonymous = Api(self.server.runtime["url"], None)
        self.addCleanup(anonymous.close)
        _, _, data = anonymous.raw("POST", "/api/auth/login", {"name": "anna", "password": PASSWORD})
        headers = {"Authorization": "Bearer " + json.loads(data)["access_token"]}
        status, _, data = anonymous.raw("POST", "/api/jobs", {"name": "mine", "command": "id", "run_as": USER}, headers)
        self.assertEqual((status, json.loads(data)["code"]), (403, "run_as_forbidden"), data)
        status, _, data = anonymous.raw("POST", "/api/jobs", {"name": "mine", "command": "id"}, headers)
        self.assertEqual(status, 201, data)

    def test_unsupported_limits_wait_unless_best_effort(self):
        self.assertNotIn("limits:memory", self.features())
        run_id = self.start(self.create(command="true", limits={"memory_mb": 64}))
        waiting = wait_until(lambda: self.api.get(f"/api/runs/{run_id}").get("waiting"), 30, "a reason")
        self.assertEqual(waiting["code"], "no_feature", waiting)
        self.assertIn("limits:memory", waiting["detail"])
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")
        run = self.executed(command="ulimit -n", limits={"memory_mb": 64, "open_files": 99, "enforce": "best_effort"})
        self.assertEqual((run["state"], run["output"], run["limits_not_enforced"]), ("COMPLETED", "99\n", ["memory_mb"]), run)
        self.assertEqual(run["attempts"][0]["limits_not_enforced"], ["memory_mb"])

    def test_the_report_says_what_the_host_offers(self):
        report = {check["name"]: check for check in self.executor()["report"]}
        self.assertEqual(report["run_as"]["state"], "partly", report["run_as"])
        self.assertIn("no-such-user", report["run_as"]["detail"])
        self.assertIsNotNone(report["run_as"]["cure"])
        # The warden of standalone shares its control group with the server, if the host has groups of version 2 at all.
        self.assertEqual(report["cgroup"]["state"], "no", report["cgroup"])
        self.assertIsNotNone(report["cgroup"]["cure"])

    def test_invalid_limits_and_users_are_refused(self):
        for fields, pointer in (({"limits": {"memory_mb": 1}}, "/limits/memory_mb"),
                                ({"limits": {"memory": 64}}, "/limits/memory"),
                                ({"run_as": "0"}, "/run_as"),
                                ({"type": "noop", "command": "", "run_as": USER}, "/run_as")):
            with self.subTest(pointer), self.assertRaises(ApiError) as refused:
                self.create(**dict({"command": "true"}, **fields))
            self.assertEqual(refused.exception.status, 400)
            self.assertEqual(json.loads(refused.exception.body)["errors"][0]["pointer"], pointer)

    def test_the_command_line_sets_and_removes_limits_and_users(self):
        _, out, _ = cli(self.server, "job", "create", "--name", "by flags", "--command", "true", "--run-as", USER,
                        "--limit", "cpu=0.5", "--limit", "pids=9", "--limit", "enforce=best_effort", "-q")[:3]
        job_id = out.strip()
        job = self.api.get(f"/api/jobs/{job_id}")
        self.assertEqual((job["limits"], job["run_as"]), ({"cpu": 0.5, "pids": 9, "enforce": "best_effort"}, USER))
        cli(self.server, "job", "edit", job_id, "--limit", "pids=0", "--limit", "cpu=0", "--run-as", "")
        job = self.api.get(f"/api/jobs/{job_id}")
        self.assertNotIn("limits", job)
        self.assertNotIn("run_as", job)
        versions = self.api.get(f"/api/jobs/{job_id}/versions")["items"]
        self.assertIn({"field": "run_as", "before": USER, "after": None}, versions[0]["changes"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
