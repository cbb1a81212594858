"""A dictionary that cannot be changed, and survives pickling."""

from __future__ import annotations

from typing import Any, NoReturn


class Frozen(dict[str, Any]):
    """What a spec or a mechanism has derived once: reading is a dictionary's, writing is refused."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is frozen: make a new mechanism instead")

    __setitem__ = __delitem__ = __ior__ = _refuse
    update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[object, ...]:
        return Frozen, (dict(self),)
