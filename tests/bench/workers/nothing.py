"""A worker for ./dev bench handlers: its function bench/nothing returns at once."""
from carillon import Worker

worker = Worker("bench")


@worker.handler("nothing", concurrency=4096)
def nothing(run):
    return None


worker.run()
