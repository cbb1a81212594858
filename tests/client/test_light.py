"""A device loads nothing but numpy, cryptography and rfc8785, and a script of ten lines is enough."""

from __future__ import annotations

import json
from pathlib import Path

from tests.client.collector import Collector
from tests.test_device import DEVICE, run

PROGRAM = """
given = json.load(sys.stdin)
from deniable.client import Client, Gateway

client = Client(given["url"], given["key"], "commute", store=given["store"], delay=0)
client.consent(True)
print(client.answer("walk").sentence)
client.send()
print(client.entry().sentence)
client.explain()
client.composed(1e-6)
client.forget()
Gateway(given["url"], store=given["store"] + ".gateway").status()
print(*sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)))
"""


def test_a_device_answers_sends_explains_and_forgets_with_three_packages(collector: Collector, store: Path) -> None:
    given = {"url": collector.url, "key": collector.key.text, "store": str(store)}
    kept, sent, loaded = run(PROGRAM, stdin=json.dumps(given)).splitlines()
    assert kept == "Your answer is kept on this device and will be sent later."
    assert sent == "Your answer has been delivered."
    own = {"deniable", "_cffi_backend", "_openssl", "_distutils_hack", "__main__", "__mp_main__"}
    assert set(loaded.split()) <= DEVICE | own
    assert len(collector.deleted) == 1
