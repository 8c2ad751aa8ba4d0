"""The scenario workflow: workflows of no-op nodes at a rate; the time from the end of a node to the start of the next,
and the cost of a node beside that of a plain fire."""
import collections
import threading
import time

from firing import judge, load, measure, processes, report, stolen
from firing.judge import SECOND_US

RATE = 200  # nodes a second
GOAL_MS = {"p50": 150, "p99": 1000}
# One node, four after it, one after those, three, and one at the end: the entries of `after` by position.
AFTER = [[], [0], [0], [0], [0], [1, 2, 3, 4], [5], [5], [5], [6, 7, 8]]
POSITIONS = 1024  # node ids within the schedule id of a node's run, see common/domain/workflow/node_key.h
DRAIN_S_MAX = 60
COLUMNS = "fire_us, schedule_id, state, attempt, started_us, ended_us"


def jobs(rate, begin_us):
    """A job for all nodes, and workflows that begin together rate / 10 times a second."""
    nodes = [{"id": f"n{at}", "job": "bench-node", "after": [f"n{before}" for before in after]}
             for at, after in enumerate(AFTER)]
    graphs = load.Load({"type": "workflow", "workflow": {"nodes": nodes}},
                       every_second=load.spread(max(1, rate // len(AFTER)), begin_us))
    return {"name": "bench node", "job_id": "bench-node", **load.NOOP}, graphs


# ---- judging -------------------------------------------------------------------------------------

def runs_of(rows):
    """{workflow run: {position: (state, attempt, started_us, ended_us)}}"""
    runs = collections.defaultdict(dict)
    for fire, schedule, state, attempt, started, ended in rows:
        number, position = divmod(int(schedule), POSITIONS)
        runs[int(fire), number][position] = (state, int(attempt), int(started), int(ended))
    return runs


def gaps_of(nodes):
    """Microseconds from the last end before each node to its start; negative: it started too early."""
    for position, after in enumerate(AFTER):
        if after:
            yield nodes[position][2] - max(nodes[before][3] for before in after)


def judge_runs(runs, planned):
    complete = {key: nodes for key, nodes in runs.items()
                if len(nodes) == len(AFTER) and all(node[:2] == ("COMPLETED", 1) for node in nodes.values())}
    gaps = [gap for nodes in complete.values() for gap in gaps_of(nodes)]
    ends = [max(node[3] for node in nodes.values()) - key[0] for key, nodes in complete.items()]
    return {"runs_planned": planned, "runs": len(runs), "completed": len(complete),
            "nodes": sum(map(len, runs.values())), "early": sum(gap < 0 for gap in gaps),
            "next_ms": judge.lateness(gaps), "whole_ms": judge.lateness(ends)}


def held(result):
    return (result["completed"] == result["runs"] == result["runs_planned"] and result["early"] == 0
            and all(result["next_ms"][name] <= most for name, most in GOAL_MS.items()))


# ---- measuring -----------------------------------------------------------------------------------

def rows_of(target, since_us, until_us):
    return target.query(f"SELECT {COLUMNS} FROM job_runs WHERE kind = 'WORKFLOW' AND {judge.where(since_us, until_us)}")


def await_drained(target, since_us, until_us):
    deadline = time.monotonic() + DRAIN_S_MAX
    where = f"state IN ('PENDING', 'RUNNING') AND {judge.where(since_us, until_us)}"
    while time.monotonic() < deadline and int(target.query(f"SELECT COUNT(*) FROM job_runs WHERE {where}")[0][0]) > 0:
        threading.Event().wait(0.5)


def at_rate(bench, rate, target):
    begin = load.begin_us(2)
    node, graphs = jobs(rate, begin)
    target.api(timeout=120).post("/api/jobs", node)
    graphs.create(target)
    in_time = time.time() < begin / SECOND_US
    since = begin + bench.warm * SECOND_US
    until = since + bench.seconds * SECOND_US
    watch = processes.Watch(target.pids())
    with stolen.Stolen() as host:
        measure.await_time(since / SECOND_US)
        watch.begin()
        measure.await_time(until / SECOND_US)
        watch.end()
    await_drained(target, since, until)
    result = judge_runs(runs_of(rows_of(target, since, until)), graphs.planned(since, until))
    result.update(rate=rate, seconds=bench.seconds, setup_in_time=in_time, stolen=round(host.share(), 3),
                  nodes_per_second=round(result["nodes"] / bench.seconds, 1), **watch.costs(result["nodes"]))
    return result


def show(result):
    next_ms = result["next_ms"]
    report.say(f"{result['rate']} nodes/s, {result['seconds']} s: completed {result['completed']} of "
               f"{result['runs_planned']} workflow runs, {result['nodes_per_second']} nodes/s, early {result['early']}; "
               f"end of a node to the start of the next p50 {next_ms['p50']:.1f} p95 {next_ms['p95']:.1f} "
               f"p99 {next_ms['p99']:.1f} max {next_ms['max']:.1f} ms; {result['cpu_us_per_fire']} us of CPU a node")


def workflow(bench, options):
    rates, results = options.rates or [RATE], []
    for rate in rates:
        with bench.target() as target:
            results.append(at_rate(bench, rate, target))
        show(results[-1])
    with bench.target() as target:
        plain_jobs, begin = load.steady(load.NOOP, rates[0], load.SCHEDULES_PER_JOB)
        plain, _ = bench.measure(target, plain_jobs, begin)
    report.show({"title": f"plain fires at {rates[0]}/s", **plain})
    cost = report.ratio(results[0]["cpu_us_per_fire"], plain["cpu_us_per_fire"])
    report.say(f"a node costs {cost} times the CPU of a plain fire")
    return {"rate": rates[0], "plain": plain, "tried": results, "cost_ratio": cost,
            "held": all(map(held, results))}, []
