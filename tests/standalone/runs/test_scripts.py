#!/usr/bin/env python3
"""Scripts and retry conditions on a standalone server: real interpreters, arguments, secrets, and hosts without them."""
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

# Every Debian 12 with Python has these. The others are tested only on hosts that have them.
ALWAYS = {"sh", "bash", "python3", "perl"}
BODIES = {
    "sh": 'echo "arg=$1 count=$# param=$CARILLON_PARAM_DAY"',
    "bash": 'set -o pipefail; echo "arg=$1 count=$# param=$CARILLON_PARAM_DAY"',
    "python3": "import os, sys\n"
               "print(f\"arg={sys.argv[1]} count={len(sys.argv) - 1} param={os.environ['CARILLON_PARAM_DAY']}\")",
    "perl": 'print "arg=$ARGV[0] count=" . @ARGV . " param=$ENV{CARILLON_PARAM_DAY}\\n";',
    "node": "console.log(`arg=${process.argv[2]} count=${process.argv.length - 2} "
            "param=${process.env.CARILLON_PARAM_DAY}`)",
    "php": '<?php echo "arg=$argv[1] count=", $argc - 1, " param=", getenv("CARILLON_PARAM_DAY"), "\\n";',
    "pwsh": 'Write-Output "arg=$($args[0]) count=$($args.Count) param=$env:CARILLON_PARAM_DAY"',
}
STATED_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ScriptsTest(ServerCase):
    JOB = {}

    def features(self):
        def heard():
            executors = self.api.get("/api/executors")["items"]
            return executors[0]["features"] if executors else None
        return wait_until(heard, 30, "the executor's features")

    def test_shards_know_their_index_and_failed_ones_are_retried(self):
        gate = os.path.join(self.server.scratch, "gate")
        body = f'echo "$CARILLON_SHARD_INDEX of $CARILLON_SHARD_TOTAL"; [ "$1" != 1 ] || [ -e {gate} ]'
        job = self.create(name="shards", type="script", shards={"total": 3}, overlap_policy="skip",
                          script={"interpreter": "sh", "body": body, "args": ["{{shard_index}}"]})
        run = self.ended(self.start(job))
        self.assertEqual((run["state"], run["reason"], run["shards"]),
                         ("FAILED", "shard_failed", {"COMPLETED": 2, "FAILED": 1}), run)

        def parts():
            return self.api.get(f"/api/runs/{run['run_id']}/shards")["shards"]
        self.assertEqual([self.run_of(part["run_id"])["output"] for part in parts()],
                         ["0 of 3\n", "1 of 3\n", "2 of 3\n"])
        with open(gate, "w"):
            pass
        self.assertEqual(cli(self.server, "run", "retry", run["run_id"], "--shards", "failed")[0], 0)
        self.assertEqual(self.ended(run["run_id"])["state"], "COMPLETED")
        self.assertEqual([part["attempt"] for part in parts()], [1, 2, 1])

    def test_every_interpreter_of_the_host_runs_scripts(self):
        here = {name for name in BODIES if shutil.which(name, path=STATED_PATH)}
        self.assertLessEqual(ALWAYS, here)
        self.assertEqual({one for one in self.features() if one.startswith("script:")},
                         {f"script:{name}" for name in here})
        for name in sorted(here):
            with self.subTest(name):
                job = self.create(name=f"script {name}", type="script", parameters={"day": "2026-03-01; exit 9"},
                                  script={"interpreter": name, "body": BODIES[name],
                                          "args": ["{{params.day}}", "two words"]})
                run = self.ended(self.start(job))
                self.assertEqual(run["state"], "COMPLETED", run)
                self.assertEqual(run["output"],
                                 "arg=2026-03-01; exit 9 count=2 param=2026-03-01; exit 9\n")
                self.assertGreater(run["usage"]["cpu_us"], 0)
                self.assertEqual(run["attempts"][0]["usage"], run["usage"])

    def test_the_report_names_what_the_host_lacks(self):
        executor = self.api.get("/api/executors/" + self.api.get("/api/executors")["items"][0]["executor_id"])
        report = {check["name"]: check for check in executor["report"]}
        for name in BODIES:
            here = f"script:{name}" in self.features()
            self.assertEqual(report[f"script:{name}"]["state"], "works" if here else "no", report)
        self.assertIn("open_files", report)
        self.assertIn("Report of its host:", cli(self.server, "executor", "get", executor["executor_id"])[1])

    def test_a_script_waits_until_a_host_has_its_interpreter(self):
        missing = next(name for name in ("php", "pwsh", "node") if not shutil.which(name, path=STATED_PATH))
        job = self.create(type="script", script={"interpreter": missing, "body": "x"})
        run_id = self.start(job)
        waiting = wait_until(lambda: self.api.get(f"/api/runs/{run_id}").get("waiting"), 30, "a reason")
        self.assertEqual(waiting["code"], "no_feature", waiting)
        self.assertIn(f"script:{missing}", waiting["detail"])
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")

    def test_secrets_reach_a_script_and_not_its_output(self):
        self.api.post("/api/secrets", {"name": "KEY", "value": "open-sesame"})
        job = self.create(type="script", env={"KEY": "{{secrets.KEY}}"},
                          script={"interpreter": "python3",
                                  "body": "import os; k = os.environ['KEY']; print(len(k), k)"})
        self.assertEqual(self.ended(self.start(job))["output"], "11 ***\n")

    def test_a_script_of_full_size_and_a_larger_one(self):
        body = "#" * (262_144 - 8) + "\nexit 7\n"
        job = self.create(type="script", script={"interpreter": "sh", "body": body})
        self.assertEqual(self.api.get(f"/api/jobs/{job['job_id']}")["script"]["body"], body)
        self.assertEqual(self.ended(self.start(job))["exit_code"], 7)
        with self.assertRaises(ApiError) as refused:
            self.create(type="script", script={"interpreter": "sh", "body": body + "#"})
        self.assertEqual(refused.exception.status, 400)
        self.assertEqual(json.loads(refused.exception.body)["errors"][0]["pointer"], "/script/body")

    def test_only_listed_failures_are_retried(self):
        job = self.create(type="shell", command="exit $CARILLON_PARAM_CODE", parameters={"code": 75},
                          retry_count=2, retry_interval=0, retry_on=["exit:70-79"])
        tried = self.ended(self.start(job))
        self.assertEqual((tried["state"], tried["attempt"], tried["reason"]), ("FAILED", 3, "exit_code"))
        refused = self.ended(self.start(job, parameters={"code": 2}))
        self.assertEqual((refused["state"], refused["attempt"], refused["reason"], refused["exit_code"]),
                         ("FAILED", 1, "not_retryable", 2))


if __name__ == "__main__":
    unittest.main(verbosity=2)
