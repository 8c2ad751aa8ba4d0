#!/usr/bin/env python3
"""The store is exchanged under a cluster that works: another server answers at its address, an older state is restored
in place, and an older state is restored while all members are stopped. Then every member must hold: nothing is
published or started, running attempts continue, and work goes on when an operator accepts the store. Before that, a
table is missing for moments: no result may be rejected because of it.
"""
import getpass
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
from cluster_under_test import BIN, JARS, ROOT, ClusterUnderTest, wait_until, within  # noqa: E402
from load import Load, uptime  # noqa: E402

HELD_WITHIN_S = 10
IN_FLIGHT_S = 3  # the time in which an attempt may still start whose claim was accepted before
LEASE_S = 20
LONG_S = 600  # longer than the test
LONG_RUNS = 10  # enough that each member owns segments of some of them
TABLE_AWAY_TIMES = 5
TABLE_AWAY_S = 0.4
OLD_S = 12    # how much history the restore loses; the mark increases every 5 s


class StoreTest(unittest.TestCase):
    def setUp(self):
        self.passed = False
        self.own_server = None
        self.cluster = ClusterUnderTest("--session-timeout-ms", "3000", "--slots", "32")
        self.addCleanup(self.finish)
        self.load = Load(self.cluster, 10, long_jobs=0)
        self.start_long_runs()
        self.load.run_for(8)
        self.load.await_fires()

    def finish(self):
        if self.own_server:
            self.own_server.kill()
            self.own_server.wait()
        if not self.passed:
            print(self.cluster.log_tails(), flush=True)
        self.cluster.destroy(keep=not self.passed)

    # ---- what is there ----

    def members(self):
        return [p["name"] for p in self.cluster.status["processes"] if p["kind"] == "scheduler"]

    def start_long_runs(self):
        api = self.cluster.api()
        files = [os.path.join(self.cluster.scratch, f"long-{i}.pid") for i in range(LONG_RUNS)]
        for i, path in enumerate(files):
            api.post("/api/jobs", {"name": f"long-{i}", "job_id": f"long-{i}", "timeout": LONG_S,
                                   "command": f"echo $$ >{path}.new; mv {path}.new {path}; "
                                              f"exec sleep {LONG_S}"})
            api.post(f"/api/jobs/long-{i}/execute", {})
        self.long_pids = []
        for path in files:
            wait_until(lambda path=path: os.path.exists(path), 30, "the long runs to start")
            with open(path, encoding="utf-8") as f:
                self.long_pids.append(int(f.read()))
        wait_until(lambda: self.long_runs_killed() == [], 10, "the long runs to be commands")

    def long_runs_killed(self):
        return [f"long-{i}" for i, pid in enumerate(self.long_pids) if not self.sleeps(pid)]

    def sleeps(self, pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                return f.read().split(b"\0")[:2] == [b"sleep", str(LONG_S).encode()]
        except OSError:
            return False

    def published(self):
        return sum(self.cluster.metric(name, "carillon_dispatch_delay_seconds_count")
                   for name in self.members())

    def claimed(self):
        return sum(self.cluster.metric(name, "carillon_claims_total", result="accepted")
                   for name in self.members())

    def held(self, name):
        try:
            return self.cluster.metric(name, "carillon_store_held") == 1
        except OSError:  # the server is still starting
            return False

    def store_of(self, name):
        return self.cluster.api(name).get("/api/system/status")["store"]

    def starts(self):
        self.load.follow()
        return len(self.load.starts)

    # ---- the database ----

    def home(self):
        return os.path.dirname(self.cluster.process(self.cluster.database())["log"])

    def sql(self, statements):
        socket = os.path.join(self.home(), "data", "mariadbd.sock")
        done = subprocess.run(
            ["mariadb", "--no-defaults", f"--socket={socket}", f"--user={getpass.getuser()}",
             "--batch", "--skip-column-names"],
            input=statements, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def tables(self):
        return self.sql("SELECT table_name FROM information_schema.tables WHERE table_schema = "
                        "'carillon' AND table_type = 'BASE TABLE'").split()

    def save_tables(self):
        """Copies all tables as they were at one moment, as mariadb-dump --lock-tables does."""
        tables = self.tables()
        locks = ", ".join(f"carillon.{t} READ, saved.{t} WRITE" for t in tables)
        self.sql("CREATE DATABASE saved; "
                 + "".join(f"CREATE TABLE saved.{t} LIKE carillon.{t}; " for t in tables)
                 + f"LOCK TABLES {locks}; "
                 + "".join(f"INSERT INTO saved.{t} SELECT * FROM carillon.{t}; " for t in tables)
                 + "UNLOCK TABLES;")

    def restore_tables(self):
        """Puts the copies in place while all members are connected, as reading a dump back does."""
        self.sql("SET SESSION foreign_key_checks = 0; "
                 + "".join(f"DROP TABLE carillon.{t}; RENAME TABLE saved.{t} TO carillon.{t}; "
                           for t in self.tables()) + "DROP DATABASE saved;")

    def stop_database(self):
        self.cluster.run("kill", self.cluster.database(), "TERM")
        wait_until(lambda: self.cluster.refresh() and
                   self.cluster.process(self.cluster.database())["state"] == "dead", 60, "mariadbd to stop", every=0.2)

    def copy_data(self, name):
        shutil.copytree(os.path.join(self.home(), "data"), os.path.join(self.home(), name),
                        ignore=shutil.ignore_patterns("*.sock", "*.pid"))

    # ---- what is expected ----

    def expect_held(self, since, reason):
        """Waits until every member holds for this reason; returns what the store showed."""
        for name in self.members():
            within(lambda name=name: self.held(name), HELD_WITHIN_S + since - uptime(),
                       f"{name} to hold the store")
        print(f"{self.id()}: held by every member after {uptime() - since:.1f} s ({reason})",
              flush=True)
        for name in self.members():
            # A member that read the store between two tables of a restore first saw no store. It reads again.
            within(lambda name=name: self.store_of(name)["reason"] == reason, HELD_WITHIN_S,
                       f"{name} to say {reason}")
            store = self.store_of(name)
            self.assertEqual(store["state"], "held", name)
        status, _, body = self.cluster.api().raw("POST", "/api/jobs/load-0/pause", {"reason": "x"})
        self.assertEqual((status, json.loads(body)["code"]), (503, "store_held"))
        return store["seen"]

    def expect_silence(self, seconds):
        self.load.run_for(IN_FLIGHT_S)
        published, claimed, starts = self.published(), self.claimed(), self.starts()
        self.load.run_for(seconds)
        self.assertEqual(self.published(), published, "published while the store is held")
        self.assertEqual(self.claimed(), claimed, "claimed while the store is held")
        self.assertEqual(self.starts(), starts, "started while the store is held")
        self.assertEqual(self.long_runs_killed(), [], "what ran was killed")
        for name in self.members():
            self.assertTrue(self.held(name))

    def accept(self, shown):
        code, out, err = self.cluster.cli("system", "accept-store", "--yes", "--reason", "test",
                                          "-o", "json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["state"], "trusted")
        for name in self.members():
            wait_until(lambda name=name: not self.held(name), 10, f"{name} to follow")
            self.assertGreater(self.store_of(name)["trusted"]["mark"], shown["mark"])
        self.expect_work()
        audit = self.cluster.api().get("/api/audit")["items"]
        self.assertIn("store.accept", [entry["action"] for entry in audit])

    def expect_work(self):
        self.cluster.await_ready()
        self.load.await_fires()
        self.assertFalse(any(self.held(name) for name in self.members()))

    # ---- the cases ----

    def test_members_stop_at_a_store_that_was_exchanged_restored_or_rolled_back(self):
        for case in (self.table_away, self.other_server, self.restored_in_place, self.rolled_back_while_stopped):
            print(f"---- {case.__name__}", flush=True)
            case()
        self.passed = True

    def table_away(self):
        for _ in range(TABLE_AWAY_TIMES):
            self.sql(f"RENAME TABLE carillon.job_runs TO carillon.job_runs_away; "
                     f"DO SLEEP({TABLE_AWAY_S}); "
                     f"RENAME TABLE carillon.job_runs_away TO carillon.job_runs;")
            self.load.await_fires()
        # If a result counted as stored but was not, its run would stay RUNNING until its lease is over.
        wait_until(lambda: self.load_runs("r.state = 'RUNNING' AND r.claimed_us < 1000000 * "
                                          "(UNIX_TIMESTAMP(NOW(6)) - 3)") == 0,
                   LEASE_S / 2, "every result to be recorded")
        self.assertEqual(self.load_runs("r.attempt > 1 OR r.state NOT IN "
                                        "('PENDING', 'RUNNING', 'COMPLETED')"), 0)
        self.starts()
        self.assertEqual(self.load.twice, [])
        self.assertEqual([run for run, attempt in self.load.starts if attempt > 1], [])
        self.assertEqual(sum(self.cluster.metric(name, "carillon_results_total", result="poison")
                             for name in self.members()), 0)
        self.assertEqual(self.long_runs_killed(), [])

    def load_runs(self, which):
        return int(self.sql(f"SELECT COUNT(*) FROM carillon.job_runs r JOIN carillon.jobs j "
                            f"USING (job_no) WHERE j.job_id LIKE 'load-%' AND ({which})"))

    def other_server(self):
        """Another server answers with a copy that is up to date: only the server's identity can reveal it."""
        pid = self.cluster.process(self.cluster.database())["pid"]
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            command = f.read().split("\0")[:-1]
        self.stop_database()
        self.copy_data("copy")
        since = uptime()
        with open(os.path.join(self.home(), "copy.log"), "wb") as log:
            self.own_server = subprocess.Popen(
                [a.replace(f"{self.home()}/data", f"{self.home()}/copy") for a in command],
                stdout=log, stderr=log, cwd=self.home())
        self.expect_held(since, "other_server")
        self.expect_silence(LEASE_S + 8)
        self.own_server.send_signal(signal.SIGTERM)
        self.own_server.wait(120)
        self.own_server = None
        # The trusted server is restarted with all its data: no operator has to accept it.
        self.cluster.run("start", self.cluster.database())
        self.expect_work()
        self.assertEqual(self.long_runs_killed(), [])
        shutil.rmtree(os.path.join(self.home(), "copy"))

    def restored_in_place(self):
        self.save_tables()
        self.load.run_for(OLD_S)
        self.load.await_fires()
        since = uptime()
        self.restore_tables()
        shown = self.expect_held(since, "history_lost")
        self.expect_silence(10)
        self.accept(shown)

    def rolled_back_while_stopped(self):
        self.stop_database()
        self.copy_data("old")
        self.cluster.run("start", self.cluster.database())
        self.expect_work()
        self.load.run_for(OLD_S)
        for name in self.members():
            self.cluster.run("kill", name, "TERM")
        wait_until(lambda: self.cluster.refresh() and all(
            self.cluster.process(name)["state"] == "dead" for name in self.members()), 60,
            "the members to stop", every=0.2)
        self.stop_database()
        data = os.path.join(self.home(), "data")
        shutil.rmtree(data)
        os.rename(os.path.join(self.home(), "old"), data)
        self.cluster.run("start", self.cluster.database())
        before = self.starts()
        # The members do not become ready, so the test does not wait for it.
        starting = [subprocess.Popen(
            [sys.executable, os.path.join(ROOT, "deploy", "cluster", "cluster.py"), "--bin", BIN,
             "--jars", JARS, "start", name, "--dir", self.cluster.dir],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for name in self.members()]
        wait_until(lambda: self.cluster.refresh() and all(
            self.cluster.process(name)["state"] == "running" for name in self.members()), 30,
            "the members to be started", every=0.2)
        shown = self.expect_held(uptime(), "history_lost")
        for process in starting:
            process.kill()
            process.wait()
        self.load.run_for(10)
        self.assertEqual(self.starts(), before, "started by members that hold the store")
        for name in self.members():
            self.assertEqual(self.cluster.metric(name, "carillon_owned_segments"), 0)
            self.assertEqual(self.cluster.metric(name, "carillon_dispatch_delay_seconds_count"), 0)
        self.accept(shown)


if __name__ == "__main__":
    unittest.main(verbosity=2)
