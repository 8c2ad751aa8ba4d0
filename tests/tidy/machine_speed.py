#!/usr/bin/env python3
"""Measures the speed of this machine: prints the CPU seconds of a fixed piece of work.

The work runs in one process for each core at once, because cores that share caches and heat slow each other down, as they
do while tests run. It consists of hashing, for the speed of the arithmetic, and of an interpreted loop over a table, for
branches and memory. The result is CPU time, so that programs that happen to run beside it do not count, and the best of
some rounds: a process is slowed down by many things and accelerated by none. It takes about 2 seconds.
"""
import hashlib
import multiprocessing
import os
import time

ROUNDS = 3


def work(_):
    """Returns the CPU seconds that the work took. Whoever changes it measures REFERENCE_S of durations.py again."""
    started = time.process_time()
    block = bytes(range(256)) * 4096
    for _ in range(200):
        hashlib.md5(block).digest()
    table = {}
    for number in range(1_500_000):
        table[number % 5000] = str(number)
    return time.process_time() - started


def measure(rounds=ROUNDS):
    """Returns the CPU seconds of the work: the mean of all cores, in the best round."""
    cores = len(os.sched_getaffinity(0))
    with multiprocessing.Pool(cores) as pool:
        return min(sum(pool.map(work, range(cores), chunksize=1)) / cores for _ in range(rounds))


if __name__ == "__main__":
    print(f"{measure():.3f}")
