"""Evaluation of a measurement from the rows of job_runs, never from Carillon's own counters."""
import collections

SECOND_US = 1_000_000
LATENESS_LIMIT_MS = 100.0
# A backlog counts as gone after this many seconds in a row within the limit.
BACK_SECONDS = 3


def percentile(ordered, q):
    """The percentile in milliseconds of values in microseconds, in ascending order."""
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] / 1000 if ordered else 0.0


def lateness(values):
    ordered = sorted(values)
    return {"p50": percentile(ordered, 0.50), "p95": percentile(ordered, 0.95), "p99": percentile(ordered, 0.99),
            "max": ordered[-1] / 1000 if ordered else 0.0}


def within(starts, since_us, until_us):
    """The lateness (microseconds) of the fires in the window; `starts`: (fire_us, late_us)."""
    return [late for fire, late in starts if since_us <= fire < until_us]


def by_span(starts, begin_us, span_us):
    """Groups by span: [(number of the span since `begin_us`, its values)], ascending, without empty spans."""
    grouped = collections.defaultdict(list)
    for moment, late in starts:
        grouped[(moment - begin_us) // span_us].append(late)
    return sorted(grouped.items())


def by_second(starts, begin_us):
    """Columns: the second since `begin_us`, the number of its fires, and their lateness (ms)."""
    columns = {"second": [], "fires": [], "p50": [], "p99": [], "max": []}
    for second, values in by_span(starts, begin_us, SECOND_US):
        late = lateness(values)
        columns["second"].append(second)
        columns["fires"].append(len(values))
        for name in ("p50", "p99", "max"):
            columns[name].append(late[name])
    return columns


def back_under(columns, end):
    """Seconds from `end` to the first of BACK_SECONDS seconds in a row within the limit; None if there are none."""
    back = None
    for second, p99 in zip(columns["second"], columns["p99"]):
        if second < end or p99 > LATENESS_LIMIT_MS:
            back = None
            continue
        back = second if back is None else back
        if second - back + 1 == BACK_SECONDS:
            return back - end
    return None


def seconds_above(columns, since, until):
    """The number of seconds in [since, until) whose p99 is above the limit."""
    return sum(1 for second, p99 in zip(columns["second"], columns["p99"])
               if since <= second < until and p99 > LATENESS_LIMIT_MS)


def count(row, planned, late):
    """`row`: the numbers of runs, of different fires, of completed runs, and of runs with a second or later attempt."""
    total, distinct, completed, retried = row
    return {"fires_planned": planned, "completed": completed, "missed": planned - distinct,
            "doubled": total - distinct + retried, "early": sum(1 for value in late if value < 0),
            "late_ms": lateness(late)}


def where(since_us, until_us):
    return f"fire_us >= {since_us} AND fire_us < {until_us}"


def read_starts(target, since_us, until_us):
    """Returns [(fire_us, late_us)] of all runs that started."""
    return [(int(fire), int(late)) for fire, late in target.query(
        f"SELECT fire_us, started_us - fire_us FROM job_runs WHERE {where(since_us, until_us)} AND started_us > 0")]


def judge(target, load, starts, since_us, until_us):
    rows = target.query("SELECT COUNT(*), COUNT(DISTINCT fire_us, schedule_id), SUM(state = 'COMPLETED'), "
                        f"SUM(attempt > 1) FROM job_runs WHERE {where(since_us, until_us)}")[0]
    row = [int(float(value)) if value != "NULL" else 0 for value in rows]
    return count(row, load.planned(since_us, until_us), within(starts, since_us, until_us))


def ended(target, since_us, until_us):
    """Returns (number of runs that have ended, time of the last end)."""
    number, last = target.query("SELECT COUNT(*), COALESCE(MAX(ended_us), 0) FROM job_runs WHERE "
                                f"{where(since_us, until_us)} AND ended_us > 0")[0]
    return int(number), int(last)


def clean(result):
    """True if the jobs were created in time and no fire, from the first on, was missed, doubled, early or open."""
    parts = [result, result.get("first", result)]
    return result["setup_in_time"] and all(part["missed"] == part["doubled"] == part["early"] == 0
                                           and part["completed"] == part["fires_planned"] for part in parts)


def held(result):
    return clean(result) and result["late_ms"]["p99"] <= LATENESS_LIMIT_MS
