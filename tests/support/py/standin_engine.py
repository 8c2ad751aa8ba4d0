"""A container engine that obeys the command line of Docker and Podman as far as Carillon uses it. Its daemon lives in the
process of the test, so containers outlive the command line that has started them. A container is a process of this host
without any isolation; /carillon in its variables is replaced by the directory that would be mounted there."""
import json
import os
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import uuid

CLIENT = """#!{python}
import json, os, socket, sys
engine = socket.socket(socket.AF_UNIX)
engine.connect({address!r})
argv = sys.argv[1:]
lines = open(argv[argv.index("--env-file") + 1]).read().splitlines() if "--env-file" in argv else []
engine.sendall(json.dumps({{"argv": argv, "env": dict(os.environ), "lines": lines}}).encode() + b"\\n")
for line in engine.makefile("rb"):
    frame = json.loads(line)
    if "exit" in frame:
        sys.exit(frame["exit"])
    stream = sys.stdout if frame["to"] == "out" else sys.stderr
    stream.write(frame["text"])
    stream.flush()
sys.exit(1)
"""
# The values of these options are the next word.
WITH_VALUE = {"--name", "--label", "--log-driver", "--pull", "--network", "--volume", "--user", "--memory",
              "--memory-swap", "--cpus", "--pids-limit", "--ulimit", "--env", "--env-file", "--signal", "--entrypoint", "--filter", "--format", "-t"}


class Container:
    def __init__(self, options, words, env, lines=()):
        self.id = uuid.uuid4().hex * 2
        self.options, self.image = options, words[0]
        self.name = options["--name"][0]
        self.labels = dict(label.split("=", 1) for label in options["--label"])
        self.argv = options.get("--entrypoint", []) + words[1:]
        self.env = dict(line.split("=", 1) for line in lines)
        for given in options.get("--env", []):
            name, _, value = given.partition("=")
            self.env[name] = value if "=" in given else env[name]
        mounted = options["--volume"][0].rsplit(":", 1)[0]
        for name, value in self.env.items():
            if value.startswith("/carillon/"):
                self.env[name] = mounted + value[len("/carillon"):]
        self.status, self.exit_code, self.oom = "created", 0, False
        self.process, self.ended = None, threading.Event()

    def kill(self, sig):
        try:
            os.killpg(self.process.pid, sig)
        except (ProcessLookupError, AttributeError):
            pass  # it has ended, or never begun


class StandInEngine:
    """`calls` has every command line. While `hangs` has the name of a command, the daemon keeps it waiting; the request
    is carried out afterwards, even if nobody waits for the answer any more."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="standin-engine-")
        self.program = os.path.join(self.directory, "engine")
        self.containers, self.calls, self.removed = {}, [], []
        self.hangs, self.held, self.done = set(), [], []
        self.limits = "67108864 500000000 0 20"  # that it says it enforces: memory, CPU, its quota, processes
        self.changed = threading.Condition()
        engine = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                engine.serve(json.loads(self.rfile.readline()), self.wfile)

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True
            request_queue_size = 64

        address = os.path.join(self.directory, "socket")
        self.server = Server(address, Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        with open(self.program, "w", encoding="utf-8") as client:
            client.write(CLIENT.format(python=sys.executable, address=address))
        os.chmod(self.program, 0o755)

    def close(self):
        self.release()
        for container in list(self.containers.values()):
            container.kill(signal.SIGKILL)
        self.server.shutdown()

    def release(self):
        with self.changed:
            self.hangs.clear()
            self.changed.notify_all()

    def add_foreign(self, name, warden):
        """A container that another warden has made and started."""
        container = Container({"--name": [name], "--label": [f"carillon.warden={warden}"], "--volume": ["/x:/carillon"]},
                              ["busybox", "sleep", "1000"], {})
        self.containers[container.id] = container
        self.start(container)
        return container

    def named(self, name):
        return [one for one in list(self.containers.values()) if one.name == name]

    def commands(self, verb):
        return [call for call in list(self.calls) if call[0] == verb]

    # ---- the daemon
    def serve(self, request, answer):
        def send(frame):
            try:
                answer.write(json.dumps(frame).encode() + b"\n")
                answer.flush()
            except OSError:
                pass  # the command line was killed

        argv = request["argv"]
        with self.changed:
            self.calls.append(argv)
            if argv[0] in self.hangs:
                self.held.append(argv)
            self.changed.wait_for(lambda: argv[0] not in self.hangs)
        options, words = {}, []
        rest = list(argv[1:])
        while rest:
            word = rest.pop(0)
            if words or not word.startswith("-"):
                words.append(word)
            else:
                options.setdefault(word, []).append(rest.pop(0) if word in WITH_VALUE else "")
        code = getattr(self, "do_" + argv[0])(options, words, request, send)
        with self.changed:
            self.done.append(argv)
        send({"exit": code})

    def do_version(self, *_):
        return 0

    def do_create(self, options, words, request, send):
        if words[0] == "missing":
            send({"to": "err", "text": "Error: no such image\n"})
            return 125
        with self.changed:
            if self.named(options["--name"][0]):
                send({"to": "err", "text": "Error: the name is in use\n"})
                return 125
            container = Container(options, words, request["env"], request["lines"])
            self.containers[container.id] = container
        send({"to": "out", "text": container.id + "\n"})
        return 0

    def start(self, container):
        container.process = subprocess.Popen(container.argv, env={"PATH": os.defpath, **container.env},
                                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                             start_new_session=True)
        container.status = "running"

    def do_start(self, _options, words, _env, send):
        container = self.containers.get(words[0])
        if container is None:
            return 1
        try:
            self.start(container)
        except OSError as error:
            send({"to": "err", "text": f"Error: {error}\n"})
            return 127
        for line in iter(container.process.stdout.readline, b""):
            send({"to": "out", "text": line.decode()})
        status = container.process.wait()
        container.exit_code = status if status >= 0 else 128 - status
        container.oom = container.image == "eats-memory"
        container.status = "exited"
        container.ended.set()
        return container.exit_code

    def do_inspect(self, options, words, _env, send):
        container = self.containers.get(words[0])
        if container is None:
            return 1
        if "HostConfig" in options["--format"][0]:
            send({"to": "out", "text": self.limits + "\n"})
            return 0
        send({"to": "out", "text": f"{container.status} {container.exit_code} {str(container.oom).lower()}\n"})
        return 0

    def do_stop(self, options, words, *_):
        container = self.containers.get(words[0])
        if container is None:
            return 1
        if container.status == "running":
            container.kill(signal.SIGTERM)
            if not container.ended.wait(int(options["-t"][0])):
                container.kill(signal.SIGKILL)
                container.ended.wait()
        return 0

    def do_kill(self, options, words, *_):
        for word in words:
            container = self.containers.get(word)
            if container is not None and container.status == "running":
                container.kill(getattr(signal, "SIG" + options["--signal"][0]))
        return 0

    def do_ps(self, options, _words, _env, send):
        label, value = options["--filter"][0].split("=", 1)[1].split("=", 1)
        for container in list(self.containers.values()):
            if container.labels.get(label) == value:
                send({"to": "out", "text": f"{container.id} {container.name}\n"})
        return 0

    def do_rm(self, _options, words, *_):
        for word in words:
            container = self.containers.get(word)
            if container is None:
                continue
            if container.status == "running":
                container.kill(signal.SIGKILL)
                container.ended.wait()
            with self.changed:
                self.containers.pop(word, None)
                self.removed.append(container)
        return 0

