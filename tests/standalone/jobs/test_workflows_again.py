#!/usr/bin/env python3
"""Workflows whose runs begin once more, on a real server: by a retry, by a backfill, and as a node of another workflow.
The processes of the nodes write down the values that they were given."""
import datetime
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import wait_until  # noqa: E402
from workflow_case import SECONDS, WorkflowCase  # noqa: E402


class WorkflowsAgainTest(WorkflowCase):
    def teller(self, name, **more):
        """A job that writes its name and its parameter v."""
        return self.job(name, f'echo "{name}=$CARILLON_PARAM_V" >> {self.journal}', parameters={"v": ""}, **more)

    def values(self):
        return [word for word in self.journaled() if word[0] not in "+-"]

    def retried(self, run_id, **choice):
        before = self.run_of(run_id)["attempt"]
        self.api.post(f"/api/runs/{run_id}/retry", choice)
        return wait_until(lambda: (lambda run: run if run["attempt"] > before and run["ended_at"] else None)(
            self.run_of(run_id)), SECONDS, "the retry")

    def backfilled(self, job_id, days, **terms):
        """Backfills the fires of the last days, and returns the runs of the workflow."""
        today = datetime.datetime.now(datetime.timezone.utc).replace(hour=0, minute=0, second=0, microsecond=0)
        begin = today - datetime.timedelta(days=days)
        made = self.api.post(f"/api/jobs/{job_id}/backfills", {
            "from": begin.strftime("%Y-%m-%dT%H:%M:%SZ"), "to": today.strftime("%Y-%m-%dT%H:%M:%SZ"), **terms})
        number = made["backfill_id"]
        done = wait_until(lambda: (lambda one: one if one["state"] == "COMPLETED" else None)(
            self.api.get(f"/api/backfills/{number}")), SECONDS, "the backfill")
        return done, [run for run in self.api.runs(job_id) if run["kind"] == "backfill"]

    def test_a_retry_that_only_skips_runs_nothing(self):
        self.job("a")
        self.job("b", "exit 1")
        run = self.begin(self.flow({"id": "a"}, {"id": "b", "after": ["a"]}))
        self.ends(run, "FAILED")
        self.assertEqual(self.retried(run, skip=["b"])["state"], "COMPLETED")
        self.assertEqual(self.journaled(), ["+a", "-a", "+b", "-b"])
        self.assertEqual(self.states(run), {"a": "COMPLETED", "b": "SKIPPED"})

    def test_a_nested_workflow_gets_the_new_values(self):
        self.job("first", f'date +v=%s%N >> "$CARILLON_OUTPUT_FILE"; cat "$CARILLON_OUTPUT_FILE" >> {self.journal}')
        self.teller("plain")
        self.teller("inner-node")
        self.flow({"id": "inner-node", "parameters": {"v": "{{workflow.parameters.v}}"}}, suffix="-inner",
                  parameters={"v": ""})
        given = {"parameters": {"v": "{{nodes.first.outputs.v}}"}, "after": ["first"]}
        run = self.begin(self.flow({"id": "first"}, {"id": "plain", **given}, {"id": "inner", **given}))
        self.ends(run, "COMPLETED")
        self.assertEqual(self.retried(run, **{"from": ["first"]})["state"], "COMPLETED")
        values = [word.split("=")[1] for word in self.values() if word.startswith("v=")]
        self.assertEqual(len(set(values)), 2)
        shown = [word.split("=")[1] for word in self.values() if word.startswith("inner-node=")]
        self.assertEqual(shown, values)

    def test_a_backfill_that_runs_again_has_the_new_values_and_the_new_graph(self):
        self.teller("a")
        self.teller("b")
        given = {"parameters": {"v": "{{workflow.parameters.v}}"}}
        flow = self.flow({"id": "a", **given}, parameters={"v": "none"}, schedules=[{"kind": "cron", "cron_expression": "0 0 * * *"}])
        self.backfilled(flow, 1, parameters={"v": "one"})
        self.assertEqual(self.values(), ["a=one"])
        self.api.call("PATCH", f"/api/jobs/{flow}", {
            "workflow": {"nodes": [{"id": "a", "job": f"{self.name}-a", **given},
                                   {"id": "b", "job": f"{self.name}-b", "after": ["a"], **given}]}}, {"If-Match": "*"})
        counts, runs = self.backfilled(flow, 1, parameters={"v": "two"}, rerun="all")
        self.assertEqual(self.values(), ["a=one", "a=two", "b=two"])
        self.assertEqual(self.states(runs[0]["run_id"]), {"a": "COMPLETED", "b": "COMPLETED"})
        self.assertEqual(runs[0]["attempt"], 2, counts)

    def test_a_backfill_starts_no_dependents_of_its_nodes(self):
        node = self.job("node")
        self.job("d", schedules=[{"kind": "after", "job": node}])
        flow = self.flow({"id": "node"}, schedules=[{"kind": "cron", "cron_expression": "0 0 * * *"}])
        self.backfilled(flow, 2)
        self.assertEqual(self.journaled(), ["+node", "-node"] * 2)
        # A live run does: so whatever the backfill had started would have begun before.
        self.ends(self.begin(flow), "COMPLETED")
        self.waits_for("-d")
        self.assertEqual(self.journaled().count("+d"), 1)


if __name__ == "__main__":
    unittest.main()
