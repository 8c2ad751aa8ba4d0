"""Scenarios: each takes a Bench and the options of the command line, and returns (figures, panels of the plot)."""
import contextlib
import os
import statistics
import subprocess
import time

from firing import judge, load, processes, report, targets
from firing.judge import SECOND_US
from firing.arrivals import events
from firing.graphs import workflow
from firing.past import backfill

STEADY_RATES = [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 10000, 12000]
HANDLER_RATES = [2000, 3000, 4000, 5000, 6000]
DATABASE_RATES = [2000, 3000, 4000, 5000, 6000]
SPREAD_RATES = [100, 200, 300]
SHELL_RATES = [50, 100, 150, 200, 250, 300, 350, 400, 450, 500]
SLOTS = 8
BURST_FIRES, BURST_PROCESSES = 50_000, 1_000
# The rate of fires before a burst, so that the burst does not hit processes that have just started.
BURST_FIRST_RATE = 20
OVERLOAD = 1.5
MEMBERS = [(1, 1), (2, 1), (2, 2), (3, 2)]  # schedulers, executors
# The schedules of each job. A job belongs to one member, so there must be many small jobs for all members.
MEMBERS_PER_JOB = 4
SAMPLES = 20


def at_rate(bench, work, rate, target, per_job=load.SCHEDULES_PER_JOB):
    jobs, begin = load.steady(work, rate, per_job)
    result, starts = bench.measure(target, jobs, begin)
    result = {"rate": rate, **result}
    report.show(result)
    return result, starts, begin


@contextlib.contextmanager
def workers_beside(target):
    """A worker with the handler of load.NOTHING beside each executor."""
    python = os.path.join(targets.ROOT, "build", "workers", "bin", "python")
    command = [python, os.path.join(targets.ROOT, "tests", "bench", "workers", "nothing.py")]
    workers = [subprocess.Popen(command, env=dict(os.environ, CARILLON_WORKER_SOCKET=socket))
               for socket in target.worker_sockets()]
    try:
        yield
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def by_turns(bench, rates, kinds):
    """One rate after the other, by turns with each kind, so that the machine's mood meets all of them.

    kinds: {name: (work, (bench) -> context manager that gives a target)}. The ratio is of the last kind to the first.
    """
    answer = {name: [] for name in kinds}
    panels = []
    for rate in rates:
        for name, (work, target_of) in kinds.items():
            with target_of(bench) as target:
                result, _, _ = at_rate(bench, work, rate, target)
            answer[name].append(result)
            panels.append((f"{name}, {rate}/s", result["by_second"]))
    best = {name: max((one["fires_per_second"] for one in tried if judge.held(one)), default=0)
            for name, tried in answer.items()}
    first, last = list(kinds)[0], list(kinds)[-1]
    ratio = report.ratio(best[last], best[first])
    report.say(f"held: {last} {best[last]}/s, {first} {best[first]}/s, ratio {ratio}")
    return {"held": best[last] > 0, "best": best, "ratio": ratio, **answer}, panels


@contextlib.contextmanager
def with_workers(bench):
    with bench.target() as target, workers_beside(target):
        yield target


def handlers(bench, options):
    return by_turns(bench, options.rates or HANDLER_RATES,
                    {"noop": (load.NOOP, lambda bench: bench.target()), "handler": (load.NOTHING, with_workers)})


@contextlib.contextmanager
def on_mysql(bench):
    before = os.environ.get("CARILLON_TEST_SERVER")
    os.environ["CARILLON_TEST_SERVER"] = "mysql"
    try:
        with bench.target() as target:
            yield target
    finally:
        del os.environ["CARILLON_TEST_SERVER"]
        if before is not None:
            os.environ["CARILLON_TEST_SERVER"] = before


def databases(bench, options):
    return by_turns(bench, options.rates or DATABASE_RATES,
                    {"mariadb": (load.NOOP, lambda bench: bench.target()), "mysql": (load.NOOP, on_mysql)})


def ascending(bench, work, rates, slots=None, until_not_held=True):
    """Tries the rates in ascending order, each on a new target. Reports the highest that was held, or the last one."""
    best, tried, panels = None, [], []
    for rate in rates:
        with bench.target(slots=slots) as target:
            result, _, _ = at_rate(bench, work, rate, target)
        tried.append(result)
        panels.append((f"{rate}/s", result["by_second"]))
        if until_not_held and not judge.held(result):
            break
        best = result
    short = ("rate", "completed", "fires_planned", "missed", "late_ms", "stolen", "left_alone", "cpu_us_per_fire")
    return {**(best or tried[0]), "held": best is not None if until_not_held else all(map(judge.clean, tried)),
            "tried": [{key: result[key] for key in short} for result in tried]}, panels


