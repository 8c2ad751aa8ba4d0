"""The parts of a cluster: their configuration, their start, and the checks whether they are ready."""
import concurrent.futures
import glob
import itertools
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

from state import Failure, end_process, free_port, stat_of

BIN = ""   # the directory of carillon, carillon-scheduler, carillon-executor, carillon-warden
JARS = ""  # the directory of Kafka's and ZooKeeper's jars
MYSQL = ""  # the directory in which ./dev mysql has unpacked MySQL
SEGMENTS = 64
DATABASE = "carillon"
PARTITIONS = 8
ASK_LIMIT_S = 1.5
JOIN_LIMIT_S = 60
KAFKA_ID = "Q2FyaWxsb25DbHVzdA"
# The settings of the servers that are the same wherever they run. Paths, ports and addresses are added here.
SERVERS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "servers")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text, mode=0o600):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w",
              encoding="utf-8") as f:
        f.write(text)


# ---- a new cluster ----

def create(cluster, arguments):
    """Creates the whole cluster. If a part fails, removes everything again."""
    os.makedirs(cluster.dir, mode=0o700, exist_ok=True)
    if os.listdir(cluster.dir):
        raise Failure(f"{cluster.dir} is not empty and has no cluster; remove it or choose another")
    try:
        create_parts(cluster, arguments)
    except BaseException:
        shutil.rmtree(cluster.dir, ignore_errors=True)
        raise


def names_of(schedulers, executors, database="mariadb"):
    """The processes of a new cluster: [(name, kind)]."""
    return ([(database, database), ("kafka", "kafka"), ("zookeeper", "zookeeper")]
            + [(f"scheduler-{i + 1}", "scheduler") for i in range(schedulers)]
            + [(f"executor-{i + 1}", "executor") for i in range(executors)])


def create_parts(cluster, arguments):
    if arguments.schedulers < 1 or arguments.executors < 0:
        raise Failure("a cluster has at least one scheduler")
    if any("=" not in setting for setting in arguments.set + arguments.program):
        raise Failure("--set takes NAME=VALUE")
    programs = dict(program.split("=", 1) for program in arguments.program)
    cluster.data = {"schema": 1, "session_timeout_ms": arguments.session_timeout_ms,
                    "slots": arguments.slots, "settings": arguments.set, "tls": arguments.tls, "processes": {}}
    if arguments.mysql and not os.access(os.path.join(MYSQL, "mysqld"), os.X_OK):
        raise Failure(f"there is no MySQL in {MYSQL}; ./dev mysql fetches it")
    names = names_of(arguments.schedulers, arguments.executors, "mysql" if arguments.mysql else "mariadb")
    for name, kind in names:
        declare(cluster, name, kind)
        if name in programs:
            cluster.process(name)["program"] = os.path.abspath(programs[name])
    os.makedirs(os.path.join(cluster.dir, "secrets"), mode=0o700)
    for name in ("carillon.password", "reader.password", "join"):
        write(secret(cluster, name), secrets.token_urlsafe(24) + "\n")
    write(secret(cluster, "secrets.key"), secrets.token_hex(32) + "\n")
    write(secret(cluster, "zookeeper.digest"), f"carillon:{secrets.token_urlsafe(24)}\n")
    if arguments.tls:
        run_once([os.path.join(BIN, "carillon"), "executor", "authority", secret(cluster, "link")],
                 secret(cluster, "authority.log"))
    for name, kind in names:
        CREATE[kind](cluster, name)
    cluster.save()


def declare(cluster, name, kind):
    """Adds a process to the cluster: its name, its ports and an empty directory."""
    taken = {port for process in cluster.data["processes"].values()
             for port in process["ports"].values()}
    ports = {"kafka": ["port", "controller"], "scheduler": ["rest", "ops", "link"],
             "executor": ["ops"]}.get(kind, ["port"])
    cluster.data["processes"][name] = {
        "kind": kind, "pid": 0, "start_time": 0,
        "ports": {port: free_port(taken) for port in ports}}
    os.makedirs(cluster.home(name), mode=0o700)


