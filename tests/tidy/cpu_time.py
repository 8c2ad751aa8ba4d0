#!/usr/bin/env python3
"""Runs a command, and measures the CPU time of everything that it starts, and the speed of the machine meanwhile.

    cpu_time.py --output FILE COMMAND [ARGUMENT…]

Writes {"cpu_s", "speed_s", "elapsed_s"} as JSON. cpu_s: user and system time of the command and of all its descendants,
also of those that it left, if they have ended. speed_s: the mean CPU time that the work of machine_speed.py took, once in every
SAMPLE_EVERY_S seconds of the run. Both grow alike when the machine is slow or has other guests, so their quotient tells
about the command. Exit code: that of the command.
"""
import argparse
import ctypes
import json
import os
import signal
import sys
import threading
import time

import machine_speed

SAMPLE_EVERY_S = 20
PR_SET_CHILD_SUBREAPER = 36


class SpeedSamples:
    """Measures the speed in a process of its own, now and then, until it is stopped. Somebody else reaps the processes."""

    def __init__(self, every_s=SAMPLE_EVERY_S):
        self.every_s = every_s
        self.values = []  # CPU seconds of one work each
        self.spent_s = 0.0  # CPU seconds of the processes that measured
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while True:
            reader, writer = os.pipe()
            if os.fork() == 0:
                worked = machine_speed.work()
                os.write(writer, json.dumps([worked, time.process_time()]).encode())
                os._exit(0)
            os.close(writer)
            with open(reader, encoding="utf-8") as answer:
                text = answer.read()
            if text:  # nothing if the process was killed
                worked, whole = json.loads(text)
                self.values.append(worked)
                self.spent_s += whole
            if self.stopping.wait(self.every_s):
                return

    def stop(self):
        self.stopping.set()
        self.thread.join()
        if not self.values:  # the only process that measured was killed
            self.values.append(machine_speed.work())
        return sum(self.values) / len(self.values)


def wait_for(command):
    """Waits for the command and reaps all children meanwhile, so that tests see their daemons vanish."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == command:
            return os.waitstatus_to_exitcode(status)


def reap_orphans():
    """Reaps the descendants that the command left and that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True, metavar="FILE")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    # A daemon whose parent has ended becomes a child of this process, so that its time is counted.
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("cpu_time: prctl failed")
    started = time.monotonic()
    command = os.posix_spawnp(options.command[0], options.command, os.environ)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _frame: os.kill(command, got))
    samples = SpeedSamples()
    samples.thread.start()
    code = wait_for(command)
    speed_s = samples.stop()
    reap_orphans()
    times = os.times()
    measured = {"cpu_s": times.children_user + times.children_system - samples.spent_s, "speed_s": speed_s,
                "elapsed_s": time.monotonic() - started}
    with open(options.output, "w", encoding="utf-8") as file:
        json.dump(measured, file)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
