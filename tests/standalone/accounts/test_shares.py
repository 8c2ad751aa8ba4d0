#!/usr/bin/env python3
"""Namespaces and shares on a real server: granted, used and revoked; names; secrets; visible jobs."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

PASSWORD = "a long enough password"
ALL = ["backfill", "cancel", "delete", "edit", "execute", "pause", "resume", "revert"]


class SharesTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open = Api(cls.server.runtime["url"], None)
        cls.addClassCleanup(cls.open.close)
        cls.users, cls.tokens = {}, {}
        for name in ("anna", "bert"):
            user = cls.api.post("/api/users", {"name": name, "role": "user", "password": PASSWORD})
            cls.users[name] = user["user_id"]
            status, _, data = cls.open.raw("POST", "/api/auth/login",
                                           {"name": name, "password": PASSWORD})
            assert status == 200, data
            cls.tokens[name] = json.loads(data)["access_token"]

    def ask(self, who, method, path, body=None):
        headers = {"Authorization": "Bearer " + self.tokens[who]}
        if method in ("PUT", "PATCH", "DELETE") or path.endswith("/revert"):
            headers["If-Match"] = "*"
        status, _, data = self.open.raw(method, path, body, headers)
        return status, json.loads(data) if data else None

    def share(self, who, shares):
        return self.api.call("PATCH", "/api/users/" + self.users[who], {"shares": shares},
                               {"If-Match": "*"})

    def make(self, **more):
        """Creates a job of anna's with the fields that an administrator gives it."""
        job = {"name": "job", "command": "true", "user_id": self.users["anna"]}
        return self.api.post("/api/jobs", dict(job, **more))["job_id"]

    def refused(self, answer, code, status=403):
        self.assertEqual((answer[0], answer[1]["code"]), (status, code), answer[1])

    def test_a_share_is_given_used_and_taken_away(self):
        job = "/api/jobs/" + self.make(namespace="payroll")
        self.refused(self.ask("bert", "POST", job + "/execute", {}), "not_owner")
        self.assertEqual(self.ask("bert", "GET", job)[1]["allowed_actions"], [])
        self.share("bert", [{"namespace": "payroll"}])
        self.assertEqual(self.ask("bert", "GET", "/api/auth/me")[1]["shares"],
                         [{"namespace": "payroll"}])
        self.assertEqual(self.ask("bert", "GET", job)[1]["allowed_actions"], ALL)
        status, run = self.ask("bert", "POST", job + "/execute", {})
        self.assertEqual(status, 202)
        self.assertIn("execute", self.ask("bert", "GET", "/api/runs/" + run["run_id"])[1]["allowed_actions"])
        status, _ = self.ask("bert", "POST", "/api/runs/" + run["run_id"] + "/cancel", {})
        self.assertEqual(status, 202)
        status, edited = self.ask("bert", "PATCH", job, {"command": "echo hello"})
        self.assertEqual((status, edited["user_id"]), (200, self.users["anna"]))
        self.refused(self.ask("bert", "PATCH", job, {"namespace": "default"}), "out_of_reach")
        self.refused(self.ask("bert", "PATCH", job, {"user_id": self.users["bert"]}), "not_owner")
        # The change is in force at the next request to the same member.
        self.share("bert", [])
        self.refused(self.ask("bert", "POST", job + "/execute", {}), "not_owner")
        self.refused(self.ask("bert", "POST", f"/api/runs/{run['run_id']}/cancel", {}), "not_owner")
        self.assertEqual(self.ask("bert", "GET", job)[0], 200)
        changes = self.api.get("/api/audit?page_size=50")["items"]
        recorded = [i["changes"] for i in changes
                if i["action"] == "user.patch" and i["object_id"] == self.users["bert"]]
        self.assertIn([{"path": "/shares", "from": [{"namespace": "payroll"}], "to": []}], recorded)

    def test_runs_that_wait_end_with_their_share(self):
        """They do not start with the parameters of somebody who may not run their job any more."""
        def run(run_id):
            return self.api.get("/api/runs/" + run_id)

        def node(run_id):
            return self.api.get(f"/api/runs/{run_id}/nodes")["nodes"][0]

        self.share("bert", [{"namespace": "hall"}])
        load = self.make(namespace="hall", command="test $CARILLON_PARAM_V = fails || exit 1; exit 7",
                         parameters={"v": "own"}, retry_count=3, retry_interval=3)
        flow = self.api.post("/api/jobs", {
            "name": "flow", "namespace": "hall", "type": "workflow", "user_id": self.users["anna"],
            "parameters": {"v": "own"}, "workflow": {"nodes": [
                {"id": "load", "job": load, "parameters": {"v": "{{workflow.parameters.v}}"}}]}})["job_id"]
        given = {"parameters": {"v": "fails"}}
        retried = self.ask("bert", "POST", f"/api/jobs/{load}/execute", given)[1]["run_id"]
        wait_until(lambda: run(retried)["attempt"] == 2, 30, "the second attempt")
        self.ask("anna", "POST", f"/api/jobs/{load}/pause", {})
        waiting = self.ask("bert", "POST", f"/api/jobs/{flow}/execute", given)[1]["run_id"]
        wait_until(lambda: run(waiting)["state"] == "RUNNING" and not node(waiting)["blocked"], 30, "the release")
        self.share("bert", [])
        self.assertEqual(node(waiting)["state"], "PENDING")
        self.ask("anna", "POST", f"/api/jobs/{load}/resume", {})
        wait_until(lambda: run(waiting)["state"] == "FAILED", 30, "the end of the workflow")
        self.assertEqual([node(waiting)[field] for field in ("state", "reason", "error")],
                         ["SKIPPED", "forbidden",
                          "bert, who gave the workflow its parameters, may not run the job of this node now."])
        wait_until(lambda: run(retried)["state"] == "SKIPPED", 30, "the refusal of an attempt")
        self.assertEqual([run(retried)[field] for field in ("reason", "error")],
                         ["forbidden", "bert, who gave the run its parameters, may not run the job now."])

    def test_a_share_is_limited_to_labels(self):
        self.share("bert", [{"namespace": "*", "selector": "team = etl"}])
        job = "/api/jobs/" + self.make(namespace="web", labels={"team": "etl"})
        other = "/api/jobs/" + self.make(namespace="web", labels={"team": "shop"})
        self.assertEqual(self.ask("bert", "POST", job + "/pause", {})[0], 200)
        self.refused(self.ask("bert", "POST", other + "/pause", {}), "not_owner")
        self.refused(self.ask("bert", "PATCH", job, {"labels": {"team": "shop"}}), "out_of_reach")
        status, done = self.ask("bert", "POST", "/api/bulk",
                                {"action": "resume", "filter": {"namespace": "web"}})
        self.assertEqual((status, done["done"], done["failed"]), (200, 1, 1), done)
        self.share("bert", [])

    def test_a_name_is_found_in_its_namespace(self):
        documents = [{"name": "nightly", "command": "true"},
                     {"name": "nightly", "command": "true", "namespace": "left"}]
        first = self.api.post("/api/apply", documents)
        self.assertEqual(first["counts"]["created"], 2, first)
        again = self.api.post("/api/apply", documents)
        self.assertEqual(again["counts"]["unchanged"], 2, again)
        named = self.api.post("/api/apply?namespace=left", documents[:1])
        self.assertEqual([(i["result"], i["job_id"]) for i in named["items"]],
                         [("unchanged", first["items"][1]["job_id"])])
        listed = self.api.get("/api/jobs?namespace=left")["items"]
        self.assertEqual([job["job_id"] for job in listed], [first["items"][1]["job_id"]])
        spaces = [item["namespace"] for item in self.api.get("/api/namespaces")["items"]]
        self.assertEqual(spaces, sorted(spaces))
        self.assertTrue({"default", "left"} <= set(spaces), spaces)

    def test_a_share_does_not_reach_the_owners_other_secrets(self):
        for name in ("used", "other"):
            status, _ = self.ask("anna", "POST", "/api/secrets",
                                 {"name": name, "value": "a long enough value"})
            self.assertEqual(status, 201)
        job = "/api/jobs/" + self.make(namespace="safe", env={"KEY": "{{secrets.used}}"})
        self.share("bert", [{"namespace": "safe"}])
        self.refused(self.ask("bert", "PATCH", job, {"env": {"KEY": "{{secrets.other}}"}}),
                     "secret_forbidden", 422)
        self.assertEqual(self.ask("bert", "PATCH", job, {"env": {"K2": "{{secrets.used}}"}})[0], 200)
        own = {"env": {"KEY": "{{secrets.other}}", "K2": None}}
        self.assertEqual(self.ask("anna", "PATCH", job, own)[0], 200)
        self.refused(self.ask("bert", "POST", job + "/revert", {"version": 1}),
                     "secret_forbidden", 422)  # the job no longer names `used`
        self.share("bert", [])

    def test_the_command_line_manages_shares(self):
        cli(self.server, "user", "edit", "bert", "--share", "left-by-flag", "--share",
            "*:team = etl", "--reason", "on call")
        shares = json.loads(cli(self.server, "user", "get", "bert", "-o", "json")[1])["shares"]
        self.assertEqual(shares, [{"namespace": "left-by-flag"},
                                  {"namespace": "*", "selector": "team = etl"}])
        cli(self.server, "job", "create", "--name", "by flag", "--type", "noop", "--namespace",
            "left-by-flag")
        rows = cli(self.server, "job", "list", "--namespace", "left-by-flag", "-o", "wide")[1]
        self.assertIn("NAMESPACE", rows)
        self.assertIn("by flag", rows)
        self.assertIn("left-by-flag", cli(self.server, "namespace", "list")[1].split())
        exported = cli(self.server, "export", "--namespace", "left-by-flag")[1]
        self.assertIn("namespace: left-by-flag\n", exported)
        self.assertNotIn("allowed_actions", exported)
        applied = cli(self.server, "apply", "-f", "-", stdin=exported)[1]
        self.assertIn("unchanged", applied)
        cli(self.server, "user", "edit", "bert", "--no-shares")


if __name__ == "__main__":
    unittest.main(verbosity=2)
