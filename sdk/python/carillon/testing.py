"""Fake runs, to test handlers without an executor."""

from typing import Any, Callable, Dict, List, Optional, Tuple

from .outcome import call, outputs_of
from .run import Cancelled, LeaseLost, Run, TimedOut


class FakeRun(Run):
    """A run for tests.

    lines       the text that the function wrote, as (text, is_error)
    progresses  the JSON texts of its progress
    saved       the checkpoints that it saved
    """

    def __init__(self, **facts: Any) -> None:
        self.lines: List[Tuple[str, bool]] = []
        self.progresses: List[str] = []
        self.saved: List[bytes] = []
        super().__init__(write=lambda text, error: self.lines.append((text, error)), save=self._keep, **facts)

    def _keep(self, progress: Optional[str], checkpoint: Optional[bytes]) -> None:
        if progress is not None:
            self.progresses.append(progress)
        if checkpoint is not None:
            self.saved.append(checkpoint)

    def cancel(self) -> None:
        """Makes check() raise Cancelled from now on."""
        self._ask(Cancelled)

    def time_out(self) -> None:
        """Makes check() raise TimedOut from now on."""
        self._ask(TimedOut)

    def lose_lease(self) -> None:
        """Makes check() raise LeaseLost from now on."""
        self._ask(LeaseLost)


def run(
    function: Callable[[Run], Any], parameters: Optional[Dict[str, Any]] = None, **facts: Any
) -> Dict[str, str]:
    """Calls a handler, which may be a coroutine function, with a FakeRun.

    `facts` are the other attributes of the run, such as env or shard_index. Returns the outputs as Carillon stores
    them: texts by name. Raises the exception of the function, or TypeError or ValueError for wrong outputs.
    """
    return outputs_of(call(function, FakeRun(parameters=parameters, **facts)))
