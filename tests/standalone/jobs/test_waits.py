#!/usr/bin/env python3
"""Runs that wait for runs of other jobs, on a real server with a real executor and database. That a run still waits is
asked when a witness, which a look at the same rows has let go, has started: nothing is proved by passing time. The end
of a wait by its limit is left to the unit tests: nothing expires in the first 15 minutes of a server."""
import datetime
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from harness import ApiError, cli, wait_until  # noqa: E402
from workflow_case import SECONDS, WorkflowCase  # noqa: E402

RELEASE_S = 6  # a look every 2 s; more on a machine that is busy with other tests
HOUR = {"back_s": 3600}


def soon(later=0.0):
    """A time at which a job that is created now is sure to exist."""
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2 + later)


def text(time):
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def once(time=None, **parameters):
    return {"kind": "once", "at": text(time or soon()), **({"parameters": parameters} if parameters else {})}


def seconds(begin, end):
    first, last = (datetime.datetime.fromisoformat(one.replace("Z", "+00:00")) for one in (begin, end))
    return (last - first).total_seconds()


class WaitsTest(WorkflowCase):
    def id_of(self, name):
        return f"{self.name}-{name}"

    def waiter(self, name, *entries, schedule=None, **more):
        """A job whose only run waits: of each entry, only what differs from the success of the last hour's newest fire."""
        waits = [{"window": HOUR, **entry, "job": self.id_of(entry["job"])} for entry in entries]
        return self.job(name, schedules=[schedule or once(soon(later=0.5))], waits_for=waits, wait_limit_s=3600, **more)

    def only(self, job_id):
        """The only run of the job, as soon as there is one."""
        [run] = wait_until(lambda: self.api.runs(job_id), SECONDS, f"a run of {job_id}")
        return run["run_id"]

    def at_fire(self, time, job_id):
        """The run of the job with this fire."""
        found = wait_until(lambda: [run for run in self.api.runs(job_id) if seconds(text(time), run["fire_time"]) == 0],
                           SECONDS, f"the run of {job_id} at {time}")
        return found[0]["run_id"]

    def completed(self, run_id):
        run = self.ended(run_id)
        self.assertEqual(run["state"], "COMPLETED", run)
        return run

    def assert_waits(self, run_id, *words):
        run = self.run_of(run_id)
        self.assertEqual((run["state"], run["attempts"], run["due_at"]), ("PENDING", [], None), run)
        self.assertEqual(run["waiting"]["code"], "upstream_run", run["waiting"])
        for word in words:
            self.assertIn(word, run["waiting"]["detail"])

    def flag(self, name):
        return os.path.join(self.server.scratch, f"{self.name}.{name}")

    def raise_flag(self, name):
        with open(self.flag(name), "w", encoding="utf-8"):
            pass

    def held(self, name):
        self.addCleanup(self.raise_flag, name)  # no process is left if the test fails
        return f"until [ -e {self.flag(name)} ]; do sleep 0.05; done"

    def test_a_retry_that_succeeds_lets_those_start_that_wait_for_a_chain(self):
        self.job("z", schedules=[once()])
        a = self.job("a", f"test -e {self.flag('mended')}", schedules=[{"kind": "after", "job": self.id_of("z")}])
        waiting = [self.waiter(name, {"job": "a"}) for name in ("b", "c")]
        witness = self.waiter("witness", {"job": "a", "on": "done"})
        self.completed(self.only(witness))
        failed = self.run_of(self.only(a))
        self.assertEqual(failed["state"], "FAILED")
        for job in waiting:
            self.assert_waits(self.only(job), self.id_of("a"), failed["run_id"], "FAILED")
        self.raise_flag("mended")
        self.api.post(f"/api/runs/{failed['run_id']}/retry", {})
        started = [self.completed(self.only(job))["started_at"] for job in waiting]
        mended = self.run_of(failed["run_id"])
        self.assertEqual(mended["state"], "COMPLETED")
        for time in started:
            self.assertGreaterEqual(seconds(mended["ended_at"], time), 0)
            self.assertLess(seconds(mended["ended_at"], time), RELEASE_S)

    def test_the_later_fire_counts_although_the_earlier_one_succeeded(self):
        first, second = soon(), soon(later=0.2)
        a = self.job("a", 'exit "$CARILLON_PARAM_CODE"', parameters={"code": "0"},
                     schedules=[once(first, code="0"), once(second, code="3")])
        b = self.waiter("b", {"job": "a"})
        every = self.waiter("all", {"job": "a", "which": "all"})
        self.completed(self.only(self.waiter("witness", {"job": "a", "on": "done", "which": "all"})))
        self.assertEqual([self.run_of(self.at_fire(time, a))["state"] for time in (first, second)], ["COMPLETED", "FAILED"])
        for job in (b, every):
            self.assert_waits(self.only(job), self.at_fire(second, a), "FAILED")

    def test_the_earlier_run_of_a_job_does_not_pass_for_that_of_a_chain_which_still_runs(self):
        first, second = soon(), soon(later=0.2)
        z = self.job("z", f'[ "$CARILLON_PARAM_HELD" = no ] || {self.held("go")}', parameters={"held": "no"},
                     schedules=[once(first, held="no"), once(second, held="yes")])
        a = self.job("a", schedules=[{"kind": "after", "job": z}])
        b = self.waiter("b", {"job": "a"})
        self.completed(self.at_fire(first, a))
        self.running(self.at_fire(second, z))
        sees = self.job("seen", schedules=[once()])
        self.completed(self.only(sees))
        self.completed(self.only(self.waiter("witness", {"job": "seen"})))
        self.assertEqual(len(self.api.runs(a)), 1)
        self.assert_waits(self.only(b), "has no run yet")
        self.raise_flag("go")
        self.completed(self.only(b))
        self.completed(self.at_fire(second, a))

    def test_the_run_of_yesterday_is_not_that_of_today(self):
        fire = soon()
        hour = 6 if fire.hour in (11, 12) else 12  # not now
        a = self.job("a", schedules=[{"kind": "cron", "cron_expression": f"0 {hour} * * *", "time_zone": "UTC"}])
        yesterday = fire.replace(hour=0, minute=0, second=0, microsecond=0) - datetime.timedelta(days=1)
        self.api.post(f"/api/jobs/{a}/backfills", {"from": text(yesterday),
                                                   "to": text(yesterday + datetime.timedelta(hours=13))})
        done = self.completed(self.only(a))
        self.assertEqual((done["kind"], done["fire_time"][:10]), ("backfill", text(yesterday)[:10]))
        today = self.waiter("today", {"job": "a", "window": {"day": 0}})
        self.completed(self.only(self.waiter("yesterday", {"job": "a", "window": {"day": -1}}, schedule=once())))
        self.assert_waits(self.only(today), "no fire in the window")

    def test_a_person_releases_runs(self):
        self.job("a", schedules=[once(soon(later=86_400))])
        runs = [self.only(self.waiter(f"b{i}", {"job": "a"})) for i in range(3)]
        for run in runs:
            self.assert_waits(run, "no fire in the window")
        listed = {run["run_id"] for run in self.api.pages("/api/runs?waiting=upstream_run")}
        self.assertLessEqual(set(runs), listed)
        out = json.loads(cli(self.server, "run", "list", "--waiting", "upstream_run", "-o", "json")[1])
        self.assertLessEqual(set(runs), {run["run_id"] for run in out["items"]})
        cli(self.server, "run", "release", runs[0], "--reason", "the data is there")
        self.completed(runs[0])
        [record] = self.api.get(f"/api/audit?object_id={runs[0]}&action=run.release")["items"]
        self.assertEqual(record["reason"], "the data is there")
        with self.assertRaises(ApiError) as refused:
            self.api.post(f"/api/runs/{runs[0]}/release", {})
        self.assertEqual((refused.exception.status, json.loads(refused.exception.body)["code"]), (409, "not_waiting"))
        self.assert_waits(runs[1])
        for job, run in enumerate(runs[1:], 1):
            done = self.api.post("/api/bulk", {"action": "release", "reason": "also there", "filter": {
                "waiting": "upstream_run", "job_id": self.id_of(f"b{job}")}})
            self.assertEqual([(item["id"], item["result"]) for item in done["items"]], [(run, "done")])
            self.completed(run)

    def test_an_edit_that_removes_the_wait_lets_the_run_go(self):
        a = self.job("a", schedules=[once(soon(later=86_400))])
        b = self.waiter("b", {"job": "a"})
        run = self.only(b)
        self.assert_waits(run)
        with self.assertRaises(ApiError) as refused:
            self.api.call("DELETE", f"/api/jobs/{a}", headers={"If-Match": "*"})
        self.assertEqual(json.loads(refused.exception.body)["code"], "has_dependents")
        self.api.call("PATCH", f"/api/jobs/{b}", {"waits_for": []}, {"If-Match": "*"})
        self.assertNotIn("wait_limit_s", self.api.get(f"/api/jobs/{b}"))
        self.completed(run)
        self.api.call("DELETE", f"/api/jobs/{a}", headers={"If-Match": "*"})

    def test_a_run_by_hand_does_not_wait_and_is_nobodys_date(self):
        a = self.job("a", schedules=[once(soon(later=86_400))])
        b = self.waiter("b", {"job": "a"})
        by_hand = self.api.post(f"/api/jobs/{b}/execute", {})["run_id"]
        self.completed(by_hand)
        self.completed(self.begin(a))
        wait_until(lambda: len(self.api.runs(b)) == 2, SECONDS, "the fire")
        [waiting] = [run["run_id"] for run in self.api.runs(b) if run["run_id"] != by_hand]
        self.job("seen", schedules=[once()])
        self.completed(self.only(self.waiter("witness", {"job": "seen"})))
        self.assert_waits(waiting, "no fire in the window")

    def test_a_test_run_of_a_workflow_is_nobodys_date(self):
        self.job("a")
        self.job("after-a", schedules=[{"kind": "after", "job": self.id_of("a")}])
        fire = soon(later=3)
        flow = self.flow({"id": "a"}, schedules=[once(fire)])
        self.ends(self.begin(flow), "COMPLETED")
        names = ("in", "anywhere", "chain")
        entries = ({"job": "a", "in": flow}, {"job": "a"}, {"job": "after-a"})
        back = {"back_s": 3600, "ahead_s": 3600}
        runs = [self.only(self.waiter(name, {**entry, "window": back})) for name, entry in zip(names, entries)]
        dated = self.run_of(self.at_fire(fire, flow))
        for run in runs:
            self.assertGreaterEqual(seconds(dated["fire_time"], self.completed(run)["started_at"]), 0)

    def test_a_waiting_node_takes_no_place_of_its_workflow(self):
        self.job("late", schedules=[once(soon(later=86_400))])
        self.waiter("a", {"job": "late"}, schedule=once(soon(later=86_400)))
        self.job("b")
        self.job("c")
        run = self.begin(self.flow({"id": "a"}, {"id": "b"}, {"id": "c", "after": ["a", "b"]}, max_parallel=1))
        self.waits_for("-b")
        wait_until(lambda: self.states(run)["b"] == "COMPLETED", SECONDS, "the other node")
        node = self.nodes(run)["a"]
        self.assertEqual((node["state"], node["blocked"], node["awaiting"]), ("PENDING", True, True))
        self.assert_waits(node["run_id"], "no fire in the window")
        self.api.post(f"/api/runs/{node['run_id']}/release", {"reason": "seen"})
        self.ends(run, "COMPLETED")
        self.assertEqual(self.journaled(), ["+b", "-b", "+a", "-a", "+c", "-c"])


if __name__ == "__main__":
    unittest.main()
