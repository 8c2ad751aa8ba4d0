#!/usr/bin/env python3
"""`./dev demo`: starts `carillon standalone`, creates a job, shows it fire.

Stays up until Ctrl-C on a terminal; with --check, or without a terminal, ends with 0 once the job
has fired three times (1 if it has not within a minute).
"""
import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time

FIRES = 3
DEADLINE_S = 60


def say(text):
    print(f"\033[1m==>\033[0m {text}" if sys.stdout.isatty() else f"==> {text}", flush=True)


class Demo:
    def __init__(self, binaries, data_dir, check):
        self.carillon = os.path.join(os.path.abspath(binaries), "carillon")
        self.data_dir = data_dir
        self.check = check
        self.server = None

    def start(self):
        os.makedirs(self.data_dir, mode=0o700, exist_ok=True)
        log_path = os.path.join(self.data_dir, "demo.log")
        command = [self.carillon, "standalone", "--data-dir", self.data_dir, "--port", "0"]
        say("$ " + shlex.join(command))
        with open(log_path, "wb") as log:
            self.server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           start_new_session=True)
        runtime_path = os.path.join(self.data_dir, "runtime.json")
        deadline = time.monotonic() + DEADLINE_S
        while True:
            try:
                with open(runtime_path) as f:
                    runtime = json.load(f)
                if runtime["pid"] == self.server.pid:
                    break
            except (OSError, ValueError, KeyError):
                pass
            if self.server.poll() is not None or time.monotonic() > deadline:
                with open(log_path, errors="replace") as f:
                    sys.exit("the server did not start:\n" + f.read()[-4000:])
            threading.Event().wait(0.1)
        self.runtime = runtime
        self.env = dict(os.environ, CARILLON_ADDR=runtime["url"],
                        CARILLON_TOKEN_FILE=runtime["token_file"])
        say(f"ready: {runtime['url']} (token in {runtime['token_file']})")

    def run(self, *arguments, show=True):
        if show:
            say("$ carillon " + shlex.join(arguments))
        done = subprocess.run([self.carillon, *arguments], env=self.env, capture_output=True,
                              text=True, timeout=60)
        if done.returncode != 0:
            sys.exit(f"carillon {shlex.join(arguments)} ended with {done.returncode}:\n"
                     + done.stdout + done.stderr)
        return done.stdout

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
        print(f"""
Carillon is running.
  web console        {link}
                     (chooses the first name and password, once; from then on {self.runtime['url']})
  REST API           {self.runtime['url']}   (bearer token: {self.runtime['token_file']})
  metrics, health    {self.runtime['ops_url']}/metrics  /readyz
  try                export CARILLON_ADDR={self.runtime['url']} CARILLON_TOKEN_FILE={self.runtime['token_file']}
                     {self.carillon} job list
                     {self.carillon} job create --id tick --name tick --cron '*/5 * * * *' --command 'date'
                     {self.carillon} job run tick --wait
                     {self.carillon} schedule next '0 9 * * MON-FRI' --tz Europe/Paris -n 5
  read               README.md, docs/console.md, docs/semantics.md, docs/cli.md, docs/api.md""", flush=True)

    def stop(self):
        if self.server is None or self.server.poll() is not None:
            return
        self.server.send_signal(signal.SIGTERM)
        try:
            self.server.wait(30)
        except subprocess.TimeoutExpired:
            self.server.kill()
            sys.exit("the server did not stop within 30 s of SIGTERM")
        if self.server.returncode != 0:
            sys.exit(f"the server ended with {self.server.returncode}; log: {self.data_dir}/demo.log")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--check", action="store_true", help="end once the job has fired three times")
    parser.add_argument("--data-dir", help="keep the data there (default: a new scratch directory)")
    options = parser.parse_args()
    check = options.check or not sys.stdin.isatty() or not sys.stdout.isatty()
    with tempfile.TemporaryDirectory(prefix="carillon-demo-") as scratch:
        demo = Demo(options.bin, options.data_dir or scratch, check)
        try:
            demo.start()
            demo.watch(demo.create_job())
            say(f"fired {FIRES} times")
            demo.next_steps()
            if not check:
                say("Ctrl-C stops it")
                demo.server.wait()
        except KeyboardInterrupt:
            print()
        finally:
            say("stopping")
            demo.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
