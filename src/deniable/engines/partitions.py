"""Keys in the names of folders, `day=2026-01-31/country=de/`: text, or what the user says they are.

A type is never guessed from the keys: those of another day may look different, and the tables would not add up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from deniable.core.errors import InvalidArgument, cut
from deniable.core.extras import needed
from deniable.grouping.keys import Key, group_columns

NO_KEY = "__HIVE_DEFAULT_PARTITION__"  # how folders are called whose key is missing
_FOLDER = re.compile("([^=]+)=(.*)", re.DOTALL)
_NUMBER = re.compile("-?[0-9]{1,18}")
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RULES = {"text": "text", "int": "a whole number", "date": "a date such as 2026-01-31"}

Types = Mapping[str, str]


def typed_columns(by: object) -> tuple[tuple[str, ...], dict[str, str]]:
    """The columns to group by, and the types given with them: `day:date`, `version:int`, `country:text`."""
    names, types = list[str](), dict[str, str]()
    for text in group_columns(by):
        name, _, kind = text.rpartition(":")
        typed = bool(name) and kind in _RULES
        names.append(name if typed else text)
        if typed:
            types[name] = kind
    return group_columns(names), types


def folder_keys(path: str, by: Iterable[str], types: Types) -> dict[str, Key | None]:
    """The keys that the folders of a file name; None where a folder says that there is none."""
    named = {m[1]: unquote(m[2]) for part in Path(path).parts[:-1] if (m := _FOLDER.fullmatch(part))}
    return {name: _key(path, named[name], types.get(name, "text")) for name in by if name in named}


def _key(path: str, text: str, kind: str) -> Key | None:
    if text == NO_KEY:
        return None
    if kind == "text":
        return text
    try:
        if kind == "int" and _NUMBER.fullmatch(text):
            return int(text)
        if kind == "date" and _DAY.fullmatch(text):
            return date.fromisoformat(text)
    except ValueError:  # the 31st of February
        pass
    raise InvalidArgument(f"{path}: the key of its folder", f"be {_RULES[kind]}", text)


def check_types(schema: Any, types: Types) -> None:
    """Refuse a column in a file or stream whose type is not the one given: it has its own."""
    with needed():
        import pyarrow as pa

    of = pa.types
    tests = {
        "text": lambda kind: of.is_string(kind) or of.is_large_string(kind) or of.is_string_view(kind),
        "int": of.is_integer,
        "date": of.is_date,
    }
    for name, wanted in types.items():
        if schema.names.count(name) == 1:
            kind = schema.field(name).type
            kind = kind.value_type if of.is_dictionary(kind) else kind
            if not tests[wanted](kind):
                raise InvalidArgument("by", "name columns of the type given", f"{cut(name)}:{wanted}: {cut(str(kind))}")
