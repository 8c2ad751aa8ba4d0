#!/usr/bin/env python3
"""Notices as their receivers get them: this test runs a webhook and a mail server."""
import base64
import email
import email.policy
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from receivers import SmtpReceiver, WebhookReceiver  # noqa: E402
from server_case import OwnServerCase  # noqa: E402

SECRET = "whsec_" + base64.b64encode(bytes(range(32))).decode()
OLD_SECRET = "whsec_" + base64.b64encode(bytes(range(1, 33))).decode()


class NoticesCase(OwnServerCase):
    settings = {}
    environment = {}

    def setUp(self):
        self.scratch = tempfile.mkdtemp(prefix="carillon-e2e-")
        self.webhook, self.smtp = self.make_receivers()
        self.webhook.start()
        self.addCleanup(self.webhook.stop)
        self.smtp.start()
        self.addCleanup(self.smtp.stop)
        self.secret_file = os.path.join(self.scratch, "webhook.secret")
        self.write_secrets(SECRET)
        settings = {
            "webhook_url": self.webhook.url,
            "webhook_secret_file": self.secret_file,
            "mail_server": f"127.0.0.1:{self.smtp.port}",
            "mail_tls": "off",
            "mail_from": "carillon@example.org",
            "mail_to": "ops@example.org,night@example.org",
            "repeat_after_s": "0",
            **self.settings,
            **self.more_settings(),
        }
        env = {"CARILLON_NOTIFY_" + name.upper(): value for name, value in settings.items()}
        env.update(self.environment)
        self.start_server(directory=self.scratch, env=env)

    def make_receivers(self):
        return WebhookReceiver(SECRET), SmtpReceiver()

    def more_settings(self):
        return {}

    def write_secrets(self, *secrets):
        with open(self.secret_file, "w", encoding="ascii") as f:
            f.write("\n".join(secrets) + "\n")

    def create(self, **fields):
        return self.api.post("/api/jobs", dict({"name": "notices", "command": "exit 3",
                                                "retry_count": 0}, **fields))["job_id"]

    def execute(self, job):
        return self.api.post(f"/api/jobs/{job}/execute")["run_id"]

    def received(self, kind, count=1, seconds=20):
        wait_until(lambda: len(set(self.webhook.ids(kind))) >= count, seconds,
                   f"{count} webhooks of {kind}; {self.webhook.forged}")
        self.api.close()  # the server may have closed the connection, which was idle for long
        return self.webhook.bodies(kind)

    def deliveries(self, query=""):
        return list(self.api.pages("/api/deliveries" + query))

    def settled(self):
        wait_until(lambda: all(d["state"] == "DELIVERED" for d in self.deliveries()), 20,
                   f"every delivery to be done: {self.deliveries()}")

    def mail(self, index):
        wait_until(lambda: len(self.smtp.mails) > index, 20, "a mail")
        sender, recipients, text = self.smtp.mails[index]
        return sender, recipients, email.message_from_bytes(text, policy=email.policy.default)


