#!/usr/bin/env python3
"""`./dev demo handlers`: starts `carillon standalone` and a worker in Python beside it, creates a job that calls its
function, and shows a run. On a terminal it goes on until Ctrl-C."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/py"))
import harness  # noqa: E402
from demo import Demo, say  # noqa: E402

EXAMPLE = "sdk/python/examples/close_day.py"
PROJECT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")


def offered(demo):
    items = json.loads(demo.run("handler", "list", "-o", "json", show=False))["items"]
    return any(item["name"] == "billing/close_day" for item in items)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", required=True)
    parser.add_argument("--python", required=True, help="an interpreter with the Python SDK")
    parser.add_argument("--check", action="store_true", help="end after the first run")
    options = parser.parse_args()
    check = options.check or not sys.stdin.isatty() or not sys.stdout.isatty()
    harness.BIN = os.path.abspath(options.bin)
    with tempfile.TemporaryDirectory(prefix="carillon-demo-") as scratch:
        demo = Demo(scratch)
        worker = None
        try:
            demo.start()
            socket = os.path.join(demo.server.data_dir, "executor", "worker.sock")
            say(f"$ CARILLON_WORKER_SOCKET={socket} python {EXAMPLE}")
            worker = subprocess.Popen([options.python, os.path.join(PROJECT, EXAMPLE)], start_new_session=True,
                                      env=dict(os.environ, CARILLON_WORKER_SOCKET=socket))
            harness.wait_until(lambda: offered(demo), 30, "the worker to attach")
            print(demo.run("handler", "list"))
            demo.run("job", "create", "--id", "close-day", "--name", "Close the day", "--handler", "billing/close_day",
                     "--param", "accounts=4", "--manual")
            run = json.loads(demo.run("job", "run", "close-day", "--wait", "-o", "json"))
            if run["state"] != "COMPLETED" or run["outputs"] != {"closed": "4"}:
                sys.exit(f"the run ended as {run['state']} with {run.get('outputs')}")
            print(demo.run("run", "logs", run["run_id"]))
            say("the function returned " + json.dumps(run["outputs"]))
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
            if worker is not None:
                worker.terminate()
                worker.wait(120)
            try:
                demo.server.stop()
            except (AssertionError, subprocess.TimeoutExpired) as error:
                demo.server.destroy()
                sys.exit(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
