"""A worker for tests: python journal_worker.py APP JOURNAL CONCURRENCY. Its functions note in the journal when they begin
and end; those that hold wait until the standard input of the worker is closed. The line "second" there makes a second
worker in the process, of APP-b, with the same functions; "execute" lets the process execute this program anew."""
import json
import logging
import os
import sys
import threading

from carillon import Failure, NoRetry, RetryAfter, Stopped, Worker

app, journal, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3])
functions = []
lock = threading.Lock()
active = 0
opened = threading.Event()


def obey():
    while line := os.read(0, 100):
        if line == b"second\n":
            offer(Worker(app + "-b")).start()
        elif line == b"execute\n":
            os.execv(sys.executable, [sys.executable, *sys.argv])
    opened.set()


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
    functions.append(function)
    return function


def offer(worker):
    for function in functions:
        worker.handler(function.__name__, concurrency=concurrency)(noted(function))
    return worker


@handler
def work(run):
    run.log.info("the password is %s", run.env.get("PASSWORD"))
    return {"answer": 42, "text": run.env.get("PASSWORD", "none")}


@handler
def fail_once(run):
    if run.attempt == 1:
        raise ValueError("the first attempt fails")


@handler
def never_again(run):
    raise NoRetry("the file is empty")


@handler
def later(run):
    if run.attempt == 1:
        raise RetryAfter(2, "busy")


@handler
def out_of_stock(run):
    raise Failure("none left", code="out_of.stock")


@handler
def talk(run):
    """Writes more than the limit of a log: one huge line, or many small ones."""
    if run.parameters["huge"]:
        run.print("x" * 200_000)
    else:
        for i in range(20_000):
            run.log.info("line %d", i)
            run.print("printed")


@handler
def too_much(run):
    return {"big": "x" * 20_000, "small": "y"}


@handler
def speak(run):
    print("printed: " + run.env["PASSWORD"], end="")
    logging.getLogger("ledger").warning("logged: %s", run.env["PASSWORD"])


@handler
def hold(run):
    while not opened.is_set():
        run.wait(0.02)


@handler
def stubborn(run):
    """Notes that it should stop, and does so only when the gate opens."""
    try:
        while not opened.is_set():
            run.wait(0.02)
    except Stopped:
        note(run, "stopping")
        opened.wait()
        raise


@handler
def resume(run):
    """Continues from the checkpoint of the attempt before, saves one, and fails; the third attempt succeeds."""
    note(run, "resume", checkpoint=(run.checkpoint or b"none").decode())
    run.save_checkpoint(b"state %d" % run.attempt)
    run.progress(run.attempt, of=4, text="so far")
    if run.attempt == 1 and run.parameters.get("hold"):
        while not opened.is_set():
            run.wait(0.02)
        run.save_checkpoint(b"last words")
    if run.attempt < 3:
        raise ValueError("not done yet")


threading.Thread(target=obey, daemon=True).start()
offer(Worker(app)).run()