def steady(bench, options):
    return ascending(bench, load.NOOP, options.rates or STEADY_RATES)


def lateness(bench, options):
    return ascending(bench, load.NOOP, [1000], until_not_held=False)


def spread(bench, options):
    return ascending(bench, load.TRUE, options.rates or SPREAD_RATES, slots=SLOTS, until_not_held=False)


def shell(bench, options):
    def bare():
        return {cores: processes.spawn_rate(cores, SLOTS) for cores in (1, 2)}
    before = bare()
    answer, panels = ascending(bench, load.TRUE, options.rates or SHELL_RATES, slots=SLOTS)
    after = bare()
    held = answer["fires_per_second"] if answer["held"] else 0
    for cores, name in ((1, "one_core"), (2, "two_cores")):
        rate = (before[cores] + after[cores]) / 2
        answer[f"bare_{name}_per_second"] = round(rate, 1)
        answer[f"ratio_{name}"] = round(held / rate, 3)
    report.say(f"bare, {SLOTS} in flight: {answer['bare_one_core_per_second']}/s on one core, "
               f"{answer['bare_two_cores_per_second']}/s on two; held {held}/s, "
               f"{answer['ratio_one_core']} and {answer['ratio_two_cores']} of it")
    return answer, panels


def one_burst(bench, title, work, instants, per_job):
    """`instants`: the fires of the burst, as offsets within its second."""
    first = BURST_FIRST_RATE * bench.warm
    begin = load.begin_us((len(instants) + first) / per_job)
    at = begin + bench.warm * SECOND_US
    quiet = [moment for second in range(bench.warm)
             for moment in load.spread(BURST_FIRST_RATE, begin + second * SECOND_US)]
    jobs = load.Load(work, once=quiet + [at + offset for offset in instants], per_job=per_job)
    with bench.target(slots=SLOTS) as target:
        result, starts = bench.measure(target, jobs, begin, seconds=1, drain=True)
    burst = [(fire, late) for fire, late in starts if fire >= at]
    result["first_start_after_ms"] = min((fire + late - at for fire, late in burst), default=0) / 1000
    result["by_second"] = judge.by_second([(fire + late, late) for fire, late in burst], at)
    result.pop("fires_per_second")
    report.show({"title": title, **result})
    report.say(f"first start after {result['first_start_after_ms']} ms, drained after {result['drained_s']} s")
    return result


def burst(bench, options):
    offsets = load.spread(BURST_FIRES, 0)
    answer = {"noop": one_burst(bench, "burst of no-ops", load.NOOP, offsets, load.SCHEDULES_PER_JOB),
              "shell": one_burst(bench, "burst of processes", load.TRUE, [0] * BURST_PROCESSES, 1)}
    answer["held"] = all(judge.clean(answer[kind]) for kind in ("noop", "shell"))
    return answer, [(f"burst, {kind}, by the second of the start", answer[kind]["by_second"])
                    for kind in ("noop", "shell")]


def overload(bench, options):
    rate = (options.rates or [1000])[0]
    extra, seconds = int(rate * (OVERLOAD - 1)), bench.seconds
    begin = load.begin_us((rate + extra * seconds) / load.SCHEDULES_PER_JOB)
    over = bench.warm + seconds  # the first second after the overload
    once = [moment for second in range(bench.warm, over)
            for moment in load.spread(extra, begin + second * SECOND_US, shift=0.25)]
    with bench.target() as target:
        result, starts = bench.measure(target, load.Load(load.NOOP, load.spread(rate, begin), once), begin,
                                       seconds=2 * seconds, drain=True)
    end = begin + over * SECOND_US
    columns = result["by_second"]
    result["overload_late_ms"] = judge.lateness(judge.within(starts, begin + bench.warm * SECOND_US, end))
    result["after_late_ms"] = judge.lateness(judge.within(starts, end, end + seconds * SECOND_US))
    result["back_under_after_s"] = judge.back_under(columns, over)
    result["seconds_above_after"] = judge.seconds_above(columns, over, over + seconds)
    result["held"] = judge.clean(result) and result["back_under_after_s"] is not None
    report.show({"title": f"{rate + extra}/s for {seconds} s, then {rate}/s", **result})
    report.say("p99 by second: " + " ".join(f"{second}:{p99:.0f}" for second, p99 in
                                            zip(columns["second"], columns["p99"])))
    report.say(f"p99 after the overload is back under {judge.LATENESS_LIMIT_MS:.0f} ms after "
               f"{result['back_under_after_s']} s; above it in {result['seconds_above_after']} of {seconds} seconds")
    return {"rate": rate, **result}, [(f"overload, {rate + extra}/s until second {over}, then {rate}/s", columns)]


