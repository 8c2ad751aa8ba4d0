#!/usr/bin/env python3
"""docker-compose.yml and the sources of its images, as far as they can be tested without Docker: nothing is missing, it
is the same cluster as ./dev cluster, no port is open by mistake, and no secret is readable by mistake."""
import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
DOCKER = os.path.join(ROOT, "deploy", "docker")
SERVERS = os.path.join(ROOT, "deploy", "servers")
BIN = os.environ.get("CARILLON_BIN", os.path.join(ROOT, "build", "dev", "bin"))
sys.path.insert(0, os.path.join(ROOT, "deploy", "cluster"))
import parts  # noqa: E402
from state import Cluster  # noqa: E402

# Packages that every base image contains.
ESSENTIAL = {"libc6", "libgcc-s1", "libstdc++6", "bash", "coreutils", "grep"}
PROGRAMS = {"carillon", "carillon-scheduler", "carillon-executor", "carillon-warden"}
SECRET_NAMES = {"carillon.password", "reader.password", "reader.cnf", "users.sql", "join.secret",
                "secrets.key", "zookeeper.digest"}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def properties(text):
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    return {name.strip(): value.strip() for name, value in pairs}


def stages_of(dockerfile):
    """Returns {stage: [(instruction, arguments)]}, with continued lines joined and without comments."""
    text = re.sub(r"^#.*\n", "", read(dockerfile), flags=re.M).replace("\\\n", " ")
    stages, name = {}, None
    for line in filter(str.strip, text.splitlines()):
        instruction, arguments = line.split(None, 1)
        if instruction == "FROM":
            words = arguments.split()
            name = words[2] if len(words) > 2 else ""
            stages[name] = []
        stages[name].append((instruction, arguments))
    return stages


