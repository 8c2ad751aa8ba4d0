#!/usr/bin/env python3
"""Bulk actions in the background, against a real server and its database."""
import json
import os
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import LONG, ApiError, cli, wait_until  # noqa: E402
from server_case import ServerCase  # noqa: E402

JOBS = 2000 if LONG else 400  # the server executes them in pieces of 50


class BulkTest(ServerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for start in range(0, JOBS, 200):
            jobs = [{"job_id": f"j{i}", "name": f"j{i}", "type": "noop", "labels": {"team": "bulk"}}
                    for i in range(start, start + 200)]
            applied = cls.api.post("/api/apply", jobs)
            assert all(item["result"] == "created" for item in applied["items"])

    def setUp(self):
        self.counts = set()

    def order(self, **order):
        return self.api.post("/api/bulk", {"background": True, **order})

    def get(self, action):
        now = self.api.get("/api/bulk/" + action["bulk_id"])
        self.counts.add(now["done"])
        return now

    def ended(self, action, seconds=180):
        return wait_until(lambda: (lambda now: now if now["end_time"] else None)(self.get(action)),
                          seconds, "its end")

    def states(self):
        states = {}
        for job in self.api.pages("/api/jobs"):
            states.setdefault(job["state"], set()).add(job["job_id"])
        return states

    def test_1_all_matching_jobs_are_paused(self):
        action = self.order(action="pause", filter={"selector": "team = bulk"}, reason="moving")
        self.assertEqual(action["total"], JOBS)
        end = self.ended(action)
        self.assertEqual((end["state"], end["done"], end["failed"]), ("DONE", JOBS, 0))
        self.assertGreater(len(self.counts), 3, "its progress is seen")
        self.assertEqual(len(self.states()["PAUSED"]), JOBS)
        items = list(self.api.pages(f"/api/bulk/{action['bulk_id']}/items"))
        self.assertEqual([item["position"] for item in items], list(range(JOBS)))
        self.assertEqual({item["result"] for item in items}, {"done"})
        metrics = self.server.metrics()
        done = [value for series, value in metrics.items()
                if "bulk_items_total" in str(series) and "done" in str(series)]
        self.assertEqual(sum(done), JOBS)

    def test_2_a_cancel_in_the_middle_adds_up(self):
        action = self.order(action="resume", filter={"status": "PAUSED"})
        wait_until(lambda: self.get(action)["done"] > 0, 60, "the first of them")
        cancelled = self.api.post(f"/api/bulk/{action['bulk_id']}/cancel")
        self.assertEqual(cancelled["state"], "CANCELLED")
        end = self.ended(action)
        self.assertEqual(end["state"], "CANCELLED")
        self.assertEqual(end["done"] + end["failed"] + end["skipped"], JOBS)
        self.assertGreater(end["done"], 0)
        self.assertGreater(end["skipped"], 0)
        states = self.states()
        self.assertEqual(len(states["ENABLED"]), end["done"])
        self.assertEqual(len(states["PAUSED"]), end["skipped"])
        skipped = {item["id"] for item in
                   self.api.pages(f"/api/bulk/{action['bulk_id']}/items?result=skipped")}
        self.assertEqual(skipped, states["PAUSED"])
        records = self.api.get(f"/api/audit?object_id={action['bulk_id']}&action=bulk.cancel")["items"]
        self.assertEqual([one["object_id"] for one in records], [action["bulk_id"]])

    def test_3_the_command_line_follows_an_action(self):
        code, out, err = cli(self.server, "bulk", "pause", "--filter", "selector=team=bulk",
                             "--background", "--wait", "--yes", "-o", "json")
        self.assertEqual(code, 0, err)
        self.assertIn('"state": "DONE"', out)
        code, out, err = cli(self.server, "bulk", "resume", "j0", "nobody", "--background",
                             "--yes")
        self.assertEqual(code, 0, err)
        self.assertRegex(out, r"^bulk-[0-9a-f]+\n$")
        bulk_id = out.strip()
        self.ended({"bulk_id": bulk_id})
        code, out, err = cli(self.server, "bulk", "items", bulk_id, "--result", "error")
        self.assertEqual(code, 0, err)
        self.assertIn("nobody", out)
        code, out, err = cli(self.server, "bulk", "cancel", bulk_id, "--yes")
        self.assertEqual(code, 0, err)
        self.assertIn("DONE", out)

    def test_4_an_action_continues_after_a_restart(self):
        action = self.order(action="pause", filter={"selector": "team = bulk"})
        wait_until(lambda: self.get(action)["done"] > 0, 60, "the first of them")
        self.restart()
        end = self.ended(action)
        self.assertEqual((end["state"], end["done"]), ("DONE", JOBS))

    def test_5_invalid_actions_are_refused(self):
        for order in ({"action": "pause", "ids": ["j1"], "dry_run": True},
                      {"action": "pause", "ids": [f"x{i}" for i in range(20_001)]}):
            with self.assertRaises(ApiError) as refused:
                self.order(**order)
            self.assertEqual(refused.exception.status, 400)

    def test_6_the_command_that_an_import_shows_resumes_all_jobs(self):
        count = 2002  # without --background, 1,000 are the most
        rows = ",".join(f"({i},1,'r{i}','NONE','GLUE_SHELL','true',{i % 2},'{2 if i == 3 else ''}')"
                        for i in range(1, count + 1))
        dump = ("INSERT INTO xxl_job_info (id,job_group,job_desc,schedule_type,glue_type,glue_source,trigger_status,"
                f"child_jobid) VALUES {rows};")
        words = ("import", "xxl-job", "-", "--tz", "Asia/Shanghai", "--apply")
        code, _, err = cli(self.server, *words, stdin=dump)
        self.assertEqual(code, 0, err)
        imported = list(self.api.pages("/api/jobs?selector=imported-from%3Dxxl-job"))
        self.assertEqual((len(imported), {job["state"] for job in imported}), (count, {"PAUSED"}))
        shown = re.search(r"carillon (bulk resume .*)", err)[1].split()
        cli(self.server, *shown, "--wait", "--yes")
        enabled = list(self.api.pages("/api/jobs?selector=imported-from%3Dxxl-job&status=ENABLED"))
        self.assertEqual(len(enabled), count // 2 + 1, "those that ran, and the child of one")
        code, out, _ = cli(self.server, *words, "-o", "json", stdin=dump, check=False)
        self.assertEqual((code, {item["result"] for item in json.loads(out)["items"]}), (5, {"exists"}))
        self.assertEqual(len(list(self.api.pages("/api/jobs?selector=imported-from%3Dxxl-job"))), count)


if __name__ == "__main__":
    unittest.main(verbosity=2)
