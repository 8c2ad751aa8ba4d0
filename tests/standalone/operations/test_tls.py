#!/usr/bin/env python3
"""The API over TLS: trusted certificates, messages of the command line, a certificate replaced in operation."""
import os
import ssl
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, Api, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402


def make_pair(directory, stem):
    """Writes a self-signed certificate for 127.0.0.1 and its key."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-subj", f"/CN={stem}", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2",
         "-keyout", os.path.join(directory, stem + ".key"),
         "-out", os.path.join(directory, stem + ".crt")], check=True, capture_output=True)


def replace(directory, stem, new):
    for end in (".crt", ".key"):
        os.replace(os.path.join(directory, new + end), os.path.join(directory, stem + end))


def check_first_session(test, **options):
    """Checks that the first session has a cookie for TLS only, and that browsers are told to keep to TLS."""
    token = test.server.setup_link().split("#token=")[1]
    api = Api(test.server.runtime["url"], None, **options)
    test.addCleanup(api.close)
    status, headers, _ = api.raw("POST", "/api/auth/setup", {
        "setup_token": token, "name": "boss", "password": "a long enough password"})
    test.assertEqual(status, 201)
    test.assertIn("; Secure", headers["Set-Cookie"])
    test.assertIn("max-age=", headers["Strict-Transport-Security"])


class TlsTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp(prefix="carillon-e2e-")
        make_pair(cls.scratch, "server")
        make_pair(cls.scratch, "next")
        cls.ca = os.path.join(cls.scratch, "ca.pem")
        with open(cls.path("server.crt")) as f, open(cls.ca, "w") as out:
            out.write(f.read())
        cls.start_server(directory=cls.scratch, extra=[
            "--set", "rest.tls_certificate_file=" + cls.path("server.crt"),
            "--set", "rest.tls_key_file=" + cls.path("server.key")])

    @classmethod
    def path(cls, name):
        return os.path.join(cls.scratch, name)

    def test_1_every_published_address_is_https(self):
        self.assertTrue(self.server.runtime["url"].startswith("https://127.0.0.1:"))
        self.assertRegex(self.server.setup_link(), r"^https://127\.0\.0\.1:\d+/setup#token=")

    def test_2_cookies_are_secure_and_browsers_keep_to_tls(self):
        check_first_session(self, tls=ssl.create_default_context(cafile=self.ca))

    def test_3_the_command_line_trusts_the_given_authority(self):
        for where in ({"CARILLON_CA_FILE": self.ca}, {}):
            flags = [] if where else ["--ca-file", self.ca]
            code, out, err = cli(self.server, *flags, "job", "create", "--name", "t", "--command",
                                 "true", "--cron", "0 3 1 1 *", env=where)
            self.assertEqual(code, 0, err)

    def test_4_the_command_line_refuses_an_unknown_certificate(self):
        code, out, err = cli(self.server, "job", "list", check=False)
        self.assertEqual(code, 6)
        self.assertEqual(out, "")
        self.assertIn("certificate is not trusted", err)
        code, _, err = cli(self.server, "--ca-file", self.path("next.crt"), "job", "list", check=False)
        self.assertEqual(code, 6, err)
        code, _, err = cli(self.server, "--ca-file", self.path("missing"), "job", "list", check=False)
        self.assertEqual(code, 2, err)

    def test_5_plain_http_is_not_answered(self):
        plain = self.server.runtime["url"].replace("https://", "http://")
        with self.assertRaises(OSError):
            api = Api(plain, None)
            try:
                api.raw("GET", "/api/jobs")
            finally:
                api.close()

    def test_6_a_new_certificate_is_used_without_a_restart(self):
        replace(self.scratch, "server", "next")

        def shown():
            code, _, _ = cli(self.server, "--ca-file", self.path("server.crt"), "job", "list",
                             check=False)
            return code == 0
        wait_until(shown, 30, "the new certificate")
        with open(self.path("server.crt"), "w") as f:
            f.write("rubbish")

        def logged():
            with open(self.server.log_path) as log:
                return "the certificate before stays in use" in log.read()
        wait_until(logged, 30, "the log line of a bad certificate")
        self.assertIsNone(self.server.process.poll())

    def test_7_a_key_without_a_certificate_ends_the_start(self):
        done = subprocess.run(
            [os.path.join(BIN, "carillon"), "standalone", "--data-dir", self.path("other"),
             "--set", "rest.tls_key_file=" + self.path("server.key")],
            capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 2)
        self.assertIn("rest.tls_certificate_file is not", done.stderr)


class BehindTlsTest(ServerCase):
    """A server behind a proxy that ends TLS, which the settings of the server name."""

    OPTIONS = {"extra": ["--set", "rest.behind_tls=true"]}

    def test_cookies_are_secure_behind_a_proxy(self):
        check_first_session(self)


if __name__ == "__main__":
    unittest.main()
