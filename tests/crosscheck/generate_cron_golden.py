#!/usr/bin/env python3
"""Writes cron_golden.tsv: fires computed by two independent implementations.

    python3 -m venv /tmp/cron && /tmp/cron/bin/pip install cronsim==2.8 croniter==7.0.0
    /tmp/cron/bin/python tests/crosscheck/generate_cron_golden.py

cronsim (Debian's rules, time zones) computes everything except the nearest working day (15W), which it does not
support; croniter computes that, in UTC. The unit test CronGoldenTest compares Carillon with this file. README.md lists
the intended differences. The output is the same on every run.
"""
import os
import random
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from croniter import croniter

FIRES = 8
RANDOM_EXPRESSIONS = 500
SEED = 20260301

# Every construct, in UTC, from one date shortly before a leap day and one shortly before the end of a year.
CALENDAR = [
    "* * * * *", "*/15 * * * *", "5 * * * *", "0 0 * * *", "30 2 * * 1-5", "0 22 * * FRI",
    "0 0 1 * *", "0 0 L * *", "0 0 LW * *", "0 9 * * 5L", "0 9 * * 1#1", "0 9 * * 5#5",
    "0 9 * * 2#3,4L", "0 0 13 * 5", "0 0 */2 * 1", "0 0 1-7 * */2", "0 0 * 2 *", "0 0 29 2 *",
    "0 0 30 4,6 *", "0 0 31 * *", "59 23 31 12 *", "0 12 * JAN-MAR MON,WED", "10-20/3 8-18/5 * * *",
    "7,3,5 1 * * 0", "0 0 * * 7", "0 0 * * 0-7", "0 0 15,L * *", "0 0 1 1 1", "*/7 */5 */3 */2 *",
    "0 0 29 2 */7", "0 6 1,15 * TUE", "*/30 * * * * *", "15 30 10 * * *", "0 0 0 29 2 *",
    "10-14 59 23 * * SUN", "*/20 */20 */20 * * *", "1,31 0 0 1 * *", "0 0 0 * * 6L",
    "5 4 * * sun", "0 0 * jan,Jul mon", "*/59 * * * *", "0-5,50-59/4 * * * *", "0 */23 * * *",
    "0 0 28-31 * *", "0 0 L 2 *", "0 0 LW 2,5 *", "0 0 * * MON#1,FRI#3", "0 0 31 1-6 0",
]
CALENDAR_STARTS = ["2023-12-30T11:59:30Z", "2024-02-27T23:58:00Z", "2026-10-31T08:00:01Z"]

NEAREST = ["0 0 1W * *", "0 9 15W * *", "0 0 31W * *", "0 12 30W 3,6 *", "0 0 6W * *", "0 0 28W 2 *"]

# Around unusual transitions of time zones; these expressions fire by the clock of the zone.
ZONED = [
    "30 2 * * *", "0 2 * * *", "0 3 * * *", "0 1 * * *", "30 1 * * *", "15,45 1-3 * * *",
    "0 0 * * *", "30 0 * * *", "59 1 * * *", "0 9 * * 1-5", "0 12 1 * *", "0 0 L * *",
    "0 23 * * *", "10 2,3 * * 0", "0 4 * * 0#2", "0 5 * * 7L",
]
ZONES = [
    ("Europe/Paris", ["2024-03-29T12:00:00Z", "2024-10-26T12:00:00Z"]),
    ("Europe/London", ["2025-03-29T12:00:00Z", "2025-10-25T12:00:00Z"]),
    ("America/New_York", ["2024-03-09T12:00:00Z", "2024-11-02T12:00:00Z"]),
    ("America/Sao_Paulo", ["2018-11-03T00:00:00Z", "2018-02-17T00:00:00Z"]),
    ("America/St_Johns", ["2010-03-13T12:00:00Z", "2010-11-06T12:00:00Z"]),
    ("America/Havana", ["2024-03-09T12:00:00Z", "2024-11-02T12:00:00Z"]),
    ("Asia/Beirut", ["2022-03-26T00:00:00Z", "2022-10-29T00:00:00Z"]),
    ("Asia/Kathmandu", ["2024-02-28T00:00:00Z"]),
    ("Asia/Tehran", ["2021-03-21T00:00:00Z", "2021-09-21T00:00:00Z"]),
    ("Australia/Lord_Howe", ["2024-10-05T00:00:00Z", "2024-04-06T00:00:00Z"]),
    ("Antarctica/Troll", ["2024-03-30T00:00:00Z", "2024-10-26T00:00:00Z"]),
    ("Pacific/Apia", ["2011-12-28T12:00:00Z", "2012-03-31T00:00:00Z"]),
    ("Pacific/Chatham", ["2024-04-06T00:00:00Z", "2024-09-28T00:00:00Z"]),
    ("Africa/Casablanca", ["2024-03-09T00:00:00Z", "2024-04-13T00:00:00Z"]),
    ("Europe/Dublin", ["2024-03-30T00:00:00Z", "2024-10-26T00:00:00Z"]),
]
# These expressions name no hour, so they fire by elapsed time.
BY_REAL_TIME = ["*/15 * * * *", "0 * * * *", "*/20 */2 * * *", "* * * * *", "*/5 * * * 0"]
# Rows for which the rules of cronsim and Carillon differ; the unit test lists each of them.
DIFFERENT = [
    ("30 * * * *", "Europe/Paris", "2024-03-30T23:45:00Z"),
    ("*/20 2 * * *", "Europe/Paris", "2024-03-30T12:00:00Z"),
    ("*/20 2 * * *", "Europe/Paris", "2024-10-26T12:00:00Z"),
    ("30 */2 * * *", "Europe/Paris", "2024-03-30T12:00:00Z"),
    ("15 */2 * * *", "Europe/Paris", "2024-10-26T12:00:00Z"),
    ("0 30 2 * * *", "Europe/Paris", "2024-10-26T12:00:00Z"),
    ("0 30 2 * * *", "Europe/Paris", "2024-03-30T12:00:00Z"),
    ("0 0 * * 1/2", "UTC", "2024-03-30T12:00:00Z"),
]


