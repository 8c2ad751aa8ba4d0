#!/usr/bin/env python3
"""Tests of the report of durations: the budget follows the speed of the machine during the run."""
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cpu_time  # noqa: E402
import durations  # noqa: E402
import machine_speed  # noqa: E402

BUDGET_S = 1000
HERE = os.path.dirname(os.path.abspath(__file__))


def check(cpu_s, speed=1.0, budget=True):
    """Runs the check for a run that took this CPU time; returns (exit code, stdout, stderr)."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as junit, tempfile.NamedTemporaryFile("w") as measured:
        junit.write('<testsuite><testcase name="quick" time="1"/><testcase name="long" time="9"/></testsuite>')
        junit.flush()
        json.dump({"cpu_s": cpu_s, "speed_s": speed * durations.REFERENCE_S, "elapsed_s": 600}, measured)
        measured.flush()
        options = ["--budget", str(BUDGET_S), "--measured", measured.name] if budget else []
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = durations.main([junit.name, *options])
    return code, out.getvalue(), err.getvalue()


class DurationsTest(unittest.TestCase):
    def test_a_run_far_above_its_budget_is_told(self):
        self.assertEqual("", check(1599)[2])
        code, out, err = check(1601)
        self.assertEqual(0, code, "the machine may be slow in what the work does not measure")
        self.assertIn("CPU time of all tests: 1601 s of a budget of 1000 s", out)
        self.assertIn("times their budget", err)

    def test_without_a_budget_nothing_is_told(self):
        code, out, err = check(99999, budget=False)
        self.assertEqual((0, ""), (code, err))
        self.assertLess(out.index("long"), out.index("quick"), "the slowest is first")

    def test_a_missing_file_fails(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(1, durations.main(["no-such-file.xml"]))

    def test_the_budget_of_a_slower_machine_is_higher(self):
        _, out, err = check(2300, speed=1.5)
        self.assertEqual("", err)
        self.assertIn("1500 s: 1000 s on the reference machine, times 1.50", out)
        self.assertIn("times their budget", check(2401, speed=1.5)[2])

    def test_a_tree_that_doubles_its_tests_is_told_on_every_machine(self):
        for slower in (0.5, 1, 1.445, 4):
            self.assertEqual("", check(BUDGET_S * slower, speed=slower)[2])
            self.assertIn("times their budget", check(BUDGET_S * slower * 2, speed=slower)[2], slower)


class CpuTimeTest(unittest.TestCase):
    def measure(self, code):
        with tempfile.NamedTemporaryFile() as output:
            done = subprocess.run([sys.executable, os.path.join(HERE, "cpu_time.py"), "--output", output.name,
                                   sys.executable, "-c", code], timeout=120, check=False)
            return done.returncode, json.load(output)

    def test_descendants_count_also_those_that_were_left(self):
        left = ("import os, time\n"
                "done, ready = os.pipe()\n"
                "if os.fork() == 0:\n"
                "    if os.fork() == 0:\n"  # its parent ends first
                "        while time.process_time() < 1: pass\n"
                "        os.write(ready, b'x')\n"
                "    os._exit(0)\n"
                "os.wait(); os.read(done, 1)\n")
        code, measured = self.measure(left)
        self.assertEqual(0, code)
        self.assertGreater(measured["cpu_s"], 0.9)
        self.assertLess(measured["cpu_s"], 10)
        self.assertGreater(measured["speed_s"], 0.05)

    def test_the_exit_code_is_that_of_the_command(self):
        self.assertEqual(3, self.measure("raise SystemExit(3)")[0])
        self.assertEqual(128 + 9, self.measure("import os; os.kill(os.getpid(), 9)")[0])

    def test_the_work_itself_does_not_count(self):
        _, measured = self.measure("pass")
        self.assertLess(measured["cpu_s"], 0.5)


class MachineSpeedTest(unittest.TestCase):
    def test_the_work_is_long_enough_to_be_measured(self):
        # A bound for any machine on which the tests can run: a clock tick is 0.01 s.
        self.assertGreater(machine_speed.work(), 0.05)
        self.assertGreater(cpu_time.SAMPLE_EVERY_S, 10)


if __name__ == "__main__":
    unittest.main()
