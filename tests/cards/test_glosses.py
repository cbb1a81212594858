"""Every estimation method has a line that says what it does, and no other has."""

from __future__ import annotations

import deniable as dn
from deniable.core.glosses import METHODS
from deniable.mechanisms.base.server import KEPT
from deniable.mechanisms.registry import open_mechanisms
from tests.contract import cases


def test_every_method_has_a_gloss_and_every_gloss_a_method() -> None:
    known = {KEPT}
    for name in dn.list_mechanisms():
        known.update(cases.of(name).one().methods)
    for name in open_mechanisms():
        known.update(dn.mechanism(name, domain=dn.Domain.open(), epsilon=2.0, candidates=100).methods)
    assert set(METHODS) == known


def test_a_gloss_is_one_sentence_that_follows_a_colon() -> None:
    for text in METHODS.values():
        assert text.endswith(".")
        assert text[0].islower()
        assert len(text) < 110
