#!/usr/bin/env python3
"""A fixed piece of work, whose CPU time tells how fast this machine is at the moment.

It consists of hashing, for the speed of the arithmetic, and of an interpreted loop over a table, for branches and memory.
Other guests of the machine, and the tests themselves, slow it down as they slow down a test.
"""
import hashlib
import time


def work():
    """Returns the CPU seconds that the work took. Whoever changes it measures REFERENCE_S of durations.py again."""
    started = time.process_time()
    block = bytes(range(256)) * 4096
    for _ in range(200):
        hashlib.md5(block).digest()
    table = {}
    for number in range(1_500_000):
        table[number % 5000] = str(number)
    return time.process_time() - started
