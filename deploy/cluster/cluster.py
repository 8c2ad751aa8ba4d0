#!/usr/bin/env python3
"""A whole cluster on this machine, for development, for tests, and to try Carillon out.

MariaDB (or MySQL), Kafka, ZooKeeper, schedulers and executors run as separate processes on free loopback ports. They
continue when the shell that started them ends. A process that ends is not restarted.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import time

import parts
from state import Cluster, Failure, Lock, default_directory

START_LIMIT_S = 120


def say(text):
    print(f"\033[1m==>\033[0m {text}" if sys.stdout.isatty() else f"==> {text}", flush=True)


def await_ready(cluster, names, limit_s=START_LIMIT_S):
    """Waits until all processes are ready; fails as soon as one of them has died."""
    deadline = time.monotonic() + limit_s
    waiting = list(names)
    while waiting:
        for name in list(waiting):
            if cluster.state_of(name) == "dead":
                raise Failure(f"{name} ended; the end of its log, {cluster.log_of(name)}:\n"
                              + cluster.log_tail(name))
            if parts.is_ready(cluster, name):
                waiting.remove(name)
        if waiting and time.monotonic() > deadline:
            raise Failure(f"not ready after {limit_s} s: {', '.join(waiting)}; logs are in "
                          f"{cluster.dir}/*/log")
        if waiting:
            time.sleep(0.1)


def up(arguments):
    with Lock(arguments.dir):
        make_and_start(arguments)


def make_and_start(arguments):
    started = time.monotonic()
    cluster = Cluster(arguments.dir)
    if cluster.exists():
        running = [n for n in cluster.names() if cluster.state_of(n) != "dead"]
        if running:
            raise Failure(f"{cluster.dir} has a cluster that runs ({', '.join(running)}); "
                          "./dev cluster down ends it")
        say(f"starting the cluster of {cluster.dir} again, with its data and ports")
    else:
        say(f"making a cluster in {cluster.dir}")
        parts.create(cluster, arguments)
    database = parts.database_of(cluster)
    servers = [database, "zookeeper", "kafka"]
    daemons = [n for n in cluster.names() if n not in servers]
    try:
        say(f"starting { {'mariadb': 'MariaDB', 'mysql': 'MySQL'}[database] }, ZooKeeper and Kafka")
        for name in servers:
            parts.launch(cluster, name)
        await_ready(cluster, [database])
        say(f"starting {', '.join(daemons)}")
        for name in daemons:
            parts.launch(cluster, name)
        await_ready(cluster, servers + daemons)
        deadline = time.monotonic() + START_LIMIT_S
        while not parts.status(cluster)["ready"]:
            if time.monotonic() > deadline:
                raise Failure("the segments were not all taken; ./dev cluster status tells more")
            time.sleep(0.2)
    except (Failure, KeyboardInterrupt):
        stop_all(cluster)
        raise
    status = parts.status(cluster)
    say(f"ready after {time.monotonic() - started:.1f} s")
    show(status)


def show(status):
    # The address list has all schedulers, because a client tries the next one when one was killed.
    servers = ",".join(p["url"] for p in status["processes"] if p["url"])
    for process in status["processes"]:
        segments = ""
        if process["kind"] == "scheduler" and process["owned_segments"] is not None:
            segments = f"{process['owned_segments']} segments"
            segments += ", leads" if process["name"] == status["leader"] else ""
        where = process["url"] or process["ops_url"] or ""
        print(f"  {process['name']:14} {process['state']:8} pid {process['pid'] or '-':<8} "
              f"{where:28} {segments}".rstrip())
    print(f"\n  try   export CARILLON_ADDR={servers} CARILLON_TOKEN_FILE={status['token_file']}\n"
          f"        {status['cli']} system status")


def show_status(arguments):
    cluster = Cluster(arguments.dir).must_exist()
    status = parts.status(cluster)
    if arguments.json:
        print(json.dumps(status, indent=1))
    else:
        show(status)


def kill(arguments):
    cluster = Cluster(arguments.dir).must_exist()
    text = arguments.signal.upper().removeprefix("SIG")
    try:
        number = int(text) if text.isdigit() else signal.Signals["SIG" + text].value
    except KeyError:
        raise Failure(f"there is no signal {arguments.signal}")
    if not cluster.signal(arguments.name, number):
        raise Failure(f"{arguments.name} is dead already")
    if number == signal.SIGKILL and not cluster.await_end(arguments.name, 10):
        raise Failure(f"{arguments.name} outlived SIGKILL for 10 s")


def start(arguments):
    with Lock(arguments.dir):
        cluster = Cluster(arguments.dir).must_exist()
        state = cluster.state_of(arguments.name)
        if state == "stopped":
            raise Failure(f"{arguments.name} is stopped, not dead: kill it with CONT")
        if state == "dead":
            parts.launch(cluster, arguments.name)
    await_ready(cluster, [arguments.name])


def add(arguments):
    with Lock(arguments.dir):
        cluster = Cluster(arguments.dir).must_exist()
        name = parts.add(cluster, arguments.kind)
        parts.launch(cluster, name)
    await_ready(cluster, [name])
    print(name)


def remove(arguments):
    with Lock(arguments.dir):
        cluster = Cluster(arguments.dir).must_exist()
        kind = cluster.kind_of(arguments.name)
        if kind not in ("scheduler", "executor"):
            raise Failure("only schedulers and executors can be removed")
        if kind == "scheduler" and [cluster.kind_of(n) for n in cluster.names()].count(kind) == 1:
            raise Failure(f"{arguments.name} is the only scheduler")
        stop(cluster, [arguments.name])
        del cluster.data["processes"][arguments.name]
        cluster.save()


def stop_all(cluster):
    """Stops everything. A process is stopped before the processes that it needs."""
    for kind in ["executor", "scheduler", "kafka", "zookeeper", "mariadb", "mysql"]:
        stop(cluster, [n for n in cluster.names() if cluster.kind_of(n) == kind])


def stop(cluster, names):
    wardens = [parts.warden_pid(cluster, n) for n in names if cluster.kind_of(n) == "executor"]
    for name in names:
        cluster.signal(name, signal.SIGCONT)
        cluster.signal(name, signal.SIGTERM)
    for name in names:
        if not cluster.await_end(name, 30):
            cluster.signal(name, signal.SIGKILL)
            cluster.await_end(name, 10)
    for pid in filter(None, wardens):
        parts.end_warden(pid)


def down(arguments):
    with Lock(arguments.dir) as lock:
        cluster = Cluster(arguments.dir)
        if not cluster.exists():
            say(f"there is no cluster in {cluster.dir}")
            return
        say(f"ending the cluster of {cluster.dir}")
        stop_all(cluster)
        if arguments.purge:
            shutil.rmtree(cluster.dir)
            os.unlink(lock.path)


def main():
    parser = argparse.ArgumentParser(prog="./dev cluster", description=__doc__)
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--jars", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--mysql-server", default="build/mysql", help=argparse.SUPPRESS)
    verbs = parser.add_subparsers(dest="verb", required=True)

    def verb(name, run, text):
        made = verbs.add_parser(name, help=text)
        made.add_argument("--dir", default=default_directory(),
                          help="everything the cluster keeps; several run side by side")
        made.set_defaults(run=run)
        return made
    v = verb("up", up, "make or start a cluster; returns when all is ready")
    v.add_argument("--schedulers", type=int, default=2)
    v.add_argument("--executors", type=int, default=2)
    v.add_argument("--slots", type=int, default=0, help="of each executor; 0 = four for each core")
    v.add_argument("--session-timeout-ms", type=int, default=6000)
    v.add_argument("--program", action="append", default=[], metavar="NAME=PATH",
                   help=argparse.SUPPRESS)  # for tests: another program for one process
    v.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                   help="a setting of every scheduler and executor of a new cluster")
    v.add_argument("--tls", action="store_true",
                   help="of a new cluster: certificates on the control link, for which executors "
                        "get join tokens")
    v.add_argument("--mysql", action="store_true",
                   help="of a new cluster: on MySQL, which ./dev mysql fetches, in place of MariaDB")
    v = verb("status", show_status, "what runs; within 5 s whatever has died")
    v.add_argument("--json", action="store_true")
    v = verb("kill", kill, "send a signal, KILL by default, to one process")
    v.add_argument("name")
    v.add_argument("signal", nargs="?", default="KILL")
    v = verb("start", start, "start a dead process: same ports, same data; returns when ready")
    v.add_argument("name")
    v = verb("add", add, "one more process of that kind; prints its name when it is ready")
    v.add_argument("kind", choices=["scheduler", "executor"])
    v = verb("remove", remove, "end a scheduler or executor for good; drain an executor first")
    v.add_argument("name")
    v = verb("down", down, "end everything")
    v.add_argument("--purge", action="store_true", help="and delete its data")
    arguments = parser.parse_args()
    parts.BIN = os.path.abspath(arguments.bin)
    parts.JARS = os.path.abspath(arguments.jars)
    parts.MYSQL = os.path.abspath(arguments.mysql_server)
    try:
        arguments.run(arguments)
    except Failure as failure:
        print(f"cluster: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
