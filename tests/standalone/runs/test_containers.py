#!/usr/bin/env python3
"""Containers on a standalone server with a stand-in engine: ends, limits, cancels, and every way in which a container
could outlive its attempt."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402
from standin_engine import StandInEngine  # noqa: E402

# Obeys SIGTERM, and says so.
WAITS = ["/bin/sh", "-c", 'trap "echo stopped; exit 9" TERM; echo begun; while :; do sleep 0.1; done']


class OnServer(ServerCase):
    """A server with a container engine."""
    image = "busybox"
    JOB = {}

    @classmethod
    def start_with(cls, program):
        # After the end of the server: a warden may keep an end that no daemon has taken.
        cls.addClassCleanup(lambda: [os.kill(pid, signal.SIGKILL) for pid in cls.wardens()])
        cls.start_server(extra=["--set", f"executor.container.engine={program}"])

        def heard():
            executors = cls.api.get("/api/executors")["items"]
            return executors and "container" in (executors[0]["features"] or [])
        wait_until(heard, 30, "the feature container")

    def create(self, container, **fields):
        return super().create(type="container", container={"image": self.image, **container}, **fields)

    def start_container(self, container, **fields):
        return self.start(self.create(container, **fields))

    def warden(self):
        def name(pid):
            with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
                return file.read().strip()
        return next(pid for pid in self.wardens() if name(pid) != "carillon-remove")

    @classmethod
    def wardens(cls):
        """The processes of wardens, and of keepers that have outlived theirs; not of children, which look alike."""
        parents = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as file:
                    line = file.read().split(b"\0")
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    parent = int(file.read().rsplit(") ", 1)[1].split()[1])
            except OSError:
                continue
            if b"--directory" in line and cls.server.data_dir.encode() in line[line.index(b"--directory") + 1]:
                parents[int(pid)] = parent
        return [pid for pid, parent in parents.items() if parent not in parents]


class ContainersTest(OnServer):
    @classmethod
    def setUpClass(cls):
        cls.engine = StandInEngine()
        cls.addClassCleanup(cls.engine.close)
        cls.start_with(cls.engine.program)

    def tearDown(self):
        self.engine.release()

    def begun(self, run_id, attempt=1):
        def running():
            found = [one for one in self.engine.named(f"carillon-{run_id}-{attempt}") if one.status == "running"]
            return found[0] if found else None
        return wait_until(running, 60, f"the container of {run_id}")

    def wait_for_end(self, run_id, attempt=1):
        """Until the end is on the disk. The removal of the container waits for an engine whose `ps` hangs."""
        name = f"carillon-{run_id}-{attempt}.end"
        wait_until(lambda: name in [file for _, _, files in os.walk(self.server.data_dir) for file in files], 60, name)

    def assertNothingLeft(self, run_id):
        self.assertEqual([one.name for one in self.engine.containers.values() if run_id in one.name], [])
        for container in self.engine.removed:
            if run_id in container.name and container.process:
                self.assertIsNotNone(container.process.poll())

    def test_a_container_completes_with_its_output_and_outputs(self):
        run_id = self.start_container({"command": ["/bin/sh", "-c"], "user": "1000:1000", "read_only": True, "network": "none",
                             "pull": "never",
                             "args": ['echo "day={{params.day}} $MODE"; echo rows=3 >> "$CARILLON_OUTPUT_FILE"']},
                            parameters={"day": "mon; exit 7"}, env={"MODE": "fast"},
                            limits={"memory_mb": 64, "cpu": 0.5, "pids": 20, "open_files": 64, "file_size_mb": 2})
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["output"], run["outputs"]),
                         ("COMPLETED", "day=mon; exit 7 fast\n", {"rows": "3"}), run)
        call = next(one for one in self.engine.commands("create") if run_id in one[2])
        words = " ".join(call)
        for flags in ("--user 1000:1000", "--read-only", "--network none", "--pull never", "--memory 64m",
                      "--memory-swap 64m", "--cpus 0.5", "--pids-limit 20", "--ulimit nofile=64:64",
                      "--ulimit fsize=2097152:2097152", "--env-file /dev/stdin ", f"--name carillon-{run_id}-1"):
            self.assertIn(flags, words)
        self.assertNotIn("fast", words)
        self.assertNothingLeft(run_id)

    def test_outputs_come_from_the_control_directory(self):
        run = self.ended(self.start_container({"command": ["/bin/sh", "-c", 'echo one; echo two >&2; echo rows=3 >> $CARILLON_OUTPUT_FILE']}))
        self.assertEqual((run["state"], run["outputs"]), ("COMPLETED", {"rows": "3"}), run)
        self.assertEqual(sorted(run["output"].split()), ["one", "two"])
        self.assertNothingLeft(run["run_id"])

    def test_exit_codes_memory_and_failed_starts_are_reported(self):
        run = self.ended(self.start_container({"command": ["/bin/sh", "-c", "exit 75"]}))
        self.assertEqual((run["state"], run["reason"], run["exit_code"]), ("FAILED", "exit_code", 75))
        run = self.ended(self.start_container({"image": "eats-memory", "command": ["/bin/sh", "-c", "kill -9 $$"]},
                                    limits={"memory_mb": 64}))
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "oom"), run)
        run = self.ended(self.start_container({"image": "missing"}))
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "spawn"), run)
        run = self.ended(self.start_container({"command": ["/no/such/program"]}))
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "spawn"), run)
        self.assertNothingLeft(run["run_id"])

    def test_cancel_and_timeout_stop_the_container(self):
        run_id = self.start_container({"command": WAITS})
        self.begun(run_id)
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        run = self.ended(run_id)
        self.assertEqual(run["state"], "CANCELLED", run)
        self.assertIn("stopped", run["output"])
        self.assertNothingLeft(run_id)
        run = self.ended(self.start_container({"command": WAITS}, timeout=2))
        self.assertEqual(run["state"], "TIMED_OUT", run)
        self.assertIn("stopped", run["output"])
        self.assertNothingLeft(run["run_id"])

    def test_a_container_that_ignores_its_stop_is_removed_after_the_grace(self):
        run_id = self.start_container({"command": ["/bin/sh", "-c", 'trap "" TERM; while :; do sleep 0.1; done']}, kill_grace=1)
        self.begun(run_id)
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")
        self.assertNothingLeft(run_id)

    def test_a_run_is_not_over_while_the_engine_does_not_answer(self):
        run_id = self.start_container({"command": WAITS})
        container = self.begun(run_id)
        self.engine.hangs.update({"ps", "rm", "stop"})
        self.api.post(f"/api/runs/{run_id}/cancel", {"mode": "kill"})
        wait_until(lambda: any(call[0] == "ps" for call in self.engine.held), 30, "the removal to wait for the engine")
        self.assertEqual(self.run_of(run_id)["state"], "RUNNING")
        self.assertIsNone(container.process.poll())
        self.engine.release()
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")
        self.assertNothingLeft(run_id)

    def test_an_end_before_a_timeout_is_the_result(self):
        self.engine.hangs.add("ps")
        run_id = self.start_container({"command": ["/bin/sh", "-c", "exit 0"]}, timeout=5, retry_count=1, retry_interval=0)
        self.wait_for_end(run_id)
        self.assertEqual(self.run_of(run_id)["state"], "RUNNING")
        late = time.monotonic() + 5.5
        wait_until(lambda: time.monotonic() > late, 10, "the timeout to pass")
        self.engine.release()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["exit_code"], len(run["attempts"])), ("COMPLETED", 0, 1), run)
        self.assertEqual(len([call for call in self.engine.commands("create") if run_id in call[2]]), 1)
        self.assertNothingLeft(run_id)

    def test_an_end_before_the_death_of_the_warden_is_the_result(self):
        self.engine.hangs.add("ps")
        run_id = self.start_container({"command": ["/bin/sh", "-c", "echo rows=3 >> $CARILLON_OUTPUT_FILE"]}, retry_count=1, retry_interval=0)
        self.wait_for_end(run_id)
        os.kill(self.warden(), signal.SIGKILL)
        self.engine.release()
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["exit_code"], len(run["attempts"])), ("COMPLETED", 0, 1), run)
        self.assertEqual(run["outputs"], {"rows": "3"}, run)
        self.assertNothingLeft(run_id)

    def test_a_killed_warden_leaves_no_container_and_nothing_runs_twice(self):
        run_id = self.start_container({"command": WAITS}, retry_count=1, retry_interval=0)
        foreign = self.engine.add_foreign(f"carillon-{run_id}-9", "another-warden")
        first = self.begun(run_id)
        os.kill(self.warden(), signal.SIGKILL)
        second = self.begun(run_id, 2)
        self.assertIsNotNone(first.process.poll())
        self.assertEqual(len([call for call in self.engine.commands("start") if call[-1] == first.id]), 1)
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        run = self.ended(run_id)
        self.assertEqual([one["reason"] for one in run["attempts"]][0], "warden_died", run)
        self.assertIsNotNone(second.process.poll())
        self.assertIsNone(foreign.process.poll())
        self.assertEqual(self.engine.named(foreign.name), [foreign])

    def test_warden_and_keeper_killed_together_leave_no_container(self):
        run_id = self.start_container({"command": WAITS})
        container = self.begun(run_id)
        keepers = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                    stat = file.read()
            except OSError:
                continue
            if "(carillon-keeper)" in stat and stat.rsplit(") ", 1)[1].split()[1] == str(self.warden()):
                keepers.append(int(pid))
        for pid in [self.warden(), *keepers]:
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: container.process.poll() is not None, 60, "the container to be killed")
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.ended(run_id)
        self.assertNothingLeft(run_id)

    def test_a_container_created_too_late_never_starts_and_is_swept(self):
        self.engine.hangs.add("create")
        run_id = self.start_container({"command": WAITS}, on_lost="fail")
        wait_until(lambda: [call for call in self.engine.held if call[0] == "create" and run_id in call[2]], 60, "the request to create")
        os.kill(self.warden(), signal.SIGKILL)
        run = self.ended(run_id)
        self.assertEqual(run["reason"], "warden_died", run)
        self.engine.release()
        wait_until(lambda: [call for call in self.engine.done if call[0] == "create" and run_id in call[2]], 30, "the late container")
        wait_until(lambda: not self.engine.named(f"carillon-{run_id}-1"), 90, "the sweep")
        late = [one for one in self.engine.removed if run_id in one.name]
        self.assertEqual([one.status for one in late], ["created"])

    def test_a_secret_is_in_no_command_line(self):
        self.api.post("/api/secrets", {"name": "token", "value": "s3cret-of-the-test"})
        job = self.create({"command": ["/bin/sh", "-c", 'echo "it is $TOKEN"']},
                          env={"TOKEN": "{{secrets.token}}"})
        run = self.execute(job)
        self.assertEqual((run["state"], run["output"]), ("COMPLETED", "it is ***\n"), run)
        self.assertNotIn("s3cret", json.dumps(self.engine.calls))

    def test_bad_input_gets_an_answer_with_its_place(self):
        for container, fields, pointer in [({"image": "--privileged"}, {}, "/container/image"),
                                           ({"user": "a b"}, {}, "/container/user"),
                                           ({"network": "host"}, {}, "/container/network"),
                                           ({"volumes": ["/:/host"]}, {}, "/container/volumes"),
                                           ({"args": ["{{nothing}}"]}, {}, "/container/args/0"),
                                           ({}, {"run_as": "root"}, "/run_as"),
                                           ({}, {"env": {"TEXT": "one\ntwo"}}, "/env/TEXT"),
                                           ({}, {"env": {"CARILLON_CONTAINER": "x"}}, "/env/CARILLON_CONTAINER")]:
            with self.subTest(pointer), self.assertRaises(ApiError) as refused:
                self.create(container, **fields)
            self.assertIn(pointer, json.dumps(refused.exception.body))


class RealEngineTest(OnServer):
    """The same on a real engine, where there is one that can start a container. CARILLON_CONTAINER_ENGINE may name it."""
    image = "localhost/carillon-test:latest"

    @classmethod
    def setUpClass(cls):
        cls.program = os.environ.get("CARILLON_CONTAINER_ENGINE") or shutil.which("docker") or shutil.which("podman")
        why = cls.unusable()
        if why:
            raise unittest.SkipTest("skipped: " + why)
        cls.start_with(cls.program)

    @classmethod
    def ask(cls, *words, **options):
        return subprocess.run([cls.program, *words], capture_output=True, timeout=120, check=False, **options)

    @classmethod
    def unusable(cls):
        """Why no container can be started here; None: it can."""
        shell = shutil.which("busybox")
        if cls.program is None:
            return "there is neither docker nor podman"
        if shell is None:
            return "there is no busybox to make an image of"
        with tempfile.TemporaryDirectory() as root:
            os.mkdir(os.path.join(root, "bin"))
            shutil.copy(shell, os.path.join(root, "bin/busybox"))
            for name in ("sh", "echo", "sleep", "id"):
                os.symlink("busybox", os.path.join(root, "bin", name))
            image = subprocess.run(["tar", "-C", root, "-c", "."], capture_output=True, check=True).stdout
        imported = cls.ask("import", "-", cls.image, input=image)
        if imported.returncode != 0:
            return f"{cls.program} import: {imported.stderr.decode()[-300:]}"
        tried = cls.ask("run", "--rm", "--network", "none", cls.image, "/bin/echo", "works")
        return None if tried.returncode == 0 else f"{cls.program} run: {tried.stderr.decode()[-300:]}"

    def containers(self, run_id):
        listed = self.ask("ps", "--all", "--format", "{{.Names}}").stdout.decode().split()
        return [name for name in listed if run_id in name]

    def test_a_container_runs_ends_and_leaves_nothing(self):
        run = self.ended(self.start_container({"command": ["/bin/sh", "-c"], "network": "none", "pull": "never", "read_only": True,
                                     "args": ["echo as $(id -u); echo rows=3 >> $CARILLON_OUTPUT_FILE; exit $CODE"]},
                                    env={"CODE": "0"}))
        self.assertEqual((run["state"], run["output"], run["outputs"]), ("COMPLETED", "as 0\n", {"rows": "3"}), run)
        run = self.ended(self.start_container({"command": ["/bin/sh", "-c", "exit 75"], "network": "none", "pull": "never"}))
        self.assertEqual((run["reason"], run["exit_code"]), ("exit_code", 75), run)
        run = self.ended(self.start_container({"command": ["/no/such/program"], "network": "none", "pull": "never"}))
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "spawn"), run)
        run = self.ended(self.start_container({"image": "localhost/no-such-image", "network": "none", "pull": "never"}))
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "spawn"), run)
        self.assertEqual(self.containers(run["run_id"]), [])

    def test_cancel_and_the_death_of_the_warden_leave_nothing(self):
        run_id = self.start_container({"command": WAITS, "network": "none", "pull": "never"})
        wait_until(lambda: "begun" in self.log_of(run_id), 60, "the container")
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        run = self.ended(run_id)
        self.assertEqual(run["state"], "CANCELLED", run)
        self.assertIn("stopped", run["output"])
        run_id = self.start_container({"command": WAITS, "network": "none", "pull": "never"}, on_lost="fail")
        wait_until(lambda: "begun" in self.log_of(run_id), 60, "the container")
        os.kill(self.warden(), signal.SIGKILL)
        run = self.ended(run_id)
        self.assertEqual(self.containers(run_id), [])
        self.assertEqual(run["attempts"][0]["reason"], "warden_died", run)

    def log_of(self, run_id):
        return self.api.raw("GET", f"/api/runs/{run_id}/logs")[2].decode()


if __name__ == "__main__":
    unittest.main(verbosity=2)
