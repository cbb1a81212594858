"""An immutable dictionary that can be pickled."""

from __future__ import annotations

from typing import Any, NoReturn


class Frozen(dict[str, Any]):
    """The parameters of a spec or mechanism: reads like a dictionary, refuses every change."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is frozen; make a new mechanism instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return Frozen, (dict(self),)
