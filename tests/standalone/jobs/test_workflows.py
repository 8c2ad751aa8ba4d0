#!/usr/bin/env python3
"""Workflows on a real server with a real executor and database: the processes of the nodes write down what they do,
and the order of the graph, conditions, values, cancels, retries and skips are judged by that."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import cli, wait_until  # noqa: E402
from workflow_case import SECONDS, WorkflowCase  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "..", "docs", "examples")


class WorkflowsTest(WorkflowCase):
    def test_values_go_from_node_to_node_and_a_branch_repairs(self):
        self.job("load", f'printf "file={self.server.scratch}/orders\\nrows=0\\n" >> "$CARILLON_OUTPUT_FILE"')
        self.job("audit", 'test "$CARILLON_PARAM_ROWS" -gt 0 || exit 3', parameters={"rows": "9"})
        self.job("repair", f'test "$CARILLON_PARAM_FILE" = {self.server.scratch}/orders', parameters={"file": ""})
        self.job("never")
        self.job("report", 'test "$CARILLON_PARAM_DAY $CARILLON_PARAM_END" = "monday FAILED"', parameters={"day": "", "end": ""})
        run = self.begin(self.flow(
            {"id": "load"},
            {"id": "audit", "after": ["load"], "parameters": {"rows": "{{nodes.load.outputs.rows}}"}},
            {"id": "repair", "after": [{"node": "audit", "on": "failure", "if": "exit_code == 3", "recovers": True}],
             "parameters": {"file": "{{nodes.load.outputs.file}}"}},
            {"id": "never", "after": [{"node": "audit", "on": "failure", "if": "exit_code == 4"}]},
            {"id": "report", "after": ["repair", "never"],
             "parameters": {"day": "{{workflow.parameters.day}}", "end": "{{nodes.audit.state}}"}},
            parameters={"day": "sunday"}), day="monday")
        self.ends(run, "COMPLETED")
        self.assertEqual(self.journaled(), ["+load", "-load", "+audit", "-audit", "+repair", "-repair", "+report", "-report"])
        nodes = self.nodes(run)
        self.assertEqual({name: node["reason"] for name, node in nodes.items()},
                         {"load": None, "audit": "exit_code", "repair": None, "never": "not_selected", "report": None})
        self.assertTrue(nodes["audit"]["repaired"])
        own = self.run_of(nodes["load"]["run_id"])
        self.assertEqual((own["kind"], own["node"], own["workflow_run_id"]), ("workflow", "load", run))

    def test_a_failure_stops_what_follows_and_the_retry_continues_from_there(self):
        flag = os.path.join(self.server.scratch, "there")
        self.job("a")
        self.job("b", f"test -e {flag}")
        self.job("c")
        self.job("d", "exit 1")
        run = self.begin(self.flow({"id": "a"}, {"id": "b", "after": ["a"]}, {"id": "c", "after": ["b"]},
                                   {"id": "d", "allow_failure": True}))
        self.assertIn("b", self.ends(run, "FAILED")["error"])
        self.assertEqual(self.states(run), {"a": "COMPLETED", "b": "FAILED", "c": "SKIPPED", "d": "FAILED"})
        with open(flag, "w", encoding="utf-8"):
            pass
        preview = self.api.post(f"/api/runs/{run}/retry", {"dry_run": True})
        self.assertEqual(preview, {"run_again": ["b", "c"], "skipped": []})
        self.api.post(f"/api/runs/{run}/retry", {})
        wait_until(lambda: self.run_of(run)["state"] == "COMPLETED", SECONDS, "the retry")
        shown = [word for word in self.journaled() if word[1] != "d"]
        self.assertEqual(shown, ["+a", "-a", "+b", "-b", "+b", "-b", "+c", "-c"])
        self.assertEqual({name: node["attempt"] for name, node in self.nodes(run).items()}, {"a": 1, "b": 2, "c": 1, "d": 1})

    def test_no_node_starts_after_a_cancel(self):
        self.job("slow", "sleep 300", kill_grace=1)
        self.job("next")
        inner = self.flow({"id": "slow"}, {"id": "next", "after": [{"node": "slow", "on": "done"}]}, suffix="-inner")
        self.assertTrue(inner)
        run = self.begin(self.flow({"id": "inner"}, {"id": "next", "after": [{"node": "inner", "on": "done"}]}))
        self.waits_for("+slow")
        self.api.post(f"/api/runs/{run}/cancel", {"reason": "wrong day"})
        self.ends(run, "CANCELLED")
        self.assertEqual(self.states(run), {"inner": "CANCELLED", "next": "CANCELLED"})
        self.assertEqual(self.journaled(), ["+slow"])

    def test_a_deadline_ends_the_run_and_the_process_of_its_node(self):
        pid = os.path.join(self.server.scratch, "deadline.pid")
        self.job("slow", f"sh -c 'echo $$ > {pid}; exec sleep 300'", kill_grace=1)
        self.job("next")
        run = self.begin(self.flow({"id": "slow"}, {"id": "next", "after": ["slow"]}, timeout=2))
        self.ends(run, "TIMED_OUT")
        self.assertEqual(self.journaled(), ["+slow"])
        with open(pid, encoding="utf-8") as written:
            process = f"/proc/{written.read().strip()}"
        wait_until(lambda: not os.path.exists(process), SECONDS, "the end of the process")

    def test_the_examples_do_what_they_say(self):
        cli(self.server, "apply", "-f", EXAMPLES)
        self.assertIn("5 workflows checked", cli(self.server, "workflow", "validate", "-f", EXAMPLES)[2])
        cli(self.server, "diff", "-f", EXAMPLES)  # fails if anything differs
        runs = {job: self.begin(job) for job in ("etl", "backup-all", "monthly-report", "index", "deploy", "daily-report")}
        for job in ("etl", "backup-all", "index", "deploy"):
            self.ends(runs[job], "COMPLETED")
        written = wait_until(lambda: (lambda run: run if run["ended_at"] else None)(self.run_of(runs["daily-report"])),
                             SECONDS, "the report")
        self.assertEqual(written["state"], "COMPLETED", written)
        self.assertGreater(int(written["outputs"]["rows"]), 0)
        self.assertEqual(self.states(runs["etl"])["repair"], "SKIPPED")
        self.assertEqual(self.states(runs["deploy"])["rollback"], "SKIPPED")
        report = runs["monthly-report"]
        wait_until(lambda: "monthly-report" in cli(self.server, "run", "list", "--waiting", "approval")[1], SECONDS, "the question")
        self.assertIn("waits for a decision", cli(self.server, "run", "nodes", report)[1])
        self.assertEqual(self.states(report)["send"], "PENDING")
        cli(self.server, "run", "approve", report, "--node", "approval", "--reason", "seen")
        self.ends(report, "COMPLETED")
        self.assertEqual(set(self.states(report).values()), {"COMPLETED"})


if __name__ == "__main__":
    unittest.main()
