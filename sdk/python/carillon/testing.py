"""Helps to test handlers without an executor."""

from typing import Any, Dict, List, Optional, Tuple

from .run import Cancelled, Run
from .worker import _outputs_of


class FakeRun(Run):
    """A run for tests. `lines` has what the function wrote, as (text, is_error)."""

    def __init__(self, **facts: Any) -> None:
        self.lines: List[Tuple[str, bool]] = []
        super().__init__(write=lambda text, error: self.lines.append((text, error)), **facts)

    def cancel(self) -> None:
        """From now on check() raises Cancelled."""
        self._ask(Cancelled)


def run(function: Any, parameters: Optional[Dict[str, Any]] = None, **facts: Any) -> Dict[str, str]:
    """Calls a handler with a run that has these parameters, and returns its outputs as Carillon would store them."""
    return _outputs_of(function(FakeRun(parameters=parameters, **facts)))
