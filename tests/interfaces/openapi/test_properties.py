#!/usr/bin/env python3
"""A property-based tester invents requests from the contract and sends them to a live server. No answer may be a 5xx,
be undocumented, differ from its documented form, or be given without a token.

test_properties.py: needs schemathesis (tests/interfaces/openapi/requirements.txt); CARILLON_TESTER names it.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../support/py"))
import harness  # noqa: E402

TESTER = os.environ.get("CARILLON_TESTER", "schemathesis")
EXAMPLES = os.environ.get("CARILLON_EXAMPLES", "20" if harness.LONG else "10")  # the number of requests for each operation
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance",
          "response_schema_conformance", "missing_required_header", "use_after_free", "ensure_resource_availability",
          "ignored_auth", "unsupported_method"]


class PropertiesTest(unittest.TestCase):
    def setUp(self):
        # Without rate limits.
        self.server = harness.Standalone(extra=["--set", "rest.account_rate=0", "--set", "rest.address_rate=0"])
        self.server.start()
        api = harness.Api(self.server.runtime["url"], self.server.token)
        # A job and a run that exist, for the requests with ids from the contract's links.
        api.post("/api/jobs", {"job_id": "found", "name": "Found", "command": "true"})
        api.post("/api/jobs/found/execute")
        api.close()

    def tearDown(self):
        self.server.stop()

    def run_tester(self, *arguments):
        with tempfile.TemporaryDirectory() as directory:
            report = os.path.join(directory, "report.json")
            done = subprocess.run(
                [TESTER, "--config-file", os.path.join(HERE, "schemathesis.toml"), "run", self.server.runtime["url"] + "/api/openapi.json",
                 "--header", f"Authorization: Bearer {self.server.token}", "--seed", "20261122",
                 "--max-examples", EXAMPLES, "--continue-on-failure", "--request-timeout", "15",
                 "--generation-database", "none", "--report", "json", "--report-json-path", report,
                 "--no-color", *arguments],
                cwd=directory, env={**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": HERE},
                capture_output=True, text=True, timeout=420)
            with open(report, encoding="utf-8") as f:
                return done, json.load(f)

    def test_every_answer_follows_the_contract(self):
        done, report = self.run_tester("--checks", ",".join(CHECKS))
        self.assertEqual(done.returncode, 0, done.stdout[-6000:] + done.stderr[-2000:])
        sys.stderr.write(done.stdout[-1200:])


if __name__ == "__main__":
    unittest.main(verbosity=2)
