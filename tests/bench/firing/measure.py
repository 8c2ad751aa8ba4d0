"""One measurement: a load against a target, the first seconds apart from the window after them."""
import contextlib
import threading
import time

from firing import judge, processes, stolen

SECOND_US = 1_000_000
# A little time for what is under way; then whatever is not COMPLETED was not held.
GRACE_S = 1.0
# A backlog of which nothing ends for so long is not waited for.
DRAIN_IDLE_S_MAX = 30


def await_time(moment):
    threading.Event().wait(max(0, moment - time.time()))


def rows_read(target):
    """By the whole store since it started."""
    return sum(int(value) for _, value in target.query("SHOW GLOBAL STATUS LIKE 'Handler_read%'"))


def await_drained(target, load, since_us, until_us):
    """Seconds from `since_us` to the end of the last run; None when some do not end."""
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
        """`warm`: how many seconds after the first fire the window begins, which lasts `seconds`."""
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
        """Creates the load, whose first fire is at `begin_us`: (figures, starts). `drain`: until all runs ended."""
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
