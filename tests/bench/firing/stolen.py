"""CPU time that the host of the virtual machine took away ("steal" of /proc/stat), for each second.

A program cannot start a process in time on a core that it does not have. So lateness is reported twice: for all
seconds, and for the seconds in which the host took less than LIMIT. The second before must be below LIMIT too,
because its backlog is processed in the next one.
"""
import threading
import time

LIMIT = 0.05


def read_cpu():
    """Returns (all ticks, stolen ticks) since the machine started."""
    with open("/proc/stat") as f:
        ticks = [int(v) for v in f.readline().split()[1:9]]
    return sum(ticks), ticks[7]


class Stolen:
    def __init__(self):
        self.by_second = {}  # unix second -> the stolen share of all cores
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()

    def run(self):
        before = read_cpu()
        while not self.stop.wait(1 - time.time() % 1):
            second, now = int(time.time() - 0.5), read_cpu()
            ticks = now[0] - before[0]
            self.by_second[second] = (now[1] - before[1]) / ticks if ticks else 0.0
            before = now

    def share(self):
        return sum(self.by_second.values()) / max(1, len(self.by_second))

    def left_alone(self, second):
        """True if the machine had its cores in this second and in the one before. An unknown share counts as stolen."""
        return all(self.by_second.get(s, 1.0) < LIMIT for s in (second, second - 1))