def add(cluster, kind):
    """Adds a daemon with a name that no process has had before; returns the name."""
    name = next(name for name in (f"{kind}-{i}" for i in itertools.count(1))
                if not os.path.exists(cluster.home(name)))
    declare(cluster, name, kind)
    CREATE[kind](cluster, name)
    cluster.save()
    return name


def secret(cluster, name):
    return os.path.join(cluster.dir, "secrets", name)


def port_of(cluster, name, port="port"):
    return cluster.process(name)["ports"][port]


def run_once(command, log):
    with open(log, "ab") as out:
        if subprocess.run(command, stdout=out, stderr=out, check=False).returncode != 0:
            with open(log, encoding="utf-8", errors="replace") as said:
                raise Failure(f"{os.path.basename(command[0])} failed:\n"
                              + "".join(said.readlines()[-15:]))


def database_of(cluster):
    """The name of the process of the database, which is also its kind: mariadb or mysql."""
    return next(name for name in cluster.names() if cluster.kind_of(name) in ("mariadb", "mysql"))


def create_database(cluster, name):
    data = os.path.join(cluster.home(name), "data")
    # A server that starts deletes the temporary tables of all servers that share this directory.
    os.makedirs(os.path.join(cluster.home(name), "tmp"))
    install = os.path.join(MYSQL, "install-db") if cluster.kind_of(name) == "mysql" else "mariadb-install-db"
    command = [install, "--no-defaults", f"--datadir={data}", "--skip-test-db",
               f"--tmpdir={cluster.home(name)}/tmp",
               "--auth-root-authentication-method=socket", "--skip-name-resolve"]
    if os.geteuid() == 0:
        command.append("--user=root")
    run_once(command, cluster.log_of(name))
    users = read(os.path.join(SERVERS, "users.sql")).replace("@HOST@", "127.0.0.1")
    for user in ("carillon", "reader"):
        users = users.replace(f"@{user.upper()}_PASSWORD@",
                              read(secret(cluster, f"{user}.password")).strip())
    write(os.path.join(cluster.home(name), "users.sql"), users)


def create_kafka(cluster, name):
    home, port = cluster.home(name), port_of(cluster, name)
    controller = port_of(cluster, name, "controller")
    write(os.path.join(home, "server.properties"),
          read(os.path.join(SERVERS, "kafka.properties")) + f"""\
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
log.dirs={home}/data
""")
    run_once(java(["kafka.tools.StorageTool", "format", "-t", KAFKA_ID, "-c",
                   f"{home}/server.properties"]), cluster.log_of(name))


def create_zookeeper(cluster, name):
    home = cluster.home(name)
    os.makedirs(os.path.join(home, "data"))
    write(os.path.join(home, "zoo.cfg"), read(os.path.join(SERVERS, "zoo.cfg")) + f"""\
dataDir={home}/data
clientPort={port_of(cluster, name)}
clientPortAddress=127.0.0.1
""")


def common_settings(cluster, name, lines):
    settings = "".join(f"{s.split('=', 1)[0]}: {json.dumps(s.split('=', 1)[1])}\n"
                       for s in cluster.data["settings"])
    write(os.path.join(cluster.home(name), "carillon.yaml"), f"""\
data_dir: {cluster.home(name)}/data
kafka.bootstrap: 127.0.0.1:{port_of(cluster, "kafka")}
kafka.partitions: {PARTITIONS}
zookeeper.connect: 127.0.0.1:{port_of(cluster, "zookeeper")}/carillon
zookeeper.session_timeout_ms: {cluster.data["session_timeout_ms"]}
zookeeper.digest_file: {secret(cluster, "zookeeper.digest")}
{link_settings(cluster, name)}ops.port: {port_of(cluster, name, "ops")}
{lines}{settings}""")


def link_settings(cluster, name):
    if not cluster.data.get("tls"):
        return f"link.join_secret_file: {secret(cluster, 'join')}\n"
    if cluster.kind_of(name) == "executor":
        return f"link.tls: mutual\nlink.join_token_file: {join_token_file(cluster, name)}\n"
    return (f"link.tls: mutual\nlink.tls_ca_file: {secret(cluster, 'link/link-ca.pem')}\n"
            f"link.tls_ca_key_file: {secret(cluster, 'link/link-ca.key')}\n")


