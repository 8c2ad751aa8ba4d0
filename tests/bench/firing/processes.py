"""CPU and memory of the measured processes, and the rate of bare processes for comparison."""
import os
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_ticks(pid):
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def rss_mib(pid):
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            if line.startswith("VmRSS:"):
                return round(int(line.split()[1]) / 1024, 1)
    return 0


def cost(ticks, span_s, fires):
    """The CPU use of a process during a window."""
    seconds = ticks / TICKS
    return {"cpu_percent": round(seconds / span_s * 100, 1),
            "cpu_us_per_fire": round(seconds * 1e6 / fires, 1) if fires else None}


class Watch:
    """Measures CPU and memory from begin() to end(); minute() takes a sample in between."""

    def __init__(self, pids):
        self.pids = pids
        self.rss = {name: [] for name in pids}

    def ticks(self):
        return {name: cpu_ticks(pid) for name, pid in self.pids.items()}

    def begin(self):
        self.began, self.before = time.time(), self.ticks()

    def minute(self):
        for name, pid in self.pids.items():
            self.rss[name].append(rss_mib(pid))

    def end(self):
        self.span_s, after = time.time() - self.began, self.ticks()
        self.spent = {name: after[name] - self.before[name] for name in self.pids}
        self.minute()

    def costs(self, fires):
        each = [{"name": name, **cost(self.spent[name], self.span_s, fires), "rss_mib": self.rss[name][-1]}
                for name in self.pids]
        return {"processes": each, **cost(sum(self.spent.values()), self.span_s, fires)}


def spawn_rate(cores, in_flight, seconds=3.0):
    """Processes (`/bin/sh -c true`) per second of a posix_spawn loop on `cores` cores. The caller has no children."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:cores])
    try:
        began, started, ended = time.monotonic(), 0, 0
        while time.monotonic() - began < seconds:
            while started - ended < in_flight:
                os.posix_spawn("/bin/sh", ["/bin/sh", "-c", "true"], os.environ)
                started += 1
            os.waitpid(-1, 0)
            ended += 1
        rate = ended / (time.monotonic() - began)
        for _ in range(started - ended):
            os.waitpid(-1, 0)
        return round(rate, 1)
    finally:
        os.sched_setaffinity(0, allowed)
