#!/usr/bin/env python3
"""Events on a real server with a real executor and database: runs of their triggers get their values, which no shell
reads as code, each event counts once, and edits and pauses hold for what is sent after them."""
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, ApiError, cli  # noqa: E402
from workflow_case import WorkflowCase  # noqa: E402

HOSTILE = "$(touch pwned)`touch pwned`'; touch pwned; \" && touch pwned\n%s {{env.HOME}} \\"


class EventsTest(WorkflowCase):
    def setUp(self):
        super().setUp()
        self.type = self.name + ".sent"
        self.witness = os.path.join(self.server.scratch, self.name + ".witness")

    def trigger(self, **more):
        return {"kind": "event", "type": self.type, **more}

    def on_event(self, name="job", command="true", trigger=None, **more):
        return self.job(name, command, schedules=[trigger or self.trigger()], **more)

    def event(self, number, **data):
        return {"id": f"{self.name}-{number}", "source": "shop", "type": self.type, "data": data}

    def send(self, *events, namespace="default"):
        return self.api.post(f"/api/events?namespace={namespace}", list(events))["items"]

    def only_start(self, event):
        [answer] = self.send(event)
        [start] = answer["starts"]
        return answer["status"], start

    def completed(self, run_id):
        run = self.ended(run_id)
        self.assertEqual(run["state"], "COMPLETED", run)
        return run

    def refused(self, method, path, body=None, token=None, headers=None):
        api = self.api if token is None else Api(self.server.runtime["url"], token)
        if api is not self.api:
            self.addCleanup(api.close)
        with self.assertRaises(ApiError) as refused:
            api.call(method, path, body, headers)
        return refused.exception.status, json.loads(refused.exception.body)

    def written(self):
        with open(self.witness, encoding="utf-8") as witness:
            return witness.read()

    def test_a_run_has_the_values_of_its_event_and_no_shell_reads_them(self):
        parameters = {"x": "{{event.data.x}}", "n": "{{event.data.n}}", "all": "{{event.id}} of {{event.source}}"}
        job = self.on_event(command=f'cd {self.server.scratch}; eval "true"; printf "%s|%s|%s" "$CARILLON_PARAM_X" '
                            f'"$CARILLON_PARAM_N" "$CARILLON_PARAM_ALL" > {self.witness}',
                            trigger=self.trigger(filter="data.n > 3", parameters=parameters))
        self.assertEqual(self.send(self.event(0, x=HOSTILE, n=3))[0]["status"], "no_match")
        event = self.event(1, x=HOSTILE, n=5)
        status, start = self.only_start(event)
        self.assertEqual((status, start["job_id"], start["gap"]), ("started", job, None))
        run = self.completed(start["run_id"])
        self.assertEqual(self.written(), f"{HOSTILE}|5|{event['id']} of shop")
        self.assertFalse(os.path.exists(os.path.join(self.server.scratch, "pwned")))
        self.assertEqual((run["kind"], run["parameters"]["x"], run["parameters"]["n"]), ("event", HOSTILE, 5))
        self.assertEqual((run["event"]["id"], run["event"]["type"]), (event["id"], self.type))

    def test_a_text_of_an_event_is_refused_in_every_command(self):
        trigger = self.trigger(parameters={"x": "{{event.data.x}}"})
        commands = ({"command": "echo {{params.x}}"},
                    {"command": "{{env.E}}", "env": {"E": "{{params.x}}"}},
                    {"type": "container", "container": {"image": "alpine", "command": ["sh", "-c", "{{params.x}}"]}},
                    {"type": "container", "container": {"image": "alpine", "args": ["{{params.x}}"]}},
                    {"type": "http", "http": {"method": "GET", "url": "http://{{params.x}}/"}},
                    {"type": "http", "http": {"method": "POST", "url": "http://127.0.0.1/", "body": "a {{params.x}}",
                                              "headers": {"Content-Type": "text/plain"}}})
        for job in commands:
            body = {"name": self.name, **job, "schedules": [trigger]}
            status, problem = self.refused("POST", "/api/jobs", body)
            self.assertEqual((status, [error["pointer"] for error in problem["errors"]]),
                             (400, ["/schedules/0/parameters/x"]), job)
        self.api.post("/api/jobs", {"name": self.name, "command": 'echo "$E"', "env": {"E": "{{params.x}}"}, "schedules": [trigger]})

    def test_a_number_may_be_part_of_a_command_and_nothing_else_passes_for_one(self):
        self.on_event(command=f"echo {{{{params.n}}}} > {self.witness}", parameter_rules={"n": {"type": "integer"}},
                      trigger=self.trigger(parameters={"n": "{{event.data.n}}"}))
        for number, wrong in enumerate(("1; touch pwned", "$(touch pwned)", True, 1.5, [1], {"a": 1}, None)):
            status, start = self.only_start(self.event(number, n=wrong))
            self.assertEqual((status, start["gap"], start["run_id"]), ("gap", "bad_event", None), wrong)
            self.assertTrue(start["problem"])
        self.completed(self.only_start(self.event("good", n=-7))[1]["run_id"])
        self.assertEqual(self.written(), "-7\n")

    def test_an_event_counts_once(self):
        job = self.on_event()
        event = self.event(1)
        first, again = self.send(event, event)
        self.assertEqual((first["status"], again["status"]), ("started", "duplicate"))
        other, repeated = self.send(self.event(2), {**event, "data": {"other": True}})
        self.assertEqual((other["status"], repeated["status"]), ("started", "duplicate"))
        self.assertEqual(repeated["starts"], first["starts"])
        self.assertEqual(self.send({**event, "source": "another"})[0]["status"], "started")
        self.assertEqual(self.send(event, namespace="elsewhere")[0]["status"], "no_match")
        self.assertEqual(len(self.api.runs(job)), 3)

    def test_nothing_is_accepted_if_one_event_is_bad(self):
        job = self.on_event()
        status, problem = self.refused("POST", "/api/events", [self.event(1), {**self.event(2), "id": ""}, self.event(3)])
        self.assertEqual((status, problem["errors"][0]["pointer"]), (400, "/1/id"))
        self.assertEqual(self.api.runs(job), [])

    def test_an_edit_of_the_trigger_holds_for_the_next_event(self):
        job = self.on_event(trigger=self.trigger(parameters={"v": "old"}))
        old = self.only_start(self.event(1, n=1))[1]
        for number in range(2, 12):
            trigger = self.trigger(filter=f"data.n == {number}", parameters={"v": f"{number} {{{{event.data.n}}}}"})
            self.api.call("PATCH", f"/api/jobs/{job}", {"schedules": [trigger]}, {"If-Match": "*"})
            self.assertEqual(self.send(self.event(f"{number}-no", n=number - 1))[0]["status"], "no_match")
            new = self.only_start(self.event(number, n=number))[1]
            self.assertEqual(self.run_of(new["run_id"])["parameters"], {"v": f"{number} {number}"})
        self.assertEqual(self.run_of(old["run_id"])["parameters"], {"v": "old"})
        self.assertEqual(self.send(self.event(1, n=1))[0]["status"], "no_match")
        self.api.call("DELETE", f"/api/jobs/{job}", headers={"If-Match": "*"})
        self.assertEqual(self.send(self.event(20, n=11))[0]["status"], "no_match")

    def test_a_paused_job_has_one_gap_of_all_events_of_a_call(self):
        job = self.on_event()
        self.api.post(f"/api/jobs/{job}/pause", {})
        answers = self.send(*(self.event(number) for number in range(5)))
        self.assertEqual({(one["status"], one["starts"][0]["gap"]) for one in answers}, {("gap", "paused")})
        self.api.post(f"/api/jobs/{job}/resume", {})
        self.assertEqual(self.send(self.event(0))[0]["status"], "duplicate")
        self.assertEqual(self.send(self.event(5))[0]["status"], "started")
        [gap] = self.api.get(f"/api/gaps?job_id={job}")["items"]
        self.assertEqual((gap["reason"], gap["count"]), ("paused", 5))
        self.assertEqual(len(self.api.runs(job)), 1)

    def test_a_workflow_hands_no_text_of_an_event_into_a_command(self):
        self.job("safe", f'printf %s "$CARILLON_PARAM_X" > {self.witness}', parameters={"x": ""})
        self.job("unsafe", "echo {{params.x}}", parameters={"x": "quiet"})
        handed = {"x": "{{workflow.parameters.x}}"}
        self.flow({"id": "safe", "parameters": handed}, {"id": "unsafe", "parameters": handed}, parameters={"x": ""},
                  schedules=[self.trigger(parameters={"x": "{{event.data.x}}"})])
        start = self.only_start(self.event(1, x=HOSTILE))[1]
        self.ended(start["run_id"])
        nodes = self.nodes(start["run_id"])
        self.assertEqual((nodes["unsafe"]["state"], nodes["unsafe"]["reason"]), ("SKIPPED", "unsafe_parameter"))
        self.assertEqual((nodes["safe"]["state"], self.written()), ("COMPLETED", HOSTILE))

    def test_a_test_starts_nothing(self):
        job = self.on_event(trigger=self.trigger(filter="data.n > 3", parameters={"x": "{{event.data.x}}"}))
        event = self.event(1, n=4, x="a")

        def verdicts(**more):
            items = self.api.post("/api/events/test", {"event": event, "job_id": job, **more})["items"]
            return [(one["result"], one["parameters"], one["untrusted"]) for one in items]
        self.assertEqual(verdicts(), [("matched", {"x": "a"}, ["x"])])
        self.assertEqual(verdicts(trigger=self.trigger(filter="data.n > 4")), [("no_match", {}, [])])
        self.assertEqual(verdicts(trigger=self.trigger(filter="data.m > 4")), [("not_computable", {}, [])])
        self.assertEqual(self.api.runs(job), [])
        self.assertEqual(self.send(event)[0]["status"], "started")

    def test_a_sender_can_send_and_nothing_else(self):
        self.on_event()
        sender = self.api.post("/api/tokens", {"name": self.name, "scopes": ["events:write"]})["token"]
        others = [self.api.post("/api/tokens", {"name": self.name + role, "role": role})["token"]
                  for role in ("read_only", "user")]
        api = Api(self.server.runtime["url"], sender)
        self.addCleanup(api.close)
        self.assertEqual(api.post("/api/events", self.event(1))["items"][0]["status"], "started")
        self.assertEqual(self.refused("GET", "/api/events", token=sender)[0], 403)
        self.assertEqual(self.refused("GET", "/api/jobs", token=sender)[0], 403)
        self.assertEqual(self.refused("POST", "/api/events/test", {"event": self.event(1)}, token=sender)[0], 403)
        for token in others:
            self.assertEqual(self.refused("POST", "/api/events", self.event(2), token=token)[0], 403)
        self.assertEqual(self.refused("POST", "/api/events", self.event(2), token="wrong")[0], 401)
        self.assertEqual(self.send(self.event(2))[0]["status"], "started")  # none of them was accepted

    def test_the_command_line_creates_sends_tests_and_lists(self):
        created = cli(self.server, "job", "create", "--name", self.name, "--command", "true", "--on-event",
                      f"{self.name}.*,source=shop,filter=data.n > 3", "-o", "json")[1]
        [schedule] = json.loads(created)["schedules"]
        self.assertEqual((schedule["kind"], schedule["source"], schedule["filter"]), ("event", "shop", "data.n > 3"))
        event = ("--type", self.type, "--source", "shop", "--id", self.name, "--data")
        tested = json.loads(cli(self.server, "event", "test", *event, '{"n": 4}', "-o", "json")[1])["items"]
        self.assertIn((json.loads(created)["job_id"], "matched"), [(one["job_id"], one["result"]) for one in tested])
        for status in ("started", "duplicate"):
            sent = json.loads(cli(self.server, "event", "send", *event, '{"n": 4}', "-o", "json")[1])["items"]
            self.assertEqual([one["status"] for one in sent], [status])
        listed = json.loads(cli(self.server, "event", "list", "--type", self.name + ".*", "-o", "json")[1])["items"]
        self.assertEqual([(one["id"], one["outcome"], one["starts"]) for one in listed],
                         [(self.name, "started", sent[0]["starts"])])
        self.completed(sent[0]["starts"][0]["run_id"])


if __name__ == "__main__":
    unittest.main()
