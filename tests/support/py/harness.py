"""A standalone server as a child process, and a small client for its REST API.

Every wait is for a condition and has a deadline. All files are in a scratch directory. It is removed when the
test passes; when the test fails, it is kept and its path is printed.
"""
import http.client
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

BIN = os.environ.get("CARILLON_BIN", "build/dev/bin")
# True in the long form of the tests (`./dev test --all`): larger counts, the same faults and assertions.
LONG = os.environ.get("CARILLON_TEST_LONG") == "1"
# The data directory of an empty database (mariadb_template.py), of which a new server gets a copy. ctest sets it; without
# it the server creates its database itself.
TEMPLATE = os.environ.get("CARILLON_MARIADB_TEMPLATE")


# The limit of waits that a working product ends in a moment: long enough for a machine under any load, because a test
# that passes does not reach it.
PATIENCE_S = 120


def wait_until(condition, seconds, what, every=0.05):
    """Calls `condition` until its value is true, and returns the value.

    `seconds`: how long that takes at most on a machine without other load. Raises after four times that, and not before
    PATIENCE_S, because such a limit only ends a hang.
    """
    return within(condition, max(4 * seconds, PATIENCE_S), what, every)


def within(condition, seconds, what, every=0.05):
    """The same with an exact limit, for times that are promised."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for {what}")
        threading.Event().wait(every)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in ("Z", "X")
    except OSError:
        return False


def wardens_below(directory):
    """The ids of the wardens whose directory is below this one."""
    pids = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except OSError:  # it has ended
            continue
        if words[0].endswith(b"/carillon-warden") and any(w.startswith(os.fsencode(directory)) for w in words):
            pids.append(int(name))
    return pids


class ApiError(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status = status
        self.body = body


class Api:
    """A client with one keep-alive connection. Not thread-safe."""

    def __init__(self, url, token, timeout=PATIENCE_S, tls=None):
        """`tls`: the ssl.SSLContext of an https address."""
        self.tls = tls
        self.parts = urllib.parse.urlsplit(url)
        self.token = token
        self.timeout = timeout
        self.connection = None

    def raw(self, method, path, body=None, headers=None):
        """Returns (status, headers, bytes). A GET whose connection broke is sent once more."""
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        if self._was_closed():
            self.close()
        for last in (method != "GET", True):
            try:
                if self.connection is None:
                    self.connection = self._connect()
                self.connection.request(method, path, body=body, headers=sent)
                answer = self.connection.getresponse()
                return answer.status, dict(answer.getheaders()), answer.read()
            except (OSError, http.client.HTTPException):
                self.close()
                if last:
                    raise
        raise AssertionError("unreachable")

    def _was_closed(self):
        """True if the server has closed the idle connection: between two requests, only that makes it readable."""
        sock = self.connection and self.connection.sock
        return sock is not None and bool(select.select([sock], [], [], 0)[0])

    def _connect(self):
        if self.parts.scheme == "https":
            return http.client.HTTPSConnection(self.parts.hostname, self.parts.port,
                                               timeout=self.timeout, context=self.tls)
        return http.client.HTTPConnection(self.parts.hostname, self.parts.port,
                                          timeout=self.timeout)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    def call(self, method, path, body=None, headers=None):
        status, _, data = self.raw(method, path, body, headers)
        if status >= 400:
            raise ApiError(status, data.decode("utf-8", "replace"))
        return json.loads(data) if data else None

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None, headers=None):
        return self.call("POST", path, {} if body is None else body, headers)

    def put(self, path, body, headers=None):
        return self.call("PUT", path, body, headers)

    def pages(self, path, size=500):
        """Yields every item of a list, page by page."""
        joiner = "&" if "?" in path else "?"
        token = None
        while True:
            page = self.get(path + joiner + f"page_size={size}" +
                            (f"&page_token={urllib.parse.quote(token)}" if token else ""))
            yield from page["items"]
            token = page["next_page_token"]
            if not token:
                return

    def runs(self, job_id):
        return list(self.pages(f"/api/jobs/{job_id}/history"))


class Standalone:
    def __init__(self, directory=None, extra=(), env=None, data_dir=None, new_session=False, template=TEMPLATE):
        """`new_session`: Ctrl-C does not reach the server, so that the caller can stop it cleanly."""
        self.scratch = directory or tempfile.mkdtemp(prefix="carillon-e2e-")
        self.data_dir = data_dir or os.path.join(self.scratch, "data")
        self.extra = list(extra)
        self.new_session = new_session
        self.template = template
        # A small buffer pool, because many tests run their own database at the same time.
        self.env = {"CARILLON_STORE_BUFFER_POOL_MIB": "128", **os.environ, **(env or {})}
        self.process = None
        self.log_path = os.path.join(self.scratch, "standalone.log")

    def start(self, seconds=60):
        if self.template and not os.path.exists(self.data_dir):
            os.mkdir(self.data_dir, mode=0o700)
            os.mkdir(os.path.join(self.data_dir, "mariadb"), mode=0o700)
            subprocess.run(["cp", "-a", self.template, os.path.join(self.data_dir, "mariadb", "data")], check=True)
        runtime = os.path.join(self.data_dir, "runtime.json")
        before = self._runtime_pid(runtime)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "carillon"), "standalone", "--data-dir", self.data_dir,
                 "--port", "0"] + self.extra,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.env,
                start_new_session=self.new_session)

        def ready():
            if self.process.poll() is not None:
                raise AssertionError(f"standalone ended with {self.process.returncode}: {self.tail()}")
            pid = self._runtime_pid(runtime)
            return pid == self.process.pid and pid != before
        wait_until(ready, seconds, "runtime.json of the new process; log: " + self.log_path)
        with open(runtime) as f:
            self.runtime = json.load(f)
        with open(self.runtime["token_file"]) as f:
            self.token = f.read().strip()
        return self

    @staticmethod
    def _runtime_pid(path):
        try:
            with open(path) as f:
                return json.load(f)["pid"]
        except (OSError, ValueError, KeyError):
            return None

    def tail(self):
        with open(self.log_path, "rb") as f:
            return f.read()[-3000:].decode("utf-8", "replace")

    def setup_link(self):
        """The link by which the first administrator signs up. It is printed after runtime.json has been written."""
        def printed():
            with open(self.log_path, encoding="utf-8") as log:
                return re.search(r"http\S+/setup#token=\S+(?=\s)", log.read())
        return wait_until(printed, 30, "the setup link in " + self.log_path).group()

    def api(self, **options):
        return Api(self.runtime["url"], self.token, **options)

    def metrics(self):
        """The metrics of the ops port as {"name{labels}": value}."""
        parts = urllib.parse.urlsplit(self.runtime["ops_url"])
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE_S)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        values = {}
        for line in text.splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def kill(self, which="pid", sig=signal.SIGKILL):
        with open(os.path.join(self.data_dir, "runtime.json")) as f:
            pid = json.load(f)[which]
        os.kill(pid, sig)
        if which == "pid" and sig == signal.SIGKILL:
            self.process.wait(PATIENCE_S)
        return pid

    def stop(self, seconds=PATIENCE_S):
        """Sends SIGTERM; the process must then exit with 0 within `seconds`."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(seconds)
        assert self.process.returncode == 0, f"ended with {self.process.returncode}: {self.tail()}"

    def destroy(self):
        """Kills all processes that are left; for tearDown."""
        pids = []
        try:
            with open(os.path.join(self.data_dir, "runtime.json")) as f:
                known = json.load(f)
            pids = [known.get(k) for k in ("warden_pid", "mariadbd_pid")]
        except (OSError, ValueError):
            pids = [getattr(self, "runtime", {}).get(k) for k in ("warden_pid", "mariadbd_pid")]
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        # The file may not name the latest warden yet.
        for pid in [*pids, *wardens_below(self.data_dir)]:
            if pid and alive(pid):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass

    def finish(self):
        """Stops the server, which must succeed, and removes its files."""
        try:
            self.stop()
        finally:
            self.destroy()
        self.remove()

    def remove(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def cli(server, *arguments, check=True, stdin=None, env=None):
    """Runs the command line against the server; returns (exit code, stdout, stderr)."""
    return run_cli(server.runtime["url"], server.runtime["token_file"], *arguments, check=check,
                   stdin=stdin, env=env)


def run_cli(address, token_file, *arguments, check=True, stdin=None, env=None):
    env = dict(os.environ, CARILLON_ADDR=address, CARILLON_TOKEN_FILE=token_file, NO_COLOR="1",
               **(env or {}))
    done = subprocess.run([os.path.join(BIN, "carillon"), *arguments], env=env, input=stdin,
                          capture_output=True, text=True, timeout=PATIENCE_S)
    if check and done.returncode != 0:
        raise AssertionError(f"carillon {' '.join(arguments)} ended with {done.returncode}: {done.stderr}")
    return done.returncode, done.stdout, done.stderr