def join_token_file(cluster, name):
    return os.path.join(cluster.home(name), "join-token")


def give_join_token(cluster, name):
    """Gives a join token to an executor that starts for the first time; waits for a scheduler that can create one."""
    path = join_token_file(cluster, name)
    if not cluster.data.get("tls") or os.path.exists(path):
        return
    deadline = time.monotonic() + JOIN_LIMIT_S
    while True:
        for scheduler in (n for n in cluster.names() if cluster.kind_of(n) == "scheduler"):
            tokens = glob.glob(os.path.join(cluster.dir, "scheduler-*", "data", "admin.token"))
            if not tokens:
                continue
            made = subprocess.run(
                [os.path.join(BIN, "carillon"), "executor", "join-token", name, "--addr",
                 f"http://127.0.0.1:{port_of(cluster, scheduler, 'rest')}", "--token-file",
                 tokens[0]], capture_output=True, text=True, check=False)
            if made.returncode == 0:
                write(path, made.stdout)
                return
        if time.monotonic() > deadline:
            raise Failure(f"no scheduler gives {name} a join token")
        time.sleep(0.2)


def create_scheduler(cluster, name):
    common_settings(cluster, name, f"""\
scheduler.id: {name}
scheduler.segments: {SEGMENTS}
rest.port: {port_of(cluster, name, "rest")}
link.port: {port_of(cluster, name, "link")}
store.port: {port_of(cluster, database_of(cluster))}
store.password_file: {secret(cluster, "carillon.password")}
secrets.key_file: {secret(cluster, "secrets.key")}
""")


def create_executor(cluster, name):
    common_settings(cluster, name, f"executor.id: {name}\nexecutor.slots: {cluster.data['slots']}\n")


CREATE = {"mariadb": create_database, "mysql": create_database, "kafka": create_kafka, "zookeeper": create_zookeeper,
          "scheduler": create_scheduler, "executor": create_executor}


# ---- starting ----

def java(arguments, memory="256m"):
    command = shutil.which("java")
    if not command:
        raise Failure("needs Java 17: apt-get install openjdk-17-jre-headless")
    return [command, f"@{SERVERS}/java.options", f"-Xmx{memory}",
            f"-Dlogback.configurationFile={SERVERS}/logback.xml", "-cp", f"{JARS}/*"] + arguments


def launch(cluster, name):
    kind, home = cluster.kind_of(name), cluster.home(name)
    if kind in ("mariadb", "mysql"):
        program = {"mariadb": shutil.which("mariadbd") or "/usr/sbin/mariadbd", "mysql": os.path.join(MYSQL, "mysqld")}
        command = [program[kind],
                   f"--defaults-file={SERVERS}/{ {'mariadb': 'mariadbd', 'mysql': 'mysqld'}[kind] }.cnf",
                   f"--datadir={home}/data", f"--tmpdir={home}/tmp",
                   "--socket=mariadbd.sock", "--pid-file=mariadbd.pid",
                   "--bind-address=127.0.0.1", f"--port={port_of(cluster, name)}",
                   f"--init-file={home}/users.sql"]
        if os.geteuid() == 0:
            command.append("--user=root")
    elif kind == "kafka":
        command = java(["kafka.Kafka", f"{home}/server.properties"], "512m")
    elif kind == "zookeeper":
        command = java(["org.apache.zookeeper.server.quorum.QuorumPeerMain", f"{home}/zoo.cfg"])
    else:
        if kind == "executor":
            give_join_token(cluster, name)
        program = cluster.process(name).get("program") or os.path.join(BIN, f"carillon-{kind}")
        command = [program, "--config", f"{home}/carillon.yaml"]
    cluster.launch(name, command)


# ---- asking ----

def get(url):
    """Returns (status, text) of the answer; (0, "") if there is none."""
    try:
        with urllib.request.urlopen(url, timeout=ASK_LIMIT_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, ""
    except (OSError, ValueError):
        return 0, ""


def ops_url(cluster, name):
    return f"http://127.0.0.1:{port_of(cluster, name, 'ops')}"


def answers(port, ask=None, expected=b""):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=ASK_LIMIT_S) as s:
            s.settimeout(ASK_LIMIT_S)
            if ask:
                s.sendall(ask)
            return not expected or expected in s.recv(4096)
    except OSError:
        return False


