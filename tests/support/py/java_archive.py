#!/usr/bin/env python3
"""Writes an archive of the classes that Kafka loads when it starts: java_archive.py JARS ARCHIVE

A JVM with -XX:SharedArchiveFile=ARCHIVE maps the classes instead of reading and checking them again, so a broker starts
with a third less CPU time. Each test of a cluster starts one, and formats its storage with one more JVM. A JVM ignores an
archive that does not fit (another Java, other jars) and loads the classes as usual.
"""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SERVERS = os.path.join(ROOT, "deploy", "servers")
START_LIMIT_S = 120
STOP_LIMIT_S = 120  # the archive is written at the end


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def java(jars, *options):
    return ["java", f"@{SERVERS}/java.options", "-Xmx256m", f"-Dlogback.configurationFile={SERVERS}/logback.xml",
            *options, "-cp", f"{os.path.abspath(jars)}/*"]


def await_start(broker, log):
    deadline = time.monotonic() + START_LIMIT_S
    while True:
        with open(log, encoding="utf-8", errors="replace") as f:
            text = f.read()
        if "Kafka Server started" in text:
            return
        if broker.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError("Kafka did not start: " + text[-2000:])
        threading.Event().wait(0.2)


def write(jars, archive):
    with tempfile.TemporaryDirectory(prefix="carillon-archive-") as scratch:
        port, controller = free_ports(2)
        config, log = os.path.join(scratch, "server.properties"), os.path.join(scratch, "log")
        with open(os.path.join(SERVERS, "kafka.properties"), encoding="utf-8") as f:
            settings = f.read()
        with open(config, "w", encoding="utf-8") as f:
            f.write(f"{settings}controller.quorum.voters=1@127.0.0.1:{controller}\nlog.dirs={scratch}/data\n"
                    f"listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n")
        with open(log, "wb") as out:
            subprocess.run(java(jars) + ["kafka.tools.StorageTool", "format", "-t", "Q2FyaWxsb25DbHVzdA", "-c", config],
                           check=True, stdout=out, stderr=out)
            broker = subprocess.Popen(java(jars, f"-XX:ArchiveClassesAtExit={os.path.abspath(archive)}") +
                                      ["kafka.Kafka", config], stdout=out, stderr=out)
        try:
            await_start(broker, log)
            broker.terminate()
            broker.wait(STOP_LIMIT_S)
        finally:
            broker.kill()
            broker.wait()
    if not os.path.exists(archive):
        raise RuntimeError("the JVM wrote no archive")


if __name__ == "__main__":
    write(*sys.argv[1:])