class DeliveryTest(NoticesCase):
    def test_a_failure_is_reported_by_webhook_and_mail(self):
        job = self.create(name="Bericht über\u2028Nacht ☾", retry_count=1, retry_interval=0,
                          env={"SECRET_WORD": "xyzzy"}, parameters={"p": "plugh"},
                          command="echo swordfish; exit 3")
        run = self.execute(job)
        body = self.received("run.failed")[0]
        data = body["data"]
        self.assertEqual(data["job_id"], job)
        self.assertEqual(data["job_name"], "Bericht über\u2028Nacht ☾")
        self.assertEqual(data["run_id"], run)
        self.assertEqual(data["state"], "FAILED")
        self.assertEqual(data["reason"], "exit_code")
        self.assertEqual(data["exit_code"], 3)
        self.assertEqual(data["attempts"], 2)
        self.assertEqual(data["executor_id"], "executor-1")
        self.assertTrue(data["link"].endswith("/runs/" + run), data["link"])
        self.assertEqual(data["fire_time"], self.api.get(f"/api/runs/{run}")["fire_time"])
        sender, recipients, mail = self.mail(0)
        self.assertEqual(sender, "carillon@example.org")
        self.assertEqual(recipients, ["ops@example.org", "night@example.org"])
        self.assertIn("Bericht über", str(mail["Subject"]))
        self.assertIn(run, mail.get_content())
        self.assertIn("Exit code", mail.get_content())
        self.settled()
        notice = self.webhook.ids("run.failed")[0]
        self.assertEqual(mail["Message-ID"], f"<{notice}@example.org>")
        for text in (str(body), mail.as_string(), mail.get_content()):
            for word in ("xyzzy", "plugh", "swordfish"):
                self.assertNotIn(word, text)
        self.assertEqual(self.webhook.forged, [])
        self.assertEqual(len(self.webhook.ids("run.failed")), 1)
        self.assertEqual(len(self.smtp.mails), 1)

    def test_only_the_first_success_after_a_failure_is_reported(self):
        job = self.create(command="test -e " + os.path.join(self.scratch, "good"))
        self.execute(job)
        self.received("run.failed")
        with open(os.path.join(self.scratch, "good"), "w", encoding="ascii"):
            pass
        good = self.execute(job)
        self.assertEqual(self.received("run.recovered")[0]["data"]["run_id"], good)
        self.execute(job)
        quiet = self.create(command="true")
        self.execute(quiet)
        marker = self.create()
        self.execute(marker)
        self.received("run.failed", 2)
        self.settled()
        self.assertEqual(len(self.webhook.ids("run.recovered")), 1)
        self.assertEqual([d for d in self.deliveries() if d["job_id"] == quiet], [])

    def test_a_job_that_fails_in_a_row_is_paused_and_reported_each_time(self):
        by_hand = self.create(pause_after_failures=1)
        self.execute(by_hand)
        job = self.create(pause_after_failures=3, schedules=[{"kind": "rate", "every_ms": 1000}])
        for times in (1, 2):
            data = self.received("job.paused", times)[-1]["data"]
            self.assertEqual(data["job_id"], job)
            self.assertEqual(data["failures"], 3)
            self.assertEqual(data["state"], "FAILED")
            paused = self.api.get(f"/api/jobs/{job}")
            self.assertEqual(paused["state"], "PAUSED")
            self.assertEqual(paused["paused_by"], "failures")
            self.assertEqual(paused["pause_reason"], "3 runs in a row have failed (pause_after_failures)")
            runs = [run for run in self.api.pages(f"/api/jobs/{job}/history?state=FAILED")]
            self.assertGreaterEqual(len(runs), 3 * times)
            audit = self.api.get(f"/api/audit?object_id={job}&actor=system")["items"]
            self.assertEqual([record["action"] for record in audit], ["job.pause"] * times)
            if times == 1:
                done = self.api.post("/api/bulk", {"action": "resume", "filter": {"paused_by": "failures"}})
                self.assertEqual([item["id"] for item in done["items"]], [job])
        self.assertEqual(self.api.get(f"/api/jobs/{by_hand}")["state"], "ENABLED")
        self.assertEqual(self.webhook.forged, [])

    def test_a_receiver_that_was_down_gets_the_notice_later_and_once(self):
        self.webhook.stop()
        self.smtp.refuse = True
        job = self.create()
        self.execute(job)
        wait_until(lambda: [d for d in self.deliveries() if d["attempts"] >= 1], 20, "a try")
        wait_until(lambda: all(d["attempts"] >= 1 for d in self.deliveries()), 20, "both tries")
        for delivery in self.deliveries():
            self.assertEqual(delivery["state"], "PENDING")
            self.assertTrue(delivery["error"])
            self.assertTrue(delivery["next_try_time"])
        self.webhook.start()
        self.smtp.refuse = False
        self.received("run.failed", seconds=40)
        self.mail(0)
        self.settled()
        self.assertEqual(len(self.webhook.ids()), 1)
        self.assertEqual(len(self.smtp.mails), 1)

    def test_a_redirect_is_not_followed_and_410_ends_the_delivery(self):
        self.webhook.status = 307
        job = self.create(notify={"mail_to": ["gone@example.org", "one@example.org"]})
        self.execute(job)
        tried = wait_until(lambda: [d for d in self.deliveries("?state=PENDING&kind=failed")
                                    if d["attempts"] == 1], 20, "a try")
        self.assertEqual(tried[0]["status"], 307)
        self.assertEqual(self.mail(0)[1], ["one@example.org"])
        self.webhook.status = 410
        wait_until(lambda: [d for d in self.deliveries("?state=GIVEN_UP") if d["status"] == 410],
                   40, "the end of it")
        self.webhook.status = 200
        code, out, _ = cli(self.server, "delivery", "resend", tried[0]["id"])
        self.assertEqual(code, 0)
        self.assertIn("PENDING", out)
        self.received("run.failed")
        self.settled()
        code, out, _ = cli(self.server, "delivery", "list", "--job", job, "-o", "name")
        self.assertEqual(len(out.split()), 2)
        actions = [record["action"] for record in self.api.pages("/api/audit")]
        self.assertIn("delivery.resend", actions)

    def test_a_kill_before_the_delivery_loses_no_notice(self):
        self.webhook.stop()
        self.smtp.refuse = True
        job = self.create()
        runs = [self.execute(job) for _ in range(3)]
        wait_until(lambda: all(r["state"] == "FAILED" for r in self.api.runs(job)), 30, "the ends")
        self.server.kill()
        self.webhook.start()
        self.smtp.refuse = False
        self.restart()
        bodies = self.received("run.failed", 3, seconds=60)
        self.assertEqual(sorted(b["data"]["run_id"] for b in bodies), sorted(runs))
        self.settled()
        ids = self.webhook.ids("run.failed")
        self.assertEqual(len(set(ids)), 3)
        self.assertEqual(len(ids), 3, "a delivery that was recorded came again")

    def test_both_secrets_sign_while_they_are_rotated(self):
        self.write_secrets(SECRET, OLD_SECRET)
        self.webhook.secret = OLD_SECRET
        job = self.create()
        self.execute(job)
        self.received("run.failed")
        self.webhook.secret = SECRET
        self.execute(job)
        self.received("run.failed", 2)
        self.assertEqual(self.webhook.forged, [])

    def test_a_test_notice_reports_the_answer_of_each_channel(self):
        answer = self.api.post("/api/notify/test")
        self.assertEqual([(c["channel"], c["delivered"]) for c in answer["channels"]],
                         [("webhook", True), ("mail", True)])
        self.assertEqual(len(self.webhook.ids("notify.test")), 1)
        self.webhook.status = 500
        code, out, _ = cli(self.server, "notify", "test", check=False)
        self.assertEqual(code, 1)
        self.assertIn("500", out)

    def test_a_job_without_notices_sends_none(self):
        silent = self.create(notify={"on": []})
        self.execute(silent)
        loud = self.create()
        self.execute(loud)
        self.received("run.failed")
        self.settled()
        self.assertEqual({d["job_id"] for d in self.deliveries()}, {loud})
        metrics = self.server.metrics()
        self.assertEqual(metrics['carillon_notices_total{verdict="unwanted"}'], 1)
        job = self.api.get(f"/api/jobs/{silent}")
        self.assertEqual(job["notify"], {"on": []})
        with self.assertRaises(ApiError) as refused:
            self.create(notify={"mail_to": ["a@b.example\r\nBcc: c@d.example"]})
        self.assertEqual(refused.exception.status, 400)


