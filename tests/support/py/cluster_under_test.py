"""A separate cluster for one test, controlled through the program behind `./dev cluster`."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from harness import BIN, LONG, PATIENCE_S, Api, run_cli, wait_until, wardens_below, within  # noqa: F401

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
JARS = os.environ.get("CARILLON_JARS", os.path.join(ROOT, "build", "jars"))
sys.path.insert(0, os.path.join(ROOT, "deploy", "cluster"))
import parts  # noqa: E402
from state import Cluster  # noqa: E402


class ClusterUnderTest:
    def __init__(self, *options):
        self.scratch = tempfile.mkdtemp(prefix="carillon-cluster-")
        self.dir = os.path.join(self.scratch, "c")
        if os.environ.get("CARILLON_TEST_SERVER") == "mysql":
            options = (*options, "--mysql")
        try:
            self.run("up", *options, seconds=180)
        except (AssertionError, subprocess.TimeoutExpired):
            self.destroy(keep=True)
            raise
        self.ask_command()

    def run(self, verb, *arguments, seconds=150, check=True):
        done = subprocess.run(
            [sys.executable, os.path.join(ROOT, "deploy", "cluster", "cluster.py"), "--bin", BIN,
             "--jars", JARS, "--mysql-server", os.path.join(ROOT, "build", "mysql"), verb, "--dir", self.dir, *arguments],
            capture_output=True, text=True, timeout=seconds)
        if check and done.returncode != 0:
            raise AssertionError(f"cluster {verb} {' '.join(arguments)} ended with "
                                 f"{done.returncode}: {done.stdout}{done.stderr}")
        return done

    def refresh(self):
        """Reads the status in this process: a start of Python for each look would be most of a waiting test's CPU time."""
        parts.BIN, parts.JARS = os.path.abspath(BIN), os.path.abspath(JARS)
        started = time.monotonic()
        self.status = parts.status(Cluster(self.dir).must_exist())
        took = time.monotonic() - started
        assert took < PATIENCE_S, f"status took {took:.1f} s"
        return self.status

    def ask_command(self, limit_s=PATIENCE_S):
        """Reads the status as users do."""
        started = time.monotonic()
        self.status = json.loads(self.run("status", "--json").stdout)
        took = time.monotonic() - started
        assert took < limit_s, f"status took {took:.1f} s"
        return self.status

    def process(self, name):
        return next(p for p in self.status["processes"] if p["name"] == name)

    def token(self):
        with open(self.status["token_file"], encoding="utf-8") as f:
            return f.read().strip()

    def api(self, member=None, **options):
        """Returns an Api of the named member; without a name, of the first member that answers."""
        names = [member] if member else [p["name"] for p in self.status["processes"]
                                         if p["kind"] == "scheduler"]
        for name in names:
            api = Api(self.process(name)["url"], self.token(), **{"timeout": 15, **options})  # it may be stopped
            try:
                api.get("/api/system/status")
                return api
            except Exception as error:  # the next member may answer
                failed = error
        raise failed

    def await_ready(self, seconds=90):
        wait_until(lambda: self.refresh()["ready"], seconds, "the cluster to be ready", every=0.3)

    def database(self):
        """The name of the process of the database: mariadb or mysql."""
        return parts.database_of(Cluster(self.dir).must_exist())

    def leader(self):
        return wait_until(lambda: self.refresh()["leader"], 60, "a leader", every=0.2)

    def metric(self, name, metric, **labels):
        """The sum of the series of `metric` that have these labels, in one process."""
        with urllib.request.urlopen(self.process(name)["ops_url"] + "/metrics", timeout=15) as answer:
            text = answer.read().decode()
        total = 0.0
        for series, value in re.findall(rf"^{metric}(\{{[^}}]*\}})? (\S+)$", text, re.M):
            if all(f'{label}="{wanted}"' in series for label, wanted in labels.items()):
                total += float(value)
        return total

    def cli(self, *arguments, check=True):
        """Runs the command line with the addresses of all members; returns (exit code, stdout, stderr)."""
        urls = [p["url"] for p in self.status["processes"] if p["kind"] == "scheduler"]
        return run_cli(",".join(urls), self.status["token_file"], *arguments, check=check)

    def log_tails(self):
        tails = []
        for process in self.status["processes"]:
            if process["kind"] in ("scheduler", "executor"):
                with open(process["log"], encoding="utf-8", errors="replace") as f:
                    lines = [line for line in f if " kafka: " not in line]  # librdkafka logs hundreds of these lines
                    tails.append(f"---- {process['name']}\n" + "".join(lines[-15:]))
        return "\n".join(tails)

    def end_wardens(self):
        """Ends those of executors that a test has killed or started itself: they stay for a minute."""
        for pid in wardens_below(self.scratch):
            parts.end_warden(pid)

    def destroy(self, keep):
        self.run("down", check=False)
        self.end_wardens()
        if keep:
            print(f"kept: {self.scratch}", flush=True)
        else:
            shutil.rmtree(self.scratch, ignore_errors=True)
