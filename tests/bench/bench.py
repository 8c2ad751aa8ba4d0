#!/usr/bin/env python3
"""`./dev bench [SCENARIO] [--on cluster|standalone] [--json FILE] [--compare FILE] [--plot FILE.svg]`.

steady    the highest rate at which p99 of the start lateness is <= 100 ms and no fire is missed, doubled or early
lateness  1,000 fires a second
spread    processes (`true`) on an executor with 8 slots, at 100, 200 and 300 a second
burst     50,000 fires within one second; then 1,000 processes at one instant on 8 slots
shell     like steady, but processes on 8 slots, compared with a bare loop of posix_spawn
handlers  no-ops and functions of a Python worker, by turns at each rate
databases no-ops on MariaDB and on MySQL, by turns at each rate
overload  1.5 times a rate for --seconds, then this rate for as long: the time until p99 is below 100 ms again
stored    1,000 fires a second beside --stored jobs that fire once a day; the time of lists of jobs
backfill  500 fires a second beside a backfill of 10,000 past fires; then a backfill that is cancelled midway
workflow  200 nodes of workflows a second, then as many plain fires: the time from one node to the next, and the cost
events    1,000 events a second of which 100 start a run, then 10,000 that start none: the time to the answer
members   one rate with 1, 2 and 3 schedulers (1, 2 and 2 executors)
soak      one rate for ten minutes: lateness and memory for each minute

spread and shell fire processes, burst fires both kinds, the other scenarios fire no-op jobs. The phases of the
schedules spread the fires evenly over the second. The measured window begins --warm seconds after the first fire;
the seconds before it are reported separately. Missed, doubled and late fires are counted from the rows of job_runs,
never from Carillon's own counters. The lower bound is measured before and after in the same call: the same durable
writes (plan, claim, result, fenced) in a plain batched loop on a second private MariaDB.
"""
import argparse
import json
import os
import signal
import subprocess
import sys

from firing import measure, plot, report, scenarios, targets

SOAK_SECONDS = 600
SECONDS = 60


def floor(binary):
    done = subprocess.run([binary, "--fires", "100000"], capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{binary} ended with {done.returncode}: {done.stderr}")
    rate = json.loads(done.stdout.splitlines()[-1])["fires_per_second"]
    report.say(f"the floor, the same durable writes as a plain loop: {rate:.0f} fires/s")
    return rate


def rates(text):
    return [int(rate) for rate in text.split(",")]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenario", nargs="?", default="steady", choices=list(scenarios.ALL))
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    parser.add_argument("--compare", metavar="FILE", help="print each figure beside the one of an earlier --json")
    parser.add_argument("--plot", metavar="FILE.svg", help="write lateness by second")
    parser.add_argument("--bin", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--store", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=int, help=f"of the window; {SECONDS}, soak {SOAK_SECONDS}")
    parser.add_argument("--warm", type=int, default=10, help="seconds between the first fire and the window")
    parser.add_argument("--rates", type=rates, help="steady, spread, shell: comma-separated, ascending\n"
                                                    "workflow: comma-separated; overload, stored, backfill,\n"
                                                    "members, soak: one")
    parser.add_argument("--stored", type=int, default=100_000, help="jobs of the scenario stored")
    parser.add_argument("--on", default="cluster", choices=["cluster", "standalone"])
    parser.add_argument("--schedulers", type=int, default=1, help="of the cluster")
    parser.add_argument("--executors", type=int, default=1, help="of the cluster")
    options = parser.parse_args()
    if options.scenario == "members" and options.on == "standalone":
        parser.error("members is about a cluster")
    options.seconds = options.seconds or (SOAK_SECONDS if options.scenario == "soak" else SECONDS)
    return options


def main():
    # A terminated bench takes its servers with it; `finally` runs for an exception only.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = parse()
    targets.harness.BIN = os.path.abspath(options.bin)
    before = None
    if options.compare:
        with open(options.compare, encoding="utf-8") as f:
            before = json.load(f)

    def make_target(slots=None, schedulers=options.schedulers, executors=options.executors):
        if options.on == "standalone":
            return targets.StandaloneTarget(slots)
        return targets.ClusterTarget(schedulers, executors, slots)

    floors = [floor(options.store)]
    bench = measure.Bench(make_target, options.warm, options.seconds)
    answer, panels = scenarios.ALL[options.scenario](bench, options)
    floors.append(floor(options.store))
    answer["on"] = options.on
    answer["floor_fires_per_second"] = round(sum(floors) / 2, 1)
    if "fires_per_second" in answer:
        answer["ratio"] = report.ratio(answer["fires_per_second"], answer["floor_fires_per_second"])
    whole = {options.scenario: answer}
    print(json.dumps(report.without_columns(whole), indent=2))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as f:
            json.dump(whole, f, indent=2)
    if options.plot:
        with open(options.plot, "w", encoding="utf-8") as f:
            f.write(plot.svg(panels))
    if before is not None:
        report.show_comparison(report.compare(whole, before))
    return 0 if answer["held"] else 1


if __name__ == "__main__":
    sys.exit(main())
