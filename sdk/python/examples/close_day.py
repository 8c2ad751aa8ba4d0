"""A worker with one handler, billing/close_day. Run it beside an executor: python close_day.py"""

from carillon import Worker

worker = Worker("billing")


@worker.handler("close_day", concurrency=2)
def close_day(run):
    for account in range(run.parameters.get("accounts", 3)):
        run.check()  # stops here if the run was cancelled or took too long
        run.log.info("closed account %d", account)
    return {"closed": run.parameters.get("accounts", 3)}


if __name__ == "__main__":
    worker.run()
