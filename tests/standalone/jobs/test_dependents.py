#!/usr/bin/env python3
"""Jobs that start after other jobs, against a real server and its database: each run of the upstream job starts at
most one run, with the same fire time; cycles and deletes are refused by name."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

RUNS = 20
SECONDS = 60


class DependentsTest(ServerCase):
    def make(self, job_id, *schedules, command="true", **more):
        body = {"job_id": job_id, "name": job_id.title(), "schedules": [{"kind": "after", **one} for one in schedules]}
        return self.api.post("/api/jobs", {**body, **({"command": command} if "type" not in more else {}), **more})

    def execute(self, job_id, **more):
        return self.api.post(f"/api/jobs/{job_id}/execute", more)["run_id"]

    def runs(self, job_id, count=1):
        """The runs of the job, when `count` of them have ended."""
        def found():
            runs = self.api.runs(job_id)
            return runs if sum(run["ended_at"] is not None for run in runs) >= count else None
        return wait_until(found, SECONDS, f"{count} runs of {job_id}")

    def refused(self, method, path, body=None, headers=None):
        with self.assertRaises(ApiError) as refusal:
            self.api.call(method, path, body, headers)
        return refusal.exception.status, json.loads(refusal.exception.body)

    def dependencies(self, job_id):
        return self.api.get(f"/api/jobs/{job_id}/dependencies")

    def test_success_starts_a_run_with_the_same_fire_time(self):
        self.make("load")
        self.make("report", {"job": "load"}, command="echo from {{trigger.run_id}} {{trigger.state}}")
        self.make("mail", {"job": "report", "on": "done"})
        first = self.ended(self.execute("load"))
        [report] = self.runs("report")
        [mail] = self.runs("mail")
        for run, upstream in ((report, first), (mail, report)):
            self.assertEqual((run["kind"], run["state"], run["fire_time"]), ("after", "COMPLETED", first["fire_time"]))
            trigger = self.run_of(run["run_id"])["trigger"]
            self.assertEqual((trigger["run_id"], trigger["job_id"], trigger["state"], trigger["fire_time"]),
                             (upstream["run_id"], upstream["job_id"], "COMPLETED", first["fire_time"]))
        self.assertIsNone(self.run_of(first["run_id"])["trigger"])
        self.assertIn(f"from {first['run_id']} COMPLETED", self.run_of(report["run_id"])["output"])
        listed = list(self.api.pages("/api/runs?kind=after&job_id=report"))
        self.assertEqual([run["run_id"] for run in listed], [report["run_id"]])

    def test_each_result_starts_its_dependents_only(self):
        self.make("fails", command="exit 3")
        self.make("works")
        for on in ("success", "failure", "done"):
            self.make("on-" + on, {"job": "fails", "on": on}, {"job": "works", "on": on})
        fails, works = (self.ended(self.execute(job)) for job in ("fails", "works"))
        self.assertEqual((fails["state"], works["state"]), ("FAILED", "COMPLETED"))
        both = {fails["fire_time"], works["fire_time"]}
        self.assertEqual({run["fire_time"] for run in self.runs("on-done", 2)}, both)
        self.assertEqual([run["fire_time"] for run in self.runs("on-failure")], [fails["fire_time"]])
        self.assertEqual([run["fire_time"] for run in self.runs("on-success")], [works["fire_time"]])

    def test_a_cancelled_run_starts_nothing_and_a_retry_that_succeeds_starts_one(self):
        flag = os.path.join(self.server.scratch, "flag")
        self.make("flaky", command=f"test -e {flag} || exit 3")
        self.make("slow", command="sleep 300")
        self.make("next", {"job": "flaky"}, {"job": "slow", "on": "done"})
        slow = self.execute("slow")
        wait_until(lambda: self.run_of(slow)["state"] == "RUNNING", SECONDS, "the slow run")
        self.api.post(f"/api/runs/{slow}/cancel", {})
        self.assertEqual(self.ended(slow)["state"], "CANCELLED")
        run = self.execute("flaky")
        self.assertEqual(self.ended(run)["state"], "FAILED")
        with open(flag, "w", encoding="utf-8"):
            pass
        self.api.post(f"/api/runs/{run}/retry", {})
        wait_until(lambda: self.run_of(run)["state"] == "COMPLETED", SECONDS, "the retry")
        [started] = self.runs("next")
        self.assertEqual(self.run_of(started["run_id"])["trigger"]["run_id"], run)

    def test_outputs_of_the_run_before_reach_the_process_as_text(self):
        evil = "12; touch {}/taken".format(self.server.scratch)
        self.make("count", command='test "$CARILLON_PARAM_ROWS" = none || echo "rows=$CARILLON_PARAM_ROWS" '
                                   '>> "$CARILLON_OUTPUT_FILE"', parameters={"rows": evil})
        asks = {"job": "count", "parameters": {"rows": "{{trigger.outputs.rows}}", "how": "{{trigger.state}}"}}
        self.make("show", asks, command='echo "[$CARILLON_PARAM_ROWS] $CARILLON_PARAM_HOW"')
        first = self.ended(self.execute("count"))
        [shown] = self.runs("show")
        self.assertEqual(shown["fire_time"], first["fire_time"])
        self.assertIn(f"[{evil}] COMPLETED", self.run_of(shown["run_id"])["output"])
        self.assertFalse(os.path.exists(os.path.join(self.server.scratch, "taken")))
        without = self.ended(self.execute("count", parameters={"rows": "none"}))
        run = next(run for run in self.runs("show", 2) if run["fire_time"] == without["fire_time"])
        self.assertEqual((run["state"], run["reason"]), ("SKIPPED", "bad_parameters"))
        self.assertIn(f"The run {without['run_id']} of job count has no output 'rows'.",
                      self.run_of(run["run_id"])["error"])
        body = {"schedules": [{"kind": "after", **asks}], "command": "echo {{params.rows}}"}
        status, problem = self.refused("PATCH", "/api/jobs/show", body, {"If-Match": "*"})
        self.assertEqual((status, [one["pointer"] for one in problem["errors"]]),
                         (400, ["/schedules/0/parameters/rows"]))
        status, problem = self.refused("PATCH", "/api/jobs/count", {"shards": {"total": 2}}, {"If-Match": "*"})
        self.assertEqual((status, problem["code"]), (409, "in_use"))

    def test_many_runs_start_one_each(self):
        self.make("often", type="noop")
        self.make("each", {"job": "often"}, type="noop")
        fires = {self.ended(self.execute("often"))["fire_time"] for _ in range(RUNS)}
        self.assertEqual(len(fires), RUNS)
        runs = self.runs("each", RUNS)
        self.assertEqual(({run["fire_time"] for run in runs}, len(runs)), (fires, RUNS))

    def test_an_earlier_end_starts_nothing_and_a_paused_job_gets_a_gap(self):
        self.make("earlier")
        self.ended(self.execute("earlier"))
        self.make("later", {"job": "earlier"})
        self.assertIsNone(self.api.get("/api/jobs/later")["next_fire_time"])
        self.assertEqual(self.api.get("/api/jobs/later/next")["items"], [])
        self.api.post("/api/jobs/later/pause", {})
        self.ended(self.execute("earlier"))
        gap = wait_until(lambda: next(iter(self.api.pages("/api/gaps?job_id=later")), None), SECONDS, "the gap")
        self.assertEqual((gap["reason"], gap["count"]), ("paused", 1))
        self.api.post("/api/jobs/later/resume", {})
        third = self.ended(self.execute("earlier"))
        self.assertEqual([run["fire_time"] for run in self.runs("later")], [third["fire_time"]])

    def test_cycles_and_unknown_jobs_are_refused(self):
        self.make("one")
        self.make("two", {"job": "one"})
        self.make("three", {"job": "two"})
        body = {"schedules": [{"kind": "after", "job": "three"}]}
        status, problem = self.refused("PATCH", "/api/jobs/one", body, {"If-Match": "*"})
        self.assertEqual((status, problem["code"]), (422, "cycle"))
        self.assertIn("Three -> ", json.dumps(problem))
        self.assertIn(" -> One", json.dumps(problem))
        status, problem = self.refused("PATCH", "/api/jobs/one", {"schedules": [{"kind": "after", "job": "none"}]},
                                       {"If-Match": "*"})
        self.assertEqual((status, [(one["pointer"], one["code"]) for one in problem["errors"]]),
                         (422, [("/schedules/0/job", "unknown_job")]))
        self.assertEqual(self.api.get("/api/jobs/one")["schedules"], [])

    def test_a_delete_names_the_dependents_and_is_forced(self):
        self.make("base")
        self.make("upper", {"job": "base", "on": "failure"})
        self.assertEqual(self.dependencies("base"),
                         {"upstream": [], "hidden": 0,
                          "downstream": [{"job_id": "upper", "job_name": "Upper", "kind": "after",
                                          "on": "failure"}]})
        status, problem = self.refused("DELETE", "/api/jobs/base", headers={"If-Match": "*"})
        self.assertEqual((status, problem["code"], problem["details"]), (409, "has_dependents", {"jobs": ["Upper"]}))
        code, out, _ = cli(self.server, "job", "deps", "upper")
        self.assertEqual(code, 0)
        self.assertRegex(out, r"upstream +after +base +Base +failure")
        code, _, err = cli(self.server, "job", "delete", "base", "--yes", check=False)
        self.assertEqual(code, 5)
        self.assertIn("has_dependents", err)
        self.assertEqual(cli(self.server, "job", "delete", "base", "--yes", "--force")[0], 0)
        [left] = self.dependencies("upper")["upstream"]
        self.assertEqual((left["job_id"], left["job_name"], left["deleted"]), ("base", "Base", True))
        self.assertEqual(self.api.get("/api/jobs/upper")["state"], "ENABLED")

    def test_the_command_line_creates_and_shows_dependents(self):
        self.make("source")
        code, out, _ = cli(self.server, "job", "create", "--id", "sink", "--name", "Sink", "--command", "true",
                           "--after", "source", "--on", "done")
        self.assertEqual(code, 0)
        self.assertIn("after source (done)", out)
        self.assertEqual(cli(self.server, "job", "run", "source", "--wait")[0], 0)
        [run] = self.runs("sink")
        self.assertRegex(cli(self.server, "run", "get", run["run_id"])[1], r"run \S+ of Source \(COMPLETED\)")


if __name__ == "__main__":
    unittest.main()
