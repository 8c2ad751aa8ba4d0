#!/usr/bin/env python3
"""Durations of a test run: the slowest tests, their sum, and the budget of a whole run.

Reads the JUnit file that ctest writes (`ctest --output-junit FILE`). The budget limits the sum and not the elapsed
time, so that tests which only wait count as well. The sum depends on the machine: the budget is for 2 cores with the
number of tests that run side by side there. Exit code 1: above the budget by more than a fifth, or no such file.
"""
import argparse
import sys
import xml.etree.ElementTree

SLOWEST = 20
TOLERANCE = 1.2


def read(path):
    """Returns [(seconds, name)], the slowest first."""
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return sorted(((float(case.get("time")), case.get("name")) for case in cases), reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("junit")
    parser.add_argument("--budget", type=float, metavar="SECONDS", help="of all tests together")
    arguments = parser.parse_args()
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
    print(f" of a budget of {arguments.budget:.0f} s.")
    if total <= arguments.budget * TOLERANCE:
        return 0
    print("The tests take more than their budget and a fifth. Make one faster, or move its full size to the long form\n"
          "(CARILLON_TEST_LONG, label slow); the budget is in ./dev.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
