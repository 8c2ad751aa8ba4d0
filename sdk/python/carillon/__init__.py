"""Runs Python functions as jobs of the Carillon scheduler.

    from carillon import Worker

    worker = Worker("billing")

    @worker.handler("close_day", concurrency=2)
    def close_day(run):
        ...

    worker.run()
"""

from .capture import LogHandler
from .run import Cancelled, Draining, Failure, LeaseLost, NoRetry, RetryAfter, Run, Stopped, TimedOut
from .worker import Refused, Worker

__all__ = [
    "Worker", "Run", "LogHandler", "Stopped", "Cancelled", "TimedOut", "LeaseLost", "Draining", "Failure", "NoRetry",
    "RetryAfter", "Refused",
]
__version__ = "0.1.0"