def installed_by(stage):
    found = re.search(r"--no-install-recommends ([^&]*)&&", " ".join(a for _, a in stage))
    return set(found.group(1).split()) if found else set()


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.text = read("docker-compose.yml")
        self.compose = yaml.safe_load(self.text)
        self.services = self.compose["services"]
        self.builds = {s["image"]: s["build"] for s in self.services.values() if "build" in s}
        self.dockerfiles = {build["dockerfile"] for build in self.builds.values()}
        scratch = tempfile.TemporaryDirectory(prefix="carillon-compose-")
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name

    def kind_of(self, name):
        return re.sub(r"-\d+$", "", name)

    def of_kind(self, *kinds):
        return {n: s for n, s in self.services.items() if self.kind_of(n) in kinds}

    def image_of(self, service):
        """The instructions of the image's stage and of the stages it is based on: [(instruction, arguments)]."""
        build = self.builds[service["image"]]
        stages = stages_of(build["dockerfile"])
        name = build.get("target", list(stages)[-1])
        lines = stages[name]
        while (base := lines[0][1].split()[0]) in stages:
            lines = stages[base] + lines[1:]
        return lines

    # ---- the parts ----

    def test_parts_are_those_of_dev_cluster(self):
        ours = {(name, self.kind_of(name)) for name in self.services}
        self.assertEqual(ours, set(parts.names_of(2, 2)))

    def settings_of(self, service):
        """The settings that check-config prints for the daemon as the compose file starts it."""
        words = service["command"][1:]
        self.assertEqual(words[0], "--config")
        config = {c["target"]: self.compose["configs"][c["source"]]["file"]
                  for c in service["configs"]}[words[1]]
        done = run([os.path.join(BIN, "carillon"), "check-config", "-o", "json", "--config",
                    os.path.join(ROOT, config), *words[2:]], cwd=ROOT)
        self.assertEqual(done.returncode, 0, done.stderr)
        named = yaml.safe_load(read(config))
        named.update(w.split("=", 1) for w in words[2:] if "=" in w)
        return {name: str(value) for name, value in named.items()}

    def test_daemons_are_configured_as_dev_cluster_does(self):
        cluster = Cluster(os.path.join(self.scratch, "c"))
        cluster.data = {"schema": 1, "session_timeout_ms": 6000, "slots": 0, "settings": [],
                        "processes": {name: {"kind": kind, "ports": {
                            p: 1 for p in ("port", "rest", "ops", "link")}}
                            for name, kind in parts.names_of(2, 2)}}
        equal = {"kafka.partitions", "scheduler.segments", "zookeeper.session_timeout_ms",
                 "executor.slots", "scheduler.id", "executor.id"}
        for name, service in self.of_kind("scheduler", "executor").items():
            settings = self.settings_of(service)
            os.makedirs(cluster.home(name))
            {"scheduler": parts.create_scheduler,
             "executor": parts.create_executor}[self.kind_of(name)](cluster, name)
            with open(os.path.join(cluster.home(name), "carillon.yaml"), encoding="utf-8") as f:
                theirs = {n: str(v) for n, v in yaml.safe_load(f).items()}
            self.assertEqual(set(theirs) - set(settings), set(), name)
            for setting in equal & set(theirs):
                self.assertEqual(settings[setting], theirs[setting], (name, setting))
            self.assertEqual(settings["data_dir"] + "/.", self.volume_of(name) + "/.")
            for setting, value in settings.items():
                if setting.endswith("_file"):
                    self.assertIn(value.removeprefix("/run/secrets/"), service["secrets"])

    def test_addresses_lead_to_services_that_are_reached(self):
        for name, service in self.of_kind("scheduler", "executor").items():
            settings = self.settings_of(service)
            for setting in {"store.host", "kafka.bootstrap", "zookeeper.connect",
                            "link.advertise"} & set(settings):
                host = re.match(r"[^:/]+", settings[setting]).group()
                self.assertIn(host, self.services, (name, setting))
                self.assertTrue(set(service["networks"]) & set(self.services[host]["networks"]))
            if self.kind_of(name) == "scheduler":
                self.assertEqual(settings["link.advertise"], name)
                for executor in self.of_kind("executor").values():
                    self.assertTrue(set(service["networks"]) & set(executor["networks"]))

    def volume_of(self, name):
        own = [v.split(":") for v in self.services[name]["volumes"]]
        self.assertEqual([v[0] for v in own], [name])
        self.assertIn(name, self.compose["volumes"])
        return own[0][1]

    def test_each_service_keeps_its_data_in_a_volume_of_its_own(self):
        for name, service in self.services.items():
            made = " ".join(a for i, a in self.image_of(service) if i == "RUN")
            self.assertRegex(made, rf"install -d -m 700 -o carillon -g carillon {self.volume_of(name)}\b")

    # ---- settings of the servers ----

    def start_server(self, kind):
        """Runs the entry point of the image with programs that only print how they were called."""
        image = self.image_of(self.services[kind])
        home, etc = os.path.join(self.scratch, kind), os.path.join(self.scratch, kind, "etc")
        os.makedirs(etc)
        for instruction, arguments in image:  # copies the same files as the image
            words = arguments.split()
            if instruction == "COPY" and words[-1] == "/etc/carillon/":
                for path in words[:-1]:
                    with open(os.path.join(etc, os.path.basename(path)), "w", encoding="utf-8") as f:
                        f.write(read(path))
        stand_in = os.path.join(self.scratch, kind, "bin")
        os.makedirs(stand_in)
        for program in ("java", "mariadbd", "mariadb-install-db"):
            with open(os.path.join(stand_in, program), "w", encoding="utf-8") as f:
                f.write('#!/bin/bash\nfor a in "$0" "$@"; do\n'
                        '  case $a in --datadir=*.new) mkdir "${a#*=}" ;; esac\n'
                        '  printf "%s\\n" "${a##*/bin/}"\ndone\n')
            os.chmod(os.path.join(stand_in, program), 0o755)
        script = read("deploy/docker/start-server").replace("/usr/sbin/mariadbd", "mariadbd")
        done = run(["bash", "-c", script, "start-server", kind], env={
            "PATH": stand_in + ":" + os.environ["PATH"], "SERVER_ETC": etc, "SERVER_VAR": home,
            "SERVER_JARS": "/jars", "SERVER_SECRETS": "/run/secrets"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for word in re.findall(rf"{re.escape(etc)}/(\S+)", done.stdout):
            self.assertTrue(os.path.exists(os.path.join(etc, word)), word)
        return (done.stderr + done.stdout).replace(home, "VAR").splitlines(), home

    def in_dev_cluster(self, kind):
        """The configuration and the command of ./dev cluster for the same server."""
        cluster = Cluster(os.path.join(self.scratch, "dev"))
        cluster.data = {"processes": {kind: {"kind": kind,
                                             "ports": {"port": 1, "controller": 2}}}}
        os.makedirs(cluster.home(kind))
        commands, home = [], cluster.home(kind)
        cluster.launch = lambda name, command, environment=None: commands.append(command)
        run_once, parts.run_once = parts.run_once, lambda command, log: commands.append(command)
        try:
            if kind != "mariadb":
                {"kafka": parts.create_kafka, "zookeeper": parts.create_zookeeper}[kind](cluster, kind)
            parts.launch(cluster, kind)
        finally:
            parts.run_once = run_once
        return [w.replace(home, "VAR").replace(SERVERS, "VAR/etc") for c in commands for w in c], home

    def compare(self, kind, config, local):
        ours, home = self.start_server(kind)
        theirs, dev = self.in_dev_cluster(kind)
        options = [w for w in theirs if re.match(r"-X|-XX|-D|@", w)]
        self.assertTrue(len(options) > 2 and set(options) <= set(ours), (options, ours))
        with open(os.path.join(home, config), encoding="utf-8") as f:
            mine = properties(f.read())
        with open(os.path.join(dev, config), encoding="utf-8") as f:
            wanted = properties(f.read())
        self.assertEqual({n: v for n, v in mine.items() if n not in local},
                         {n: v for n, v in wanted.items() if n not in local})
        return mine, ours, theirs

    def test_kafka_has_the_settings_of_dev_cluster(self):
        mine, ours, theirs = self.compare("kafka", "server.properties", {
            "controller.quorum.voters", "listeners", "advertised.listeners", "log.dirs"})
        self.assertEqual(mine["advertised.listeners"], "PLAINTEXT://kafka:9092")
        self.assertEqual(mine["auto.create.topics.enable"], "false")
        self.assertNotIn("0.0.0.0", mine["controller.quorum.voters"])
        self.assertIn(",CONTROLLER://127.0.0.1:", mine["listeners"])
        for word in ("kafka.tools.StorageTool", "format", parts.KAFKA_ID, "kafka.Kafka"):
            self.assertIn(word, ours)
            self.assertIn(word, theirs)

    def test_zookeeper_has_the_settings_of_dev_cluster(self):
        mine, ours, theirs = self.compare("zookeeper", "zoo.cfg", {
            "dataDir", "clientPort", "clientPortAddress"})
        self.assertEqual((mine["clientPort"], mine["dataDir"][-5:]), ("2181", "/data"))
        self.assertEqual(ours[-2:], theirs[-2:])

    def test_mariadb_has_the_settings_of_dev_cluster(self):
        ours, _ = self.start_server("mariadb")
        theirs, _ = self.in_dev_cluster("mariadb")
        local = r"--(socket|pid-file|bind-address|port|init-file|user)="
        for word in theirs[1:]:
            if not re.match(local, word):
                self.assertIn(word, ours)
        self.assertIn("--defaults-file=VAR/etc/mariadbd.cnf", ours)
        self.assertIn("--auth-root-authentication-method=socket", ours)
        options = properties(read("deploy/servers/mariadbd.cnf"))
        self.assertEqual(options["innodb-flush-log-at-trx-commit"], "1")
        self.assertEqual(options["transaction-isolation"], "READ-COMMITTED")

    # ---- what may go wrong quietly ----

    def test_every_published_port_is_unique_and_on_loopback(self):
        seen = set()
        for name, service in self.services.items():
            settings = self.settings_of(service) if self.kind_of(name) in ("scheduler", "executor") else {}
            for port in service.get("ports", []):
                host, published, inside = port.split(":")
                self.assertEqual(host, "127.0.0.1", port)
                self.assertNotIn(published, seen)
                seen.add(published)
                doors = [d for d in ("rest", "ops") if settings.get(f"{d}.port") == inside]
                self.assertEqual(len(doors), 1, (name, port))
                self.assertEqual(settings[f"{doors[0]}.listen"], "0.0.0.0")
                self.assertIn("front", service["networks"])
        self.assertEqual(len(seen), 6)

    def test_only_services_that_need_the_database_reach_it(self):
        for name, service in self.services.items():
            allowed = self.kind_of(name) in ("mariadb", "scheduler")
            self.assertEqual("store" in service["networks"], allowed, name)
            if not allowed:
                self.assertFalse({"carillon.password", "users.sql", "reader.cnf"}
                                 & set(service.get("secrets", [])), name)
        for network in ("store", "bus"):
            self.assertIs(self.compose["networks"][network]["internal"], True)

    def test_no_service_has_more_rights_than_it_needs(self):
        for name, service in self.services.items():
            self.assertEqual(service["cap_drop"], ["ALL"], name)
            self.assertEqual(service["security_opt"], ["no-new-privileges:true"], name)
            self.assertIs(service["read_only"], True, name)
            self.assertFalse({"cap_add", "privileged", "user", "network_mode", "pid"} & set(service))
            users = [a for i, a in self.image_of(service) if i == "USER"]
            self.assertEqual(users, ["carillon"], name)
            self.assertEqual(service["restart"], "unless-stopped", name)
            self.assertGreaterEqual(int(service["stop_grace_period"].removesuffix("s")), 30, name)

    def test_no_image_is_latest_and_ours_are_of_this_version(self):
        version = re.search(r"project\(carillon VERSION (\S+)", read("CMakeLists.txt")).group(1)
        for service in self.services.values():
            self.assertEqual(service["image"].split(":")[1:], [version])
            self.assertIn(service["image"], self.builds)
        for build in self.builds.values():
            self.assertEqual(build["args"], {"CARILLON_UID": self.compose["x-args"]["CARILLON_UID"]})
        self.assertEqual(len(self.builds), sum("build" in s for s in self.services.values()))
        for path in self.dockerfiles:
            stages = stages_of(path)
            for lines in stages.values():
                image = lines[0][1].split()[0]
                self.assertTrue(image in stages or re.fullmatch(r"debian:bookworm(-slim)?", image))

    def test_every_named_file_exists(self):
        sources = [c["file"] for c in self.compose["configs"].values()]
        for path in self.dockerfiles:
            for name, lines in stages_of(path).items():
                for instruction, arguments in lines:
                    if instruction == "COPY" and not arguments.startswith("--from"):
                        sources += arguments.split()[:-1]
        self.assertGreater(len(sources), 8)
        for source in sources:
            self.assertTrue(os.path.exists(os.path.join(ROOT, source)), source)
        for name in ("answers", "make-secrets", "run-executor", "start-server"):
            self.assertTrue(os.access(os.path.join(DOCKER, name), os.X_OK), name)

    def test_used_and_defined_names_are_the_same(self):
        for what in ("networks", "volumes", "configs", "secrets"):
            used = set()
            for service in self.services.values():
                for item in service.get(what, []):
                    used.add(item["source"] if isinstance(item, dict) else item.split(":")[0])
            self.assertEqual(used, set(self.compose[what]), what)
        for service in self.services.values():
            self.assertLessEqual(set(service.get("depends_on", [])), set(self.services))

    # ---- secrets ----

    def make_secrets(self):
        done = run([os.path.join(DOCKER, "make-secrets"), self.scratch])
        self.assertEqual(done.returncode, 0, done.stderr)
        home = os.path.join(self.scratch, "deploy", "docker", "secrets")
        texts = {}
        for name in os.listdir(home):
            path = os.path.join(home, name)
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600, name)
            with open(path, encoding="utf-8") as f:
                texts[name] = f.read()
        return texts, home, done.stdout

    def test_secrets_are_made_once_and_only_for_their_owner(self):
        texts, home, output = self.make_secrets()
        self.assertEqual(set(texts), SECRET_NAMES)
        secrets = [texts[n].strip().removeprefix("carillon:") for n in (
            "carillon.password", "reader.password", "join.secret", "zookeeper.digest")]
        self.assertEqual(len(set(secrets)), 4)
        for text in secrets:
            self.assertRegex(text, r"^[A-Za-z0-9_-]{32}$")
            self.assertNotIn(text, output)
        self.assertEqual(len(base64.b64decode(texts["secrets.key"], validate=False)), 32)
        self.assertNotIn(texts["secrets.key"].strip(), output)
        self.assertEqual(self.make_secrets()[0], texts)
        owner = os.stat(os.path.join(home, "join.secret")).st_uid
        self.assertGreater(owner, 0)
        with open(os.path.join(self.scratch, ".env"), encoding="utf-8") as f:
            self.assertEqual(f.read(), f"CARILLON_UID={owner}\n")

    def test_users_of_the_database_are_those_of_dev_cluster(self):
        texts, _, _ = self.make_secrets()
        expected = read("deploy/servers/users.sql").replace("@HOST@", "%")
        for user in ("carillon", "reader"):
            expected = expected.replace(f"@{user.upper()}_PASSWORD@", texts[f"{user}.password"].strip())
        self.assertEqual(texts["users.sql"], expected)
        self.assertNotIn("@", re.sub(r"'@'%'", "", expected))
        self.assertEqual(re.findall(r"GRANT (.*) TO '(\w+)'", expected),
                         [("ALL ON carillon.*", "carillon"),
                          ("SELECT, SHOW VIEW ON carillon.*", "reader")])
        self.assertIn(f"password={texts['reader.password'].strip()}\n", texts["reader.cnf"])

    def test_secrets_stay_out_of_the_repository_and_the_images(self):
        for secret, source in self.compose["secrets"].items():
            self.assertEqual(source, {"file": f"deploy/docker/secrets/{secret}"})
            self.assertIn(secret, SECRET_NAMES)
        for path in (".env", "deploy/docker/secrets/join.secret"):
            self.assertEqual(run(["git", "check-ignore", "-q", path], cwd=ROOT).returncode, 0, path)
        self.assertLessEqual({".env", "deploy/docker/secrets"}, set(read(".dockerignore").split()))
        for path in ("docker-compose.yml", "deploy/docker/scheduler.yaml",
                     "deploy/docker/executor.yaml", *self.dockerfiles):
            for line in read(path).splitlines():
                self.assertNotRegex(line, r"(?i)(password|secret|digest|token)\w*\s*[:=]\s*['\"]?\w", path)
        for service in self.services.values():
            self.assertNotIn("environment", service)
        self.assertIn("${CARILLON_UID:?", self.text)

    # ---- the images ----

    def dev_list(self, name):
        text = re.search(rf"^readonly {name}=(\(.*?\)|\S+)", read("dev"), re.M | re.S).group(1)
        return set(text.strip("()").split())

    def test_packages_are_those_of_dev(self):
        stages = stages_of("deploy/docker/servers.Dockerfile")
        self.assertEqual(installed_by(stages["java"]), self.dev_list("JAVA_PACKAGE"))
        mariadb = {p for p in self.dev_list("PACKAGES") if p.startswith("mariadb")}
        self.assertEqual(installed_by(stages["mariadb"]), mariadb)
        # ./dev installs the packages for the build. The Dockerfile must use a command that exists and installs them.
        for path, verb in (("servers", "jars"), ("carillon", "packages"), ("carillon", "build")):
            steps = next(iter(stages_of(f"deploy/docker/{path}.Dockerfile").values()))
            self.assertTrue([a for i, a in steps if i == "RUN" and a.split()[:2] == ["./dev", verb]])
            self.assertRegex(read("dev"), rf"(?m)^cmd_{verb}\(\)")
            verbs = re.search(r"(?s)case \"\$command\" in\n(.*?)\) \"cmd_", read("dev")).group(1)
            self.assertIn(verb, re.findall(r"\w+", verbs))
        self.assertIn('cmd_packages() { need "${PACKAGES[@]}"; }', read("dev"))

    def test_packages_of_dev_contain_what_the_build_runs(self):
        listed = self.dev_list("PACKAGES")
        but = [f"--no-{what}" for what in ("recommends", "suggests", "conflicts", "breaks",
                                           "replaces", "enhances")]
        brought = set(run(["apt-cache", "depends", "--recurse", *but, *sorted(listed)])
                      .stdout.split())
        self.assertLessEqual(listed, brought)
        for program in ("/usr/bin/protoc", "/usr/bin/grpc_cpp_plugin", "/usr/sbin/mariadbd"):
            owner = run(["dpkg-query", "-S", program]).stdout.split(":")[0]
            self.assertIn(owner, brought, program)

    def test_run_time_packages_are_what_the_programs_are_linked_to(self):
        listed = installed_by(stages_of("deploy/docker/carillon.Dockerfile")[""])
        needed = set()
        for program in PROGRAMS:
            path = os.path.join(BIN, program)
            direct = re.findall(r"NEEDED.*\[(.*)\]", run(["readelf", "-d", path]).stdout)
            found = dict(re.findall(r"(\S+) => (\S+)", run(["ldd", path]).stdout))
            for library in filter(found.get, direct):
                real = os.path.realpath(found[library])
                for name in (real, real.removeprefix("/usr")):
                    owner = run(["dpkg-query", "-S", name])
                    if owner.returncode == 0:
                        needed.add(owner.stdout.split(":")[0])
                        break
                else:
                    self.fail(f"{real} is of no package")
        self.assertGreater(len(needed), 10)
        self.assertEqual(listed, (needed - ESSENTIAL) | {"ca-certificates", "tzdata"})
        self.assertEqual(run(["apt-cache", "show", "--no-all-versions", *sorted(listed)]).returncode, 0)

    def test_programs_that_are_started_are_in_the_image(self):
        copied = {"carillon.Dockerfile": set(PROGRAMS), "servers.Dockerfile": set()}
        built = stages_of("deploy/docker/carillon.Dockerfile")["build"][-1][1].split()[2:]
        self.assertEqual(set(built), PROGRAMS)
        for path, names in copied.items():
            for lines in stages_of("deploy/docker/" + path).values():
                for instruction, arguments in lines:
                    if instruction == "COPY" and arguments.endswith(" /usr/bin/"):
                        names |= {os.path.basename(w) for w in arguments.split()[:-1]}
        for name, service in self.services.items():
            file = os.path.basename(self.builds[service["image"]]["dockerfile"])
            check = service["healthcheck"]["test"]
            self.assertEqual(check[0], "CMD")
            if check[1] == "mariadb":  # the client of this package
                self.assertIn("mariadb-client", installed_by(self.image_of(service)))
            else:
                self.assertIn(check[1], copied[file], name)
            starts = (service["command"][0] if file.startswith("carillon") else
                      json.loads(dict(self.image_of(service))["ENTRYPOINT"])[0])
            self.assertIn(starts, copied[file], name)


class ScriptTest(unittest.TestCase):
    def answers(self, reply, expected):
        """The result of the health check for a server that reads a line and answers `reply`."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            def serve():
                connection, _ = server.accept()
                with connection:
                    if connection.recv(100) == b"hello\n":
                        connection.sendall(reply)
            thread = threading.Thread(target=serve)
            thread.start()
            done = run([os.path.join(DOCKER, "answers"), str(server.getsockname()[1]), expected,
                        "hello\\n"])
            thread.join()
            return done.returncode

    def test_health_check_reads_the_answer(self):
        self.assertEqual(self.answers(b"HTTP/1.1 200 OK\r\n\r\n", "^HTTP/1.1 200"), 0)
        self.assertNotEqual(self.answers(b"HTTP/1.1 503 no\r\n\r\n", "^HTTP/1.1 200"), 0)
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = str(server.getsockname()[1])
            self.assertEqual(run([os.path.join(DOCKER, "answers"), port]).returncode, 0)
        self.assertNotEqual(run([os.path.join(DOCKER, "answers"), port]).returncode, 0)

    def run_executor(self, scratch, daemon):
        with open(os.path.join(scratch, "carillon-executor"), "w", encoding="utf-8") as f:
            f.write("#!/bin/bash\n" + daemon)
        os.chmod(os.path.join(scratch, "carillon-executor"), 0o755)
        return subprocess.Popen(
            [os.path.join(DOCKER, "run-executor"), "--flag"], stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, cwd=scratch,
            env={"PATH": scratch + ":" + os.environ["PATH"]})

    def test_an_executor_that_dies_is_restarted_in_its_container(self):
        with tempfile.TemporaryDirectory() as scratch:
            process = self.run_executor(scratch, 'echo "start $@"\n[ -e died ] && exit 2\n'
                                                 "touch died\nkill -9 $$\n")
            output, _ = process.communicate(timeout=120)
        self.assertEqual((process.returncode, output), (2, "start --flag\nstart --flag\n"))

    def test_a_stop_waits_for_the_executor(self):
        with tempfile.TemporaryDirectory() as scratch:
            process = self.run_executor(scratch, """trap 'echo drained; exit 0' TERM
echo up
for i in {1..300}; do sleep 0.1; done""")
            self.assertEqual(process.stdout.readline(), "up\n")
            process.send_signal(signal.SIGTERM)
            output, _ = process.communicate(timeout=120)
        self.assertEqual((process.returncode, output), (0, "drained\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
