"""Jobs that a measurement creates, and the fires that follow from their schedules."""
import collections
import concurrent.futures
import datetime
import threading
import time

from firing import targets

SECOND_US = 1_000_000
NOOP = {"type": "noop"}
TRUE = {"command": "true"}
NOTHING = {"type": "handler", "handler": "bench/nothing"}  # tests/bench/workers/nothing.py
# The most schedules that a job may have.
SCHEDULES_PER_JOB = 32
# The first fire must still be in the future when the last job is created.
LEAD_S = 8
JOBS_MADE_PER_S = 60
# The most jobs of one call to /api/apply.
APPLIED_AT_ONCE = 500
MINUTES_A_DAY = 1440
TOO_MANY_REQUESTS = 429
ASK_AGAIN_S = 1


def spread(rate, begin_us, shift=0.0):
    """Spreads `rate` fires evenly over the second from `begin_us` on, in whole milliseconds. `shift`: in steps."""
    return [begin_us + int(SECOND_US * (i + shift) / rate) // 1000 * 1000 for i in range(rate)]


def text_of(time_us):
    moment = datetime.datetime.fromtimestamp(time_us // SECOND_US, datetime.timezone.utc)
    return moment.replace(microsecond=time_us % SECOND_US).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def distinct(schedules):
    """The schedules of one job; those that repeat another one, which is refused, get a parameter."""
    seen, marked = collections.Counter(), []
    for one in schedules:
        copies = seen[str(one)]
        seen[str(one)] += 1
        marked.append({**one, "parameters": {"copy": copies}} if copies else one)
    return marked


def begin_us(jobs):
    """A whole second (in microseconds) by which this number of jobs is created."""
    return int(time.time() + LEAD_S + jobs / JOBS_MADE_PER_S) * SECOND_US


def in_parallel(target, calls):
    """Posts each (path, body) over four connections."""
    local = threading.local()

    def post(call):
        if not hasattr(local, "api"):
            local.api = target.api(timeout=120)
        while True:
            try:
                return local.api.post(*call)
            except targets.harness.ApiError as error:
                if error.status != TOO_MANY_REQUESTS:
                    raise
                threading.Event().wait(ASK_AGAIN_S)  # the answer says to retry later
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(pool.map(post, calls))


class Load:
    """The fires of one kind of work."""

    def __init__(self, work, every_second=(), once=(), per_job=SCHEDULES_PER_JOB):
        """`every_second`: the first fires of schedules that fire each second; `once`: fires that do not repeat."""
        self.work = work
        self.every_second = every_second
        self.once = once
        self.per_job = per_job

    def planned(self, since_us, until_us):
        """The number of fires in [since_us, until_us)."""
        def before(end_us):
            repeated = sum(max(0, -((first - end_us) // SECOND_US)) for first in self.every_second)
            return repeated + sum(1 for at in self.once if at < end_us)
        return before(until_us) - before(since_us)

    def jobs(self):
        schedules = [{"kind": "rate", "every_ms": 1000, "start_time": text_of(first)} for first in self.every_second]
        schedules += [{"kind": "once", "at": text_of(at)} for at in self.once]
        return [{"name": f"bench {number}", "job_id": f"bench-{number}", **self.work,
                 "misfire_policy": "all",
                 "schedules": distinct(schedules[first:first + self.per_job])}
                for number, first in enumerate(range(0, len(schedules), self.per_job))]

    def create(self, target):
        in_parallel(target, [("/api/jobs", job) for job in self.jobs()])


def steady(work, rate, per_job):
    """Returns (load, its first fire): a load with `rate` fires each second."""
    begin = begin_us(rate / per_job)
    return Load(work, every_second=spread(rate, begin), per_job=per_job), begin


def stored(count, now):
    """Jobs that fire once a day, but not within six hours of `now`."""
    jobs = []
    for number in range(count):
        minute = (int(now / 60) + 360 + number % 720) % MINUTES_A_DAY
        jobs.append({"name": f"stored {number}", "job_id": f"stored-{number}", **NOOP, "schedules": [
            {"kind": "cron", "cron_expression": f"{minute % 60} {minute // 60} * * *"}]})
    return jobs


def create_stored(target, count):
    jobs = stored(count, time.time())
    answers = in_parallel(target, [("/api/apply", jobs[first:first + APPLIED_AT_ONCE])
                                   for first in range(0, count, APPLIED_AT_ONCE)])
    created = sum(answer["counts"]["created"] for answer in answers)
    if created != count:
        raise RuntimeError(f"created {created} of {count} jobs")
