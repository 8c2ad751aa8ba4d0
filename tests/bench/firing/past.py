"""The scenario backfill: past fires beside live ones, then a backfill that is cancelled midway."""
import threading
import time

from firing import judge, load, measure, report, stolen
from firing.judge import SECOND_US

JOB = "past"
FIRES = 10_000
CONCURRENCY = 50
LIVE_RATE = 500
# The most by which a backfill may raise the p99 of live fires.
RATIO_MAX = 1.5
CANCEL_AFTER = FIRES // 3
# No run may appear for this time after a cancel.
QUIET_S = 5
END_S_MAX = 300


def ranges(now_us):
    """The range of the backfill that ends, and that of the one that is cancelled. A fire each second."""
    end = (now_us // SECOND_US - 60) * SECOND_US
    middle, begin = end - FIRES * SECOND_US, end - 2 * FIRES * SECOND_US
    return (middle, end), (begin, middle)


def job(begin_us, end_us):
    """A job that fires in the past only: its schedule has ended."""
    return {"name": "past fires", "job_id": JOB, **load.NOOP, "schedules": [
        {"kind": "rate", "every_ms": 1000, "start_time": load.text_of(begin_us), "end_time": load.text_of(end_us)}]}


# ---- judging -------------------------------------------------------------------------------------

def count(row):
    """`row`: the numbers of runs of a range, of different fires, of completed runs, of open runs, of runs with a later
    attempt, and of runs that are not of kind BACKFILL or not at a fire; the first planning and the last end."""
    total, distinct, completed, opened, retried, astray, planned_us, ended_us = row
    span = (ended_us - planned_us) / SECOND_US
    return {"fires": FIRES, "rows": total, "completed": completed, "open": opened, "missed": FIRES - distinct,
            "doubled": total - distinct + retried, "astray": astray, "seconds": round(span, 3),
            "runs_per_second": round(completed / span, 1) if span > 0 else None}


def whole(part):
    """True if each fire of the range has exactly one run, and all of them succeeded."""
    return (part["state"] == "COMPLETED" and part["rows"] == part["completed"] == part["fires"]
            and part["missed"] == part["doubled"] == part["astray"] == part["open"] == 0)


def stopped(part):
    """True if a backfill was cancelled midway and no run of it appeared afterwards."""
    return (part["state"] == "CANCELLED" and 0 < part["rows"] < part["fires"]
            and part["rows_most_later"] == part["rows_later"] == part["rows"]
            and part["open_later"] == part["doubled"] == part["astray"] == 0)


def compare(starts, before, beside, after):
    """The lateness of live fires without a backfill (twice) and beside it; each window is (since_us, until_us)."""
    lates = [judge.within(starts, *window) for window in (before, beside, after)]
    apart = [judge.lateness(values) for values in lates]
    alone = judge.lateness(lates[0] + lates[2])
    low, high = sorted(late["p99"] for late in (apart[0], apart[2]))
    return {"before_late_ms": apart[0], "beside_late_ms": apart[1], "after_late_ms": apart[2], "alone_late_ms": alone,
            "beside_seconds": round((beside[1] - beside[0]) / SECOND_US, 3), "noisy": high > RATIO_MAX * low,
            "p99_ratio": report.ratio(apart[1]["p99"], alone["p99"])}


def held(answer):
    return (judge.clean(answer["live"]) and whole(answer["backfill"]) and stopped(answer["cancelled"])
            and answer["p99_ratio"] is not None and answer["p99_ratio"] <= RATIO_MAX)


# ---- measuring -----------------------------------------------------------------------------------

def read(target, since_us, until_us):
    row = target.query("SELECT COUNT(*), COUNT(DISTINCT fire_us), COALESCE(SUM(state = 'COMPLETED'), 0), "
                       "COALESCE(SUM(state IN ('PENDING', 'RUNNING', 'HELD')), 0), COALESCE(SUM(attempt > 1), 0), "
                       f"COALESCE(SUM(kind <> 'BACKFILL' OR (fire_us - {since_us}) % {SECOND_US} <> 0), 0), "
                       "COALESCE(MIN(planned_us), 0), COALESCE(MAX(ended_us), 0) FROM job_runs WHERE "
                       f"{judge.where(since_us, until_us)}")[0]
    return [int(float(value)) for value in row]


def start(api, since_us, until_us):
    answer = api.post(f"/api/jobs/{JOB}/backfills", {
        "from": load.text_of(since_us), "to": load.text_of(until_us), "concurrency": CONCURRENCY})
    return f"/api/backfills/{answer['backfill_id']}"


def await_until(condition, seconds, every=0.2):
    """Returns False if the condition was not true within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(every)
    return True


def to_the_end(target, api, span, seconds):
    """Returns (figures of a backfill, the window of at most `seconds` in which it ran)."""
    path = start(api, *span)
    await_until(lambda: api.get(path)["end_time"] or api.get(path)["state"] == "COMPLETED", END_S_MAX)
    row = read(target, *span)
    *_, planned_us, ended_us = row
    window = planned_us, min(planned_us + seconds * SECOND_US, ended_us)
    return {"state": api.get(path)["state"], **count(row)}, window


def cancelled(target, api, span):
    path = start(api, *span)
    await_until(lambda: api.get(path)["done"] >= CANCEL_AFTER, END_S_MAX, every=0.05)
    api.post(path + "/cancel", {"reason": "the benchmark cancels it midway"})
    part = count(read(target, *span))
    await_until(lambda: count(read(target, *span))["open"] == 0, END_S_MAX)
    seen = []
    await_until(lambda: seen.append(count(read(target, *span))), QUIET_S, every=0.5)
    await_until(lambda: api.get(path)["end_time"], QUIET_S)
    part.pop("missed")  # the fires after the cancel
    part.update(state=api.get(path)["state"], rows_most_later=max(each["rows"] for each in seen),
                rows_later=seen[-1]["rows"], open_later=seen[-1]["open"])
    return part


def backfill(bench, options):
    rate = (options.rates or [LIVE_RATE])[0]
    with bench.target() as target:
        jobs, begin = load.steady(load.NOOP, rate, load.SCHEDULES_PER_JOB)
        api = target.api(timeout=120)
        first, second = ranges(int(time.time() * SECOND_US))
        api.post("/api/jobs", job(second[0], first[1]))
        before, _ = bench.measure(target, jobs, begin)
        report.show({"title": f"{rate}/s alone", **before})
        answer = {"rate": rate, "concurrency": CONCURRENCY}
        with stolen.Stolen() as host:
            answer["backfill"], beside = to_the_end(target, api, first, bench.seconds)
            show_whole(answer["backfill"])
            again = int(time.time() + 1) * SECOND_US
            after = again, again + bench.seconds * SECOND_US
            measure.await_time(after[1] / SECOND_US)
            answer["cancelled"] = cancelled(target, api, second)
            show_cancelled(answer["cancelled"])
        end = int(time.time()) * SECOND_US
        measure.await_time(end / SECOND_US + measure.GRACE_S)
        starts = judge.read_starts(target, begin, end)
        answer["live"] = {**judge.judge(target, jobs, starts, begin, end), "setup_in_time": before["setup_in_time"]}
    window = begin + bench.warm * SECOND_US
    answer.update(compare(starts, (window, window + bench.seconds * SECOND_US), beside, after))
    answer.update(alone=before, stolen=round(host.share(), 3), held=held(answer))
    show(answer)
    return answer, [(f"{rate}/s, a backfill from second {(beside[0] - begin) // SECOND_US} to "
                     f"{(beside[1] - begin) // SECOND_US}", judge.by_second(starts, begin))]


def show_whole(part):
    report.say(f"the backfill: {part['state']}, {part['completed']} of {part['fires']} completed, missed "
               f"{part['missed']}, doubled {part['doubled']}, {part['runs_per_second']} runs/s")


def show_cancelled(part):
    report.say(f"the cancelled one: {part['state']}, {part['rows']} runs right after the cancel with {part['open']} "
               f"open, {part['rows_later']} later with {part['open_later']} open")


def show(answer):
    late = report.late_text
    report.say(f"without a backfill, before: {late(answer['before_late_ms'])}")
    report.say(f"without a backfill, after: {late(answer['after_late_ms'])}" +
               ("; the two differ, the machine is noisy" if answer["noisy"] else ""))
    report.say(f"beside it, {answer['beside_seconds']:.1f} s: {late(answer['beside_late_ms'])}")
    report.say(f"p99 beside it against without it (both windows): {answer['p99_ratio']}, at most {RATIO_MAX}")
    report.say(f"live fires from the first to the last: {report.counts_text(answer['live'])}; the host took "
               f"{answer['stolen'] * 100:.1f} % of all cores from the backfill on")
