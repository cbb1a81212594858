"""Noisy counts, and answers without bias to questions about them: exact noise once, many answers, their errors.

Reference: Hillebrand, Imola, Pagh, Sejer 2026, "Privacy by Postprocessing the Discrete Laplace Mechanism"
(arXiv 2605.06502), whose theorems the modules cite.

`deniable.debias` is this package and, since it can be called, the function `debias` of operator.py too.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from deniable.debias.operator import debias

        return debias(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
