#!/usr/bin/env python3
"""Outcome of a test run in two rounds: all tests side by side, then those that failed once more, alone.

    outcome.py again JUNIT
        Prints the ctest pattern (-R) of what failed; nothing if nothing failed, or more than AGAIN_MAX tests.
    outcome.py tell JUNIT [--again JUNIT] --flaky FILE --not-run FILE
        Says which tests could not run on this machine, which passed only when run alone, and which failed. Writes the
        names of the first two, one a line, to these files; a file without names is removed.
        Exit code 1: a test failed in both rounds, or there is no JUnit file.
    outcome.py commit
        Prints the commit of the working tree, with the mark "dirty" if it contains something else.

The JUnit files are those that ctest writes. A test "could not run" if it ended with its SKIP_RETURN_CODE: neither passed
nor failed. A test that did not run because another one failed, or because its program is missing, has failed.
"""
import argparse
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

# More failures than this are not due to the load of the machine, and each may last minutes.
AGAIN_MAX = 20
PASSED, FAILED, COULD_NOT_RUN = "passed", "failed", "could not run"


def read(path):
    """Returns {test: PASSED, FAILED or COULD_NOT_RUN}."""
    outcomes = {}
    for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if case.get("status") == "run":
            outcome = PASSED
        elif skipped is not None and skipped.get("message", "").startswith("SKIP_"):
            outcome = COULD_NOT_RUN
        else:
            outcome = FAILED
        outcomes[case.get("name")] = outcome
    return outcomes


def named(outcomes, outcome):
    return sorted(name for name, its in outcomes.items() if its == outcome)


def pattern(outcomes):
    """The ctest pattern of the tests to run once more; "" if there is none."""
    failed = named(outcomes, FAILED)
    if not failed or len(failed) > AGAIN_MAX:
        return ""
    return "^(" + "|".join(re.escape(name) for name in failed) + ")$"


def judge(first, again):
    """Returns (failed, flaky, not run): sorted names. `again` is {} if there was no second round."""
    failed = [name for name in named(first, FAILED) if again.get(name) != PASSED]
    # What the second round ran only as a fixture may have failed there, too.
    failed += [name for name in named(again, FAILED) if name not in failed]
    flaky = [name for name in named(first, FAILED) if name not in failed]
    return sorted(failed), flaky, sorted({*named(first, COULD_NOT_RUN), *named(again, COULD_NOT_RUN)} - set(failed))


def write(path, names):
    if names:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(name + "\n" for name in names)
    elif os.path.exists(path):
        os.remove(path)


def tell(arguments):
    try:
        first = read(arguments.junit)
        again = read(arguments.again) if arguments.again and os.path.exists(arguments.again) else {}
    except (OSError, xml.etree.ElementTree.ParseError) as error:
        print(f"outcome: {error}", file=sys.stderr)
        return 1
    failed, flaky, not_run = judge(first, again)
    write(arguments.flaky, flaky)
    write(arguments.not_run, not_run)
    for title, names in (("NOT RUN, because this machine cannot", not_run), ("Passed only when run alone", flaky),
                         ("FAILED", failed)):
        if names:
            print(f"{title} ({len(names)} of {len(first)} tests):")
            print("".join(f"  {name}\n" for name in names), end="")
    if again:  # as ctest's closing line says it, for both rounds together
        ok = 100 * (len(first) - len(failed)) // len(first)
        print(f"{ok}% tests passed, {len(failed)} tests failed out of {len(first)}")
    return 1 if failed else 0


def commit(folder="."):
    def git(*arguments):
        return subprocess.run(["git", "-C", folder, *arguments], capture_output=True, text=True, check=True).stdout.strip()
    try:
        return git("rev-parse", "HEAD") + (" dirty" if git("status", "--porcelain") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown dirty"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("again").add_argument("junit")
    telling = verbs.add_parser("tell")
    telling.add_argument("junit")
    telling.add_argument("--again", metavar="JUNIT")
    telling.add_argument("--flaky", required=True, metavar="FILE")
    telling.add_argument("--not-run", required=True, metavar="FILE")
    verbs.add_parser("commit")
    arguments = parser.parse_args(arguments)
    if arguments.verb == "tell":
        return tell(arguments)
    print(commit() if arguments.verb == "commit" else pattern(read(arguments.junit)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
