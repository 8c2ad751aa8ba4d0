"""Generates carillon/worker_pb2.py before the package is built. The rest is in pyproject.toml."""

import os
import shutil
import subprocess

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))
PROTOCOL = os.path.join(HERE, "..", "..", "proto", "carillon", "v1", "worker.proto")

if os.path.exists(PROTOCOL) and shutil.which("protoc"):
    subprocess.run(["sh", os.path.join(HERE, "generate.sh")], check=True)
elif not os.path.exists(os.path.join(HERE, "carillon", "worker_pb2.py")):  # a source distribution has it
    raise SystemExit("protoc was not found; install it (Debian: apt-get install protobuf-compiler)")

setup()
