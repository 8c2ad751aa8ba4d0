#!/usr/bin/env python3
"""Jobs of type http against servers as they are: packed and foreign text, work that is only accepted, client
certificates, other hosts, redirects without end, and proxies."""
import gzip
import http.server
import json
import os
import select
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from receivers import SmtpReceiver, WebhookReceiver  # noqa: E402
from server_case import ServerCase  # noqa: E402

LOOPBACK = {"CARILLON_EXECUTOR_HTTP_ALLOW": "127.0.0.1"}
JSON = "application/json"


def make_pair(directory, stem):
    """Writes a self-signed certificate and its key; returns both texts, one below the other."""
    paths = [os.path.join(directory, stem + end) for end in (".crt", ".key")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", f"/CN={stem}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:shop.example", "-days", "2",
         "-out", paths[0], "-keyout", paths[1]], check=True, capture_output=True)
    texts = []
    for path in paths:
        with open(path, encoding="ascii") as file:
            texts.append(file.read())
    return "\n".join(texts)


class Web(http.server.ThreadingHTTPServer):
    """Answers as ANSWERS say. `seen`: method, path and headers of each request."""
    daemon_threads = True

    def __init__(self, tls=None):
        super().__init__(("127.0.0.1", 0), Handler)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.seen, self.lock, self.scheme = [], threading.Lock(), "https" if tls else "http"
        self.url = f"{self.scheme}://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request, client_address):
        """Nothing: clients whose certificate is missing."""

    def got(self, path):
        with self.lock:
            return [one for one in self.seen if one["path"] == path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            self.server.seen.append({"path": self.path, "method": self.command, "headers": dict(self.headers.items())})
            asked = sum(one["path"] == self.path for one in self.server.seen)
        status, headers, body = self.reply(asked)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def reply(self, asked):
        path = self.path
        if path == "/gzip":
            return 200, {"Content-Encoding": "gzip", "Content-Type": JSON}, gzip.compress(b'{"status": "ok"}')
        if path == "/gbk":
            return 200, {"Content-Type": "text/plain; charset=GBK"}, "执行成功".encode("gbk")
        if path == "/utf16":
            return 200, {"Content-Type": JSON}, '{"status": "ok", "error": null}'.encode("utf-16")
        if path == "/round":
            return 302, {"Location": "/round?token=hidden", "Set-Cookie": "session=hidden"}, b""
        if path.startswith("/round?"):
            return 302, {"Location": path}, b""
        if path == "/jobs":
            return 202, {"Location": "/status"}, b'{"id": 17}'
        if path in ("/status", "/jobs/17"):
            state = "succeeded" if asked > 2 else "running"
            return (200 if path != "/status" or asked > 2 else 202), {}, json.dumps({"state": state}).encode()
        if path == "/jobs?forever":
            return 202, {"Location": "/jobs?forever"}, b""
        return 200, {}, json.dumps({"path": path, "host": self.headers["Host"]}).encode()

    do_GET = do_POST = answer

    def log_message(self, *_):
        """Nothing: the requests are kept."""


class Proxy(http.server.ThreadingHTTPServer):
    """Forwards to the port on this host, whatever the name. `seen`: the lines of its requests."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.seen, self.url = [], f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()


class ProxyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_CONNECT(self):
        self.server.seen.append(self.requestline)
        with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as onward:
            self.send_response(200)
            self.end_headers()
            self.pump(onward)
        self.close_connection = True

    def pump(self, onward):
        ends = {self.connection: onward, onward: self.connection}
        while True:
            for one in select.select(list(ends), [], [])[0]:
                data = one.recv(65536)
                if not data:
                    return
                ends[one].sendall(data)

    def forward(self):
        self.server.seen.append(self.requestline)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        host, _, path = self.path.removeprefix("http://").partition("/")
        with socket.create_connection(("127.0.0.1", int(host.rpartition(":")[2]))) as onward:
            head = [f"{self.command} /{path} HTTP/1.1", "Connection: close"]
            head += [f"{name}: {value}" for name, value in self.headers.items() if name.lower() != "connection"]
            onward.sendall("\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + body)
            while data := onward.recv(65536):
                self.wfile.write(data)
        self.close_connection = True

    do_GET = do_POST = forward

    def log_message(self, *_):
        """Nothing: the requests are kept."""


class WebCase(ServerCase):
    JOB = {}

    def request(self, url, http=None, **fields):
        return self.execute(self.create(type="http", http={"url": url, **(http or {})}, **fields))

    def log_of(self, run):
        def log():
            status, headers, text = self.api.raw("GET", f"/api/runs/{run['run_id']}/logs")
            return text.decode() if status == 200 and dict(headers).get("X-Log-Complete") == "true" else None
        return wait_until(log, 30, "the log")


class HttpWebTest(WebCase):
    # A proxy of the environment, which nobody answers, is not used.
    OPTIONS = {"env": {**LOOPBACK, "http_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1"}}

    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        cls.pem = make_pair(directory.name, "server")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(os.path.join(directory.name, "server.crt"), os.path.join(directory.name, "server.key"))
        tls.load_verify_locations(os.path.join(directory.name, "server.crt"))
        tls.verify_mode = ssl.CERT_REQUIRED
        cls.web, cls.mutual = Web(), Web(tls)
        for one in (cls.web, cls.mutual):
            cls.addClassCleanup(one.server_close)
            cls.addClassCleanup(one.shutdown)
        super().setUpClass()

    def assert_completed(self, run, output=None):
        self.assertEqual(run["state"], "COMPLETED", run)
        if output is not None:
            self.assertEqual(run["output"], output)

    def test_packed_and_foreign_text_is_read(self):
        ok = {"/status": "ok"}
        self.assert_completed(self.request(self.web.url + "/gzip", {"expect": {"json": ok}}), '{"status": "ok"}')
        run = self.request(self.web.url + "/gzip", {"headers": {"Accept-Encoding": "gzip"}, "expect": {"json": ok}},
                           name="asked for")
        self.assert_completed(run, '{"status": "ok"}')
        run = self.request(self.web.url + "/gbk", {"expect": {"contains": "执行"}}, name="GBK")
        self.assert_completed(run, "执行成功")
        self.assertIn("执行成功", self.log_of(run))
        both = {**ok, "/error": None}
        self.assert_completed(self.request(self.web.url + "/utf16", {"expect": {"json": both}}, name="UTF-16"))

    def test_urls_are_sent_as_by_a_browser_or_refused(self):
        self.assert_completed(self.request(self.web.url + "/a b?x=你好"))
        self.assertTrue(self.web.got("/a%20b?x=%E4%BD%A0%E5%A5%BD"))
        for url in ("http://a b/", "http://h:99999/", "http://[::1/"):
            with self.assertRaises(ApiError) as refused:
                self.create(name="refused", type="http", http={"url": url})
            self.assertEqual([one["pointer"] for one in json.loads(refused.exception.body)["errors"]], ["/http/url"])

    def test_one_wrong_value_is_one_mistake(self):
        with self.assertRaises(ApiError) as refused:
            self.create(type="http", http={"url": "http://h/", "expect": {"json": {"/a": []}}})
        errors = json.loads(refused.exception.body)["errors"]
        self.assertEqual([one["pointer"] for one in errors], ["/http/expect/json/~1a"], errors)

    def test_a_row_of_redirects_says_so_and_hides_credentials(self):
        run = self.request(self.web.url + "/round", {"follow": 3})
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "http_status"), run)
        self.assertIn("stopped after 3 redirects", run["error"])
        self.assertNotIn("hidden", run["error"] + self.log_of(run))

    def test_a_host_of_its_own(self):
        run = self.request(self.web.url + "/host", {"headers": {"Host": "shop.example:81"}})
        self.assertEqual(json.loads(run["output"])["host"], "shop.example:81", run)

    def test_accepted_work_is_awaited(self):
        run = self.request(self.web.url + "/jobs", {"method": "POST", "body": "{}", "poll": {"interval": 1}})
        self.assert_completed(run, '{"state": "succeeded"}')
        self.assertEqual([one["method"] for one in self.web.got("/status")], ["GET"] * 3)
        self.assertEqual(len(self.web.got("/jobs")), 1)
        code, out, err = cli(self.server, "job", "create", "--name", "polls", "--http", self.web.url + "/jobs",
                             "--data", "{}", "--poll", "1", "--poll-url", self.web.url + "/jobs/", "--poll-url-at",
                             "/id", "--poll-until", "/state=succeeded", "--manual", "--output", "json")[:3]
        self.assertEqual(code, 0, err)
        job = json.loads(out)
        self.assertEqual(job["http"]["poll"], {"url": self.web.url + "/jobs/", "url_at": "/id", "interval": 1,
                                               "until": {"/state": ["succeeded"]}})
        self.assert_completed(self.execute(job), '{"state": "succeeded"}')

    def test_waiting_ends_with_the_timeout_and_a_cancel(self):
        forever = {"url": self.web.url + "/jobs?forever", "poll": {"interval": 1}}
        run = self.execute(self.create(type="http", http=forever, timeout=2, name="late"))
        self.assertEqual((run["state"], run["http_status"]), ("TIMED_OUT", 202), run)
        before = len(self.web.got("/jobs?forever"))
        run_id = self.start(self.create(type="http", http=forever, name="cancelled"))
        wait_until(lambda: len(self.web.got("/jobs?forever")) > before + 1, 30, "a question")
        self.api.post(f"/api/runs/{run_id}/cancel", {})
        self.assertEqual(self.ended(run_id)["state"], "CANCELLED")

    def test_a_client_certificate_is_shown(self):
        url, insecure = self.mutual.url + "/x", {"tls_verify": False}
        run = self.request(url, insecure, name="without")
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "http_error"), run)
        self.api.post("/api/secrets", {"name": "CLIENT_PEM", "value": self.pem})
        run = self.request(url, {**insecure, "client_certificate": "{{secrets.CLIENT_PEM}}"}, name="with")
        self.assert_completed(run)
        self.assertNotIn("PRIVATE KEY", self.log_of(run))


class HttpProxyTest(WebCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(directory.cleanup)
        make_pair(directory.name, "server")
        certificate = os.path.join(directory.name, "server.crt")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate, os.path.join(directory.name, "server.key"))
        cls.web, cls.secure, cls.proxy = Web(), Web(tls), Proxy()
        for one in (cls.web, cls.secure, cls.proxy):
            cls.addClassCleanup(one.server_close)
            cls.addClassCleanup(one.shutdown)
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        cls.hooks, cls.smtp = WebhookReceiver(secret).start(), SmtpReceiver().start()
        for one in (cls.hooks, cls.smtp):
            cls.addClassCleanup(one.stop)
        secret_file = os.path.join(directory.name, "secret")
        with open(secret_file, "w", encoding="ascii") as file:
            file.write(secret + "\n")
        os.chmod(secret_file, 0o600)
        cls.OPTIONS = {"env": {"CARILLON_EXECUTOR_HTTP_PROXY": cls.proxy.url,
                               "CARILLON_EXECUTOR_HTTP_ALLOW": "127.0.0.3", "CARILLON_EXECUTOR_NO_PROXY": "127.0.0.3",
                               "CARILLON_EXECUTOR_HTTP_CA_FILE": certificate, "CARILLON_NOTIFY_PROXY": cls.proxy.url,
                               "CARILLON_NOTIFY_WEBHOOK_URL": f"http://hooks.example:{cls.hooks.port}/",
                               "CARILLON_NOTIFY_WEBHOOK_SECRET_FILE": secret_file,
                               "CARILLON_NOTIFY_MAIL_PROXY": cls.proxy.url,
                               "CARILLON_NOTIFY_MAIL_SERVER": f"mail.example:{cls.smtp.port}",
                               "CARILLON_NOTIFY_MAIL_TLS": "off",
                               "CARILLON_NOTIFY_MAIL_FROM": "carillon@example.org",
                               "CARILLON_NOTIFY_MAIL_TO": "ops@example.org",
                               "CARILLON_NOTIFY_ALLOW_PLAIN": "true"}}
        super().setUpClass()

    def test_requests_webhooks_and_mails_go_through_it(self):
        run = self.request(f"http://shop.example:{self.web.server_port}/x")
        self.assertEqual(run["state"], "COMPLETED", run)
        run = self.request(f"https://shop.example:{self.secure.server_port}/y", name="TLS")
        self.assertEqual(run["state"], "COMPLETED", run)
        self.assertIn(f"GET http://shop.example:{self.web.server_port}/x HTTP/1.1", self.proxy.seen)
        self.assertIn(f"CONNECT shop.example:{self.secure.server_port} HTTP/1.1", self.proxy.seen)
        # It could reach them, but they stand in the URL.
        run = self.request(self.web.url + "/z", name="loopback")
        self.assertEqual((run["state"], run["reason"]), ("FAILED", "http_forbidden"), run)
        wait_until(lambda: self.hooks.ids(), 30, "the notice of that failure")
        hook = f"POST http://hooks.example:{self.hooks.port}/"
        self.assertTrue(any(line.startswith(hook) for line in self.proxy.seen))
        wait_until(lambda: self.smtp.mails, 30, "the mail about that failure")
        self.assertIn(f"CONNECT mail.example:{self.smtp.port} HTTP/1.1", self.proxy.seen)
        before = len(self.proxy.seen)
        run = self.request(f"http://127.0.0.3:{self.web.server_port}/", name="directly")
        self.assertEqual(run["reason"], "http_error", "nobody listens there")
        self.assertFalse(any("127.0.0.3" in line for line in self.proxy.seen[before:]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
