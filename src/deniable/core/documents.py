"""JSON from strangers: UTF-8 text whose members occur once, read without surprises."""

from __future__ import annotations

import json
import re
from typing import Any

from deniable.core.errors import DeniableError, SpecError, shown
from deniable.core.limits import DEFAULT, Limits

_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")  # an escape may also be half of a whole pair


def read_json(
    text: object,
    what: str = "spec",
    *,
    limits: Limits | None = DEFAULT,
    wrong: type[DeniableError] = SpecError,
) -> Any:
    """Read a document's JSON, as text or as UTF-8 with or without a byte-order mark.

    Spacing and order are free; repeated members, NaN, and strings that are not Unicode are refused by an error of
    the class `wrong`.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise wrong(f"{what} must be JSON text, got {shown(text)}")
    if limits is not None:
        limits.require("document", len(text))

    def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        document = dict(pairs)
        if len(document) < len(pairs):
            raise wrong(f"{what} has the same member twice")
        return document

    def no_constants(name: str) -> None:
        raise wrong(f"{what} holds {name}, which JSON does not have")

    try:
        decoded = text if isinstance(text, str) else text.decode("utf-8-sig")
        found = json.loads(decoded, object_pairs_hook=no_duplicates, parse_constant=no_constants)
        if _HALF_PAIR.search(decoded):
            json.dumps(found, ensure_ascii=False).encode()
    except DeniableError:
        raise
    except UnicodeDecodeError:
        raise wrong(f"{what} is not JSON: it must be UTF-8 text") from None
    except UnicodeEncodeError:
        raise wrong(f"{what} holds half of a surrogate pair, which is not Unicode") from None
    except (ValueError, RecursionError):  # nested too deep, or a number of thousands of digits
        raise wrong(f"{what} is not JSON") from None
    return found


def is_one(value: object) -> bool:
    """Whether a member is the number 1, which `True` is not."""
    return type(value) is int and value == 1
