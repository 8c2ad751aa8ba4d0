#!/usr/bin/env python3
"""Measures what a fleet of idle executors costs one member: CPU and memory of its process while all send heartbeats.

    ./dev bench executors [--executors 10000] [--seconds 30] [--interval-ms 2000] [--storm [--holders 500]]

The fleet is simulated by one process, bench_executors, with a connection for each executor. Prints one line of JSON.
With --storm the member is then killed and started again, and a second line says when all were back, and what their
return cost.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SETTLES_S = 45  # as in bench_executors.cc: until all know the interval of the whole fleet


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def line_of(fleet, what):
    line = fleet.stdout.readline()
    if not line:
        raise SystemExit(f"the fleet ended: {what}")
    return line


def member_of(cluster, scratch):
    status = json.loads(subprocess.run([*cluster, "status", "--json", "--dir", scratch], check=True,
                                       capture_output=True, text=True).stdout)
    return next(one for one in status["processes"] if one["kind"] == "scheduler")


def measure(options, cluster, scratch):
    member = member_of(cluster, scratch)
    before_mib = memory_mib(member["pid"])
    command = [options.fleet, "--address", member["grpc"], "--secret-file", os.path.join(scratch, "secrets", "join"),
               "--executors", str(options.executors), "--holders", str(options.holders),
               "--interval-ms", str(options.interval_ms), "--seconds", str(options.seconds)]
    if options.storm:
        command.append("--storm")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as fleet:
        if line_of(fleet, "not registered") != "registered\n":
            raise SystemExit("the fleet was not registered")
        time.sleep(SETTLES_S)
        begin = cpu_s(member["pid"])
        answered = json.loads(line_of(fleet, "nothing was measured"))
        used = cpu_s(member["pid"]) - begin
        print(json.dumps({**answered, "seconds": options.seconds, "member_cores": round(used / options.seconds, 3),
                          "us_per_heartbeat": round(used / options.seconds / answered["answers_per_s"] * 1e6, 1),
                          "member_mib": round(memory_mib(member["pid"])), "member_mib_without": round(before_mib)}))
        if not options.storm:
            return
        subprocess.run([*cluster, "kill", member["name"], "KILL", "--dir", scratch], check=True, stdout=sys.stderr)
        subprocess.run([*cluster, "start", member["name"], "--dir", scratch], check=True, stdout=sys.stderr)
        back = json.loads(line_of(fleet, "it did not come back"))
        pid = member_of(cluster, scratch)["pid"]
        print(json.dumps({**back, "member_cpu_s": round(cpu_s(pid), 1), "member_mib": round(memory_mib(pid))}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executors", type=int, default=10_000)
    parser.add_argument("--holders", type=int, default=0, help="executors that hold something and are never quiet")
    parser.add_argument("--interval-ms", type=int, default=0, help="of heartbeats; 0: as the member asks")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--storm", action="store_true")
    parser.add_argument("--fleet", default=os.path.join(ROOT, "build/dev/tests/bench/bench_executors"))
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="carillon-fleet-")
    cluster = [os.path.join(ROOT, "dev"), "cluster"]
    try:
        subprocess.run([*cluster, "up", "--dir", scratch, "--schedulers", "1", "--executors", "0"], check=True,
                       stdout=sys.stderr)
        measure(options, cluster, scratch)
    finally:
        subprocess.run([*cluster, "down", "--purge", "--dir", scratch], stdout=sys.stderr, check=False)
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
