"""The outcome of a function: its outputs, or the state and the error that its exception stands for."""

import asyncio
import inspect
import json
import re
from typing import Any, Callable, Dict

from . import worker_pb2 as pb
from .run import Cancelled, Draining, LeaseLost, Run, TimedOut

OUTPUTS_BYTES_MAX = 16 << 10
OUTPUTS_MAX = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


def call(function: Callable[[Run], Any], run: Run) -> Any:
    """Calls a handler. The coroutine of an async one runs in a new event loop of this thread."""
    result = function(run)
    return asyncio.run(_await(result)) if inspect.isawaitable(result) else result


async def _await(result: Any) -> Any:
    return await result


def outputs_of(result: Any) -> Dict[str, str]:
    """Returns the outputs as Carillon stores them: texts as they are, other values as JSON.

    Raises TypeError for a result or a value of another type, and ValueError for a wrong name, a number that is not
    finite, more than 64 outputs, or more than 16 KiB in all.
    """
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise TypeError(f"a handler returns a dict of outputs or None, not {type(result).__name__}")
    if len(result) > OUTPUTS_MAX:
        raise ValueError(f"{len(result)} outputs; at most {OUTPUTS_MAX} are allowed")
    outputs = {}
    size = 0
    for name, value in result.items():
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError(f"{name!r} is not the name of an output ([A-Za-z_][A-Za-z0-9_]{{0,63}})")
        try:
            text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
            size += len(name) + len(text.encode("utf-8"))
        except UnicodeError:
            raise ValueError(f"the output {name} is not valid Unicode") from None
        except TypeError as error:
            raise TypeError(f"the output {name} is not JSON: {error}") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"the output {name} is not JSON: {error}") from None
        outputs[name] = text
    if size > OUTPUTS_BYTES_MAX:
        raise ValueError(f"outputs of {size} bytes; at most {OUTPUTS_BYTES_MAX} are allowed in all")
    return outputs


def state_of(error: BaseException) -> "pb.Done.State":
    """Returns the state of an attempt whose function raised this exception."""
    if isinstance(error, Cancelled):
        return pb.Done.CANCELLED
    if isinstance(error, TimedOut):
        return pb.Done.TIMED_OUT
    if isinstance(error, (LeaseLost, Draining)):
        return pb.Done.LOST
    return pb.Done.FAILED


def message_of(error: BaseException) -> str:
    """Returns the message of an exception, whose __str__ may itself raise."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"
