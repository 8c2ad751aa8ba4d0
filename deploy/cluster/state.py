"""The state stored in a cluster's directory, and the state of its processes according to the kernel."""
import fcntl
import json
import os
import random
import signal
import socket
import subprocess
import time


LOCK_LIMIT_S = 150


class Failure(Exception):
    """An error whose message is shown to the user, without a stack trace."""


def default_directory():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.path.join(root, "build", "cluster")


class Lock:
    """A lock: only one command at a time changes a cluster; others wait."""

    def __init__(self, directory):
        os.makedirs(os.path.dirname(os.path.abspath(directory)), exist_ok=True)
        self.path = os.path.abspath(directory) + ".lock"

    def __enter__(self):
        self.file = open(self.path, "w", encoding="utf-8")
        deadline = time.monotonic() + LOCK_LIMIT_S
        while True:
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return self
            except OSError:
                if time.monotonic() > deadline:
                    raise Failure(f"another ./dev cluster has been at work on this directory for "
                                  f"{LOCK_LIMIT_S} s ({self.path})")
            time.sleep(0.05)

    def __exit__(self, *_):
        self.file.close()


def stat_of(pid):
    """Returns (state letter, start time) of a process, or None if it does not exist."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], int(fields[19])


def free_port(taken):
    """Returns a free port below the range from which the kernel assigns ports, so that it is still free when a process
    is restarted. CARILLON_CLUSTER_PORTS ("FIRST-LAST") gives clusters that are created at the same time separate
    ranges."""
    first, last = map(int, os.environ.get("CARILLON_CLUSTER_PORTS", "20000-32000").split("-"))
    while True:
        port = random.randint(first, last)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in taken:
            taken.add(port)
            return port


class Cluster:
    def __init__(self, directory):
        self.dir = os.path.abspath(directory)
        self.path = os.path.join(self.dir, "cluster.json")
        self.data = None
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                self.data = json.load(f)

    def exists(self):
        return self.data is not None

    def must_exist(self):
        if not self.exists():
            raise Failure(f"there is no cluster in {self.dir}; ./dev cluster up makes one")
        return self

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as f:
            json.dump(self.data, f, indent=1)
        os.rename(self.path + ".new", self.path)

    def names(self):
        return list(self.data["processes"]) if self.data else []

    def process(self, name):
        try:
            return self.data["processes"][name]
        except KeyError:
            raise Failure(f"there is no process {name}; there are {', '.join(self.names())}")

    def kind_of(self, name):
        return self.process(name)["kind"]

    def home(self, name):
        return os.path.join(self.dir, name)

    def log_of(self, name):
        return os.path.join(self.home(name), "log")

    def log_tail(self, name):
        try:
            with open(self.log_of(name), encoding="utf-8", errors="replace") as f:
                return "".join(f.readlines()[-15:])
        except OSError:
            return ""

    def state_of(self, name):
        process = self.process(name)
        seen = stat_of(process["pid"]) if process["pid"] else None
        if seen is None or seen[1] != process["start_time"] or seen[0] in "ZX":
            return "dead"
        return "stopped" if seen[0] in "Tt" else "running"

    def launch(self, name, command, environment=None):
        """Starts the process in a new session, with its output in its log."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("CARILLON_")}
        env.update(environment or {})
        with open(self.log_of(name), "ab") as log, open(os.devnull, "rb") as nothing:
            child = subprocess.Popen(command, stdin=nothing, stdout=log, stderr=log, env=env,
                                     cwd=self.home(name), start_new_session=True)
        seen = stat_of(child.pid)
        child.returncode = 0  # so that Python does not wait for it
        process = self.process(name)
        process["pid"], process["start_time"] = child.pid, seen[1] if seen else 0
        self.save()

    def signal(self, name, number):
        """Sends a signal; returns False if the process is dead."""
        if self.state_of(name) == "dead":
            return False
        try:
            os.kill(self.process(name)["pid"], number)
        except ProcessLookupError:
            return False
        return True

    def await_end(self, name, limit_s):
        deadline = time.monotonic() + limit_s
        while self.state_of(name) != "dead":
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        try:
            os.waitpid(self.process(name)["pid"], os.WNOHANG)  # if it is a child of this process
        except ChildProcessError:
            pass
        return True


def end_process(pid, limit_s=10):
    """Ends the process: sends SIGTERM for up to `limit_s` seconds, then SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + limit_s
        while stat_of(pid) and stat_of(pid)[0] not in "ZX" and time.monotonic() < deadline:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                return
            time.sleep(0.1)
