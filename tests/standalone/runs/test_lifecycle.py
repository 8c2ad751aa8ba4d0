#!/usr/bin/env python3
"""A standalone server as its users see it: files, forms of answers, the whole life of a job, restarts."""
import datetime
import json
import os
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, Api, alive, cli, wait_until  # noqa: E402
from server_case import OwnServerCase, ServerCase  # noqa: E402

TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


def micros(text):
    return int(datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1_000_000 + 0.5)


def launch(*arguments, prefix=(), stdin=subprocess.DEVNULL, **options):
    return subprocess.Popen([*prefix, os.path.join(BIN, "carillon"), "standalone", *arguments],
                            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class InterfacesTest(ServerCase):
    """Files, ports, fields and the command line."""

    def test_runtime_json_names_processes_and_a_private_token(self):
        runtime = self.server.runtime
        self.assertEqual(runtime["pid"], self.server.process.pid)
        for pid in ("warden_pid", "mariadbd_pid"):
            self.assertTrue(alive(runtime[pid]), pid)
        for url in ("url", "ops_url"):
            self.assertTrue(runtime[url].startswith("http://127.0.0.1:"), runtime[url])
        mode = stat.S_IMODE(os.stat(runtime["token_file"]).st_mode)
        self.assertEqual(mode, 0o600)
        self.assertEqual(os.path.realpath(runtime["token_file"]),
                         os.path.realpath(os.path.join(self.server.data_dir, "admin.token")))

    def test_second_start_on_the_same_directory_is_refused(self):
        done = subprocess.run([os.path.join(BIN, "carillon"), "standalone", "--data-dir",
                               self.server.data_dir, "--port", "0"], capture_output=True, text=True,
                              timeout=120)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(self.server.data_dir, done.stderr)
        self.assertEqual(self.api.get("/api/system/status")["leader"] is None, False)

    def test_the_ops_port_has_health_and_metrics(self):
        values = self.server.metrics()
        self.assertEqual(values["carillon_is_leader"], 1)
        self.assertGreater(values["carillon_owned_segments"], 0)
        ops = Api(self.server.runtime["ops_url"], None)
        for path in ("/livez", "/readyz", "/healthz"):
            self.assertEqual(ops.raw("GET", path)[0], 200, path)

    def test_the_api_port_has_health(self):
        anybody = Api(self.server.runtime["url"], None)
        for path in ("/livez", "/readyz"):
            status, headers, body = anybody.raw("GET", path)
            self.assertEqual((status, body), (200, b"ok\n"), path)
        for path in ("/health", "/healthz", "/metrics"):
            status, headers, _ = anybody.raw("GET", path)
            self.assertEqual((status, headers["Content-Type"]), (404, "application/problem+json"), path)

    def test_job_has_the_documented_defaults(self):
        status, headers, body = self.api.raw("POST", "/api/jobs", body={
            "name": "shape", "command": "true", "cron_expression": "0 3 * * *"})
        job = json.loads(body)
        self.assertEqual(status, 201)
        self.assertTrue(headers["Location"].endswith("/api/jobs/" + job["job_id"]))
        self.assertEqual(headers["ETag"], f'"v{job["version"]}"')
        for field, value in {"type": "shell", "time_zone": "UTC", "timeout": 3600, "retry_count": 0,
                             "retry_interval": 60, "priority": 0, "enabled": True, "parameters": {},
                             "env": {}, "state": "ENABLED", "cron_expression": "0 3 * * *"}.items():
            self.assertEqual(job[field], value, field)
        for field in ("next_fire_time", "create_time", "update_time"):
            self.assertRegex(job[field], TIME)

    def test_a_run_has_its_fields_and_environment(self):
        job = self.create(command='echo out; echo err >&2; echo "$CARILLON_RUN_ID $CARILLON_JOB_ID '
                                  '$CARILLON_FIRE_TIME $CARILLON_ATTEMPT $CARILLON_SHARD_INDEX '
                                  '$CARILLON_SHARD_TOTAL $CARILLON_PARAM_WHO $MINE"; pwd; ls -A | wc -l',
                          parameters={"who": "me"}, env={"MINE": "yes"})
        run = self.execute(job)
        self.assertEqual((run["state"], run["exit_code"], run["attempt"], run["kind"]),
                         ("COMPLETED", 0, 1, "manual"))
        lines = run["output"].splitlines()
        # stdout and stderr are two pipes: lines written at the same time may arrive in any order.
        self.assertEqual(sorted(lines[:2]), ["err", "out"])
        self.assertEqual(lines[2], f"{run['run_id']} {job['job_id']} {run['fire_time']} 1 0 1 me yes")
        self.assertEqual(lines[4].strip(), "0", "the working directory is fresh")
        for field in ("fire_time", "planned_at", "claimed_at", "started_at", "ended_at"):
            self.assertRegex(run[field], TIME, field)
        times = [micros(run[f]) for f in ("fire_time", "claimed_at", "started_at", "ended_at")]
        self.assertLessEqual(times[0], times[1])
        self.assertLess(times[2], times[3])
        self.assertIsNone(run["error"])
        self.assertFalse(run["output_truncated"])

    def test_a_trace_id_goes_from_the_request_to_the_process_and_the_result(self):
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        job = self.create(command='echo "$CARILLON_TRACE_ID $TRACEPARENT"')
        _, headers, body = self.api.raw("POST", f"/api/jobs/{job['job_id']}/execute", {},
                                        {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"})
        self.assertEqual(headers["X-Trace-Id"], trace)
        run = self.ended(json.loads(body)["run_id"])
        self.assertEqual(run["trace_id"], trace)
        of_process, parent = run["output"].split()
        self.assertEqual(of_process, trace)
        self.assertRegex(parent, f"^00-{trace}-[0-9a-f]{{16}}-01$")
        records = [record for record in self.api.get("/api/audit")["items"]
                if record["object_id"] == job["job_id"] and record["action"] == "job.execute"]
        self.assertEqual(records[0]["trace_id"], trace)
        untraced = self.execute(job)
        self.assertNotEqual(untraced["trace_id"], trace)
        self.assertEqual(untraced["output"].split()[0], untraced["trace_id"])

    def test_status_names_the_leader_and_its_segments(self):
        status = self.api.get("/api/system/status")
        self.assertEqual(status["leader"], status["members"][0]["id"])
        self.assertEqual(len(status["segments"]), status["members"][0]["owned_segments"])
        self.assertEqual(status["executors"].get("ONLINE"), 1)
        for field in ("runs_pending", "runs_running", "oldest_overdue_ms", "late_ms", "version"):
            self.assertIn(field, status)

    def test_the_command_line_manages_a_job_from_creation_to_deletion(self):
        _, out, _ = cli(self.server, "job", "create", "--name", "cli job", "--cron", "0 9 * * MON-FRI",
                        "--zone", "Europe/Paris", "--command", "echo from the cli", "-o", "json")
        job = json.loads(out)["job_id"]
        _, out, _ = cli(self.server, "job", "list", "-o", "json")
        self.assertIn(job, [j["job_id"] for j in json.loads(out)["items"]])
        code, out, _ = cli(self.server, "job", "run", job, "--wait")
        self.assertEqual(code, 0)
        self.assertIn("from the cli", out + cli(self.server, "run", "list", "-o", "json")[1])
        _, out, _ = cli(self.server, "job", "history", job, "-o", "json")
        run = json.loads(out)["items"][0]["run_id"]
        self.assertIn("from the cli", cli(self.server, "run", "logs", run)[1])
        cli(self.server, "job", "pause", job, "--reason", "holiday")
        self.assertEqual(json.loads(cli(self.server, "job", "get", job, "-o", "json")[1])["state"], "PAUSED")
        cli(self.server, "job", "resume", job)
        cli(self.server, "executor", "list")
        cli(self.server, "system", "status")
        self.assertEqual(cli(self.server, "job", "get", "no-such-job", check=False)[0], 3)
        self.assertNotEqual(cli(self.server, "job", "delete", job, check=False, stdin="")[0], 0)
        cli(self.server, "job", "delete", job, "--yes")
        self.assertEqual(cli(self.server, "job", "get", job, check=False)[0], 3)

    def test_failed_run_ends_with_10(self):
        job = self.create(command="exit 5")
        self.assertEqual(cli(self.server, "job", "run", job["job_id"], "--wait", check=False)[0], 10)

    def test_schedule_verbs_need_no_server(self):
        code, out, _ = cli(self.server, "schedule", "next", "0 9 * * *", "--tz", "Europe/Paris", "-n", "3",
                           "-o", "json")
        self.assertEqual(code, 0)
        self.assertEqual(len(json.loads(out)["fires"]), 3)
        self.assertEqual(cli(self.server, "schedule", "next", "61 * * * *", check=False)[0], 2)


class RunsTest(ServerCase):
    """Fires, ends, retries, output and outputs of runs."""

    def test_cron_every_second_fires_on_the_second_never_early(self):
        job = self.create(cron_expression="* * * * * *")
        wait_until(lambda: len([r for r in self.api.runs(job["job_id"])
                                if r["state"] == "COMPLETED"]) >= 4, 20, "four fires")
        self.api.post(f"/api/jobs/{job['job_id']}/pause", {"reason": "enough"})
        for run in self.api.runs(job["job_id"]):
            self.assertEqual(micros(run["fire_time"]) % 1_000_000, 0)
            if run["started_at"]:
                self.assertGreaterEqual(micros(run["started_at"]), micros(run["fire_time"]))

    def test_once_fires_once(self):
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1.5)
        job = self.create(schedules=[{"kind": "once", "at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}])
        wait_until(lambda: self.api.runs(job["job_id"]), 15, "the fire")
        run = self.ended(self.api.runs(job["job_id"])[0]["run_id"])
        self.assertEqual(run["kind"], "once")
        self.assertIsNone(self.api.get(f"/api/jobs/{job['job_id']}")["next_fire_time"])

    def test_a_run_is_retried_until_it_succeeds(self):
        job = self.create(command='[ "$CARILLON_ATTEMPT" = 3 ]', retry_count=3, retry_interval=0)
        run = self.execute(job)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 3))
        self.assertEqual([a["state"] for a in run["attempts"]][:2], ["FAILED", "FAILED"])

    def test_retry_now_starts_an_attempt_that_waits_an_hour(self):
        job = self.create(command='[ "$CARILLON_ATTEMPT" = 2 ]', retry_count=2, retry_interval=3600)
        run_id = self.api.post(f"/api/jobs/{job['job_id']}/execute")["run_id"]
        path = f"/api/runs/{run_id}"
        waiting = wait_until(lambda: (lambda run: run if run["attempt"] == 2 else None)(self.api.get(path)), 15, "attempt 2")
        self.assertEqual((waiting["state"], waiting["waiting"]["code"]), ("PENDING", "not_due"))
        retried = self.api.post(path + "/retry")
        self.assertEqual((retried["state"], retried["attempt"]), ("PENDING", 2))
        self.assertLess(micros(retried["due_at"]), micros(waiting["due_at"]))
        run = wait_until(lambda: (lambda run: run if run["ended_at"] else None)(self.api.get(path)), 10, "its end")
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2))
        self.assertEqual(self.api.raw("POST", path + "/retry", {})[0], 409)

    def test_failure_leaves_a_dead_letter(self):
        job = self.create(command="echo why; exit 3")
        run = self.execute(job)
        self.assertEqual((run["state"], run["reason"], run["exit_code"], run["output"]),
                         ("FAILED", "exit_code", 3, "why\n"))
        letters = [d for d in self.api.pages("/api/dead-letters") if d["run_id"] == run["run_id"]]
        self.assertEqual(len(letters), 1)

    def test_timeout_kills_the_tree(self):
        marker = os.path.join(self.server.scratch, "grandchild")
        job = self.create(command=f"(setsid sh -c 'echo $$ >{marker}; sleep 300' &); sleep 300",
                          timeout=1, kill_grace=1)
        run = self.execute(job)
        self.assertEqual((run["state"], run["reason"]), ("TIMED_OUT", "timeout"))
        with open(marker) as f:
            self.assertFalse(alive(int(f.read())))

    def test_a_running_run_is_cancelled(self):
        job = self.create(command="sleep 300")
        run_id = self.api.post(f"/api/jobs/{job['job_id']}/execute")["run_id"]
        wait_until(lambda: self.api.get(f"/api/runs/{run_id}")["state"] == "RUNNING", 15, "RUNNING")
        answer = self.api.post(f"/api/jobs/{job['job_id']}/cancel")
        self.assertEqual(answer["cancelled"], 1)
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")

    def test_overlap_policy_skip_runs_one_at_a_time(self):
        job = self.create(command="sleep 2.5", overlap_policy="skip", cron_expression="* * * * * *")
        wait_until(lambda: len(self.api.runs(job["job_id"])) >= 5, 20, "five fires")
        self.api.post(f"/api/jobs/{job['job_id']}/pause")
        wait_until(lambda: all(r["state"] != "RUNNING" for r in self.api.runs(job["job_id"])), 15, "end")
        runs = sorted(self.api.runs(job["job_id"]), key=lambda r: r["fire_time"])
        self.assertTrue(any(r["state"] == "SKIPPED" and r["reason"] == "overlap" for r in runs))
        ran = [r for r in runs if r["state"] == "COMPLETED"]
        for earlier, later in zip(ran, ran[1:]):
            self.assertLessEqual(earlier["ended_at"], later["started_at"])

    def test_pause_resume_leaves_one_gap(self):
        job = self.create(cron_expression="* * * * * *")
        path = f"/api/jobs/{job['job_id']}"
        wait_until(lambda: self.api.runs(job["job_id"]), 15, "a fire")
        paused = self.api.post(path + "/pause", {"reason": "maintenance"})
        self.assertEqual(paused["state"], "PAUSED")
        threading.Event().wait(2.2)
        self.assertEqual(self.api.post(path + "/resume")["state"], "ENABLED")
        before = len(self.api.runs(job["job_id"]))
        wait_until(lambda: len(self.api.runs(job["job_id"])) > before, 15, "fires after the resume")
        gaps = self.api.get(f"/api/gaps?job_id={job['job_id']}")["items"]
        self.assertEqual([g["reason"] for g in gaps], ["paused"])
        self.assertGreaterEqual(gaps[0]["count"], 2)

    def test_ten_megabyte_line_is_cut_and_marked(self):
        run = self.execute(self.create(command="head -c 10000000 /dev/zero | tr '\\0' x; echo; echo end"))
        self.assertEqual(run["state"], "COMPLETED")
        self.assertTrue(run["output_truncated"])
        self.assertLess(len(run["output"]), 70_000)
        self.assertTrue(run["output"].endswith("x\nend\n"))

    def test_output_may_contain_any_bytes(self):
        run = self.execute(self.create(command="printf 'a\\377\\000b'"))
        self.assertEqual((run["state"], run["output"]), ("COMPLETED", "a\ufffd\0b"))

    def test_a_command_may_close_its_descriptors(self):
        run = self.execute(self.create(command="exec 0<&- 1>&- 2>&-; sleep 0.3; exit 7"))
        self.assertEqual((run["state"], run["exit_code"]), ("FAILED", 7))

    def test_a_background_child_does_not_delay_the_end(self):
        run = self.execute(self.create(command="sleep 300 & echo done"))
        self.assertEqual((run["state"], run["output"]), ("COMPLETED", "done\n"))

    def test_values_of_a_process_are_shown_and_a_retry_clears_them(self):
        job = self.create(command='echo "attempt=$CARILLON_ATTEMPT" >> "$CARILLON_OUTPUT_FILE"; '
                                  'if [ "$CARILLON_ATTEMPT" = 1 ]; then exit 3; fi; sleep 300')
        run = self.execute(job)
        self.assertEqual((run["state"], run["exit_code"], run["outputs"]), ("FAILED", 3, {"attempt": "1"}))
        self.assertNotIn("outputs", self.api.runs(job["job_id"])[0])
        path = f"/api/runs/{run['run_id']}"
        self.assertEqual(self.api.post(path + "/retry")["outputs"], {})
        wait_until(lambda: self.api.get(path)["state"] == "RUNNING", 15, "RUNNING")
        self.assertEqual(self.api.get(path)["outputs"], {})
        self.api.post(path + "/cancel", {"mode": "kill"})
        self.assertEqual(self.ended(run["run_id"])["outputs"], {})

    def test_an_output_may_have_several_lines(self):
        run = self.execute(self.create(command=f"{BIN}/carillon output text \"$(printf 'a\\nb')\""))
        self.assertEqual((run["state"], run["outputs"]), ("COMPLETED", {"text": "a\nb"}))
        code, out, _ = cli(self.server, "run", "outputs", run["run_id"], "--json")
        self.assertEqual((code, json.loads(out)), (0, {"text": "a\nb"}))

    def test_outputs_over_the_limit_fail_the_run(self):
        run = self.execute(self.create(command='head -c 20000 /dev/zero | tr "\\0" x > "$CARILLON_OUTPUT_FILE"'))
        self.assertEqual((run["state"], run["reason"], run["exit_code"]), ("FAILED", "bad_outputs", 0))
        self.assertEqual(run["outputs"], {})


class RestartTest(OwnServerCase):
    def test_data_survive_a_restart_and_runs_are_adopted(self):
        job = self.create(name="long", command="sleep 6; echo survived")
        run_id = self.start(job)
        self.running(run_id)
        token, warden = self.server.token, self.server.runtime["warden_pid"]
        self.server.kill("pid")
        self.assertTrue(alive(warden), "the warden outlives the process")
        self.restart()
        self.assertEqual(self.server.token, token)
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"], run["output"]), ("COMPLETED", 1, "survived\n"))
        self.server.stop()
        self.assertFalse(os.path.exists(os.path.join(self.server.data_dir, "runtime.json")))
        self.restart()
        self.assertEqual(self.api.get(f"/api/jobs/{job['job_id']}")["name"], "long")

    def test_sigint_ends_the_server_and_its_database(self):
        mariadbd = self.server.runtime["mariadbd_pid"]
        self.server.process.send_signal(signal.SIGINT)
        self.assertEqual(self.server.process.wait(120), 0)
        wait_until(lambda: not alive(mariadbd), 10, "mariadbd to end with its server")

    def test_a_port_in_use_ends_the_start_before_anything_fires(self):
        witness = os.path.join(self.server.scratch, "witness")
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
        job = self.create(name="soon", command=f"echo fired >>{witness}", schedules=[
            {"kind": "once", "at": at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")}])
        self.server.stop()
        wait_until(lambda: datetime.datetime.now(datetime.timezone.utc) > at, 10, "the fire to be due")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            for ports in ((port, "0"), ("0", port)):
                env = dict(os.environ, CARILLON_REST_PORT=ports[0], CARILLON_OPS_PORT=ports[1])
                started = launch("--data-dir", self.server.data_dir, env=env)
                output = started.communicate(timeout=120)[0]
                self.assertEqual(started.returncode, 1, output)
                self.assertIn(port, output)
        self.assertFalse(os.path.exists(witness))
        self.restart()
        wait_until(lambda: os.path.exists(witness), 30, "the fire that was missed")
        self.assertEqual(len(self.api.runs(job["job_id"])), 1)

    def test_a_stopping_server_answers_while_it_waits_for_processes(self):
        self.assertEqual(self.api.get("/api/system/status")["members"][0]["address"], self.server.runtime["url"])
        gate = os.path.join(self.server.scratch, "gate")
        run_id = self.start(self.create(command=f"until [ -e {gate} ]; do sleep 0.05; done; echo ended"))
        self.running(run_id)
        self.server.process.send_signal(signal.SIGTERM)
        ops = Api(self.server.runtime["ops_url"], None)
        wait_until(lambda: ops.raw("GET", "/readyz")[0] == 503, 5, "not ready while it stops")
        self.assertEqual(self.run_of(run_id)["state"], "RUNNING")
        with open(gate, "w"):
            pass
        self.assertEqual(self.server.process.wait(120), 0)
        self.restart()
        run = self.run_of(run_id)
        self.assertEqual((run["state"], run["attempt"], run["output"]), ("COMPLETED", 1, "ended\n"))


class StartAndStopTest(unittest.TestCase):
    def test_a_signal_during_the_start_ends_it(self):
        directory = tempfile.mkdtemp(prefix="carillon-e2e-")
        self.addCleanup(shutil.rmtree, directory, True)
        started = launch("--data-dir", directory, "--port", "0")
        lock = os.path.join(directory, "carillon.lock")
        wait_until(lambda: os.path.exists(lock), 30, "the start")
        started.send_signal(signal.SIGTERM)
        output = started.communicate(timeout=120)[0]
        self.assertEqual(started.returncode, 0, output)
        self.assertNotIn("is ready", output)

    def test_the_end_of_a_terminal_ends_only_a_server_in_its_foreground(self):
        inner, terminal = pty.openpty()
        self.addCleanup(os.close, inner)
        self.addCleanup(os.close, terminal)
        for prefix, stdin, survives in (((), terminal, False), (("nohup",), terminal, True), ((), subprocess.DEVNULL, True)):
            directory = tempfile.mkdtemp(prefix="carillon-e2e-")
            self.addCleanup(shutil.rmtree, directory, True)
            started = launch("--data-dir", directory, "--port", "0", prefix=prefix, stdin=stdin)
            self.addCleanup(started.kill)
            runtime = os.path.join(directory, "runtime.json")
            wait_until(lambda: os.path.exists(runtime), 60, "the server to be ready")
            started.send_signal(signal.SIGHUP)
            if survives:
                with open(runtime) as f:
                    url = json.load(f)["ops_url"]
                self.assertEqual(Api(url, None).raw("GET", "/livez")[0], 200)
                started.send_signal(signal.SIGTERM)
            self.assertEqual(started.wait(120), 0, prefix)
            started.stdout.close()

    def test_settings_that_open_the_server_to_the_network_are_refused(self):
        with open(os.path.join(tempfile.mkdtemp(prefix="carillon-e2e-"), "carillon.yaml"), "w") as f:
            f.write("ops:\n  listen: 0.0.0.0\n")
        self.addCleanup(shutil.rmtree, os.path.dirname(f.name), True)
        for command in (["standalone", "--config", f.name], ["check-config", "--config", f.name],
                        ["standalone", "--data-dir", ""]):
            done = subprocess.run([os.path.join(BIN, "carillon"), *command], capture_output=True, text=True,
                                  timeout=120)
            self.assertEqual(done.returncode, 2, (command, done.stderr))


if __name__ == "__main__":
    unittest.main(verbosity=2)
