#!/usr/bin/env python3
"""`./dev demo spring`: starts `carillon standalone` and a Spring Boot application beside it, creates jobs that call two
of its methods, and shows a run of each. On a terminal it goes on until Ctrl-C."""
import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
import harness  # noqa: E402
from demo import Demo, say  # noqa: E402

JOBS = {"close-day": ["--handler", "billing/close_day", "--param", "accounts=4"],
        "send-invoices": ["--handler", "billing/send_invoices", "--param", "customer=Jane"]}


def completed(demo, job_id, application):
    """Returns the newest run of the job that is COMPLETED, or None."""
    assert application.poll() is None, f"the application ended with {application.returncode}"
    items = json.loads(demo.run("job", "history", job_id, "-o", "json", show=False))["items"]
    return next((item for item in items if item["state"] == "COMPLETED"), None)


def end(application):
    """Ends the application, and Maven before it if that runs it."""
    if application.poll() is None:
        os.killpg(application.pid, signal.SIGTERM)
        application.wait(120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--check", action="store_true", help="end after the first run of each job")
    parser.add_argument("application", nargs="+", help="the command that starts it")
    options = parser.parse_args()
    check = options.check or not sys.stdin.isatty() or not sys.stdout.isatty()
    harness.BIN = os.path.abspath(options.bin)
    with tempfile.TemporaryDirectory(prefix="carillon-demo-") as scratch:
        demo = Demo(scratch)
        application = None
        try:
            demo.start()
            for job_id, handler in JOBS.items():
                demo.run("job", "create", "--id", job_id, "--name", job_id, "--cron", "*/5 * * * * *", *handler)
            socket = os.path.join(demo.server.data_dir, "executor", "worker.sock")
            say(f"$ CARILLON_WORKER_SOCKET={socket} " + shlex.join(options.application))
            application = subprocess.Popen(options.application, start_new_session=True,
                                           env=dict(os.environ, CARILLON_WORKER_SOCKET=socket))
            for job_id in JOBS:
                run = harness.wait_until(lambda job_id=job_id: completed(demo, job_id, application), 120,
                                         f"a fire of {job_id}")
                say(f"{job_id} fired at {run['fire_time']} and is {run['state']}")
                print(demo.run("run", "logs", run["run_id"]))
            print(demo.run("handler", "list"))
            if not check:
                demo.next_steps()
                say("Ctrl-C stops it")
                demo.server.process.wait()
        except KeyboardInterrupt:
            print()
        except AssertionError as error:  # from the server or from the command line
            sys.exit(str(error))
        finally:
            say("stopping")
            if application is not None:
                end(application)
            try:
                demo.server.stop()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                demo.server.destroy()
                sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
