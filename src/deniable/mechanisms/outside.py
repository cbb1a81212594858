"""Mechanisms from outside the package: those that a program registers, and those that an installed package declares.

A package declares a mechanism under the entry-point group `deniable.mechanisms`, with the mechanism's name. It is
loaded when that name is first asked for, so that the command line and every other program can read its specs.
"""

from __future__ import annotations

import re
from functools import cache
from inspect import isabstract
from typing import TYPE_CHECKING, TypeVar

from deniable.core.errors import InvalidArgument
from deniable.core.validate import whole
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.mechanisms.catalogue import ALL, AUTO

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "deniable.mechanisms"
_NAME = re.compile("[a-z][a-z0-9_-]*")
_OWN = {name for name, *_ in ALL}
_REGISTERED: dict[tuple[str, int], type[Mechanism]] = {}

Kind = TypeVar("Kind", bound=type[Mechanism])


def register(cls: Kind) -> Kind:
    """Add a mechanism's class to those known by name, for this process; return it, so that it may decorate the class.

    From then on `dn.mechanism(name)`, `dn.from_spec`, `dn.compare` and `dn.list_mechanisms` know it. A name and version
    that are taken are refused, and so are all names of the package's own mechanisms: a spec means the same for ever.
    """
    if not (isinstance(cls, type) and issubclass(cls, Mechanism)) or isabstract(cls):
        missing = ", ".join(sorted(getattr(cls, "__abstractmethods__", ())))
        raise InvalidArgument("cls", "be a class of mechanisms", cls, f"It must define {missing}." if missing else "")
    name, version = getattr(cls, "name", None), getattr(cls, "version", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == AUTO:
        hint = f"It is what a spec calls {cls.__name__}."
        raise InvalidArgument("name", "be lower-case letters, digits and hyphens, not auto", name, hint)
    if not isinstance(getattr(cls, "default_method", None), str):
        raise InvalidArgument("default_method", "be the name of a method", None, f"{cls.__name__} must state one.")
    whole(1, version=version)
    if name in _OWN:
        raise InvalidArgument("name", "be another than those of the package", name, "Choose a name of your own.")
    taken = _REGISTERED.setdefault((name, int(version or 0)), cls)
    if taken is not cls:
        hint = f"{taken.__module__}.{taken.__qualname__} has it. Raise the version, or unregister that one first."
        raise InvalidArgument("version", f"be free for {name}", version, hint)
    return cls


def unregister(name: str, version: int | None = None) -> None:
    """Forget a registered class, or all versions of a name: for tests, and to define a class again in a notebook."""
    found = [key for key in _REGISTERED if key[0] == name and version in (None, key[1])]
    if not found:
        raise InvalidArgument("name", "be registered", name, "Mechanisms of the package stay.")
    for key in found:
        del _REGISTERED[key]


def outside_names(*, installed: bool = True) -> set[str]:
    """The names of mechanisms from outside; those that installed packages declare take a moment to find."""
    return {name for name, _ in _REGISTERED} | (set(_declared()) if installed else set())


def outside_classes(name: str | None = None) -> list[type[Mechanism]]:
    """The classes from outside of one name, or of all names, in every version; a declared one is loaded here."""
    if name not in _OWN:
        for declared, entry in _declared().items():
            if name in (None, declared) and declared not in outside_names(installed=False):
                _load(declared, entry)
    return [cls for (own, _), cls in sorted(_REGISTERED.items()) if name in (None, own)]


@cache
def _declared() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points

    return {entry.name: entry for entry in entry_points(group=GROUP) if entry.name not in _OWN}


def _load(name: str, entry: EntryPoint) -> None:
    cls = entry.load()
    if getattr(cls, "name", None) != name:
        hint = f"{entry.value} is declared under it."
        raise InvalidArgument("name", f"be {name}", getattr(cls, "name", None), hint)
    register(cls)