class TlsTest(NoticesCase):
    settings = {"mail_tls": "starttls", "mail_user": "carillon"}

    def make_receivers(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        for stem in ("server", "other"):
            subprocess.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                 "-nodes", "-subj", f"/CN={stem}", "-addext", "subjectAltName=IP:127.0.0.1", "-days",
                 "2", "-keyout", self.path(stem + ".key"), "-out", self.path(stem + ".crt")],
                check=True, capture_output=True)
        context.load_cert_chain(self.path("server.crt"), self.path("server.key"))
        self.trust("server")
        return WebhookReceiver(SECRET, context), SmtpReceiver(context, "carillon", "open sesame")

    def more_settings(self):
        with open(self.path("password"), "w", encoding="ascii") as f:
            f.write("open sesame\n")
        return {"tls_ca_file": self.path("ca.pem"), "mail_password_file": self.path("password")}

    def path(self, name):
        return os.path.join(self.scratch, name)

    def trust(self, stem):
        shutil.copyfile(self.path(stem + ".crt"), self.path("ca.pem"))

    def test_certificates_of_receivers_are_checked(self):
        run = self.execute(self.create())
        self.assertEqual(self.received("run.failed")[0]["data"]["run_id"], run)
        self.assertIn(run, self.mail(0)[2].get_content())
        self.settled()
        self.trust("other")
        for channel in self.api.post("/api/notify/test")["channels"]:
            self.assertFalse(channel["delivered"], channel)
            self.assertIn("certificate", channel["error"])
        self.assertEqual(len(self.webhook.ids()), 1)
        self.assertEqual(len(self.smtp.mails), 1)


