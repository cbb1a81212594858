"""Mutations of what strangers send: of bytes, of plain data, and Python objects of every kind."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import fractions
import json
import random
from typing import Any

import numpy as np

NUMBERS = (0, 1, -1, 2, 3, 7, 255, 256, 2**16, 2**31, 2**32 - 1, 2**53, 2**62, 2**63, 2**64, 10**30, 0.5, 1e-300, 1e300)
TEXTS = ("", "a", "1", "01", "1_0", " ٣ ", "0x1", "\ud800", "\x1b[31m", "é" * 40, "x" * 5000, "true", "NaN", "9" * 5000)
OTHERS = (None, True, False, float("inf"), float("nan"), [], {}, [[]], [0], {"": 0}, [1, [2]], ["a", 1])
BYTES = (
    b"",
    b"\x00",
    b"\xff",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b'"',
    b"{",
    b"[",
    b",",
    b"\n",
    b"e",
    b"-",
    b"\\u",
    b"9" * 40,
)


def junk(source: random.Random) -> Any:
    """Any plain value."""
    return copy.deepcopy(source.choice(source.choice((NUMBERS, TEXTS, OTHERS))))


def objects(source: random.Random) -> Any:
    """Any Python object, also of kinds that no caller should give."""
    pool: tuple[Any, ...] = (
        object(),
        b"bytes",
        bytearray(b"a"),
        memoryview(b"abc"),
        (1, 2),
        (),
        {1, 2},
        range(3),
        1 + 2j,
        decimal.Decimal("1.5"),
        fractions.Fraction(1, 3),
        dt.date(2026, 1, 1),
        np.array(3),
        np.zeros((2, 0)),
        np.array([1.5, np.nan]),
        np.array([1, 2], np.uint64),
        np.array(["a", "b"]),
        np.array([None, 1], object),
        np.array([[1, 2], [3, 4]]),
        np.ma.array([1, 2], mask=[0, 1]),
        np.datetime64("2026-01-01"),
        np.float32("nan"),
        [np.array([1]), 2],
        [[1], [1, 2]],
        iter([1, 2]),
        int,
        len,
        junk(source),
        [junk(source) for _ in range(source.randrange(4))],
    )
    return source.choice(pool)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every member of a document, as its container and its key."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting:
        holder = waiting.pop()
        keys = list(holder) if isinstance(holder, dict) else range(min(len(holder), 40))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                waiting.append(holder[key])
    return found


def changed(document: Any, source: random.Random) -> Any:
    """A copy of plain data with one to three members replaced, removed, repeated, renamed or nudged."""
    made = copy.deepcopy(document)
    for _ in range(source.choice((1, 1, 1, 2, 3))):
        if not (known := places(made)):
            break
        holder, key = source.choice(known)
        act = source.randrange(5)
        if act == 0:
            del holder[key]
        elif act == 1 and isinstance(holder, dict):
            holder[source.choice(TEXTS)] = holder.pop(key)
        elif act == 2 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(holder[source.randrange(len(holder))]))
        elif act == 3 and type(holder[key]) in (int, float):
            holder[key] += source.choice((-1, 1, 0.5, 2**31))
        else:
            holder[key] = junk(source)
    return made


def nearby(document: dict[str, Any], source: random.Random) -> dict[str, Any]:
    """A copy of a spec with another domain and other parameters of the same kinds, which may well be valid."""
    made = copy.deepcopy(document)
    domain, parameters = made["domain"], made["parameters"]
    if domain["kind"] == "integers" and source.random() < 0.5:
        domain["low"] = source.choice((0, -5, 2**40))
        domain["high"] = domain["low"] + source.choice((1, 2, 4, 5, 6, 9, 30, 1000))
    elif domain["kind"] == "integers" and source.random() < 0.3:
        count = domain["high"] - domain["low"] + 1
        made["domain"] = {"kind": "categories", "labels": [f"{source.choice(TEXTS[:5])}{n}" for n in range(count)]}
    if source.random() < 0.3:
        made["domain"]["no_answer"] = "-"
    if source.random() < 0.6:
        parameters["epsilon"] = round(source.uniform(0.05, 8), source.randrange(1, 15))
    for name, value in parameters.items():
        if type(value) is int and source.random() < 0.4:
            parameters[name] = max(0, source.choice((value - 1, value + 1, 2 * value, value // 2)))
        elif isinstance(value, str):
            parameters[name] = source.choice(TEXTS[:6])
    return made


def damaged(data: bytes, source: random.Random) -> bytes:
    """Bytes with a few flipped, removed, inserted, cut off or repeated."""
    made = bytearray(data)
    for _ in range(source.choice((1, 1, 2, 4))):
        at = source.randrange(len(made) + 1)
        act = source.randrange(5)
        if act == 0 and at < len(made):
            made[at] ^= 1 << source.randrange(8)
        elif act == 1 and at < len(made):
            made[at] = source.randrange(256)
        elif act == 2:
            del made[at : at + source.choice((1, 1, 2, 8, len(made)))]
        elif act == 3:
            made[at:at] = source.choice(BYTES)
        else:
            made[at:at] = made[at : at + source.randrange(40)]
    return bytes(made)


def text_of(document: Any, source: random.Random) -> str | bytes:
    """The JSON of a changed document, sometimes damaged or in another encoding."""
    text = json.dumps(changed(document, source))
    act = source.randrange(24)
    if act < 3:
        return damaged(text.encode(), source)
    if act == 3 and ": " in text:  # lists in lists, which can be read up to some depth, and printed up to another
        depth, place = source.choice((100, source.randrange(900, 1000), 10**5)), source.randrange(text.count(": "))
        parts = text.split(": ")
        parts[place + 1] = "[" * depth + "]" * depth + ", " + parts[place + 1].partition(", ")[2]
        return ": ".join(parts)
    if act < 7:
        return text.encode(source.choice(("utf-16", "utf-32", "utf-8-sig")))
    return text
