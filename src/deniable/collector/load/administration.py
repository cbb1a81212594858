"""The administrator's side of a run: it makes a collection of its own, and reads afterwards what was counted.

The collection is new in every run, so that load never ends up among the reports of people.
"""

from __future__ import annotations

import http.client
import io
import json
import re
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from deniable.collector.load.address import Address
from deniable.collector.load.traffic import Place
from deniable.core.errors import DeniableError
from deniable.core.summary import Summary
from deniable.grouping.table import SummaryTable
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.wire.buckets import DAY, Buckets
from deniable.wire.keys import WRITE, Key

SEGMENT, LABELS = "release", ("old", "new")
_BUCKETS = Buckets.of(DAY)
_SECONDS = 30.0  # for one answer
_SAMPLE = re.compile(r"^(?P<name>\w+)(?:\{(?P<labels>.*)\})? (?P<value>\S+)", re.MULTILINE)


class NoCollector(DeniableError):
    """The collector does not answer, or not as one."""


@dataclass(frozen=True)
class Administration:
    """Requests with the administrator's key, each on a connection of its own, again while the collector restarts."""

    address: Address
    key: Key
    patience: float = 10.0  # seconds in which a collector may come back
    name: str = field(default_factory=lambda: f"load-{secrets.token_hex(6)}")

    def make_collection(self, mechanism: Mechanism, now: float) -> tuple[bytes, list[Place]]:
        """Make the collection of this run; return its write key, and the places that reports are counted in."""
        settings = {
            "bucket": _BUCKETS.unit,
            "segments": [{"name": SEGMENT, "labels": list(LABELS)}],
            "minimum": 1,
            "body_bytes": 2**26,
            "requests_per_second": 1e6,
            "reports_per_second": 1e9,
        }
        spec = json.loads(mechanism.spec.to_json())
        made = self.json("POST", "/v1/collections", {"name": self.name, "spec": spec, "settings": settings})
        keys = {each["role"]: each["key"] for each in made["keys"]}
        today = _BUCKETS.at(now)
        places = [(hour, bytes([place])) for hour in (today, today - _BUCKETS.hours) for place in range(len(LABELS))]
        return Key.read(keys[WRITE]).secret, places

    def close_collection(self) -> None:
        """Let the collection take no more reports."""
        self.json("PATCH", f"/v1/collections/{self.name}", {"open": False})

    def counted(self, seconds: float) -> dict[str, Any]:
        """The status of the collection, as soon as no report waits to be counted."""
        end = time.monotonic() + seconds
        while True:
            found: dict[str, Any] = self.json("GET", f"/v1/collections/{self.name}")
            if not found["waiting"] or time.monotonic() > end:
                return found
            time.sleep(0.1)

    def summaries(self, places: list[Place]) -> dict[Place, Summary]:
        """What was counted in each place."""
        import pyarrow.parquet

        data = self.ask("GET", f"/v1/collections/{self.name}/summaries")
        table = SummaryTable.from_arrow(pyarrow.parquet.read_table(io.BytesIO(data)))
        assert table.by == ("bucket", SEGMENT), table.by
        names: dict[object, Place] = {(hour, LABELS[segments[0]]): (hour, segments) for hour, segments in places}
        found: dict[Place, Summary] = {}
        for group, summary in table.items():
            assert isinstance(summary, Summary)
            place = names.get(group, (-1, b""))  # where nothing was sent to, which is noticed
            found[place] = found[place] + summary if place in found else summary
        return found

    def metrics(self) -> dict[tuple[str, str], float]:
        """All counters and gauges, by name and by labels as they are written."""
        text = self.ask("GET", "/metrics").decode()
        return {(each["name"], each["labels"] or ""): float(each["value"]) for each in _SAMPLE.finditer(text)}

    def json(self, method: str, path: str, body: object = None) -> Any:
        """Ask for JSON."""
        data = b"" if body is None else json.dumps(body).encode()
        try:
            return json.loads(self.ask(method, path, data))
        except ValueError:
            raise NoCollector(f"{self.address.name}{path} does not answer with JSON: is it a collector?") from None

    def ask(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Ask, and refuse any answer but success."""
        end = time.monotonic() + self.patience
        while True:
            try:
                status, data = self._once(method, path, body)
            except (OSError, http.client.HTTPException) as error:
                if time.monotonic() > end:
                    raise NoCollector(f"no collector answers at {self.address.name}: {error}") from None
                time.sleep(0.1)
                continue
            if status < 300:
                return data
            if status not in (429, 503) or time.monotonic() > end:
                raise NoCollector(f"{method} {path}: {_reason(status, data)}")
            time.sleep(0.1)

    def _once(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection(self.address.ip, self.address.port, timeout=_SECONDS)
        try:
            headers = {"Authorization": f"Bearer {self.key.text}", "Content-Type": "application/json"}
            connection.request(method, path, body or None, {**headers, "Host": self.address.name})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def _reason(status: int, data: bytes) -> str:
    try:
        return str(json.loads(data)["error"])
    except (ValueError, KeyError, TypeError):
        return f"status {status}"
