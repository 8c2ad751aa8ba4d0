#!/usr/bin/env python3
"""`./dev demo`: starts `carillon standalone`, creates a job, and shows how it fires.

On a terminal it runs until Ctrl-C. With --check, or without a terminal, it exits with 0 when the job has fired three
times, and with 1 if that takes longer than a minute.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
import harness  # noqa: E402

FIRES = 3
DEADLINE_S = 120


def say(text):
    print(f"\033[1m==>\033[0m {text}" if sys.stdout.isatty() else f"==> {text}", flush=True)


class Demo:
    def __init__(self, data_dir):
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        self.server = harness.Standalone(directory=data_dir, data_dir=data_dir, new_session=True)

    def start(self):
        say("$ carillon standalone --data-dir " + shlex.quote(self.server.data_dir))
        self.server.start(DEADLINE_S)
        self.runtime = self.server.runtime
        say(f"ready: {self.runtime['url']} (token in {self.runtime['token_file']})")

    def run(self, *arguments, show=True):
        if show:
            say("$ carillon " + shlex.join(arguments))
        return harness.cli(self.server, *arguments)[1]

    def create_job(self):
        created = self.run(
            "job", "create", "--name", "hello", "--cron", "*/2 * * * * *", "--command",
            'echo "hello from run $CARILLON_RUN_ID, due $CARILLON_FIRE_TIME, on $(hostname)"',
            "-o", "json")
        job = json.loads(created)
        say(f"job {job['job_id']} fires every two seconds; next: {job['next_fire_time']}")
        return job["job_id"]

    def watch(self, job_id):
        shown = set()
        deadline = time.monotonic() + DEADLINE_S
        while len(shown) < FIRES:
            if time.monotonic() > deadline:
                sys.exit(f"only {len(shown)} of {FIRES} fires completed within {DEADLINE_S} s")
            history = json.loads(self.run("job", "history", job_id, "-o", "json", show=False))
            for run in reversed(history["items"]):
                if run["state"] == "COMPLETED" and run["run_id"] not in shown:
                    shown.add(run["run_id"])
                    full = json.loads(self.run("run", "get", run["run_id"], "-o", "json", show=False))
                    print(f"    {run['fire_time']}  {run['state']}  {full['output'].strip()}", flush=True)
            threading.Event().wait(0.2)

    def next_steps(self):
        link = json.loads(self.run("user", "setup-link", "-o", "json", show=False))["url"]
        if not link.startswith(self.runtime["url"] + "/setup#token="):
            sys.exit(f"that is no setup link: {link}")
        carillon = os.path.join(harness.BIN, "carillon")
        print(f"""
Carillon is running.
  web console        {link}
                     (chooses the first name and password, once; from then on {self.runtime['url']})
  REST API           {self.runtime['url']}   (bearer token: {self.runtime['token_file']})
  metrics, health    {self.runtime['ops_url']}/metrics  /readyz
  try                export CARILLON_ADDR={self.runtime['url']} CARILLON_TOKEN_FILE={self.runtime['token_file']}
                     {carillon} job list
                     {carillon} job create --id tick --name tick --cron '*/5 * * * *' --command 'date'
                     {carillon} job run tick --wait
                     {carillon} schedule next '0 9 * * MON-FRI' --tz Europe/Paris -n 5
  read               README.md, docs/console.md, docs/semantics.md, docs/cli.md, docs/api.md""", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--check", action="store_true", help="end once the job has fired three times")
    parser.add_argument("--data-dir", help="keep the data there (default: a new scratch directory)")
    options = parser.parse_args()
    check = options.check or not sys.stdin.isatty() or not sys.stdout.isatty()
    harness.BIN = os.path.abspath(options.bin)
    with tempfile.TemporaryDirectory(prefix="carillon-demo-") as scratch:
        demo = Demo(options.data_dir or scratch)
        try:
            demo.start()
            demo.watch(demo.create_job())
            say(f"fired {FIRES} times")
            demo.next_steps()
            if not check:
                say("Ctrl-C stops it")
                demo.server.process.wait()
        except KeyboardInterrupt:
            print()
        except AssertionError as error:  # from the server or from the command line
            sys.exit(str(error))
        finally:
            say("stopping")
            try:
                demo.server.stop()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                demo.server.destroy()
                sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
