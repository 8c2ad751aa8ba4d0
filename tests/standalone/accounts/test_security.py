#!/usr/bin/env python3
"""Requests of an attacker: every route with tokens that are missing, expired, forged or of another user; paths and
headers that try to escape; requests that are slow, huge, or grow when they are parsed.

The routes come from the OpenAPI document of the server, so a new route is tested without a change here.
"""
import base64
import hashlib
import hmac
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import Api, wait_until, within  # noqa: E402
from server_case import ServerCase  # noqa: E402

PASSWORD = "a long enough password"
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# The routes that answer without a token. Everything else answers 401 for any method.
OPEN = {("GET", "/api/auth/state"), ("POST", "/api/auth/setup"), ("POST", "/api/auth/login"),
        ("POST", "/api/auth/refresh"), ("POST", "/api/auth/logout"), ("GET", "/api/openapi.json"),
        ("GET", "/api/reference"), ("GET", "/livez"), ("GET", "/readyz")}
# The writes that a read-only user may do: manage their own account, and run previews and checks.
READERS_WRITES = {("POST", "/api/auth/password"), ("PATCH", "/api/auth/me"), ("POST", "/api/tokens"), ("DELETE", "/api/tokens/{token_id}"),
                  ("POST", "/api/schedules/preview"), ("POST", "/api/calendars/preview"),
                  ("POST", "/api/waits/preview"), ("POST", "/api/events/test"),
                  ("POST", "/api/workflows/validate"), ("POST", "/api/imports/{kind}")}


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def jwt(header, claims, key=None, digest=hashlib.sha256):
    text = b64(json.dumps(header).encode()) + "." + b64(json.dumps(claims).encode())
    signature = b"" if key is None else hmac.new(key, text.encode(), digest).digest()
    return text + "." + b64(signature)