class LateTest(NoticesCase):
    settings = {"late_after_s": "2"}

    def test_late_runs_are_reported(self):
        self.api.post("/api/executors/executor-1/disable")
        waits = self.create(command="true")
        patient = self.create(command="true", notify={"late_after_s": 600})
        run = self.execute(waits)
        self.execute(patient)
        body = self.received("run.late")[0]
        self.assertEqual(body["data"]["run_id"], run)
        self.assertEqual(body["data"]["state"], "PENDING")
        self.api.post("/api/executors/executor-1/enable")
        wait_until(lambda: self.api.get(f"/api/runs/{run}")["state"] == "COMPLETED", 30, "its end")
        self.settled()
        self.assertEqual(self.webhook.ids("run.late"), self.webhook.ids("run.late")[:1])
        self.assertEqual([d["job_id"] for d in self.deliveries("?kind=late")], [waits] * 2)


class MissedTest(NoticesCase):
    environment = {"CARILLON_SCHEDULER_HORIZON_S": "1"}

    def test_fires_missed_without_a_server_are_reported(self):
        job = self.create(command="true", misfire_policy="skip", misfire_grace=0,
                          schedules=[{"kind": "rate", "every_ms": 1000,
                                      "start_time": "2026-01-01T00:00:00Z"}])
        wait_until(lambda: self.api.runs(job), 20, "a run")
        self.server.kill()
        deadline = time.monotonic() + 10  # longer than the horizon and than any grace period
        wait_until(lambda: time.monotonic() > deadline, 60, "fires that are missed", every=1)
        self.restart()
        data = self.received("schedule.missed", seconds=40)[0]["data"]
        self.assertEqual(data["job_id"], job)
        self.assertEqual(data["reason"], "misfire")
        gaps = list(self.api.pages(f"/api/gaps?job_id={job}"))
        self.assertIn((data["from"], data["to"], data["count"]),
                      [(g["from"], g["to"], g["count"]) for g in gaps])


class GroupingTest(NoticesCase):
    settings = {"repeat_after_s": "6"}

    def test_many_failures_send_few_messages_with_a_count(self):
        job = self.create(schedules=[{"kind": "rate", "every_ms": 500,
                                      "start_time": "2026-01-01T00:00:00Z"}])
        bodies = self.received("run.failed", 2, seconds=40)
        self.api.post(f"/api/jobs/{job}/pause")
        self.assertEqual(bodies[0]["data"]["held_back"], 0)
        self.assertGreaterEqual(bodies[1]["data"]["held_back"], 5)
        failed = [r for r in self.api.runs(job) if r["state"] == "FAILED"]
        self.assertGreaterEqual(len(failed), 7)
        self.assertLessEqual(len(self.webhook.ids("run.failed")), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
