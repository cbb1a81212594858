"""Forms: what a collector tells devices about a collection, signed, with a date after which it must be asked again.

A form is canonical JSON. It travels as the text of a signed document, so that a device checks the very bytes it reads:

    {"form": "<canonical JSON>", "key": "<65 bytes, hexadecimal>", "signature": "<64 bytes, hexadecimal>"}

The signature is ECDSA on P-256 with SHA-256, r and s end to end, because every browser's WebCrypto can check it. A
device trusts a form if it knows the key, by its SHA-256, or the fingerprint of the spec.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from deniable.core.documents import is_one, read_json
from deniable.core.errors import SpecError, UnsupportedVersion, listed, shown
from deniable.wire.buckets import UNITS
from deniable.wire.frames import MAX_SEGMENTS

FORMAT = 1
MOST_SPECS = 16  # of a collection: a device may build each, and the collector keeps each
MOST_LABELS = 255  # of a segment: a place is one byte
LATEST = 2**40  # seconds, and hours of a window: what is beyond means nothing
_HALF = 32  # bytes of r and of s
_CURVE = ec.SECP256R1()
_MEMBERS = {
    "deniable_form",
    "collection",
    "open",
    "specs",
    "bucket",
    "segments",
    "window",
    "issued_ids",
    "issued",
    "expires",
}


@dataclass(frozen=True)
class Segment:
    """A small public set of labels by which reports are counted apart, such as countries."""

    name: str
    labels: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The segment as plain data."""
        return {"name": self.name, "labels": list(self.labels)}


@dataclass(frozen=True)
class Form:
    """All that a device needs to answer: the specs, newest first, and how their reports are labelled."""

    collection: str
    open: bool
    specs: tuple[dict[str, Any], ...]
    bucket: str  # unit of time
    segments: tuple[Segment, ...]
    window: int  # hours for which ids are remembered: a report must arrive within them
    issued_ids: bool  # whether ids come from the server
    issued: int  # seconds since 1970
    expires: int

    def to_json(self) -> str:
        """Canonical JSON."""
        import rfc8785

        members: dict[str, Any] = {
            "deniable_form": FORMAT,
            "collection": self.collection,
            "open": self.open,
            "specs": list(self.specs),
            "bucket": self.bucket,
            "segments": [segment.to_dict() for segment in self.segments],
            "window": self.window,
            "issued_ids": self.issued_ids,
            "issued": self.issued,
            "expires": self.expires,
        }
        return rfc8785.dumps(members).decode()

    @staticmethod
    def from_json(text: str) -> Form:
        """Read a form; the specs in it are read by `from_spec`."""
        found = read_json(text, "form")
        layout = found.get("deniable_form") if isinstance(found, dict) else None
        if type(layout) is int and layout > FORMAT:  # first of all, since a newer layout may have other members
            raise UnsupportedVersion("form", layout, FORMAT)
        if not isinstance(found, dict) or not is_one(layout):
            raise SpecError(f'a form must have the member "deniable_form": {FORMAT}')
        if wrong := sorted(found.keys() ^ _MEMBERS):
            raise SpecError(f"form has a missing or unknown member: {listed(wrong)}")
        kinds = {"collection": str, "bucket": str, "open": bool, "specs": list, "segments": list, "issued_ids": bool}
        numbers = dict.fromkeys(("window", "issued", "expires"), int)
        for name, kind in (kinds | numbers).items():
            if type(found[name]) is not kind:
                raise SpecError(f"form member {name} is of the wrong type")
        if not found["specs"]:
            raise SpecError("form must have a spec")
        if found["bucket"] not in UNITS:
            raise SpecError(f"form counts by the {shown(found['bucket'])}; this release knows {', '.join(UNITS)}")
        segments = tuple(_segment(each) for each in found["segments"])
        _check_bounds(found)
        del found["deniable_form"]
        return Form(**{**found, "specs": tuple(found["specs"]), "segments": segments})


def _check_bounds(found: dict[str, Any]) -> None:
    """Refuse a form that no collector makes, and that a device could not answer or would work on for long."""
    for name in ("window", "issued", "expires"):
        if not 0 <= found[name] <= LATEST:
            raise SpecError(f"form member {name} must lie from 0 to {LATEST:,}")
    if not all(isinstance(spec, dict) for spec in found["specs"]):
        raise SpecError("each spec of a form must be a JSON object")
    for name, most in (("specs", MOST_SPECS), ("segments", MAX_SEGMENTS)):
        if len(found[name]) > most:
            raise SpecError(f"form must have at most {most} {name}, got {len(found[name]):,}")


def _segment(found: object) -> Segment:
    if not isinstance(found, dict) or found.keys() != {"name", "labels"} or not isinstance(found["labels"], list):
        raise SpecError("a segment of a form must have a name and labels")
    if not all(isinstance(text, str) for text in (found["name"], *found["labels"])):
        raise SpecError("names and labels of segments must be text")
    if not 0 < len(found["labels"]) <= MOST_LABELS:
        raise SpecError(f"a segment of a form must have 1 to {MOST_LABELS} labels, got {len(found['labels']):,}")
    return Segment(found["name"], tuple(found["labels"]))


@dataclass(frozen=True)
class Signer:
    """The private key of a collection."""

    private: ec.EllipticCurvePrivateKey

    @staticmethod
    def new() -> Signer:
        """Draw a key."""
        return Signer(ec.generate_private_key(_CURVE))

    @staticmethod
    def from_bytes(data: bytes) -> Signer:
        """Read what `to_bytes` wrote."""
        return Signer(ec.derive_private_key(int.from_bytes(data, "big"), _CURVE))

    def to_bytes(self) -> bytes:
        """The secret number, for the store."""
        return self.private.private_numbers().private_value.to_bytes(_HALF, "big")

    @property
    def public(self) -> bytes:
        """The public key: an uncompressed point."""
        form = serialization.PublicFormat.UncompressedPoint
        return self.private.public_key().public_bytes(serialization.Encoding.X962, form)

    def signed(self, form: Form) -> dict[str, str]:
        """The form with its signature."""
        text = form.to_json()
        r, s = decode_dss_signature(self.private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = r.to_bytes(_HALF, "big") + s.to_bytes(_HALF, "big")
        return {"form": text, "key": self.public.hex(), "signature": signature.hex()}


def key_name(public: bytes) -> str:
    """The SHA-256 of a public key, by which devices know it."""
    return hashlib.sha256(public).hexdigest()


def read_signed(data: bytes, known: str | None = None) -> Form:
    """Check the signature of a document and read its form; refuse it if the key is not the `known` one."""
    try:
        document = json.loads(data)
        public, signature = bytes.fromhex(document["key"]), bytes.fromhex(document["signature"])
        text = document["form"]
        key = ec.EllipticCurvePublicKey.from_encoded_point(_CURVE, public)
        r, s = int.from_bytes(signature[:_HALF], "big"), int.from_bytes(signature[_HALF:], "big")
        key.verify(encode_dss_signature(r, s), text.encode(), ec.ECDSA(hashes.SHA256()))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidSignature):
        raise SpecError("form is not signed by the key it names. Ask the collector again.") from None
    if known is not None and key_name(public) != known:
        raise SpecError(f"form is signed by another key, {key_name(public)[:12]}..., expected {known[:12]}...")
    return Form.from_json(text)
