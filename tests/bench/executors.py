#!/usr/bin/env python3
"""Measures what a fleet of idle executors costs one member: CPU and memory of its process while all send heartbeats.

    ./dev bench executors [--executors 10000] [--seconds 30]

The fleet is simulated by one process, bench_executors, with a connection for each executor. Prints one line of JSON.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executors", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--fleet", default=os.path.join(ROOT, "build/dev/tests/bench/bench_executors"))
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="carillon-fleet-")
    cluster = [os.path.join(ROOT, "dev"), "cluster"]
    try:
        subprocess.run([*cluster, "up", "--dir", scratch, "--schedulers", "1", "--executors", "0"], check=True,
                       stdout=sys.stderr)
        status = json.loads(subprocess.run([*cluster, "status", "--json", "--dir", scratch], check=True,
                                           capture_output=True, text=True).stdout)
        member = next(one for one in status["processes"] if one["kind"] == "scheduler")
        before_mib = memory_mib(member["pid"])
        with subprocess.Popen(
                [options.fleet, "--address", member["grpc"], "--secret-file",
                 os.path.join(scratch, "secrets", "join"), "--executors", str(options.executors),
                 "--seconds", str(options.seconds)], stdout=subprocess.PIPE, text=True) as fleet:
            if fleet.stdout.readline() != "registered\n":
                raise SystemExit("the fleet was not registered")
            begin = cpu_s(member["pid"])
            answered = json.loads(fleet.stdout.readline())
            used = cpu_s(member["pid"]) - begin
        print(json.dumps({**answered, "seconds": options.seconds, "member_cores": round(used / options.seconds, 3),
                          "us_per_heartbeat": round(used / options.seconds / answered["answers_per_s"] * 1e6, 1),
                          "member_mib": round(memory_mib(member["pid"])), "member_mib_without": round(before_mib)}))
    finally:
        subprocess.run([*cluster, "down", "--purge", "--dir", scratch], stdout=sys.stderr, check=False)
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
