#!/usr/bin/env python3
"""Jobs of type http on a standalone server: what the called server gets, what the run shows, and how requests end."""
import http.server
import json
import os
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from server_case import OwnServerCase, ServerCase, local_time, zone_of_another_day  # noqa: E402



class Called(http.server.ThreadingHTTPServer):
    """Remembers the requests it gets. /hang answers when `release` is set; /flaky fails the first attempt."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests, self.release, self.lock = [], threading.Event(), threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def got(self, path):
        with self.lock:
            return [one for one in self.requests if one["path"] == path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        with self.server.lock:
            self.server.requests.append({"path": self.path, "method": self.command, "body": body, "at": time.monotonic(),
                                         "headers": {name.lower(): value for name, value in self.headers.items()}})
        status, headers, reply = 200, {}, json.dumps({"status": "ok", "got": body})
        if self.path == "/flaky" and self.headers["X-Carillon-Attempt"] == "1":
            status, headers = 503, {"Retry-After": "2"}
        elif self.path == "/hang":
            self.server.release.wait(60)
        elif self.path == "/away":
            status, headers = 307, {"Location": "http://169.254.169.254/"}
        elif self.path == "/moved":
            status, headers = 302, {"Location": "/here"}
        self.send_response(status)
        self.send_header("Content-Length", str(len(reply)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(reply.encode())

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        """Nothing: the requests are kept."""


class HttpTest(ServerCase):
    JOB = {}
    OPTIONS = {"env": {"CARILLON_EXECUTOR_HTTP_ALLOW": "127.0.0.1"}}

    @classmethod
    def setUpClass(cls):
        cls.called = Called()
        cls.addClassCleanup(cls.called.shutdown)
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        cls.called.release.set()
        super().tearDownClass()

    def create(self, path="/x", http=None, **fields):
        url = path if path.startswith("http") else self.called.url + path
        return super().create(**{"type": "http", "http": {"url": url, **(http or {})}, **fields})

    def test_a_request_contains_parameters_and_secrets(self):
        self.api.post("/api/secrets", {"name": "TOKEN", "value": "open-sesame"})
        job = self.create("/post/{{params.day}}", parameters={"day": "1/2", "note": 'say "hi"'},
                          http={"method": "POST", "headers": {"Authorization": "Bearer {{secrets.TOKEN}}"},
                                "body": '{"note": "{{params.note}}", "token": "{{secrets.TOKEN}}"}',
                                "expect": {"json": {"/status": "ok"}}})
        run = self.ended(self.start(job))
        self.assertEqual((run["state"], run["http_status"], run["exit_code"]), ("COMPLETED", 200, None), run)
        self.assertEqual(run["attempts"][0]["http_status"], 200)
        request, = self.called.got("/post/1%2F2")
        self.assertEqual(json.loads(request["body"]), {"note": 'say "hi"', "token": "open-sesame"})
        self.assertEqual(request["headers"]["authorization"], "Bearer open-sesame")
        self.assertEqual(request["headers"]["x-carillon-run-id"], run["run_id"])
        self.assertNotIn("open-sesame", run["output"])
        self.assertIn("***", run["output"])

        def log():
            status, headers, text = self.api.raw("GET", f"/api/runs/{run['run_id']}/logs")
            return text.decode() if status == 200 and dict(headers).get("X-Log-Complete") == "true" else None
        text = wait_until(log, 30, "the log")
        self.assertIn("> POST " + self.called.url, text)
        self.assertIn("< 200", text)
        self.assertNotIn("open-sesame", text)

    def test_a_request_contains_the_local_date_of_its_fire(self):
        zone, offset = zone_of_another_day()
        job = self.create("/days/{{fire_date | %Y%m%d}}", time_zone=zone,
                          http={"method": "PUT", "headers": {"X-Day": "{{fire_date}}"},
                                "body": '{"until": "{{fire_time.local}}"}'})
        run = self.ended(self.start(job))
        self.assertEqual(run["state"], "COMPLETED", run)
        local = local_time(run["fire_time"], offset)
        request, = self.called.got(f"/days/{local:%Y%m%d}")
        self.assertEqual(request["headers"]["x-day"], f"{local:%Y-%m-%d}")
        self.assertEqual(json.loads(request["body"]), {"until": local.isoformat(timespec="seconds")})

    def test_a_busy_server_is_asked_again_when_it_says(self):
        job = self.create("/flaky", retry_count=1, retry_interval=0, retry_on=["http:5xx"])
        run = self.ended(self.start(job))
        self.assertEqual((run["state"], run["attempt"], run["http_status"]), ("COMPLETED", 2, 200), run)
        self.assertEqual([one["http_status"] for one in run["attempts"]], [503, 200])
        self.assertEqual([one["headers"]["x-carillon-attempt"] for one in self.called.got("/flaky")], ["1", "2"])
        first, second = (one["at"] for one in self.called.got("/flaky"))
        self.assertGreater(second - first, 1.9)

    def test_failures_name_their_reason(self):
        for path, request, reason in (("/x", {"expect": {"status": ["404"]}}, "http_status"),
                                      ("/x", {"expect": {"contains": "no such text"}}, "http_body"),
                                      ("/away", {"follow": 1}, "http_forbidden"),
                                      ("http://[::1]/", {}, "http_forbidden"),
                                      ("http://127.0.0.1:1/", {}, "http_error")):
            with self.subTest(reason):
                run = self.ended(self.start(self.create(path, request, name=f"{reason} {path}"[:60])))
                self.assertEqual((run["state"], run["reason"]), ("FAILED", reason), run)
                self.assertTrue(run["error"])
        moved = self.ended(self.start(self.create("/moved", {"follow": 1}, name="moved")))
        self.assertEqual((moved["state"], moved["http_status"]), ("COMPLETED", 200))

    def test_a_cancel_and_a_timeout_close_the_connection(self):
        run_id = self.start(self.create("/hang"))
        wait_until(lambda: self.called.got("/hang"), 30, "the request")
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")
        run = self.ended(self.start(self.create("/hang", name="short", timeout=1)))
        self.assertEqual((run["state"], run["reason"]), ("TIMED_OUT", "timeout"))

    def test_secrets_in_urls_are_refused_and_the_command_line_creates_jobs(self):
        with self.assertRaises(ApiError) as refused:
            self.create("/x?{{secrets.TOKEN}}", name="secret in the URL")
        self.assertEqual(json.loads(refused.exception.body)["errors"][0]["pointer"], "/http/url")
        code, out, err = cli(self.server, "job", "create", "--name", "from cli", "--http", self.called.url + "/cli",
                             "--header", "X-Note: a b", "--data", '{"n": 1}', "--expect-status", "2xx",
                             "--manual", "--output", "json")[:3]
        self.assertEqual(code, 0, err)
        job = json.loads(out)
        self.assertEqual((job["type"], job["http"]["method"], job["http"]["headers"]),
                         ("http", "POST", {"X-Note": "a b"}))
        self.assertEqual(self.ended(self.start(job))["state"], "COMPLETED")
        self.assertEqual(self.called.got("/cli")[0]["headers"]["x-note"], "a b")


class HttpKillTest(OwnServerCase):
    """The server, and with it the executor's daemon, is killed during twenty requests."""
    OPTIONS = {"env": {"CARILLON_EXECUTOR_HTTP_ALLOW": "127.0.0.1", "CARILLON_SCHEDULER_LEASE_MS": "4000",
                       "CARILLON_SCHEDULER_HEARTBEAT_MS": "200"}}
    JOB = {}

    def test_every_attempt_calls_once_and_the_next_one_finishes(self):
        called = Called()
        self.addCleanup(called.shutdown)
        self.addCleanup(called.release.set)
        job = self.create(type="http", http={"url": called.url + "/hang"}, retry_count=1, retry_interval=0)
        runs = {self.start(job) for _ in range(20)}
        wait_until(lambda: len(called.got("/hang")) == len(runs), 30, "all requests")
        self.server.kill()
        called.release.set()
        self.restart()
        for run_id in runs:
            run = self.ended(run_id)
            self.assertEqual((run["state"], run["attempt"]), ("COMPLETED", 2), run)
        calls = [(one["headers"]["x-carillon-run-id"], one["headers"]["x-carillon-attempt"])
                 for one in called.got("/hang")]
        self.assertEqual(sorted(calls), sorted((run, attempt) for run in runs for attempt in ("1", "2")))


if __name__ == "__main__":
    unittest.main(verbosity=2)
