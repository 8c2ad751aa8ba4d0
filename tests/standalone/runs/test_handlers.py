#!/usr/bin/env python3
"""Jobs of type handler on a standalone server: results, cancels, timeouts, and what happens when the worker, the daemon or
the connection between them ends. Each worker writes what it does into a journal, which the tests judge. The same tests
run with a worker of each SDK."""
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from datetime import datetime, timedelta

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import FINAL, ServerCase, local_time, zone_of_another_day  # noqa: E402

WORKER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "journal_worker.py")
PYTHON = [os.environ["CARILLON_WORKER_PYTHON"], WORKER]
LOG_BYTES_MAX = 64 << 10
JAVA_SDK = os.environ["CARILLON_WORKER_JAVA"]
# The cheapest way to start a JVM, because each test starts one or two.
JAVA = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx64m",
        "-cp", f"{JAVA_SDK}/classes:{JAVA_SDK}/*", "JournalWorker"]


class Worker:
    """A process with the handlers of journal_worker.py or JournalWorker.java."""

    def __init__(self, command, socket, folder, app="app", concurrency=4):
        self.journal_path = tempfile.mktemp(dir=folder, prefix="journal-")
        open(self.journal_path, "w").close()
        self.log = open(os.path.join(folder, "worker.log"), "ab")
        self.process = subprocess.Popen([*command, app, self.journal_path, str(concurrency)], stdin=subprocess.PIPE,
                                        env=dict(os.environ, CARILLON_WORKER_SOCKET=socket), stdout=self.log, stderr=self.log)

    def journal(self):
        with open(self.journal_path) as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    def begun(self, run_id):
        return [one for one in self.journal() if one["run"] == run_id and one["what"] == "begin"]

    def tell(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def open_gate(self):
        self.process.stdin.close()

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            self.process.wait(120)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(120)
        self.process.stdin.close()
        self.log.close()


class Conformance:
    command = None
    JOB = {}
    OPTIONS = {"extra": ["--set", f"executor.log_bytes_max={LOG_BYTES_MAX}"]}

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="handlers-")
        # As in a login shell of Debian: workers must be able to attach under that limit.
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        super().setUpClass()
        cls.socket = os.path.join(cls.server.data_dir, "executor", "worker.sock")

    def worker(self, **facts):
        worker = Worker(self.command, self.socket, self.folder, app=self._testMethodName[5:60], **facts)
        self.addCleanup(worker.end)
        self.offered(f"{self._testMethodName[5:60]}/work")
        return worker

    def offered(self, name):
        wait_until(lambda: any(one["name"] == name for one in self.api.get("/api/handlers")["items"]), 30, "the worker")

    def create(self, handler="work", app="", **fields):
        app = app or self._testMethodName[5:60]
        return super().create(**{"type": "handler", "retry_interval": 0, "handler": f"{app}/{handler}", **fields})

    def begins(self, worker, run_id):
        wait_until(lambda: worker.begun(run_id), 30, f"run {run_id} to begin")

    def log(self, run_id):
        def text():
            status, headers, body = self.api.raw("GET", f"/api/runs/{run_id}/logs")
            return body.decode() if status == 200 and dict(headers).get("X-Log-Complete") == "true" else None
        return wait_until(text, 30, "the log")

    def test_a_function_gets_its_run_and_returns_outputs(self):
        worker = self.worker()
        self.api.post("/api/secrets", {"name": "PASSWORD", "value": "open-sesame"})
        job = self.create(parameters={"day": "2026-01-02", "count": 3, "really": True},
                          env={"PASSWORD": "{{secrets.PASSWORD}}", "REGION": "eu"})
        run = self.ended(self.start(job))
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 1), run)
        self.assertEqual(run["outputs"], {"answer": "42", "text": "***"}, run)
        begun, = worker.begun(run["run_id"])
        self.assertEqual(begun["parameters"], {"day": "2026-01-02", "count": 3, "really": True})
        self.assertEqual(begun["env"], {"PASSWORD": "open-sesame", "REGION": "eu"})
        text = self.log(run["run_id"])
        self.assertIn("the password is ***", text)
        self.assertNotIn("open-sesame", text)
        _, listed, _ = cli(self.server, "handler", "list")
        self.assertIn(job["handler"], listed)

    def test_a_parameter_may_be_the_local_date_of_the_fire(self):
        worker = self.worker()
        zone, offset = zone_of_another_day()
        job = self.create(parameters={"day": "{{fire_date - 1d}}", "text": "{{fire_time}}"}, time_zone=zone,
                          env={"PASSWORD": "none"})
        run = self.ended(self.start(job, parameters={"given": "{{fire_date}}"}))
        self.assertEqual(run["state"], "COMPLETED", run)
        local = local_time(run["fire_time"], offset)
        begun, = worker.begun(run["run_id"])
        self.assertEqual(begun["parameters"], {"day": f"{local - timedelta(days=1):%Y-%m-%d}", "text": "{{fire_time}}",
                                               "given": f"{local:%Y-%m-%d}"})

    def test_an_exception_fails_the_attempt_and_is_retried(self):
        self.worker()
        run = self.ended(self.start(self.create("fail_once", retry_count=1)))
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        first = run["attempts"][0]
        self.assertEqual((first["state"], first["reason"]), ("FAILED", "handler_error"), first)
        self.assertRegex(first["error"], "^(ValueError|IllegalStateException): the first attempt fails$")

    def test_a_function_decides_about_its_retry(self):
        worker = self.worker()
        run = self.ended(self.start(self.create("never_again", retry_count=3)))
        self.assertEqual((run["state"], run["reason"], run["attempt"]), ("FAILED", "not_retryable", 1), run)
        self.assertRegex(run["error"], "^NoRetry(Exception)?: the file is empty$")
        self.assertEqual(len(worker.begun(run["run_id"])), 1)
        run = self.ended(self.start(self.create("later", retry_count=1, name="later")))
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        ended, begun = (datetime.fromisoformat(one.replace("Z", "+00:00"))
                        for one in (run["attempts"][0]["ended_at"], run["started_at"]))
        self.assertGreaterEqual((begun - ended).total_seconds(), 1.9)

    def test_conditions_know_the_failures_of_functions(self):
        self.worker()
        for conditions, attempts, reason in (({"no_retry_on": ["error:out_of.stock"]}, 1, "not_retryable"),
                                             ({"retry_on": ["error:other", "oom"]}, 1, "not_retryable"),
                                             ({"retry_on": ["error:out_of.stock"]}, 2, "handler_error")):
            run = self.ended(self.start(self.create("out_of_stock", name=str(conditions), retry_count=1, **conditions)))
            self.assertEqual((run["state"], run["reason"], run["attempt"]), ("FAILED", reason, attempts), run)
            self.assertEqual(run["error"], "out_of.stock: none left")
        with self.assertRaises(ApiError) as refused:
            self.create("out_of_stock", name="wrong", retry_on=["error:a b"])
        self.assertEqual(refused.exception.status, 400)

    def test_a_log_is_cut_at_its_limit(self):
        self.worker()
        for huge in (False, True):
            run = self.ended(self.start(self.create("talk", name=f"talk {huge}", parameters={"huge": huge})))
            self.assertEqual(run["state"], "COMPLETED", run)
            text = self.log(run["run_id"])
            self.assertLess(len(text), 2 * LOG_BYTES_MAX)
            self.assertEqual(text.count(f"the log has reached its limit of {LOG_BYTES_MAX} bytes: the rest is not stored"), 1)

    def test_outputs_that_cannot_be_kept_do_not_repeat_the_work(self):
        worker = self.worker()
        run = self.ended(self.start(self.create("too_much", retry_count=1)))
        self.assertEqual((run["state"], run["attempt"], run["outputs"]), ("COMPLETED", 1, {}), run)
        self.assertEqual(len(worker.begun(run["run_id"])), 1)
        self.assertIn("carillon: no output was kept: 20009 bytes; at most 16384 are allowed in all, and big has the most",
                      self.log(run["run_id"]))

    def speech(self, secret):
        """Returns the log of a function that logs a secret, and prints it if its SDK captures that."""
        self.worker()
        self.api.post("/api/secrets", {"name": secret, "value": "open-sesame"})
        run = self.ended(self.start(self.create("speak", env={"PASSWORD": "{{secrets.%s}}" % secret})))
        self.assertEqual(run["state"], "COMPLETED", run)
        text = self.log(run["run_id"])
        self.assertNotIn("open-sesame", text)
        return text

    def test_what_a_function_logs_is_in_the_log_of_its_run(self):
        self.assertIn("WARNING ledger: logged: ***", self.speech("LOGGED"))

    def test_a_cancel_is_obeyed_by_the_function(self):
        worker = self.worker()
        run_id = self.start(self.create("hold"))
        self.begins(worker, run_id)
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        run = self.ended(run_id)
        self.assertEqual(run["state"], "CANCELLED", run)

    def test_a_timeout_asks_and_waits_for_the_function(self):
        worker = self.worker()
        run_id = self.start(self.create("stubborn", timeout=1, retry_count=1))
        self.begins(worker, run_id)
        wait_until(lambda: any(one["what"] == "stopping" for one in worker.journal()), 30, "the timeout")
        self.assertEqual(self.run_of(run_id)["state"], "RUNNING", "the function has not returned")
        self.assertEqual(len(worker.begun(run_id)), 1)
        worker.open_gate()
        run = self.ended(run_id)
        self.assertEqual((run["attempts"][0]["state"], run["attempts"][0]["reason"]), ("TIMED_OUT", "timeout"), run)

    def test_a_killed_worker_loses_its_attempts_at_once(self):
        worker = self.worker()
        run_id = self.start(self.create("hold", retry_count=1))
        self.begins(worker, run_id)
        worker.kill()
        other = self.worker()
        other.open_gate()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        self.assertEqual((run["attempts"][0]["state"], run["attempts"][0]["reason"]), ("LOST", "worker_died"), run)
        self.assertEqual((len(worker.begun(run_id)), len(other.begun(run_id))), (1, 1))

    def resumed(self, *workers):
        return [one["checkpoint"] for worker in workers for one in worker.journal() if one["what"] == "resume"]

    def saved(self, run_id):
        wait_until(lambda: self.run_of(run_id)["checkpoint"], 30, "its checkpoint")
        return wait_until(lambda: self.run_of(run_id)["progress"], 30, "its progress")

    def test_the_next_attempt_continues_from_the_checkpoint(self):
        worker = self.worker()
        run = self.ended(self.start(self.create("resume", retry_count=2)))
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 3), run)
        self.assertEqual(self.resumed(worker), ["none", "state 1", "state 2"])
        self.assertIsNone(run["checkpoint"])

    def test_the_checkpoint_of_a_killed_worker_is_found(self):
        worker = self.worker()
        run_id = self.start(self.create("resume", retry_count=2, parameters={"hold": True}))
        progress = self.saved(run_id)
        self.assertEqual((progress["percent"], progress["text"]), (25, "so far"))
        worker.kill()
        run = self.ended_by_another(run_id, worker, ["none", "state 1", "state 2"])
        self.assertEqual(run["attempts"][0]["reason"], "worker_died", run)

    def ended_by_another(self, run_id, worker, checkpoints):
        other = self.worker()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 3), run)
        self.assertEqual(self.resumed(worker, other), checkpoints)
        return run

    def test_a_checkpoint_that_was_saved_without_a_daemon_is_not_lost(self):
        worker = self.worker()
        run_id = self.start(self.create("resume", retry_count=2, parameters={"hold": True}))
        self.saved(run_id)
        self.server.kill()
        worker.open_gate()  # it saves, and fails
        wait_until(lambda: any(one["what"] == "end" for one in worker.journal()), 30, "its end")
        self.restart()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 3), run)
        self.assertEqual(self.resumed(worker), ["none", "last words", "state 2"])

    def test_a_run_without_a_worker_waits(self):
        run_id = self.start(self.create())
        wait_until(lambda: (self.run_of(run_id).get("waiting") or {}).get("code") == "no_handler", 30, "the reason")
        worker = self.worker()
        self.assertEqual(self.ended(run_id)["state"], "COMPLETED")
        self.assertEqual(len(worker.begun(run_id)), 1)

    def test_concurrency_is_kept(self):
        worker = self.worker(concurrency=2)
        runs = [self.start(self.create("hold")) for _ in range(5)]
        wait_until(lambda: len([one for one in worker.journal() if one["what"] == "begin"]) == 2, 30, "two to begin")
        worker.open_gate()
        for run_id in runs:
            self.assertEqual(self.ended(run_id)["state"], "COMPLETED")
            self.assertEqual(len(worker.begun(run_id)), 1)
        self.assertLessEqual(max(one["together"] for one in worker.journal() if one["what"] == "begin"), 2)

    def test_a_drained_worker_finishes_and_takes_no_more(self):
        worker = self.worker()
        run_id = self.start(self.create("hold"))
        self.begins(worker, run_id)
        worker.process.terminate()
        name = f"{self._testMethodName[5:60]}/work"
        wait_until(lambda: all(one["name"] != name for one in self.api.get("/api/handlers")["items"]), 30, "the drain")
        worker.open_gate()
        self.assertEqual(self.ended(run_id)["state"], "COMPLETED")
        self.assertIn(worker.process.wait(120), (0, 128 + signal.SIGTERM))  # a JVM ends by its signal

    def test_an_orderly_stop_of_the_only_worker_loses_no_run(self):
        worker = self.worker(concurrency=20)
        job = self.create()
        runs = []
        for count in range(100):
            runs.append(self.start(job))
            if count == 30:
                worker.process.terminate()
        worker.process.wait(60)

        def waits(run_id):
            run = self.run_of(run_id)
            return run["state"] in FINAL or (run.get("waiting") or {}).get("code") == "no_handler"
        wait_until(lambda: all(waits(run_id) for run_id in runs), 60, "the executor to give back what it has")
        other = self.worker(concurrency=20)
        for run_id in runs:
            run = self.ended(run_id)
            self.assertEqual(run["state"], "COMPLETED", run)
            self.assertEqual(len(worker.begun(run_id)) + len(other.begun(run_id)), 1)

    def test_a_stopped_worker_keeps_its_attempts(self):
        worker = self.worker()
        run_id = self.start(self.create("hold", retry_count=1))
        self.begins(worker, run_id)
        worker.kill(signal.SIGSTOP)
        worker.open_gate()
        worker.kill(signal.SIGCONT)
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"], len(worker.begun(run_id))), ("COMPLETED", 1, 1), run)

    def test_functions_do_not_notice_a_killed_daemon(self):
        worker = self.worker(concurrency=20)
        holds = [self.start(self.create("hold")) for _ in range(10)]
        for run_id in holds:
            self.begins(worker, run_id)
        self.server.kill()
        worker.open_gate()  # they return while there is no daemon
        wait_until(lambda: len([one for one in worker.journal() if one["what"] == "end"]) >= 10, 30, "their ends")
        self.restart()
        for run_id in holds:
            run = self.ended(run_id)
            self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 1), run)
            self.assertEqual(len(worker.begun(run_id)), 1)

    def test_two_workers_of_one_process(self):
        worker = self.worker()
        runs = [self.start(self.create("hold", retry_count=1))]
        self.begins(worker, runs[0])
        worker.tell("second")
        app = f"{self._testMethodName[5:60]}-b"
        self.offered(f"{app}/hold")
        runs.append(self.start(self.create("hold", app=app, name="second", retry_count=1)))
        self.begins(worker, runs[1])
        self.server.kill()
        self.restart()
        self.offered(f"{app}/hold")
        self.offered(f"{self._testMethodName[5:60]}/hold")
        worker.open_gate()
        for run_id in runs:
            run = self.ended(run_id)
            self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 1), run)
            self.assertEqual(len(worker.begun(run_id)), 1)

    def test_a_worker_that_died_while_the_daemon_was_down(self):
        worker = self.worker()
        run_id = self.start(self.create("hold", retry_count=1))
        self.begins(worker, run_id)
        self.server.kill()
        worker.kill()
        self.restart()
        other = self.worker()
        other.open_gate()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        self.assertEqual(run["attempts"][0]["reason"], "worker_died", run)


