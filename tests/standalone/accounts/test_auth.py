#!/usr/bin/env python3
"""Setup link, sign-in, roles, tokens and lock-out; and no secret is in any file that the server wrote."""
import json
import os
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import BIN, Api, cli  # noqa: E402
from server_case import ServerCase  # noqa: E402

PASSWORD = "a long enough password"
JOB = {"name": "hello", "command": "echo hello"}


class AuthTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open = Api(cls.server.runtime["url"], None)
        cls.addClassCleanup(cls.open.close)
        cls.secrets = {cls.server.token}
        cls.setup_token = cls.server.setup_link().split("#token=")[1]

    def ask(self, method, path, body=None, token=None, headers=None):
        """Returns (status, document or None, headers with names in lower case)."""
        sent = dict(headers or {})
        if token:
            sent["Authorization"] = "Bearer " + token
        status, got, data = self.open.raw(method, path, body, sent)
        return status, json.loads(data) if data else None, {k.lower(): v for k, v in got.items()}

    def take(self, status, document, headers):
        """Returns (access token, cookie) of a session, and remembers both as secrets."""
        self.assertIn(status, (200, 201), document)
        cookie = headers["set-cookie"].split(";")[0]
        self.assertIn("HttpOnly", headers["set-cookie"])
        self.assertIn("SameSite=Strict", headers["set-cookie"])
        self.secrets.update((document["access_token"], cookie.split("=", 1)[1]))
        return document["access_token"], cookie

    def login(self, name, password=PASSWORD):
        return self.ask("POST", "/api/auth/login", {"name": name, "password": password})

    def refresh(self, cookie):
        return self.ask("POST", "/api/auth/refresh",
                        headers={"Cookie": cookie, "X-Carillon-Refresh": "1"})

    def add_user(self, name, role):
        return self.api.post("/api/users", {"name": name, "role": role, "password": PASSWORD})

    def test_1_the_setup_link_works_once(self):
        self.secrets.add(PASSWORD)
        self.assertTrue(self.ask("GET", "/api/auth/state")[1]["setup_needed"])
        body = {"setup_token": self.setup_token, "name": "boss", "password": PASSWORD}
        access, _ = self.take(*self.ask("POST", "/api/auth/setup", body))
        self.assertEqual(self.ask("GET", "/api/auth/me", token=access)[1]["role"], "admin")
        self.assertFalse(self.ask("GET", "/api/auth/state")[1]["setup_needed"])
        status, problem, _ = self.ask("POST", "/api/auth/setup", dict(body, name="other"))
        self.assertEqual((status, problem["code"]), (409, "setup_done"))

    def test_2_refresh_rotates_and_reuse_ends_the_session(self):
        access, first = self.take(*self.login("boss"))
        self.assertEqual(self.ask("GET", "/api/jobs", token=access)[0], 200)
        self.take(*self.refresh(first))  # plays an answer that is lost
        access, second = self.take(*self.refresh(first))
        access, third = self.take(*self.refresh(second))
        self.assertEqual(self.ask("GET", "/api/jobs", token=access)[0], 200)
        status, problem, _ = self.refresh(first)
        self.assertEqual((status, problem["code"]), (401, "refresh_reused"))
        self.assertEqual(self.refresh(third)[0], 401)
        self.assertEqual(self.ask("GET", "/api/jobs", token=access)[0], 401)

    def test_3_roles_limit_what_users_do(self):
        self.add_user("anna", "user")
        self.add_user("bert", "user")
        reader = self.add_user("rita", "read_only")
        anna, _ = self.take(*self.login("anna"))
        bert, _ = self.take(*self.login("bert"))
        rita, cookie = self.take(*self.login("rita"))
        status, job, _ = self.ask("POST", "/api/jobs", JOB, anna)
        self.assertEqual(status, 201)
        path = "/api/jobs/" + job["job_id"]
        for token, read, execute in ((anna, 200, 202), (bert, 200, 403), (rita, 200, 403),
                                     (self.server.token, 200, 202)):
            self.assertEqual(self.ask("GET", path, token=token)[0], read)
            self.assertEqual(self.ask("POST", path + "/execute", {}, token)[0], execute)
        self.assertEqual(self.ask("POST", "/api/jobs", JOB, rita)[0], 403)
        status, problem, _ = self.ask("GET", "/api/users", token=anna)
        self.assertEqual((status, problem["permission"]), (403, "users:manage"))
        self.api.call("PATCH", "/api/users/" + reader["user_id"], {"disabled": True},
                        {"If-Match": "*"})
        self.assertEqual(self.ask("GET", path, token=rita)[0], 401)
        self.assertEqual(self.refresh(cookie)[0], 401)
        self.assertEqual(self.login("rita")[0], 401)

    def test_4_a_token_works_until_it_is_deleted(self):
        anna, _ = self.take(*self.login("anna"))
        status, token, _ = self.ask("POST", "/api/tokens", {"name": "ci"}, anna)
        self.assertEqual(status, 201)
        self.secrets.add(token["token"])
        status, job, _ = self.ask("POST", "/api/jobs", JOB, token["token"])
        self.assertEqual((status, job["user_id"]), (201, token["user_id"]))
        path = "/api/tokens/" + token["token_id"]
        self.assertEqual(self.ask("DELETE", path, token=anna)[0], 204)
        self.assertEqual(self.ask("GET", "/api/jobs", token=token["token"])[0], 401)

    def test_5_wrong_passwords_lock_the_name_out(self):
        wrong = "certainly not this one"
        self.secrets.add(wrong)
        for _ in range(5):
            self.assertEqual(self.login("bert", wrong)[0], 401)
        status, problem, headers = self.login("bert")
        self.assertEqual((status, problem["code"]), (429, "too_many_attempts"))
        self.assertGreater(int(headers["retry-after"]), 0)
        self.take(*self.login("anna"))

    def run_as_person(self, *arguments, stdin=None):
        """Runs the command line as a user without a token, with a separate home directory."""
        home = os.path.join(self.server.scratch, "home")
        os.makedirs(home, exist_ok=True)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("CARILLON_", "XDG_"))}
        env.update(HOME=home, CARILLON_ADDR=self.server.runtime["url"], NO_COLOR="1")
        done = subprocess.run([os.path.join(BIN, "carillon"), *arguments], env=env, input=stdin or "",
                              capture_output=True, text=True, timeout=120)
        return done.returncode, done.stdout, done.stderr

    def test_5_the_command_line_signs_in(self):
        self.assertEqual(self.run_as_person("whoami")[0], 4)
        code, _, err = self.run_as_person("login", "--name", "anna", stdin="not the password\n")
        self.assertEqual(code, 4, err)
        code, _, err = self.run_as_person("login", "--name", "anna", stdin=PASSWORD + "\n")
        self.assertEqual(code, 0, err)
        session = os.path.join(self.server.scratch, "home", ".config", "carillon", "session.json")
        self.assertEqual(os.stat(session).st_mode & 0o777, 0o600)
        code, shown, err = self.run_as_person("whoami", "-o", "json")
        self.assertEqual((code, json.loads(shown)["name"]), (0, "anna"), err)
        # Makes the access token as old as after ten minutes.
        with open(session) as f:
            stored = json.load(f)
        before = stored[self.server.runtime["url"]]["refresh_token"]
        stored[self.server.runtime["url"]]["access_expires"] = "2020-01-01T00:00:00Z"
        with open(session, "w") as f:
            json.dump(stored, f)
        code, shown, err = self.run_as_person("job", "create", "--name", "mine", "--command", "true",
                                               "-o", "json")
        self.assertEqual(code, 0, err)
        with open(session) as f:
            after = json.load(f)[self.server.runtime["url"]]
        self.assertNotEqual(after["refresh_token"], before)
        self.assertEqual(self.run_as_person("user", "list")[0], 4)
        code, token, err = self.run_as_person("token", "create", "laptop", "-q")
        self.assertEqual(code, 0, err)
        status, me, _ = self.ask("GET", "/api/auth/me", token=token.strip())
        self.assertEqual((status, me["kind"], me["name"]), (200, "token", "laptop"))
        code, _, err = cli(self.server, "user", "create", "carl", "--role", "read_only",
                            stdin=PASSWORD + "\n")
        self.assertEqual(code, 0, err)
        self.assertEqual(cli(self.server, "user", "edit", "carl", "--disable")[0], 0)
        self.assertIn("carl", cli(self.server, "user", "list")[1])
        self.assertEqual(cli(self.server, "user", "delete", "carl", "--yes")[0], 0)
        self.assertEqual(cli(self.server, "user", "get", "carl", check=False)[0], 3)
        self.assertEqual(self.run_as_person("logout")[0], 0)
        self.assertEqual(self.run_as_person("whoami")[0], 4)
        self.secrets.update((before, after["refresh_token"], after["access_token"], token.strip()))
        shutil.rmtree(os.path.join(self.server.scratch, "home"))

    def test_6_sessions_and_the_audit_survive_a_restart(self):
        _, cookie = self.take(*self.login("anna"))
        self.open.close()
        self.restart()
        type(self).open = Api(self.server.runtime["url"], None)
        self.take(*self.refresh(cookie))
        with open(self.server.log_path) as f:
            self.assertEqual(f.read().count("/setup#token="), 1)
        actions = {item["action"] for item in self.api.pages("/api/audit")}
        for action in ("auth.setup", "auth.login", "auth.login_failed", "auth.refresh_reused",
                       "user.create", "user.patch", "token.create", "token.delete"):
            self.assertIn(action, actions)

    def test_7_no_file_of_the_server_contains_a_secret(self):
        self.server.stop()
        secrets = [secret.encode() for secret in self.secrets if len(secret) >= 10]
        self.assertGreater(len(secrets), 10)
        files = 0
        for folder, _, names in os.walk(self.server.scratch):
            for name in names:
                if name == "admin.token":
                    continue
                try:
                    with open(os.path.join(folder, name), "rb") as f:
                        data = f.read()
                except OSError:
                    continue  # a socket
                files += 1
                for secret in secrets:
                    self.assertNotIn(secret, data, os.path.join(folder, name))
        self.assertGreater(files, 20)  # includes the files of the database


if __name__ == "__main__":
    unittest.main()
