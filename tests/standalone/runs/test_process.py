#!/usr/bin/env python3
"""The process of a run on a standalone server: its variables, its directory, and the commands that it finds."""
import json
import os
import pwd
import sys
import tempfile
import unittest
from datetime import timedelta

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase, local_time, zone_of_another_day  # noqa: E402


class ProcessTest(ServerCase):
    JOB = {}

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="carillon-process-")
        self.addCleanup(scratch.cleanup)
        self.scratch = os.path.realpath(scratch.name)

    def executed(self, **fields):
        return self.execute(self.create(**fields))

    def test_a_process_has_the_home_of_its_user(self):
        me = pwd.getpwuid(os.geteuid())
        run = self.executed(command='echo "$HOME $USER $LOGNAME $SHELL"; cd && pwd; echo ~')
        self.assertEqual(run["output"], f"{me.pw_dir} {me.pw_name} {me.pw_name} /bin/sh\n{me.pw_dir}\n{me.pw_dir}\n")
        own = self.executed(command='echo "$HOME $SHELL"', env={"HOME": self.scratch, "SHELL": "/bin/bash"})
        self.assertEqual(own["output"], f"{self.scratch} /bin/bash\n")

    def test_the_output_of_python_is_seen_while_it_runs(self):
        run_id = self.start(self.create(command="python3 -c 'import time; print(\"begun\"); time.sleep(600)'"))
        wait_until(lambda: b"begun" in self.api.raw("GET", f"/api/runs/{run_id}/logs")[2], 60, "the first line")
        self.assertEqual(self.run_of(run_id)["state"], "RUNNING")
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill"})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")

    def test_a_process_begins_in_the_directory_of_its_job(self):
        os.mkdir(os.path.join(self.scratch, "my app"))
        command = "pwd; echo kept > report.txt; echo rows=1 >> $CARILLON_OUTPUT_FILE"
        job = self.create(command=command, working_directory="~/my app", env={"HOME": self.scratch})
        for _ in range(2):
            run = self.execute(job)
            self.assertEqual((run["state"], run["output"], run["outputs"]),
                             ("COMPLETED", f"{self.scratch}/my app\n", {"rows": "1"}), run)
        with open(os.path.join(self.scratch, "my app/report.txt"), encoding="utf-8") as report:
            self.assertEqual(report.read(), "kept\n")
        script = self.executed(type="script", working_directory=self.scratch,
                               script={"interpreter": "python3", "body": "import os; print(os.getcwd())"})
        self.assertEqual(script["output"], self.scratch + "\n")

    def test_the_job_of_a_crontab_begins_in_the_home_directory(self):
        program = os.path.join(self.scratch, "scripts/x.sh")
        os.mkdir(os.path.dirname(program))
        with open(program, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\npwd\necho "$1"\n')
        os.chmod(program, 0o755)
        crontab = os.path.join(self.scratch, "crontab")
        with open(crontab, "w", encoding="utf-8") as file:
            file.write(f"0 3 1 1 * pwd\nHOME={self.scratch}\n5 3 1 1 * ./scripts/x.sh --all\n")
        _, ids, _ = cli(self.server, "import", "crontab", crontab, "--tz", "UTC", "--apply", "--quiet")
        plain, script = [self.execute({"job_id": job_id}) for job_id in ids.split()]
        self.assertEqual((plain["state"], plain["output"]), ("COMPLETED", pwd.getpwuid(os.geteuid()).pw_dir + "\n"))
        self.assertEqual((script["state"], script["output"]), ("COMPLETED", f"{self.scratch}\n--all\n"), script)

    def test_a_directory_that_cannot_be_entered_is_named(self):
        missing = os.path.join(self.scratch, "none")
        run = self.executed(command="echo never", working_directory=missing, retry_count=1, retry_interval=0)
        self.assertEqual((run["state"], run["reason"], run["output"], run["attempt"]), ("FAILED", "spawn", "", 2), run)
        self.assertEqual(run["error"],
                         f"could not enter its working directory {missing}: No such file or directory")

    def test_the_commands_of_a_run_are_found(self):
        command = ("carillon output rows 5 && carillon progress 40 half && echo 7 | carillon checkpoint save - && "
                   "carillon checkpoint load")
        run = self.executed(command=command)
        self.assertEqual((run["state"], run["output"], run["outputs"]), ("COMPLETED", "7\n", {"rows": "5"}), run)
        script = self.executed(type="script", script={"interpreter": "sh", "body": "carillon output rows 6\n"})
        self.assertEqual(script["outputs"], {"rows": "6"}, script)
        own_path = self.executed(command='"$CARILLON_BIN" output rows 8', env={"PATH": "/usr/bin:/bin"})
        self.assertEqual(own_path["outputs"], {"rows": "8"}, own_path)

    def test_a_run_is_told_the_local_date_of_its_fire(self):
        zone, offset = zone_of_another_day()
        command = ("echo {{fire_date}} {{fire_date - 1d | %Y%m%d}} {{fire_time.local}} $CARILLON_FIRE_DATE "
                   "$CARILLON_TIME_ZONE $CARILLON_PARAM_DAY '{{params.day}}' $MONTH")
        job = self.create(command=command, time_zone="UTC", parameters={"day": "on {{fire_date + 1d}}"},
                          env={"MONTH": "{{fire_date | %Y%m}}"},
                          schedules=[{"kind": "cron", "cron_expression": "* * * * * *", "time_zone": zone}])

        def completed():
            return next((one["run_id"] for one in self.api.runs(job["job_id"]) if one["state"] == "COMPLETED"), None)
        run = self.run_of(wait_until(completed, 60, "a scheduled run"))
        self.api.post(f"/api/jobs/{job['job_id']}/pause", {})
        local = local_time(run["fire_time"], offset)
        day, next_day = f"{local:%Y-%m-%d}", f"{local + timedelta(days=1):%Y-%m-%d}"
        self.assertEqual(run["output"].split(), [
            day, f"{local - timedelta(days=1):%Y%m%d}", local.isoformat(timespec="seconds"), day, zone,
            "on", next_day, "on", next_day, f"{local:%Y%m}"], run)
        self.assertNotEqual(day, run["fire_time"][:10])

    def test_a_wrong_date_is_refused_where_it_stands(self):
        for place, fields in (("/command", {"command": "echo {{fire_date - 1x}}"}),
                              ("/parameters/day", {"command": "true", "parameters": {"day": "{{fire_date - 1x}}"}})):
            with self.assertRaises(ApiError) as refused:
                self.create(**fields)
            self.assertEqual(refused.exception.status, 400)
            self.assertEqual(json.loads(refused.exception.body)["errors"][0]["pointer"], place)

    def test_a_signal_behind_the_shell_is_explained_and_retried(self):
        job = self.create(command="sh -c 'kill -9 $$'; exit $?", retry_count=1, retry_interval=0, retry_on=["signal"])
        run = self.execute(job)
        self.assertEqual((run["state"], run["reason"], run["exit_code"], run["attempt"]),
                         ("FAILED", "exit_code", 137, 2), run)
        self.assertEqual(run["error"], "exit code 137 (128 + 9: SIGKILL; often out of memory)")
        other = self.executed(command="exit 3", retry_count=1, retry_interval=0, retry_on=["signal"])
        self.assertEqual((other["reason"], other["attempt"]), ("not_retryable", 1), other)

    def test_what_a_command_leaves_running_is_named(self):
        begun = 'until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done'
        run = self.executed(command=f"sleep 1000 & {begun}; setsid sleep 1000 & {begun}; echo done")
        self.assertEqual((run["state"], run["output"]), ("COMPLETED", "done\n"), run)
        said = b"2 processes were still running when the command ended and were stopped: sleep, sleep"
        path = f"/api/runs/{run['run_id']}/logs"
        wait_until(lambda: said in self.api.raw("GET", path)[2], 30, "the line")
        self.assertEqual(self.api.raw("GET", path)[1]["X-Output-Truncated"], "false", "nothing is missing")

    def test_output_in_another_character_set_is_converted(self):
        said = r"printf '\326\264\320\320\263\311\271\246\n'"
        run = self.executed(command=said, output_encoding="gb18030")
        self.assertEqual((run["state"], run["output"]), ("COMPLETED", "执行成功\n"), run)
        self.assertIn("执行成功".encode(), self.api.raw("GET", f"/api/runs/{run['run_id']}/logs")[2])
        self.assertIn("\ufffd", self.executed(command=said)["output"], "it is not UTF-8")
        status, _, refused = self.api.raw("POST", "/api/jobs", {"name": "n", "command": "true", "output_encoding": "gb"})
        self.assertEqual((status, json.loads(refused)["errors"][0]["pointer"]), (400, "/output_encoding"), refused)
        code, _, err = cli(self.server, "job", "create", "--id", "encoded", "--name", "encoded", "--command", said,
                           "--output-encoding", "GBK", "--manual")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.execute({"job_id": "encoded"})["output"], "执行成功\n")
        self.assertIn("output_encoding: GBK", cli(self.server, "export", "--job", "encoded")[1])

    def test_a_secret_is_masked_in_the_forms_of_programs(self):
        self.api.post("/api/secrets", {"name": "ODD", "value": "it's pa\"ss\\word"})
        run = self.executed(command="set -x; : \"$ODD\"; printf %s \"$ODD\" | base64; python3 -c '"
                                    "import json, os, urllib.parse as u; o = os.environ[\"ODD\"]; "
                                    "print(json.dumps([o])); print(u.quote(o)); print(u.quote_plus(o))'",
                            env={"ODD": "{{secrets.ODD}}"})
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertEqual(run["output"].count("***"), 6, run)
        for part in ("word", "b3Jk"):
            self.assertNotIn(part, run["output"])

    def test_parameters_whose_names_differ_by_case_are_refused(self):
        job = self.create(command="echo $CARILLON_PARAM_DAY", parameters={"Day": 1})
        path = f"/api/jobs/{job['job_id']}/execute"
        status, _, refused = self.api.raw("POST", path, {"parameters": {"day": 2}})
        self.assertEqual((status, json.loads(refused)["errors"][0]["pointer"]), (400, "/parameters/day"), refused)
        self.assertEqual(self.api.raw("POST", path, {"parameters": {"Day": 2}})[0], 202)
        schedule = {"kind": "cron", "cron_expression": "@daily", "time_zone": "UTC", "parameters": {"dAy": 3}}
        status, _, refused = self.api.raw("POST", "/api/jobs", {"name": "scheduled", "command": "true",
                                                                "parameters": {"Day": 1}, "schedules": [schedule]})
        self.assertEqual((status, json.loads(refused)["errors"][0]["pointer"]),
                         (400, "/schedules/0/parameters/dAy"), refused)

    def test_a_run_that_is_too_large_says_so(self):
        run = self.executed(command="{{params.a}}" * 9 + " # {{params.a}}", parameters={"a": "x" * 32_000})
        self.assertEqual((run["state"], run["reason"]), ("SKIPPED", "bad_definition"), run)
        self.assertIn("bytes", run["error"])
        _, shown, _ = cli(self.server, "run", "get", run["run_id"])
        self.assertIn(run["error"][:40], shown)

    def test_texts_with_the_line_ends_of_windows_run(self):
        body = "\ufeff#!/bin/sh\r\nset -e\r\nprintf 'one\\r\\n'\r\nprintf 'a=1\\r\\n' >> $CARILLON_OUTPUT_FILE\r\n"
        for fields in ({"command": body}, {"type": "script", "script": {"interpreter": "sh", "body": body}}):
            with self.subTest(fields.get("type")):
                job = self.create(**fields)
                run = self.execute(job)
                self.assertEqual((run["state"], run["output"], run["outputs"]), ("COMPLETED", "one\n", {"a": "1"}), run)
                log = self.api.raw("GET", f"/api/runs/{run['run_id']}/logs")[2]
                self.assertNotIn(b"\r", log)
                self.assertNotIn("\r", str(self.api.get(f"/api/jobs/{job['job_id']}")))
        stops = self.executed(command="set -e\r\nfalse\r\necho never\r\n")
        self.assertEqual((stops["state"], stops["exit_code"], stops["output"]), ("FAILED", 1, ""), stops)

    def test_the_command_line_sets_and_removes_a_directory(self):
        code, _, err = cli(self.server, "job", "create", "--id", "placed", "--name", "placed", "--command", "pwd",
                           "--working-directory", self.scratch, "--manual")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.execute({"job_id": "placed"})["output"], self.scratch + "\n")
        code, shown, err = cli(self.server, "export", "--job", "placed")
        self.assertIn(f"working_directory: {self.scratch}", shown, err)
        code, _, err = cli(self.server, "job", "edit", "placed", "--working-directory", "")
        self.assertEqual(code, 0, err)
        self.assertNotIn("working_directory", self.api.get("/api/jobs/placed"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
