"""Where the TypeScript client's randomness comes from, and that what it reads tells nothing of the answer."""

from __future__ import annotations

import random

import pytest

import deniable as dn
from deniable.randomness.keystream import Keystream
from tests.clients.settings import mechanisms
from tests.clients.typescript import FOLDER, TWINS, Client

GRR = dn.mechanism("grr", k=500, epsilon=0.5)


def test_every_report_has_a_key_of_its_own_from_the_operating_system(client: Client) -> None:
    values = list(range(40))
    (found,) = client.ask([{"do": "fresh", "spec": GRR.spec.to_json(), "values": values}])
    assert [len(bytes.fromhex(key)) for key in found["drawn"]] == [32] * len(values)
    assert len(set(found["drawn"])) == len(values)
    for value, key, sent in zip(values, found["drawn"], found["sent"], strict=True):
        (payload,) = GRR.payloads(GRR.domain.indices([value]), Keystream(bytes.fromhex(key)))
        assert GRR.decode(bytes.fromhex(sent)).payload == payload


@pytest.mark.parametrize("missing", ["nothing", "no cipher", "no source"])
@pytest.mark.parametrize("reading", [True, False])
def test_a_page_without_webcrypto_is_refused(missing: str, reading: bool, client: Client) -> None:
    task = {"do": "without", "spec": GRR.spec.to_json(), "value": 3, "missing": missing, "reading": reading}
    ((code, message),) = client.refusals([task])
    assert code == "crypto"
    assert message.startswith("WebCrypto is missing, so nothing can be sent.")


@pytest.mark.parametrize("name", TWINS)
def test_the_words_read_depend_on_no_value(name: str, client: Client, seed: int) -> None:
    source = random.Random(f"{name} {seed}")
    made = [m for m in mechanisms(name, 6, source) if m.domain.kind != "open"]
    tasks = [
        {
            "do": "reads",
            "spec": m.spec.to_json(),
            "words": source.randbytes(8 * m.stride).hex(),
            "indices": source.sample(range(m.k), min(m.k, 20)),
        }
        for m in made
    ]
    for m, counts in zip(made, client.ask(tasks), strict=True):
        assert len(set(counts)) == 1
        # a cohort of mss with a smaller set leaves words unread
        assert counts[0] == m.stride or name == "mss"


def test_no_source_of_randomness_but_webcrypto_is_named_in_the_code() -> None:
    files = sorted((FOLDER / "src").rglob("*.ts"))
    text = "\n".join(path.read_text() for path in files)
    assert "Math.random" not in text
    assert {path.parent.name for path in files if "Date" in path.read_text()} == {"client"}  # it sends later
    assert text.count("getRandomValues(") == 1
