#!/usr/bin/env python3
"""Bad input gets a clear answer and loses nothing, and meanwhile the server continues to fire."""
import json
import os
import random
import socket
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402


class BadInputTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.heartbeat = cls.api.post("/api/jobs", {"name": "heartbeat", "type": "noop",
                                                   "cron_expression": "* * * * * *"})["job_id"]

    @classmethod
    def tearDownClass(cls):
        runs = [r for r in cls.api.runs(cls.heartbeat) if r["state"] != "PENDING"]
        assert runs and all(r["state"] == "COMPLETED" for r in runs), "bad input disturbed a job"
        super().tearDownClass()

    def refused(self, status, code, pointer, method, path, body, headers=None):
        got, answer_headers, data = self.api.raw(method, path, body=body, headers=headers)
        text = data.decode("utf-8", "replace")
        self.assertEqual(got, status, text)
        self.assertTrue(answer_headers["Content-Type"].startswith("application/problem+json"), text)
        problem = json.loads(text)
        self.assertEqual(problem["status"], status)
        if code:
            self.assertEqual(problem["code"], code, text)
        if pointer is not None:
            self.assertIn(pointer, [e["pointer"] for e in problem["errors"]], text)
        return problem

    def test_invalid_jobs_are_refused_with_the_place(self):
        good = {"name": "x", "command": "true"}
        for change, pointer in [
            ({"name": ""}, "/name"), ({"name": "x" * 201}, "/name"), ({"command": ""}, "/command"),
            ({"command": "x" * 65537}, "/command"), ({"timeout": 0}, "/timeout"),
            ({"timeout": 604801}, "/timeout"), ({"timeout": "5"}, "/timeout"),
            ({"timeout": 1.5}, "/timeout"), ({"retry_count": -1}, "/retry_count"),
            ({"retry_count": 101}, "/retry_count"), ({"priority": 101}, "/priority"),
            ({"type": "magic"}, "/type"), ({"colour": 1}, "/colour"),
            ({"time_zone": "Mars/Olympus"}, None), ({"cron_expression": "61 * * * *"}, "/cron_expression"),
            ({"cron_expression": "@reboot"}, "/cron_expression"),
            ({"cron_expression": "* * * *"}, "/cron_expression"),
            ({"cron_expression": "* " * 5000}, "/cron_expression"),
            ({"job_id": "Not An Id"}, "/job_id"), ({"env": {"A=B": "1"}}, None),
            ({"overlap_policy": "maybe"}, "/overlap_policy"), ({"enabled": "yes"}, "/enabled"),
            ({"schedules": [{"kind": "rate", "every_ms": 0}]}, "/schedules/0/every_ms"),
            ({"schedules": [{"kind": "once"}]}, None), ({"schedules": {}}, "/schedules"),
        ]:
            with self.subTest(change=str(change)[:60]):
                self.refused(400, None, pointer, "POST", "/api/jobs", dict(good, **change))

    def test_bodies_that_are_not_json_are_refused(self):
        json_type = {"Content-Type": "application/json"}
        for body in (b"", b"{", b"[]", b"null", b'{"name":"x","name":"y","command":"true"}', b"\xff\xfe",
                     b'{"name":"\xff","command":"true"}', b"[" * 100000, b'{"a":' * 5000 + b"1" + b"}" * 5000,
                     b'{"name":"x","command":"true","timeout":1e999}',
                     b'{"name":"x","command":"true"} trailing'):
            with self.subTest(body=body[:40]):
                self.refused(400, None, None, "POST", "/api/jobs", body, json_type)
        self.assertEqual(self.api.raw("POST", "/api/jobs", body=b"name=x",
                                      headers={"Content-Type": "text/plain"})[0], 415)

    def test_authentication_precedes_everything(self):
        for token in (None, "", "wrong", "x" * 5000):
            stranger = Api(self.server.runtime["url"], token)
            for method, path in (("GET", "/api/jobs"), ("POST", "/api/jobs"), ("GET", "/api/nothing"),
                                 ("PATCH", "/api/jobs"), ("DELETE", "/api/jobs/x"),
                                 ("GET", "/api/system/status")):
                status, headers, _ = stranger.raw(method, path, body=b"{" if method == "POST" else None)
                self.assertEqual(status, 401, (token, method, path))
                self.assertIn("WWW-Authenticate", headers)

    def test_missing_and_stale_preconditions_are_refused(self):
        job = self.api.post("/api/jobs", {"name": "p", "command": "true"})
        path = f"/api/jobs/{job['job_id']}"
        self.refused(428, None, None, "PUT", path, {"name": "q", "command": "true"})
        self.refused(412, None, None, "PUT", path, {"name": "q", "command": "true"}, {"If-Match": '"v99"'})
        self.refused(428, None, None, "DELETE", path, None)
        self.refused(404, "not_found", None, "GET", "/api/jobs/no-such-job", None)
        self.refused(400, None, None, "GET", "/api/runs/not-a-run", None)
        self.refused(400, None, None, "GET", "/api/jobs?page_token=%21%21", None)
        self.refused(400, None, None, "GET", "/api/jobs?page_size=501", None)
        self.refused(405, None, None, "PATCH", "/api/jobs", {})

    def test_a_repeated_idempotency_key_creates_one_job(self):
        key = {"Idempotency-Key": "once-only"}
        body = {"name": "idem", "command": "true"}
        first = self.api.raw("POST", "/api/jobs", body=body, headers=key)
        second = self.api.raw("POST", "/api/jobs", body=body, headers=key)
        self.assertEqual((first[0], second[0], first[2]), (201, 201, second[2]))
        self.refused(422, None, None, "POST", "/api/jobs", dict(body, name="other"), key)

    def test_a_body_that_is_too_large_is_refused(self):
        self.refused(413, None, None, "POST", "/api/jobs",
                     json.dumps({"name": "x", "command": "y" * 1_200_000}).encode(),
                     {"Content-Type": "application/json"})

    def connect(self, source="127.0.0.1"):
        parts = urllib.parse.urlsplit(self.server.runtime["url"])
        return socket.create_connection((parts.hostname, parts.port), timeout=30, source_address=(source, 0))

    def test_one_address_cannot_take_all_connections(self):
        idle = [self.connect("127.0.0.2") for _ in range(200)]

        def is_open(connection):
            connection.setblocking(False)
            try:
                return connection.recv(1) != b""
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
        wait_until(lambda: sum(map(is_open, idle)) <= 128, 20, "the connections beyond the limit to be closed")
        self.assertEqual(self.server.api().raw("GET", "/api/jobs")[0], 200)
        for connection in idle:
            connection.close()

    def test_slow_requests_are_closed_and_do_not_block_others(self):
        slow = [self.connect(f"127.0.0.{2 + i % 2}") for i in range(200)]
        for connection in slow:
            connection.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: x\r\nContent-Le")
        self.assertEqual(self.api.raw("GET", "/api/system/status")[0], 200)

        def closed(connection):
            try:
                return connection.recv(4096) == b""
            except ConnectionError:
                return True
        for connection in slow:
            # The server may send an answer such as 408 before it closes the connection.
            while not closed(connection):
                pass
            connection.close()

    def test_garbage_on_the_socket_causes_no_server_error(self):
        rng = random.Random(7)
        good = (b"GET /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
                + self.server.token.encode() + b"\r\n\r\n")
        for number in range(300):
            data = bytearray(good)
            for _ in range(rng.randrange(1, 6)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            connection = self.connect()
            try:
                connection.sendall(bytes(data))
                connection.shutdown(socket.SHUT_WR)
                head = connection.recv(64)
                self.assertFalse(head.startswith(b"HTTP/1.1 5"), (number, bytes(data), head))
            except ConnectionError:
                pass  # the server may answer garbage by closing the connection at once
            finally:
                connection.close()
        self.assertEqual(self.api.raw("GET", "/api/system/status")[0], 200)

    def test_jobs_still_fire(self):
        count = len(self.api.runs(self.heartbeat))
        wait_until(lambda: len(self.api.runs(self.heartbeat)) > count, 15, "another heartbeat")


if __name__ == "__main__":
    unittest.main(verbosity=2)