class PythonTest(Conformance, ServerCase):
    command = PYTHON

    def test_what_a_function_prints_is_in_the_log_of_its_run(self):
        self.assertIn("printed: ***", self.speech("PRINTED"))

    def test_the_limit_of_open_files_is_raised_but_not_for_commands(self):
        with open(f"/proc/{self.server.process.pid}/limits") as limits:
            soft = next(int(line.split()[3]) for line in limits if line.startswith("Max open files"))
        self.assertEqual(soft, min(65_536, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        job = self.api.post("/api/jobs", {"name": "limit", "command": "ulimit -Sn"})
        self.assertEqual(self.ended(self.start(job))["output"], "1024\n")

    def test_a_program_that_executes_itself(self):
        worker = self.worker()
        run_id = self.start(self.create("hold", retry_count=1))
        self.begins(worker, run_id)
        worker.tell("execute")
        wait_until(lambda: len(worker.begun(run_id)) == 2, 30, "the second attempt")
        worker.open_gate()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        self.assertEqual((run["attempts"][0]["state"], run["attempts"][0]["reason"]), ("LOST", "worker_died"), run)

    def test_wrong_definitions_are_refused(self):
        for wrong in ({"handler": ""}, {"handler": "no_slash"}, {"handler": "A/b"}, {"command": "true"}):
            with self.assertRaises(ApiError) as refused:
                self.create(**wrong) if "handler" not in wrong else self.api.post(
                    "/api/jobs", dict({"name": "x", "type": "handler"}, **wrong))
            self.assertEqual(refused.exception.status, 400)


class JavaTest(Conformance, ServerCase):
    command = JAVA


if __name__ == "__main__":
    unittest.main(verbosity=2)