def parse(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def text_of(moment):
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def by_cronsim(expression, zone, start):
    tz = timezone.utc if zone == "UTC" else ZoneInfo(zone)
    fires = []
    try:
        sim = CronSim(expression, parse(start).astimezone(tz))
        # After a repeated hour cronsim works with the local time and may return a fire that is not after the
        # start. Only fires after the start count.
        while len(fires) < FIRES:
            fire = next(sim).astimezone(timezone.utc)
            if fire > parse(start):
                fires.append(text_of(fire))
    except (StopIteration, CronSimError):
        pass  # no more fires: the expression names a date that never comes
    return fires


def by_croniter(expression, start):
    times = croniter(expression, parse(start))
    return [text_of(times.get_next(datetime)) for _ in range(FIRES)]


def random_item(rng, least, most):
    kind = rng.randrange(5)
    low = rng.randint(least, most - 1)
    high = rng.randint(low + 1, most)
    step = rng.randint(1, max(1, (most - least) // 2))
    return ["*", str(low), f"{low}-{high}", f"{low}-{high}/{step}", f"*/{step}"][kind]


def random_field(rng, least, most, plain):
    if rng.random() < plain:
        return "*"
    return ",".join(random_item(rng, least, most) for _ in range(rng.randint(1, 3)))


def random_expression(rng):
    fields = [random_field(rng, 0, 59, 0.2), random_field(rng, 0, 23, 0.3),
              random_field(rng, 1, 31, 0.5), random_field(rng, 1, 12, 0.6),
              random_field(rng, 0, 6, 0.5)]
    if rng.random() < 0.3:
        fields.insert(0, random_field(rng, 0, 59, 0.2))
    return " ".join(fields)


def rows():
    for start in CALENDAR_STARTS:
        for expression in CALENDAR:
            yield "cronsim", expression, "UTC", start, by_cronsim(expression, "UTC", start)
        for expression in NEAREST:
            yield "croniter", expression, "UTC", start, by_croniter(expression, start)
    for zone, starts in ZONES:
        for start in starts:
            for expression in ZONED + BY_REAL_TIME:
                shown = start
                if expression in BY_REAL_TIME:  # also from a start shortly before the change
                    shown = text_of(transition_after(zone, start) - timedelta(minutes=95))
                yield "cronsim", expression, zone, shown, by_cronsim(expression, zone, shown)
    for expression, zone, start in DIFFERENT:
        yield "cronsim", expression, zone, start, by_cronsim(expression, zone, start)
    rng = random.Random(SEED)
    for _ in range(RANDOM_EXPRESSIONS):
        expression = random_expression(rng)
        start = text_of(parse("2020-01-01T00:00:00Z") + timedelta(seconds=rng.randrange(10**8)))
        yield "cronsim", expression, "UTC", start, by_cronsim(expression, "UTC", start)


def transition_after(zone, start):
    """The next change of the zone's offset within 30 days; if there is none, 12 hours after `start`."""
    tz = ZoneInfo(zone)
    moment = parse(start)
    offset = moment.astimezone(tz).utcoffset()
    for minutes in range(30 * 24 * 60):
        later = moment + timedelta(minutes=minutes)
        if later.astimezone(tz).utcoffset() != offset:
            return later
    return moment + timedelta(hours=12)


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cron_golden.tsv")
    lines = ["# source\texpression\tzone\tstart\tfires after the start, in order"]
    lines += ["\t".join([source, expression, zone, start, " ".join(fires)])
              for source, expression, zone, start, fires in rows()]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    print(f"{path}: {len(lines) - 1} rows")


if __name__ == "__main__":
    main()
