"""The call of a function and its outcome: outputs, or the state and the error that its exception stands for."""

import asyncio
import collections.abc
import inspect
import json
import math
import re
from typing import Any, Callable, Dict, Tuple

from . import capture
from . import worker_pb2 as pb
from .outbox import cut
from .run import Cancelled, Draining, Failure, LeaseLost, NoRetry, RetryAfter, Run, TimedOut

OUTPUTS_BYTES_MAX = 16 << 10
OUTPUTS_MAX = 64
CODE_MAX = 48
RETRY_AFTER_MAX_S = 3600
_NO_CODE = re.compile(r"[^A-Za-z0-9_.-]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}\Z")


def refuse_generator(function: Callable[[Run], Any]) -> None:
    """Raises TypeError for a function whose call would not run its body, and for what is no function."""
    if not callable(function):
        raise TypeError(f"a handler is a function, not {type(function).__name__}")
    for one in (function, getattr(function, "__call__", None)):
        if inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one):
            raise TypeError(f"{function!r} is a generator, so its call would run nothing: a handler returns, without yield")


def call(function: Callable[[Run], Any], run: Run, captures: bool = False) -> Any:
    """Calls a handler with its run as the current one. The coroutine of an async one runs in a new event loop.

    sys.exit() of success is a return.
    """
    with capture.current(run._write, captures):
        try:
            result = function(run)
            if inspect.isawaitable(result):
                result = asyncio.run(_await(result))
        except SystemExit as stop:
            if stop.code is None or (isinstance(stop.code, int) and stop.code == 0):
                return None
            raise
        if inspect.isgenerator(result) or inspect.isasyncgen(result):
            raise TypeError("the function returned a generator, whose body was not run")
        return result


async def _await(result: Any) -> Any:
    return await result


def kept(result: Any) -> Tuple[Dict[str, str], str]:
    """Returns the outputs of a function, or none and why: its work is done, and a repetition would do it twice."""
    try:
        return outputs_of(result), ""
    except BaseException as error:  # also what a mapping of the program raises
        return {}, message_of(error)


def outputs_of(result: Any) -> Dict[str, str]:
    """Returns the outputs as Carillon stores them: texts as they are, other values as JSON.

    Raises TypeError for a result or a value of another type, and ValueError for a wrong name, a number that is not
    finite, a NUL character, more than 64 outputs, or more than 16 KiB in all.
    """
    if result is None:
        return {}
    if not isinstance(result, collections.abc.Mapping):
        raise TypeError(f"the result of type {type(result).__name__} was not kept: return a dict of outputs, or None")
    if len(result) > OUTPUTS_MAX:
        raise ValueError(f"no output was kept: {len(result)} outputs; at most {OUTPUTS_MAX} are allowed")
    outputs = {}
    sizes = {}
    for name, value in result.items():
        if not isinstance(name, str) or not _NAME.match(name):
            raise ValueError(
                f"no output was kept: {cut(repr(name), 200)} is not the name of an output ([A-Za-z_][A-Za-z0-9_]{{0,63}})"
            )
        try:
            text = value if isinstance(value, str) else json.dumps(value, allow_nan=False)
            sizes[name] = len(name) + len(text.encode("utf-8"))
        except UnicodeError:
            raise ValueError(f"no output was kept: {name} is not valid Unicode") from None
        except TypeError as error:
            raise TypeError(f"no output was kept: {name} is not JSON: {error}") from None
        except (ValueError, RecursionError) as error:
            raise ValueError(f"no output was kept: {name} is not JSON: {error}") from None
        if "\0" in text:
            raise ValueError(f"no output was kept: {name} has a NUL character")
        outputs[name] = text
    size = sum(sizes.values())
    if size > OUTPUTS_BYTES_MAX:
        raise ValueError(
            f"no output was kept: {size} bytes; at most {OUTPUTS_BYTES_MAX} are allowed in all, and "
            f"{max(sizes, key=lambda name: sizes[name])} has the most"
        )
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


def code_of(error: BaseException) -> str:
    """Returns the name of a failure for the retry conditions of jobs."""
    return _NO_CODE.sub("_", _name_of(error))[:CODE_MAX]


def _name_of(error: BaseException) -> str:
    given = error.code if isinstance(error, Failure) else None
    return str(given or type(error).__name__)


def failure_of(error: BaseException) -> Dict[str, Any]:
    """Returns the error, and what it asks for the retry, as fields of Done."""
    name, text = _name_of(error), message_of(error)
    fields: Dict[str, Any] = {"error": f"{name}: {text}" if text else name, "code": code_of(error)}
    if isinstance(error, NoRetry):
        fields["no_retry"] = True
    if isinstance(error, RetryAfter):
        fields["retry_after"] = math.ceil(min(max(error.seconds, 0), RETRY_AFTER_MAX_S))
    return fields


def message_of(error: BaseException) -> str:
    """Returns the message of an exception, whose __str__ may itself raise."""
    try:
        return str(error)
    except Exception:
        return "(its message cannot be shown)"