def answer_times(api, path):
    took = []
    for _ in range(SAMPLES):
        began = time.monotonic()
        api.get(path)
        took.append((time.monotonic() - began) * 1000)
    return {"median": round(statistics.median(took), 1), "max": round(max(took), 1)}


def stored(bench, options):
    rate = (options.rates or [1000])[0]
    with bench.target() as target:
        began = time.monotonic()
        load.create_stored(target, options.stored)
        report.say(f"{options.stored} jobs stored in {time.monotonic() - began:.0f} s")
        result, _, _ = at_rate(bench, load.NOOP, rate, target)
        api = target.api(timeout=120)
        result["jobs_page_ms"] = answer_times(api, "/api/jobs?page_size=50")
        result["jobs_search_ms"] = answer_times(api, f"/api/jobs?page_size=50&q=stored-{options.stored - 1}")
    for name, took in (("a page of jobs", result["jobs_page_ms"]), ("a search", result["jobs_search_ms"])):
        report.say(f"{name}: median {took['median']} ms, longest {took['max']} ms")
    return ({"stored": options.stored, "held": judge.clean(result), **result},
            [(f"{rate}/s beside {options.stored} stored jobs", result["by_second"])])


def members(bench, options):
    rate = (options.rates or [1000])[0]
    each, panels = [], []
    for schedulers, executors in MEMBERS:
        report.say(f"schedulers: {schedulers}, executors: {executors}")
        with bench.target(schedulers=schedulers, executors=executors) as target:
            result, _, _ = at_rate(bench, load.NOOP, rate, target, MEMBERS_PER_JOB)
        each.append({"members": schedulers, "executors": executors, **result})
        panels.append((f"{rate}/s, {schedulers} schedulers, {executors} executors", result["by_second"]))
    one = each[0]
    for result in each[1:]:
        loss = result["against_one"] = {
            "completed": report.ratio(result["completed"], one["completed"]),
            "p99": report.ratio(result["late_ms"]["p99"], one["late_ms"]["p99"]),
            "cpu_us_per_fire": report.ratio(result["cpu_us_per_fire"], one["cpu_us_per_fire"])}
        report.say(f"{result['members']} members against one: completed {loss['completed']}, "
                   f"late p99 {loss['p99']}, CPU a fire {loss['cpu_us_per_fire']}")
    return {"rate": rate, "held": all(judge.clean(result) for result in each), "each": each}, panels


def soak(bench, options):
    rate = (options.rates or [4000])[0]
    with bench.target() as target:
        result, starts, begin = at_rate(bench, load.NOOP, rate, target)
    since = begin + bench.warm * SECOND_US
    spans = judge.by_span([start for start in starts if start[0] >= since], since, 60 * SECOND_US)
    result["minutes"] = [{"minute": number + 1, "late_ms": judge.lateness(values),
                          "rss_mib": {name: rss[number] for name, rss in result["rss_mib_by_minute"].items()}}
                         for number, values in spans]
    for minute in result["minutes"]:
        report.say(f"minute {minute['minute']}: late p99 {minute['late_ms']['p99']:.1f} ms; " +
                   ", ".join(f"{name} {rss} MiB" for name, rss in minute["rss_mib"].items()))
    if len(spans) > 2:
        last, second = (result["minutes"][i]["late_ms"]["p99"] for i in (-1, 1))
        result["last_minute_against_second"] = report.ratio(last, second)
        report.say(f"late p99 of the last minute against the second: {result['last_minute_against_second']}")
    return {"held": judge.clean(result), **result}, [(f"soak, {rate}/s", result["by_second"])]


ALL = {each.__name__: each for each in (steady, lateness, spread, burst, shell, handlers, databases, overload, stored,
                                        backfill, workflow, events, members, soak)}
