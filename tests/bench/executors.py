#!/usr/bin/env python3
"""Measures what a fleet of idle executors costs one member: CPU and memory of its process while all send heartbeats.

    ./dev bench executors [--executors 10000] [--tls] [--seconds 30] [--interval-ms 2000] [--storm [--runs 500]]

The fleet is simulated by one process, bench_executors, with a connection for each executor. Prints one line of JSON.
With --storm the member is then killed and started again, and a second line says when all were back, and what their
return cost. With --runs a real executor holds so many runs meanwhile, of which none may be lost. Each line names the
goals that were missed. CPU is the time of the member's process, so that other work on the machine changes it little.
"""
import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
LEASES_END_S = 30
SETTLES_S = 45  # as in bench_executors.cc: until all know the interval of the whole fleet


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    with open(f"/proc/{pid}/status") as status:
        line = next(line for line in status if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


# Of one member with 10,000 executors. Whose lease is not renewed 26 s after a restart is given up.
GOALS = {"member_cores": 0.2, "member_mib": 1536, "back_s": 26, "runs_lost": 0}


def tell(facts):
    missed = [f"{name} {facts[name]} > {most}" for name, most in GOALS.items() if facts.get(name, 0) > most]
    print(json.dumps({**facts, "missed": missed}), flush=True)


class Runs:
    """Runs that a real executor holds while the member is restarted."""

    def __init__(self, options, scratch, member):
        self.count = options.runs
        self.call = [os.path.join(options.bin, "carillon"), "--addr", member["url"], "--output", "json", "--token-file",
                     os.path.join(scratch, member["name"], "data", "admin.token")]

    def ask(self, *words):
        asked = subprocess.run([*self.call, *words], stdout=subprocess.PIPE, text=True, check=True)
        return json.loads(asked.stdout)

    def running(self):
        listed = self.ask("run", "list", "--job", "held", "--state", "RUNNING", "--limit", "0")
        return len(listed if isinstance(listed, list) else listed["items"])

    def begin(self):
        self.ask("job", "create", "--id", "held", "--name", "held", "--command", "exec sleep 900",
                 "--executor", "executor-1", "--overlap", "allow", "--on-lost", "fail", "--manual")
        for _ in range(self.count):
            self.ask("job", "run", "held")
        while self.running() < self.count:
            time.sleep(1)

    def lost(self):
        """How many have ended when all leases of before the restart have."""
        time.sleep(LEASES_END_S)
        return self.count - self.running()


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
    runs = Runs(options, scratch, member) if options.runs else None
    if runs:
        runs.begin()
    before_mib = memory_mib(member["pid"])
    command = [options.fleet, "--address", member["grpc"], "--secret-file", os.path.join(scratch, "secrets", "join"),
               "--executors", str(options.executors), "--holders", str(options.holders),
               "--interval-ms", str(options.interval_ms), "--seconds", str(options.seconds)]
    if options.tls:
        command += ["--authority", os.path.join(scratch, "secrets", "link"), "--member", member["name"]]
    if options.storm:
        command.append("--storm")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as fleet:
        if line_of(fleet, "not registered") != "registered\n":
            raise SystemExit("the fleet was not registered")
        time.sleep(SETTLES_S)
        begin = cpu_s(member["pid"])
        answered = json.loads(line_of(fleet, "nothing was measured"))
        used = cpu_s(member["pid"]) - begin
        tell({**answered, "tls": options.tls, "seconds": options.seconds,
              "member_cores": round(used / options.seconds, 3),
              "us_per_heartbeat": round(used / options.seconds / answered["answers_per_s"] * 1e6, 1),
              "member_mib": round(memory_mib(member["pid"])), "member_mib_without": round(before_mib)})
        if not options.storm:
            return
        subprocess.run([*cluster, "kill", member["name"], "KILL", "--dir", scratch], check=True, stdout=sys.stderr)
        subprocess.run([*cluster, "start", member["name"], "--dir", scratch], check=True, stdout=sys.stderr)
        back = json.loads(line_of(fleet, "it did not come back"))
        pid = member_of(cluster, scratch)["pid"]
        lost = {"runs": options.runs, "runs_lost": runs.lost()} if runs else {}
        tell({**back, **lost, "member_cpu_s": round(cpu_s(pid), 1), "member_mib": round(memory_mib(pid))})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--executors", type=int, default=10_000)
    parser.add_argument("--holders", type=int, default=0, help="executors that hold something and are never quiet")
    parser.add_argument("--interval-ms", type=int, default=0, help="of heartbeats; 0: as the member asks")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--storm", action="store_true")
    parser.add_argument("--runs", type=int, default=0, help="of a real executor, kept through the storm")
    parser.add_argument("--tls", action="store_true", help="mutual TLS on the control link")
    parser.add_argument("--fleet", default=os.path.join(ROOT, "build/dev/tests/bench/bench_executors"))
    parser.add_argument("--bin", default=os.path.join(ROOT, "build/dev/bin"))
    parser.add_argument("--cluster", default=f"{ROOT}/dev cluster", help="the command that runs clusters")
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="carillon-fleet-")
    cluster = shlex.split(options.cluster)
    try:
        up = ["up", "--dir", scratch, "--schedulers", "1", "--executors", "1" if options.runs else "0",
              "--slots", str(options.runs), *(["--tls"] if options.tls else [])]
        subprocess.run([*cluster, *up], check=True, stdout=sys.stderr)
        measure(options, cluster, scratch)
    finally:
        subprocess.run([*cluster, "down", "--purge", "--dir", scratch], stdout=sys.stderr, check=False)
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
