"""A worker for tests: python journal_worker.py APP JOURNAL GATE CONCURRENCY. Its functions note in the journal when they
begin and end; those that hold wait until the file GATE exists."""
import json
import os
import sys
import threading

from carillon import Stopped, Worker

app, journal, gate, concurrency = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
worker = Worker(app)
lock = threading.Lock()
active = 0


def note(run, what, **more):
    with lock, open(journal, "a") as file:
        file.write(json.dumps(dict(more, run=run.run_id, attempt=run.attempt, what=what)) + "\n")


def noted(function):
    def call(run):
        global active
        with lock:
            active += 1
            together = active
        note(run, "begin", parameters=run.parameters, env=run.env, together=together)
        try:
            return function(run)
        finally:
            with lock:
                active -= 1
            note(run, "end")
    return call


def handler(function):
    worker.handler(function.__name__, concurrency=concurrency)(noted(function))
    return function


@handler
def work(run):
    run.log.info("the password is %s", run.env.get("PASSWORD"))
    return {"answer": 42, "text": run.env.get("PASSWORD", "none")}


@handler
def fail_once(run):
    if run.attempt == 1:
        raise ValueError("the first attempt fails")


@handler
def hold(run):
    while not os.path.exists(gate):
        run.wait(0.02)


@handler
def stubborn(run):
    """Notes that it should stop, and does so only when the gate opens."""
    told = False
    while not os.path.exists(gate):
        try:
            run.wait(0.02)
        except Stopped:
            if not told:
                note(run, "stopping")
            told = True
            threading.Event().wait(0.02)
    run.check()


worker.run()
