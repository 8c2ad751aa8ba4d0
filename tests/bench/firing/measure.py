"""One measurement: a load on a target. The first seconds are evaluated separately from the window after them."""
import contextlib
import threading
import time

from firing import judge, processes, stolen

SECOND_US = 1_000_000
# Runs in progress get this time to end. Then every run that is not COMPLETED counts against the rate.
GRACE_S = 1.0
# The measurement gives up on a backlog when no run of it has ended for this time.
DRAIN_IDLE_S_MAX = 30


def await_time(moment):
    threading.Event().wait(max(0, moment - time.time()))


def rows_read(target):
    """The number of rows that the whole database server has read since its start."""
    return sum(int(value) for _, value in target.query("SHOW GLOBAL STATUS LIKE 'Handler_read%'"))


def await_drained(target, load, since_us, until_us):
    """Seconds from `since_us` to the end of the last run; None if some runs do not end."""
    planned, before, progress = load.planned(since_us, until_us), -1, time.time()
    while time.time() < progress + DRAIN_IDLE_S_MAX:
        number, last_us = judge.ended(target, since_us, until_us)
        if number >= planned:
            return round((last_us - since_us) / SECOND_US, 3)
        if number != before:
            before, progress = number, time.time()
        threading.Event().wait(1.0)
    return None


class Bench:
    def __init__(self, make_target, warm, seconds):
        """The measured window begins `warm` seconds after the first fire and lasts `seconds`."""
        self.make_target = make_target
        self.warm = warm
        self.seconds = seconds

    @contextlib.contextmanager
    def target(self, **options):
        target = self.make_target(**options)
        try:
            yield target
        finally:
            target.destroy()

    def measure(self, target, load, begin_us, seconds=None, drain=False):
        """Creates the load, which first fires at `begin_us`; returns (figures, starts). `drain`: waits for all runs."""
        seconds = seconds or self.seconds
        since_us = begin_us + self.warm * SECOND_US
        until_us = since_us + seconds * SECOND_US
        since = since_us / SECOND_US
        load.create(target)
        in_time = time.time() < begin_us / SECOND_US
        watch = processes.Watch(target.pids())
        await_time(since - 1.5)
        result = {"seconds": seconds}
        with stolen.Stolen() as host:
            await_time(since - 0.2)
            read = rows_read(target)
            await_time(since)
            watch.begin()
            for minute in range(60, seconds, 60):
                await_time(since + minute)
                watch.minute()
            await_time(since + seconds)
            result["rows_read_per_second"] = round((rows_read(target) - read) / seconds)
            if drain:
                result["drained_s"] = await_drained(target, load, since_us, until_us)
            watch.end()
        await_time(time.time() + GRACE_S)
        starts = judge.read_starts(target, begin_us, until_us)
        result.update(judge.judge(target, load, starts, since_us, until_us))
        result["fires_per_second"] = round(result["completed"] / seconds, 1)
        result["setup_in_time"] = in_time
        if self.warm:
            result["first"] = {"seconds": self.warm, **judge.judge(target, load, starts, begin_us, since_us)}
        result.update(watch.costs(result["completed"]))
        result["rss_mib_by_minute"] = watch.rss
        result.update(left_alone(host, starts, int(since), seconds))
        result["by_second"] = judge.by_second(starts, begin_us)
        return result, starts


def left_alone(host, starts, since, seconds):
    alone = {second for second in range(since, since + seconds) if host.left_alone(second)}
    return {"stolen": round(host.share(), 3),
            "left_alone": {"seconds": len(alone), "late_ms": judge.lateness(
                late for fire, late in starts if fire // SECOND_US in alone)}}
