#!/usr/bin/env python3
"""Durations of a test run: the slowest tests, and the budget of CPU time for a whole run.

Reads the JUnit file that ctest writes (`ctest --output-junit FILE`), and with --budget what cpu_time.py wrote about that
run. The budget limits CPU time and not durations, because the tests of one tree take twice as long on a machine that has
other guests. It is for a reference machine, on which the work of machine_speed.py takes REFERENCE_S while the tests run,
and is multiplied by how much longer that work took during this run. A run above it is reported and does not fail, because
that work is one mix of many: where starting processes and fresh memory became three times as slow, it took 1.1 times as
long. Tests that wait too long fail by their own time limits.

Exit code 1: a file is missing.
"""
import argparse
import json
import sys
import xml.etree.ElementTree

SLOWEST = 20
# Not less, because the kernel's part of the tests and the work of machine_speed.py do not slow down alike; and below 2,
# so that a tree whose tests take twice their budget is told everywhere.
TOLERANCE = 1.6
# speed_s of cpu_time.py in the run by which the budget in ./dev was set.
REFERENCE_S = 0.40


def read(path):
    """Returns [(seconds, name)], the slowest first."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return sorted(((float(case.get("time")), case.get("name")) for case in cases), reverse=True)


def judge(measured, budget_s):
    """Returns (within, text) for what cpu_time.py measured."""
    scale = measured["speed_s"] / REFERENCE_S
    text = (f"CPU time of all tests: {measured['cpu_s']:.0f} s of a budget of {budget_s * scale:.0f} s: {budget_s:.0f} s on "
            f"the reference machine, times {scale:.2f}\n(the same work takes {REFERENCE_S:.2f} s there and took "
            f"{measured['speed_s']:.2f} s here). They took {measured['elapsed_s']:.0f} s.")
    return measured["cpu_s"] <= budget_s * scale * TOLERANCE, text


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("junit")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="CPU time of all tests on the reference machine")
    parser.add_argument("--measured", metavar="FILE", help="what cpu_time.py wrote; needed with --budget")
    arguments = parser.parse_args(arguments)
    try:
        durations = read(arguments.junit)
        measured = None
        if arguments.budget is not None:
            with open(arguments.measured, encoding="utf-8") as file:
                measured = json.load(file)
    except OSError as error:
        print(f"durations: {error}", file=sys.stderr)
        return 1
    print(f"The {min(SLOWEST, len(durations))} slowest of {len(durations)} tests, in seconds:")
    for seconds, name in durations[:SLOWEST]:
        print(f"  {seconds:7.1f}  {name}")
    print(f"All tests together: {sum(seconds for seconds, _ in durations):.0f} s.")
    if measured is None:
        return 0
    within, text = judge(measured, arguments.budget)
    print(text)
    if not within:
        print(f"The tests take more than {TOLERANCE} times their budget. Unless this machine was slow: make one cheaper, or\n"
              "move its full size to the long form (CARILLON_TEST_LONG, label slow); the budget is in ./dev.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