class SecurityTest(ServerCase):
    # Rate limits are off: other tests check them, and here they would answer first.
    OPTIONS = {"extra": ["--set", "rest.account_rate=0", "--set", "rest.address_rate=0"]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open = Api(cls.server.runtime["url"], None, timeout=40)
        cls.addClassCleanup(cls.open.close)
        for name, role in (("anna", "user"), ("bert", "user"), ("rita", "read_only"), ("boss", "admin")):
            cls.api.post("/api/users", {"name": name, "role": role, "password": PASSWORD})
        cls.tokens = {name: cls.login(name) for name in ("anna", "bert", "rita", "boss")}
        cls.job = cls.post_as("anna", "/api/jobs", {"job_id": "annas", "name": "annas", "command": "true"})["job_id"]
        cls.run_id = cls.post_as("anna", f"/api/jobs/{cls.job}/execute", {})["run_id"]
        cls.contract = cls.api.get("/api/openapi.json")

    def setUp(self):
        # The server closes a connection that is idle for some seconds, and some tests take longer.
        self.api.close()
        self.open.close()

    @classmethod
    def login(cls, name):
        return cls.open.post("/api/auth/login", {"name": name, "password": PASSWORD})["access_token"]

    @classmethod
    def post_as(cls, name, path, body):
        return cls.open.call("POST", path, body, {"Authorization": "Bearer " + cls.tokens[name]})

    def routes(self):
        for path in self.contract["paths"]:
            yield path, {name.upper() for name in self.contract["paths"][path] if name in
                         ("get", "put", "post", "patch", "delete")}

    def concrete(self, path):
        names = {"job_id": self.job, "run_id": self.run_id, "executor_id": "local"}
        path = re.sub(r"\{(\w+)\}", lambda m: names.get(m[1], "1"), path)
        # A stream would not end, so it gets a wrong parameter.
        return path + ("?x=1" if path.endswith(("/stream", "/changes")) else "")

    def ask(self, method, path, token):
        headers = {"Authorization": "Bearer " + token} if token is not None else {}
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        if body:
            headers["Content-Type"] = "application/json"
        try:
            return self.open.raw(method, path, body, headers)
        except (OSError, http.client.HTTPException):  # the server had closed the idle connection
            self.open.close()
            return self.open.raw(method, path, body, headers)

    def ask_job(self):
        return json.loads(self.ask("GET", "/api/jobs/annas", self.server.token)[2])

    def signing_key(self):
        """The key that signs all sessions, read from the database as only its user can."""
        found = subprocess.run(
            ["mariadb", "--no-defaults", "--socket=" + os.path.join(self.server.data_dir, "mariadb", "server.sock"),
             "-N", "-B", "-e", "SELECT HEX(secret) FROM signing_keys", "carillon"],
            capture_output=True, text=True, timeout=120, check=True)
        return bytes.fromhex(found.stdout.strip())

    def bad_tokens(self):
        """Returns {description: token} of tokens that must be refused."""
        def claims_of(token):
            part = token.split(".")[1]
            return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        good = claims_of(self.tokens["boss"])
        header = {"alg": "HS256", "typ": "JWT"}
        key = self.signing_key()
        now = int(time.time())
        # The key must be the right one. Otherwise the cases below would prove nothing.
        self.assertEqual(self.ask("GET", "/api/auth/me", jwt(header, good, key))[0], 200)
        none = jwt({"alg": "none", "typ": "JWT"}, good)
        head, body, signature = self.tokens["boss"].split(".")
        stale = self.post_as("anna", "/api/tokens", {
            "name": "stale", "expires_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now + 2))})["token"]
        wait_until(lambda: self.ask("GET", "/api/auth/me", stale)[0] == 401, 20, "the token's end")
        return {
            "no token": None, "an empty one": "", "a word": "wrong", "a long one": "x" * 5000,
            "an API token that has expired": stale,
            "alg none": none, "alg none with the old signature": none + signature,
            "alg NONE": jwt({"alg": "NONE", "typ": "JWT"}, good),
            "no alg": jwt({"typ": "JWT"}, good, key),
            "HS512 with the right key": jwt({"alg": "HS512", "typ": "JWT"}, good, key, hashlib.sha512),
            "RS256 signed by HMAC": jwt({"alg": "RS256", "typ": "JWT"}, good, key),
            "another key": jwt(header, good, bytes(32)), "an empty key": jwt(header, good, b""),
            "no signature": head + "." + body + ".", "two parts": head + "." + body,
            "half a signature": head + "." + body + "." + signature[:20],
            "expired": jwt(header, dict(good, iat=now - 1200, exp=now - 1), key),
            "of tomorrow": jwt(header, dict(good, iat=now + 86400, exp=now + 90000), key),
            "without an end": jwt(header, {k: v for k, v in good.items() if k != "exp"}, key),
            "of another issuer": jwt(header, dict(good, iss="someone"), key),
            "for another audience": jwt(header, dict(good, aud="other"), key),
            "of nobody": jwt(header, dict(good, sub="user-0000000000000000"), key),
            "of a session that never was": jwt(header, dict(good, sid="0000000000000000"), key),
            "not JSON": b64(b"{") + "." + b64(b"{") + ".x",
        }

    def test_bad_tokens_open_nothing(self):
        tried = 0
        for what, token in self.bad_tokens().items():
            for path, methods in self.routes():
                for method in METHODS if what in ("no token", "alg none") else sorted(methods):
                    if (method, path) in OPEN or method == "HEAD" and ("GET", path) in OPEN:
                        continue
                    status, headers, data = self.ask(method, self.concrete(path), token)
                    # An open path may answer 405 to other methods.
                    allowed = (401, 405) if any(open_path == path for _, open_path in OPEN) else (401,)
                    self.assertIn(status, allowed, (what, method, path, data[:200]))
                    if status == 401:
                        self.assertIn("WWW-Authenticate", headers)
                    tried += 1
        self.assertGreater(tried, 1000)
        self.assertEqual(self.ask_job()["name"], "annas")

    def test_streams_end_with_the_rights_of_their_user(self):
        self.api.post("/api/users", {"name": "gone", "role": "user", "password": PASSWORD})
        token = self.api.post("/api/tokens", {"name": "spy", "role": "read_only"})
        url = urllib.parse.urlsplit(self.server.runtime["url"])
        listeners = []
        for bearer in (self.login("gone"), token["token"]):
            connection = http.client.HTTPConnection(url.hostname, url.port, timeout=20)
            self.addCleanup(connection.close)
            connection.request("GET", "/api/changes", headers={"Authorization": "Bearer " + bearer})
            listeners.append(connection.getresponse())
            self.assertEqual(listeners[-1].status, 200)
        user = next(one for one in self.api.get("/api/users")["items"] if one["name"] == "gone")
        self.api.call("PATCH", "/api/users/" + user["user_id"], {"disabled": True}, {"If-Match": "*"})
        self.api.call("DELETE", "/api/tokens/" + token["token_id"], None, {})
        ended = time.monotonic() + 10
        for listener in listeners:
            listener.read()  # until the server ends the stream, which otherwise lasts ten minutes
            self.assertLess(time.monotonic(), ended)

    def test_read_only_users_change_nothing(self):
        for path, methods in self.routes():
            for method in sorted(methods - {"GET"}):
                if (method, path) in READERS_WRITES or (method, path) in OPEN:
                    continue
                status, _, data = self.ask(method, self.concrete(path), self.tokens["rita"])
                self.assertEqual(status, 403, (method, path, data[:200]))
                self.assertIn("permission", json.loads(data))

    def test_users_do_not_touch_jobs_of_others(self):
        before = self.ask_job()
        for path, methods in self.routes():
            if "{job_id}" not in path and "{run_id}" not in path:
                continue
            for method in sorted(methods - {"GET"}):
                status, _, data = self.ask(method, self.concrete(path), self.tokens["bert"])
                self.assertEqual(status, 403, (method, path, data[:200]))
        self.assertEqual(self.ask_job(), before)

    def raw(self, data, timeout=15):
        """Sends these bytes and returns the answer, up to its end or until the server closes the connection."""
        parts = urllib.parse.urlsplit(self.server.runtime["url"])
        with socket.create_connection((parts.hostname, parts.port), timeout=timeout) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            got = b""
            try:
                while chunk := connection.recv(65536):
                    got += chunk
            except OSError:
                pass
            return got

    def get(self, target, headers=""):
        return self.raw(f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.server.token}\r\n"
                        f"Connection: close\r\n{headers}\r\n".encode("latin-1"))

    def test_paths_do_not_leave_the_console(self):
        with open(os.path.join(self.server.data_dir, "admin.token")) as f:
            token = f.read().strip().encode()
        ups = ["../" * 12, "..%2f" * 12, "%2e%2e/" * 12, "%2e%2e%2f" * 12, "..%5c" * 12, "..\\" * 12, "....//" * 12,
               "%252e%252e%252f" * 12, "..%c0%af" * 12, "..%00/" * 12]
        files = ["etc/passwd", self.server.data_dir.lstrip("/") + "/admin.token", "proc/self/environ"]
        for base in ("/", "/assets/", "/api/", "/api/jobs/", "/api/runs/", "/api/reference/"):
            for up in ups:
                for name in files:
                    got = self.get(base + up + name)
                    self.assertNotIn(b"root:", got)
                    self.assertNotIn(token, got)
                    status = int(got.split(b" ", 2)[1]) if got else 400
                    # A path of the console without a file must answer with the console's page.
                    page = b"<!doctype html" in got.lower()
                    self.assertTrue(status >= 400 or page, (base + up + name, got[:200]))
                    self.assertLess(status, 500)

    def test_requests_inject_no_headers(self):
        crlf = "%0d%0aSet-Cookie:%20stolen=1%0d%0aX-Made:%201"
        for target in ("/api/jobs/" + crlf, "/api/jobs?q=" + crlf, "/" + crlf, "/api/runs/" + crlf + "/logs",
                       "/api/jobs/annas%0d%0aX-Made:1", "/api/users/" + crlf, "/setup" + crlf):
            got = self.get(target)
            head = got.split(b"\r\n\r\n", 1)[0].lower()
            self.assertNotIn(b"\r\nx-made", head, target)
            self.assertNotIn(b"set-cookie: stolen", head, target)
        for header in ("Last-Event-ID: 1\rX-Made: 1", "X-Trace: a\n X-Made: 1", "traceparent: 00-\x00-x-00",
                       "Idempotency-Key: a\rX-Made: 1", "If-None-Match: \"a\rX-Made: 1\""):
            got = self.get("/api/jobs", header + "\r\n")
            self.assertNotIn(b"\r\nx-made", got.split(b"\r\n\r\n", 1)[0].lower(), header)
        # A name with line breaks must never become a header.
        status, _, data = self.api.raw("POST", "/api/jobs", {"name": "a\r\nX-Made: 1", "command": "true"})
        if status == 201:
            location = self.get("/api/jobs/" + json.loads(data)["job_id"])
            self.assertNotIn(b"\r\nx-made", location.split(b"\r\n\r\n", 1)[0].lower())
        else:
            self.assertEqual(status, 400)

    def test_one_request_is_not_taken_for_two(self):
        """A length that two servers may read differently ends the connection; a request after it is not served."""
        second = (f"POST /api/jobs/annas/pause HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.server.token}\r\n"
                  "Content-Length: 0\r\n\r\n")
        for lengths in ("Content-Length: 0\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
                        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
                        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n",
                        "Content-Length: +5\r\n", "Content-Length: 0x5\r\n", "Content-Length : 5\r\n",
                        "Transfer-Encoding : chunked\r\n"):
            got = self.raw(f"POST /api/auth/login HTTP/1.1\r\nHost: x\r\n{lengths}\r\n0\r\n\r\n{second}".encode())
            self.assertNotIn(b"HTTP/1.1 2", got, lengths)
            self.assertLessEqual(got.count(b"HTTP/1.1 "), 1, (lengths, got))
            self.assertTrue(self.ask_job()["enabled"], lengths)
        # Sent alone, the second request is served. Otherwise the checks above would prove nothing.
        self.assertIn(b"HTTP/1.1 2", self.raw(second.encode()))
        self.assertFalse(self.ask_job()["enabled"])

    def memory_kib(self):
        with open(f"/proc/{self.server.runtime['pid']}/status") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1])

    def test_bombs_are_refused_and_leave_no_memory(self):
        kind = {"Content-Type": "application/json"}
        megabyte = 1_000_000
        bombs = {
            "deep lists": b"[" * megabyte, "deep objects": b'{"a":' * (megabyte // 5),
            "closed deep lists": b"[" * 400_000 + b"]" * 400_000,
            "many members": b"{" + b",".join(b'"%d":0' % n for n in range(90_000)) + b"}",
            "the same member": b'{"name":"x",' + b'"env":{},' * 100_000 + b'"command":"true"}',
            "many items": b'{"name":"x","command":"true","schedules":[' + b"0," * 400_000 + b"0]}",
            "a long number": b'{"name":"x","command":"true","timeout":' + b"9" * 900_000 + b"}",
            "a long exponent": b'{"name":"x","command":"true","timeout":1e' + b"9" * 900_000 + b"}",
            "escapes": b'{"name":"' + b"\\u0000" * 150_000 + b'","command":"true"}',
            "half a pair": b'{"name":"' + b"\\ud800" * 150_000 + b'","command":"true"}',
            "a cron of numbers": b'{"name":"x","command":"true","cron_expression":"' + b"1," * 400_000 + b'1 * * * *"}',
            "many retries": b'{"name":"x","command":"true","retry_intervals":[' + b"1," * 400_000 + b"1]}",
        }
        self.api.close()
        self.api.raw("POST", "/api/jobs", bombs["many items"], kind)  # the first one allocates memory that stays
        before = self.memory_kib()
        for what, body in bombs.items():
            for path in ("/api/jobs", "/api/apply", "/api/schedules/preview", "/api/bulk"):
                begun = time.monotonic()
                status, _, data = self.api.raw("POST", path, body, kind)
                self.assertIn(status, (400, 413, 422), (what, path, data[:200]))
                self.assertLess(len(data), 64 * 1024, (what, path))
                self.assertLess(time.monotonic() - begun, 10, (what, path))
        status = self.api.raw("POST", "/api/jobs", b"\x1f\x8b\x08" + bytes(1000), dict(kind, **{"Content-Encoding": "gzip"}))[0]
        self.assertIn(status, (400, 415))
        self.assertLess(self.memory_kib() - before, 200 * 1024)

    def test_oversized_requests_are_refused(self):
        self.assertEqual(self.api.raw("GET", "/api/jobs?q=" + "x" * 9_000)[0], 414)
        self.assertEqual(self.api.raw("POST", "/api/jobs", b'"' + b"x" * 1_100_000 + b'"',
                                        {"Content-Type": "application/json"})[0], 413)
        for data in (b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Many: 1\r\n" * 5_000 + b"\r\n"):
            got = self.raw(data)
            self.assertFalse(got.startswith((b"HTTP/1.1 2", b"HTTP/1.1 5")), got[:100])
        self.assertEqual(self.api.raw("GET", "/api/system/status")[0], 200)

    def test_slow_clients_block_others_only_briefly(self):
        """More clients than connections, from many addresses, each of them sending a byte now and then."""
        parts = urllib.parse.urlsplit(self.server.runtime["url"])
        slow = []
        self.addCleanup(lambda: [connection.close() for connection in slow])
        for number in range(1_100):
            connection = socket.create_connection((parts.hostname, parts.port), timeout=30,
                                                  source_address=(f"127.0.0.{2 + number % 20}", 0))
            connection.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: x\r\nX-")
            connection.setblocking(False)
            slow.append(connection)
        begun = time.monotonic()
        patient = Api(self.server.runtime["url"], self.server.token, timeout=40)
        answered = []

        def drip():
            for connection in slow:
                try:
                    connection.send(b"a")
                except OSError:
                    pass
            try:
                patient.timeout = 1
                answered.append(patient.raw("GET", "/api/system/status")[0])
            except OSError:
                patient.close()
            return answered
        within(drip, 20, "an answer beside slow clients")
        patient.close()
        self.assertEqual(answered, [200])
        self.assertLess(time.monotonic() - begun, 20)

        def gone():
            left = 0
            for connection in slow:
                try:
                    left += connection.recv(4096) != b""
                except BlockingIOError:
                    left += 1
                except OSError:
                    pass
            return left == 0
        wait_until(gone, 30, "the slow ones being closed")

    def test_answers_are_not_readable_by_other_sites(self):
        for path in ("/", "/jobs", "/api/openapi.json", "/api/reference"):
            status, headers, _ = self.open.raw("GET", path)
            self.assertEqual(status, 200, path)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertNotIn("Access-Control-Allow-Origin", headers)
            self.assertNotIn("Server", headers)
        policy = self.open.raw("GET", "/")[1]["Content-Security-Policy"]
        self.assertNotIn("unsafe", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        status, headers, _ = self.open.raw("OPTIONS", "/api/jobs", headers={
            "Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})
        self.assertNotIn("Access-Control-Allow-Origin", headers)


if __name__ == "__main__":
    unittest.main(verbosity=2)
