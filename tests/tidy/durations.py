#!/usr/bin/env python3
"""Durations of a test run: the slowest tests, their sum, and the budget of a whole run.

Reads the JUnit file that ctest writes (`ctest --output-junit FILE`). The budget limits the sum and not the elapsed
time, so that tests which only wait count as well. It is for 2 cores with the number of tests that run side by side there.

The sum depends on how fast the machine is, and a tree must not fail on a slow machine that passes on a fast one. So the
budget is for a reference machine, on which the work of machine_speed.py takes REFERENCE_S, and it is multiplied by how
much longer that work takes here (`--speed`). The scale has bounds: waiting does not become shorter on a faster machine,
and a machine that is slower than the upper bound breaks the promise of 20 minutes whatever the tests do. Within the
bounds a tree whose tests take twice their budget fails on every machine.

Exit code 1: above the scaled budget by more than a fifth, or no such file.
"""
import argparse
import sys
import xml.etree.ElementTree

SLOWEST = 20
TOLERANCE = 1.2
# The result of machine_speed.py on the machine for which the budget in ./dev was set.
REFERENCE_S = 0.40
SCALE_MIN, SCALE_MAX = 0.8, 2.0


def read(path):
    """Returns [(seconds, name)], the slowest first."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return sorted(((float(case.get("time")), case.get("name")) for case in cases), reverse=True)


def scale_of(speed_s):
    """The factor of the budget on a machine on which the work of machine_speed.py takes `speed_s`."""
    return min(max(speed_s / REFERENCE_S, SCALE_MIN), SCALE_MAX)


def is_within(total_s, budget_s, scale):
    return total_s <= budget_s * scale * TOLERANCE


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("junit")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="of all tests together, on the reference machine")
    parser.add_argument("--speed", type=float, metavar="SECONDS", default=REFERENCE_S,
                        help="what machine_speed.py printed on this machine; default: the reference machine")
    arguments = parser.parse_args(arguments)
    try:
        durations = read(arguments.junit)
    except OSError as error:
        print(f"durations: {error}", file=sys.stderr)
        return 1
    total = sum(seconds for seconds, _ in durations)
    print(f"The {min(SLOWEST, len(durations))} slowest of {len(durations)} tests, in seconds:")
    for seconds, name in durations[:SLOWEST]:
        print(f"  {seconds:7.1f}  {name}")
    print(f"All tests together: {total:.0f} s", end="")
    if arguments.budget is None:
        print(".")
        return 0
    scale = scale_of(arguments.speed)
    print(f" of a budget of {arguments.budget * scale:.0f} s: {arguments.budget:.0f} s on the reference machine, times "
          f"{scale:.2f} here\n(the same work takes {REFERENCE_S:.2f} s of CPU time there and {arguments.speed:.2f} s here).")
    if is_within(total, arguments.budget, scale):
        return 0
    print("The tests take more than their budget and a fifth. Make one faster, or move its full size to the long form\n"
          "(CARILLON_TEST_LONG, label slow); the budget is in ./dev.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
