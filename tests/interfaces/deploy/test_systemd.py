#!/usr/bin/env python3
"""The systemd units in a scratch root: systemd accepts them, and the programs accept their flags."""
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
UNITS = os.path.join(ROOT, "deploy", "systemd")
BIN = os.environ.get("CARILLON_BIN", os.path.join(ROOT, "build", "dev", "bin"))


class SystemdTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="carillon-root-")
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name
        self.units = sorted(glob.glob(os.path.join(UNITS, "*.service")))
        self.assertEqual(len(self.units), 3)
        for folder in ("usr/bin", "etc/systemd/system", "usr/lib/systemd/system"):
            os.makedirs(os.path.join(self.root, folder))
        for target in ("sysinit", "basic", "shutdown", "multi-user", "network-online"):
            path = os.path.join(self.root, "usr/lib/systemd/system", target + ".target")
            with open(path, "w", encoding="utf-8") as f:
                f.write("[Unit]\nDescription=stands for the one of the system\n")
        for name in ("carillon-scheduler", "carillon-executor", "carillon-warden"):
            shutil.copy(os.path.join(BIN, name), os.path.join(self.root, "usr/bin"))
        os.makedirs(os.path.join(self.root, "bin"))
        shutil.copy("/bin/sh", os.path.join(self.root, "bin/sh"))
        for unit in self.units:
            shutil.copy(unit, os.path.join(self.root, "etc/systemd/system"))

    def verify(self, name):
        return subprocess.run(
            ["systemd-analyze", "verify", "--man=no", f"--root={self.root}",
             f"/etc/systemd/system/{name}"],
            capture_output=True, text=True, env=dict(os.environ, SYSTEMD_LOG_LEVEL="warning"))

    def test_systemd_reads_every_line(self):
        for unit in self.units:
            done = self.verify(os.path.basename(unit))
            self.assertEqual((done.returncode, done.stderr), (0, ""), unit)

    def test_a_wrong_line_is_reported(self):
        path = os.path.join(self.root, "etc/systemd/system/carillon-executor.service")
        with open(path, "a", encoding="utf-8") as f:
            f.write("\n[Service]\nNoSuchSetting=1\n")
        self.assertIn("NoSuchSetting", self.verify("carillon-executor.service").stderr)

    def test_started_programs_take_the_flags_of_their_units(self):
        for unit in self.units:
            with open(unit, encoding="utf-8") as f:
                command = re.search(r"^ExecStart=(.*)$", f.read(), re.M).group(1).split()
            program = os.path.join(BIN, os.path.basename(command[0]))
            # The start fails at the missing configuration file. A wrong flag would print the usage instead.
            done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=120)
            if program.endswith("carillon-warden"):
                self.assertIn("open /var/lib/carillon-executor/executor/warden: No such file", done.stderr)
                continue
            self.assertEqual(done.returncode, 2)
            self.assertIn("configuration file /etc/carillon/", done.stderr)

    def test_sample_configurations_are_valid(self):
        for sample in ("scheduler.yaml", "executor.yaml"):
            done = subprocess.run(
                [os.path.join(BIN, "carillon"), "check-config", "--config",
                 os.path.join(UNITS, sample)], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_executors_warden_outlives_it(self):
        with open(os.path.join(UNITS, "carillon-executor.service"), encoding="utf-8") as f:
            self.assertIn("KillMode=process\n", f.read())

    def test_the_warden_has_groups_of_its_own(self):
        with open(os.path.join(UNITS, "carillon-warden.service"), encoding="utf-8") as f:
            text = f.read()
        self.assertIn("Delegate=yes\n", text)
        self.assertIn("OOMPolicy=continue\n", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
