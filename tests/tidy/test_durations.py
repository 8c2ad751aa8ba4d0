#!/usr/bin/env python3
"""Tests of the check of durations: the budget follows the speed of the machine, within bounds."""
import contextlib
import io
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import durations  # noqa: E402
import machine_speed  # noqa: E402

BUDGET_S = 1000


def check(seconds, *options):
    """Runs the check for a run with one test of 1 s and one of the rest; returns (exit code, stdout, stderr)."""
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as junit:
        junit.write(f'<testsuite><testcase name="quick" time="1"/><testcase name="long" time="{seconds - 1}"/></testsuite>')
        junit.flush()
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = durations.main([junit.name, *map(str, options)])
    return code, out.getvalue(), err.getvalue()


class DurationsTest(unittest.TestCase):
    def test_a_run_within_the_budget_and_a_fifth_passes(self):
        self.assertEqual(0, check(1199, "--budget", BUDGET_S)[0])
        code, out, err = check(1201, "--budget", BUDGET_S)
        self.assertEqual(1, code)
        self.assertIn("All tests together: 1201 s of a budget of 1000 s", out)
        self.assertIn("more than their budget", err)

    def test_without_a_budget_nothing_fails(self):
        code, out, _ = check(99999)
        self.assertEqual(0, code)
        self.assertLess(out.index("long"), out.index("quick"), "the slowest is first")

    def test_a_missing_file_fails(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(1, durations.main(["no-such-file.xml"]))

    def test_the_budget_of_a_slower_machine_is_higher(self):
        slow = 1.5 * durations.REFERENCE_S
        code, out, _ = check(1700, "--budget", BUDGET_S, "--speed", slow)
        self.assertEqual(0, code)
        self.assertIn("1500 s: 1000 s on the reference machine, times 1.50 here", out)
        self.assertIn(f"{durations.REFERENCE_S:.2f} s of CPU time there and {slow:.2f} s here", out)
        self.assertEqual(1, check(1801, "--budget", BUDGET_S, "--speed", slow)[0])

    def test_the_scale_has_bounds(self):
        self.assertEqual(durations.SCALE_MIN, durations.scale_of(durations.REFERENCE_S / 10))
        self.assertEqual(durations.SCALE_MAX, durations.scale_of(durations.REFERENCE_S * 10))
        self.assertEqual(1, durations.scale_of(durations.REFERENCE_S))

    def test_a_tree_that_doubles_its_tests_fails_on_every_machine(self):
        for slower in (durations.SCALE_MIN, 1, 1.445, durations.SCALE_MAX):
            speed = slower * durations.REFERENCE_S
            self.assertEqual(0, check(BUDGET_S * slower, "--budget", BUDGET_S, "--speed", speed)[0])
            self.assertEqual(1, check(BUDGET_S * slower * 2, "--budget", BUDGET_S, "--speed", speed)[0], slower)


class MachineSpeedTest(unittest.TestCase):
    def test_the_work_is_long_enough_to_be_measured(self):
        # Bounds for any machine on which the tests can run: a clock tick is 0.01 s.
        self.assertGreater(machine_speed.measure(rounds=1), 0.1)


if __name__ == "__main__":
    unittest.main()