def is_ready(cluster, name):
    kind = cluster.kind_of(name)
    if cluster.state_of(name) != "running":
        return False
    if kind in ("scheduler", "executor"):
        return get(ops_url(cluster, name) + "/readyz")[0] == 200
    if kind in ("mariadb", "mysql"):  # sends a greeting, with how to sign in, to every client that connects
        return answers(port_of(cluster, name), expected=b"MariaDB" if kind == "mariadb" else b"_password")
    if kind == "zookeeper":
        return answers(port_of(cluster, name), b"srvr", b"Zookeeper version")
    return answers(port_of(cluster, name))


def gauge(metrics, name):
    found = re.search(rf"^{name}(?:{{[^}}]*}})? ([0-9.e+-]+)$", metrics, re.M)
    return int(float(found.group(1))) if found else None


def runtime(cluster, name):
    try:
        with open(os.path.join(cluster.home(name), "data", "runtime.json"), encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def warden_pid(cluster, name):
    """The process id of the warden of this data directory, which may outlive the executor; None if there is none."""
    pid = runtime(cluster, name).get("warden_pid")
    return pid if pid and stat_of(pid) and is_warden(pid) else None


def is_warden(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return b"carillon-warden" in f.read()
    except OSError:
        return False


def end_warden(pid):
    if is_warden(pid):
        end_process(pid)


def describe(cluster, name):
    kind = cluster.kind_of(name)
    seen = {"name": name, "kind": kind, "pid": cluster.process(name)["pid"],
            "state": cluster.state_of(name), "url": None, "ops_url": None, "grpc": None,
            "executor_id": None, "warden_pid": None, "owned_segments": None,
            "log": cluster.log_of(name), "data": os.path.join(cluster.home(name), "data")}
    if kind in ("scheduler", "executor"):
        seen["ops_url"] = ops_url(cluster, name)
    if kind == "scheduler":
        seen["url"] = f"http://127.0.0.1:{port_of(cluster, name, 'rest')}"
        seen["grpc"] = f"127.0.0.1:{port_of(cluster, name, 'link')}"
    if kind == "executor":
        seen["executor_id"] = name
        seen["warden_pid"] = warden_pid(cluster, name)
    if kind == "scheduler" and seen["state"] == "running":
        metrics = get(seen["ops_url"] + "/metrics")[1]
        seen["owned_segments"] = gauge(metrics, "carillon_owned_segments")
        seen["leads"] = gauge(metrics, "carillon_is_leader") == 1
    seen["is_ready"] = is_ready(cluster, name)
    return seen


def status(cluster):
    with concurrent.futures.ThreadPoolExecutor(max_workers=32) as pool:
        processes = list(pool.map(lambda name: describe(cluster, name), cluster.names()))
    schedulers = [p for p in processes if p["kind"] == "scheduler"]
    leaders = [p["name"] for p in schedulers if p.pop("leads", False)]
    owned = sum(p["owned_segments"] or 0 for p in schedulers)
    ready = all([p.pop("is_ready") for p in processes]) and owned == SEGMENTS
    tokens = sorted(glob.glob(os.path.join(cluster.dir, "scheduler-*", "data", "admin.token")))
    return {"schema": 1, "dir": cluster.dir, "ready": ready and len(leaders) == 1,
            "token_file": tokens[0] if tokens else None, "cli": os.path.join(BIN, "carillon"),
            "leader": leaders[0] if len(leaders) == 1 else None, "segments": SEGMENTS,
            "store": {"host": "127.0.0.1", "port": port_of(cluster, database_of(cluster)),
                      "database": DATABASE, "user": "reader",
                      "password_file": secret(cluster, "reader.password")},
            "kafka": {"bootstrap": f"127.0.0.1:{port_of(cluster, 'kafka')}"},
            "zookeeper": {"connect": f"127.0.0.1:{port_of(cluster, 'zookeeper')}/carillon",
                          "session_timeout_ms": cluster.data["session_timeout_ms"]},
            "processes": processes}
