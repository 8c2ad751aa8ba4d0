#!/usr/bin/env python3
"""Tests of the outcome of a test run in two rounds, on files that ctest writes here."""
import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import outcome  # noqa: E402

# A test is a line of a shell, and the properties that it has.
TESTS = {
    "good": ("true", ""),
    "good+more": ("exit 0", ""),
    "once": ("test -e again", ""),  # fails without this file
    "odd-name+": ("test -e again", ""),
    "cannot": ("exit 77", "SKIP_RETURN_CODE 77"),
    "setup": ("test -e again", "FIXTURES_SETUP fixture"),
    "needs": ("true", "FIXTURES_REQUIRED fixture"),
}


class OutcomeTest(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def ctest(self, output, tests, *options):
        with open(self.path("CTestTestfile.cmake"), "w", encoding="utf-8") as file:
            for name, (line, properties) in tests.items():
                file.write(f'add_test("{name}" sh -c "{line}")\n')
                if properties:
                    file.write(f'set_tests_properties("{name}" PROPERTIES {properties})\n')
            if "missing" in tests:
                file.write("add_test(absent /no/such/program)\n")
        subprocess.run(["ctest", "--output-junit", self.path(output), *options], cwd=self.folder, capture_output=True,
                       timeout=120, check=False)

    def tell(self, *options):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = outcome.main(["tell", self.path("first.xml"), *options, "--flaky", self.path("flaky"), "--not-run",
                                 self.path("not_run")])
        return code, out.getvalue()

    def names(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().splitlines()

    def rounds(self, tests):
        """Runs them, and what failed once more when there is a file `again`; returns tell()."""
        self.ctest("first.xml", tests)
        pattern = outcome.pattern(outcome.read(self.path("first.xml")))
        with open(self.path("again"), "w", encoding="utf-8"):
            pass
        self.ctest("again.xml", tests, "-R", pattern)
        return self.tell("--again", self.path("again.xml"))

    def test_what_passes_the_second_time_passes(self):
        code, output = self.rounds(TESTS)
        self.assertEqual(0, code, output)
        self.assertEqual(["needs", "odd-name+", "once", "setup"], self.names("flaky"))
        self.assertEqual(["cannot"], self.names("not_run"))
        self.assertIn("Passed only when run alone (4 of 7 tests):\n  needs\n", output)
        self.assertIn("NOT RUN, because this machine cannot (1 of 7 tests):\n  cannot\n", output)
        self.assertTrue(output.endswith("100% tests passed, 0 tests failed out of 7\n"), output)
        self.assertNotIn("good+more", outcome.read(self.path("again.xml")))

    def test_what_fails_twice_fails(self):
        code, output = self.rounds({**TESTS, "bad": ("exit 1", "")})
        self.assertEqual(1, code)
        self.assertIn("FAILED (1 of 8 tests):\n  bad\n", output)
        self.assertTrue(output.endswith("87% tests passed, 1 tests failed out of 8\n"), output)
        self.assertNotIn("bad", self.names("flaky"))

    def test_a_missing_program_is_a_failure(self):
        code, output = self.rounds({"missing": ("true", "")})
        self.assertEqual(1, code)
        self.assertIn("  absent\n", output)

    def test_a_fixture_that_fails_only_the_second_time_is_a_failure(self):
        code, output = self.rounds({"setup": ("test ! -e again", "FIXTURES_SETUP fixture"),
                                  "needs": ("false", "FIXTURES_REQUIRED fixture")})
        self.assertEqual(1, code)
        self.assertIn("  needs\n  setup\n", output)

    def test_without_a_second_round_a_failure_stays(self):
        self.ctest("first.xml", TESTS)
        code, output = self.tell()
        self.assertEqual(1, code)
        self.assertIn("FAILED (4 of 7 tests)", output)
        self.assertFalse(os.path.exists(self.path("flaky")))

    def test_nothing_remains_of_an_earlier_run(self):
        for name in ("flaky", "not_run"):
            with open(self.path(name), "w", encoding="utf-8") as file:
                file.write("old\n")
        self.ctest("first.xml", {"good": ("true", "")})
        self.assertEqual((0, ""), self.tell())
        self.assertFalse(os.path.exists(self.path("flaky")) or os.path.exists(self.path("not_run")))

    def test_no_file_is_a_failure(self):
        self.assertEqual(1, self.tell()[0])
        with open(self.path("first.xml"), "w", encoding="utf-8") as file:
            file.write("<testsuite>")
        self.assertEqual(1, self.tell()[0])

    def test_many_failures_are_not_run_again(self):
        failures = {f"bad{number}": outcome.FAILED for number in range(outcome.AGAIN_MAX)}
        self.assertTrue(re.fullmatch(outcome.pattern(failures), "bad3"))
        self.assertEqual("", outcome.pattern({**failures, "one more": outcome.FAILED}))
        self.assertEqual("", outcome.pattern({"good": outcome.PASSED}))

    def test_the_commit_and_whether_there_is_more(self):
        self.assertEqual("unknown dirty", outcome.commit(self.folder))
        git = ["git", "-C", self.folder, "-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run([*git, "init", "-q"], check=True, timeout=120)
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True, timeout=120)
        self.assertRegex(outcome.commit(self.folder), r"^[0-9a-f]{40}$")
        with open(self.path("new"), "w", encoding="utf-8"):
            pass
        self.assertRegex(outcome.commit(self.folder), r"^[0-9a-f]{40} dirty$")


if __name__ == "__main__":
    unittest.main()
