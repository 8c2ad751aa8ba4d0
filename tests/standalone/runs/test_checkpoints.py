#!/usr/bin/env python3
"""Progress and checkpoints on a standalone server: files that real processes write, links, sizes, retries and restarts."""
import os
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, cli, wait_until  # noqa: E402
from server_case import OwnServerCase, ServerCase  # noqa: E402

PROMISED_S = 5


class CheckpointsTest(ServerCase):
    def path(self, name):
        return os.path.join(self.server.scratch, f"{self._testMethodName}-{name}")

    def start_command(self, command, **fields):
        return self.start(self.create(command=command, **fields))

    def checkpoint(self, run_id):
        status, headers, body = self.api.raw("GET", f"/api/runs/{run_id}/checkpoint")
        if status == 404:
            return None
        self.assertEqual((status, headers["Content-Type"]), (200, "application/octet-stream"))
        return body

    def wait_for(self, name):
        """A command that goes on once the test has created this file."""
        return f"while [ ! -e {self.path(name)} ]; do sleep 0.05; done"

    def release(self, name):
        with open(self.path(name), "w", encoding="utf-8"):
            pass

    def test_progress_is_shown_while_it_runs(self):
        run_id = self.start_command(f"{BIN}/carillon progress 42 'row 42 of 100'; {self.wait_for('go')}")
        began = time.monotonic()
        run = wait_until(lambda: (lambda r: r if r["progress"] else None)(self.run_of(run_id)), 30, "its progress")
        self.assertLess(time.monotonic() - began, PROMISED_S + 5)
        self.assertEqual((run["progress"]["percent"], run["progress"]["text"]), (42, "row 42 of 100"))
        self.assertIsNone(run["checkpoint"])
        self.assertIn("42 % row 42 of 100", cli(self.server, "run", "get", run_id)[1])
        self.release("go")
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["progress"], run["checkpoint"]), ("COMPLETED", None, None))

    def test_next_attempt_continues_from_the_checkpoint_of_a_failed_one(self):
        journal = self.path("journal")
        run_id = self.start_command(
            f"n=$({BIN}/carillon checkpoint load 2>/dev/null || echo none); echo \"$CARILLON_ATTEMPT $n\" >> {journal}; "
            f"echo \"state $CARILLON_ATTEMPT\" | {BIN}/carillon checkpoint save - && "
            "[ $CARILLON_ATTEMPT = 3 ]", retry_count=3, retry_interval=1)
        run = self.ended(run_id)
        self.assertEqual(run["state"], "COMPLETED", run)
        with open(journal, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), ["1 none", "2 state 1", "3 state 2"])
        self.assertIsNone(run["checkpoint"])
        self.assertIsNone(self.checkpoint(run_id))

    def test_retry_by_hand_keeps_the_checkpoint(self):
        run_id = self.start_command("test -e $CARILLON_CHECKPOINT_FILE && exit 0; printf 'a\\000b' > $CARILLON_CHECKPOINT_FILE.new; "
                            "mv $CARILLON_CHECKPOINT_FILE.new $CARILLON_CHECKPOINT_FILE; exit 3")
        run = self.ended(run_id)
        self.assertEqual(run["state"], "FAILED")
        self.assertEqual((run["checkpoint"]["size"], run["checkpoint"]["attempt"]), (3, 1))
        self.assertEqual(run["error"], "exit code 3")
        self.assertEqual(self.checkpoint(run_id), b"a\0b")
        self.api.post(f"/api/runs/{run_id}/retry", {})
        self.assertEqual(self.ended(run_id)["state"], "COMPLETED")

    def test_a_checkpoint_is_saved_up_to_the_largest_size(self):
        make = "head -c {} /dev/zero > $CARILLON_CHECKPOINT_FILE.new; mv $CARILLON_CHECKPOINT_FILE.new $CARILLON_CHECKPOINT_FILE; "
        run_id = self.start_command(make.format(1 << 20) + "exit 1")
        self.assertEqual(self.ended(run_id)["checkpoint"]["size"], 1 << 20)
        run_id = self.start_command(make.format((1 << 20) + 1) + self.wait_for("go") + "; exit 1")
        log = wait_until(lambda: cli(self.server, "run", "logs", run_id)[1], 30, "a line in the log")
        self.assertIn("the checkpoint file is not saved: it is larger than 1024 KiB", log)
        self.release("go")
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["error"], run["checkpoint"]), ("FAILED", "exit code 1", None))

    def test_a_link_to_another_file_is_refused(self):
        secret = self.path("secret")
        with open(secret, "w", encoding="utf-8") as file:
            file.write("of another user")
        run_id = self.start_command(f"ln -s {secret} $CARILLON_CHECKPOINT_FILE; ln -s {secret} $CARILLON_PROGRESS_FILE; exit 1")
        run = self.ended(run_id)
        self.assertEqual((run["state"], run["checkpoint"], run["progress"]), ("FAILED", None, None))
        self.assertIn("the checkpoint file is not saved: it is not a regular file", run["error"])
        self.assertIsNone(self.checkpoint(run_id))

    def test_bad_progress_is_a_line_in_the_log(self):
        run_id = self.start_command(f"echo soon > $CARILLON_PROGRESS_FILE; {self.wait_for('go')}")
        log = wait_until(lambda: cli(self.server, "run", "logs", run_id)[1], 30, "a line in the log")
        self.assertIn("the progress file is not saved", log)
        self.release("go")
        self.assertEqual(self.ended(run_id)["state"], "COMPLETED")

    def test_files_are_removed_with_their_attempt(self):
        run_id = self.start_command("echo 1 > $CARILLON_PROGRESS_FILE; echo 2 > $CARILLON_CHECKPOINT_FILE.beside; "
                            "echo $CARILLON_PROGRESS_FILE")
        run = self.ended(run_id)
        directory = os.path.dirname(run["output"].strip())
        wait_until(lambda: not any(name.startswith(run_id) for name in os.listdir(directory)), 30, "the files to be removed")


class RestartTest(OwnServerCase):
    def test_a_restarted_server_continues_to_save(self):
        go = os.path.join(self.server.scratch, "go")
        run_id = self.start(self.create(command=(
            f"echo one > $CARILLON_CHECKPOINT_FILE; while [ ! -e {go} ]; do sleep 0.05; done; "
            "echo two > $CARILLON_CHECKPOINT_FILE; exit 1")))
        wait_until(lambda: self.run_of(run_id)["checkpoint"], 30, "the first checkpoint")
        self.server.kill()
        with open(go, "w", encoding="utf-8"):
            pass
        self.restart()
        self.assertEqual(self.ended(run_id)["state"], "FAILED")
        self.assertEqual(self.api.raw("GET", f"/api/runs/{run_id}/checkpoint")[2], b"two\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
