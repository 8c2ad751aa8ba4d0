#!/usr/bin/env python3
"""Tests of the program that starts every test: what a test leaves behind fails it, and is removed."""
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "support", "py")
sys.path.insert(0, FOLDER)
import nothing_left  # noqa: E402

PROGRAM = os.path.join(FOLDER, "nothing_left.py")
LIMIT_S = 120


def run(line, grace="0.2"):
    """Runs a line of a shell under the program; returns (exit code, output, errors)."""
    done = subprocess.run([sys.executable, PROGRAM, "--grace", grace, "sh", "-c", line], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    return done.returncode, done.stdout.strip(), done.stderr


class NothingLeftTest(unittest.TestCase):
    def assertEnded(self, pid):
        self.assertFalse(os.path.exists(f"/proc/{int(pid)}"), pid)

    def test_the_exit_code_is_that_of_the_test(self):
        self.assertEqual((0, "out", ""), run("echo out"))
        self.assertEqual((3, "", ""), run("exit 3"))
        self.assertEqual(77, run("exit 77")[0])
        self.assertEqual(128 + 9, run("kill -9 $$")[0])

    def test_a_missing_program_fails(self):
        done = subprocess.run([sys.executable, PROGRAM, "/no/such/program"], capture_output=True, text=True,
                              timeout=LIMIT_S, check=False)
        self.assertEqual(1, done.returncode)
        self.assertIn("/no/such/program: No such file", done.stderr)

    def test_a_process_that_is_left_fails_it_and_is_killed(self):
        code, pid, errors = run("sleep 1000 >/dev/null 2>&1 & echo $!")
        self.assertEqual(nothing_left.LEFT, code)
        self.assertIn(f"process {pid}: sleep 1000", errors)
        self.assertEnded(pid)

    def test_one_in_a_session_of_its_own_whose_parent_ended_is_found(self):
        with tempfile.NamedTemporaryFile() as begun:
            code, pid, errors = run("(setsid sh -c 'trap \"\" TERM; echo $$; exec >&- 2>&-; "
                                  f"echo >{begun.name}; sleep 1000; :' &); while [ ! -s {begun.name} ]; do :; done", "1")
        self.assertEqual(nothing_left.LEFT, code)
        self.assertEqual(2, errors.count("sleep 1000"), errors)  # with its child
        self.assertEnded(pid)

    def test_one_that_ends_within_the_grace_is_not_left(self):
        self.assertEqual((0, "", ""), run("sleep 0.3 &", str(LIMIT_S)))

    def test_a_failure_stays_and_what_was_left_is_said(self):
        code, pid, errors = run("sleep 1000 >/dev/null 2>&1 & echo $!; exit 5")
        self.assertEqual(5, code)
        self.assertIn("sleep 1000", errors)
        self.assertEnded(pid)

    def test_a_mount_that_is_left_fails_it_and_is_seen_nowhere(self):
        with tempfile.TemporaryDirectory() as folder:
            code, out, errors = run(f"mount -t tmpfs tmp {folder} 2>/dev/null && echo mounted")
            if out == "mounted":  # by root only
                self.assertEqual(nothing_left.LEFT, code)
                self.assertIn(f"mount {folder} (tmpfs)", errors)
            else:
                self.assertNotIn("left behind", errors)
            self.assertFalse(os.path.ismount(folder))
            self.assertEqual(0, run(f"mount -t tmpfs tmp {folder} 2>/dev/null && umount {folder}; true")[0])

    def test_descendants_are_found_through_all_generations(self):
        self.assertEqual([2, 3, 5], nothing_left.descendants({1: 0, 2: 1, 3: 2, 5: 1, 4: 0, 6: 4}, 1))
        self.assertEqual([], nothing_left.descendants({1: 0, 2: 0}, 2))

    def test_named_network_namespaces_are_mounts_that_are_left(self):
        before = {"1": ("/", "ext4")}
        after = {**before, "2": ("/run/netns", "tmpfs"), "3": ("/run/netns/a", "nsfs"), "4": ("/mnt", "tmpfs")}
        self.assertEqual([("/mnt", "tmpfs"), ("/run/netns/a", "nsfs")], nothing_left.added(before, after))
        self.assertEqual([], nothing_left.added(after, after))

    def test_the_mounts_of_this_machine_are_read(self):
        self.assertIn("/", [where for where, _ in nothing_left.mounts().values()])


if __name__ == "__main__":
    unittest.main()
