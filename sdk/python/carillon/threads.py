"""Threads that call functions, each used again for the next call: to start one costs more than a short function."""

import queue
import threading
from typing import Callable

_IDLE_S = 10.0  # an unused thread ends after this time


class Threads:
    """As many threads as there are calls at once."""

    def __init__(self) -> None:
        self._calls: "queue.SimpleQueue[Callable[[], None]]" = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0  # threads that wait for a call that is not in the queue yet

    def call(self, function: Callable[[], None]) -> None:
        """Calls a function that raises nothing, on a thread of its own. Raises RuntimeError if none can be started."""
        with self._lock:
            reuse = self._idle > 0
            self._idle -= reuse
        if reuse:
            self._calls.put(function)
        else:
            threading.Thread(target=self._run, args=(function,), name="carillon-handler", daemon=True).start()

    def _run(self, function: Callable[[], None]) -> None:
        while True:
            function()
            with self._lock:
                self._idle += 1
            try:
                function = self._calls.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._lock:
                    if self._idle > 0:
                        self._idle -= 1
                        return
                function = self._calls.get()  # on its way: its caller has counted on this thread
