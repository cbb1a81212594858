"""Compiled loops: arrays in, arrays out, random words are an argument.

Importing this package loads no compiler. A loop is compiled by numba when it is first called; those that say so run in
plain Python first, for as long as their arguments are small, because loading the compiler takes half a second and a
first compilation another. Both give the same results. Each kernel has a slow, obvious twin in tests/naive/.
"""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np

from deniable.core.extras import needed
from deniable.core.forks import Guard, come_first, held_while_forking
from deniable.kernels.cache import Cache, warn_of_compiling, warn_of_half_a_compiler

Function = TypeVar("Function", bound=Callable[..., Any])

SMALL = 2**14  # array elements that a loop sees in plain Python, in all calls together, before it is compiled
_OPTIONS = {"nogil": True, "error_model": "numpy"}
_ANY_ORDER = {"fastmath": {"reassoc", "contract"}}


class Kernel:
    """A loop that is compiled when it pays: one plain function, and numba's dispatcher once there is one."""

    def __init__(
        self, function: Callable[..., Any], plain: Callable[..., Any], allowance: int, any_order: bool = False
    ) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._options = {**_OPTIONS, **(_ANY_ORDER if any_order else {})}
        self._plain = plain
        self._allowance = allowance  # elements that plain Python may still see
        self._dispatcher: Any = None

    def __call__(self, *arguments: Any) -> Any:
        if _Plain.only:
            return self._in_plain_python(arguments)
        if self._dispatcher is None and self._allowance > 0 and not _Plain.over:
            self._allowance -= sum(each.size for each in arguments if isinstance(each, np.ndarray))
            if self._allowance >= 0:
                return self._in_plain_python(arguments)
        return self.dispatcher(*arguments)

    def _in_plain_python(self, arguments: tuple[Any, ...]) -> Any:
        with np.errstate(over="ignore"):  # products of words wrap around on purpose
            return self._plain(*arguments)

    @property
    def dispatcher(self) -> Any:
        """The compiled function, which numba compiles for each new type of arguments. It needs no interpreter lock."""
        if self._dispatcher is None:
            self._dispatcher = _compiled(self.py_func, self._options)
        return self._dispatcher

    @property
    def cache_folder(self) -> str | None:
        """Where the compiled function is kept; None where nothing can be kept."""
        return getattr(getattr(self.dispatcher, "_cache", None), "cache_path", None)

    @property
    def _numba_type_(self) -> Any:
        """What numba asks for when another kernel calls this one."""
        return self.dispatcher._numba_type_


class _Compiler:
    """The lock of whoever loads the compiler, and the compiler's own, taken together or not at all."""

    def __init__(self) -> None:
        self.loading = threading.RLock()
        self.loaded = False
        self._compiling: Any = None

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        end = time.monotonic() + timeout if timeout >= 0 else math.inf
        while True:
            if self.loading.acquire(blocking=False):
                public = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
                self._compiling = getattr(public, "_lock", None)  # the public lock cannot be tried
                if self._compiling is None or self._compiling.acquire(blocking=False):
                    return True
                self.loading.release()
            if not blocking or time.monotonic() > end:
                return False
            time.sleep(0.001)

    def release(self) -> None:
        if self._compiling is not None:
            self._compiling.release()
        self.loading.release()


_compiler = _Compiler()
held_while_forking(lambda: [Guard(_compiler, _compile_no_more)])


def _compile_no_more() -> None:
    """Stay in plain Python: the compiler of this process is half way through what another thread began."""
    _Plain.only, _compiler.loading = True, threading.RLock()
    warn_of_half_a_compiler()


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    with _compiler.loading, needed():
        import numba

        if not _compiler.loaded:
            _compiler.loaded = True
            come_first()  # before modules that it has loaded, whose locks a compilation may wait for
    try:
        made = numba.njit(function, cache=True, **options)
    except RuntimeError:  # numba found no place for the cache
        warn_of_compiling("neither the folder of the package nor that of the user can be written")
        return numba.njit(function, **options)
    if hasattr(made, "_cache"):  # a plain function where the compiler is switched off
        made._cache = Cache(made._cache)
    return made


def loaded() -> bool:
    """Whether the compiler is loaded, so that compiled loops cost nothing but their compilation."""
    return "numba" in sys.modules


class _Plain:
    """What a process may still do in plain Python before it loads the compiler."""

    steps = 2**20  # of mechanisms; about as long as loading takes
    over = False  # whether every loop is compiled when it is first called, however small its arguments
    only = False  # whether nothing can be compiled


def compile_everything() -> None:
    """From now on, compile each loop when it is first called."""
    _Plain.steps, _Plain.over = -1, True


def pay_for(steps: int) -> bool:
    """Whether compiled loops pay for so many more steps; where there is no compiler they cannot.

    Plain Python gives the same results. It is chosen while all such steps of the process take no longer than loading
    the compiler.
    """
    if _Plain.only:
        return False
    if not loaded():
        if importlib.util.find_spec("numba") is None:
            return False
        _Plain.steps -= steps
    return loaded() or _Plain.steps < 0


@overload
def compiled(function: Function) -> Function: ...
@overload
def compiled(
    *, plain: Callable[..., Any] | None = None, small: int = SMALL, any_order: bool = False
) -> Callable[[Function], Function]: ...
def compiled(
    function: Any = None, *, plain: Callable[..., Any] | None = None, small: int = SMALL, any_order: bool = False
) -> Any:
    """Compile on first use; with parentheses, run in plain Python until `small` array elements have been seen.

    `plain` is a NumPy function with the same results, faster in plain Python than the loop itself. With `any_order`
    the terms of a sum may be added in any order, several at a time: only the last bits of floats depend on it.
    """
    if function is not None:
        return Kernel(function, function, 0)
    return lambda loop: Kernel(loop, plain or loop, small, any_order)


def part(function: Function) -> Function:
    """Mark a part of other loops, which is compiled with them and runs in plain Python when they do."""
    return compiled(small=2**62)(function)
