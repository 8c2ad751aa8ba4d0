#!/usr/bin/env python3
"""Runs test programs at the same time, prints the output of each, and fails if one of them fails.

Each program has its own cluster, on its own range of ports. In the long form the programs run one after the other,
because each of them keeps the machine busy.
"""
import os
import subprocess
import sys
import tempfile

LONG = os.environ.get("CARILLON_TEST_LONG") == "1"
PORTS = ("20000-25999", "26000-31999")


class Program:
    def __init__(self, path, ports):
        self.name = os.path.basename(path)
        self.output = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.child = subprocess.Popen([sys.executable, "-W", "ignore", path], stdin=subprocess.DEVNULL, stdout=self.output,
                                      stderr=subprocess.STDOUT, env=dict(os.environ, CARILLON_CLUSTER_PORTS=ports))

    def end(self):
        """Waits for the program and prints its output. Returns True if it passed."""
        code = self.child.wait()
        self.output.seek(0)
        print(f"---- {self.name} ended with {code}\n{self.output.read()}", flush=True)
        return code == 0


def main(paths):
    if not paths or len(paths) > len(PORTS):
        sys.exit(f"1 to {len(PORTS)} programs: each needs its ports")
    if LONG:
        passed = [Program(path, ports).end() for path, ports in zip(paths, PORTS)]
    else:
        passed = [program.end() for program in [Program(*both) for both in zip(paths, PORTS)]]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main(sys.argv[1:])
