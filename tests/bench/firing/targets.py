"""Targets of a measurement: a standalone server, or a cluster."""
import os
import subprocess
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
sys.path.insert(0, os.path.join(ROOT, "tests", "support", "py"))
import harness  # noqa: E402


def query(arguments, sql, env=None):
    """Returns the rows as lists of texts."""
    done = subprocess.run(["mariadb", "--no-defaults", "-N", "-B", *arguments, "-e", sql],
                          capture_output=True, text=True, timeout=300,
                          env=dict(os.environ, **(env or {})))
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return [line.split("\t") for line in done.stdout.splitlines()]


class StandaloneTarget:
    def __init__(self, slots=None):
        self.server = harness.Standalone(env={"CARILLON_EXECUTOR_SLOTS": str(slots)} if slots else {}).start()

    def api(self, **options):
        return self.server.api(**options)

    def pids(self):
        runtime = self.server.runtime
        return {"standalone": runtime["pid"], "mariadbd": runtime["mariadbd_pid"],
                "warden": runtime["warden_pid"]}

    def query(self, sql):
        store = self.server.runtime["store"]
        return query(["--socket", store["socket"], "-u", store["user"], store["database"]], sql)

    def worker_sockets(self):
        return [os.path.join(self.server.data_dir, "executor", "worker.sock")]

    def destroy(self):
        self.server.destroy()
        self.server.remove()


class ClusterTarget:
    def __init__(self, schedulers, executors, slots=None):
        import cluster_under_test
        cluster_under_test.BIN = harness.BIN
        self.cluster = cluster_under_test.ClusterUnderTest(
            "--schedulers", str(schedulers), "--executors", str(executors), "--slots", str(slots or 0))
        self.members = [p["name"] for p in self.cluster.status["processes"]
                        if p["kind"] == "scheduler"]

    def api(self, **options):
        return self.cluster.api(self.members[0], **options)

    def pids(self):
        processes = self.cluster.refresh()["processes"]
        wardens = {f"{p['name']} warden": p["warden_pid"] for p in processes if p.get("warden_pid")}
        return {**{p["name"]: p["pid"] for p in processes}, **wardens}

    def query(self, sql):
        store = self.cluster.status["store"]
        with open(store["password_file"], encoding="utf-8") as f:
            password = f.read().strip()
        return query(["-h", store["host"], "-P", str(store["port"]), "-u", store["user"],
                      store["database"]], sql, {"MYSQL_PWD": password})

    def worker_sockets(self):
        return [os.path.join(p["data"], "executor", "worker.sock")
                for p in self.cluster.status["processes"] if p["kind"] == "executor"]

    def destroy(self):
        self.cluster.destroy(keep=False)
