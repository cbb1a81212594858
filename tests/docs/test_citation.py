"""The citation file and the security policy agree with the package and name only what exists."""

from __future__ import annotations

import re

import yaml

import deniable as dn
from tests import ROOT


def test_the_citation_names_this_version() -> None:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(found["version"]) == dn.__version__
    assert {"cff-version", "message", "title", "authors", "license"} <= set(found)


def test_the_security_policy_names_no_address_that_we_do_not_have() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    assert not re.search(r"\S+@\S+|https?://", text)
    assert "private security advisories" in text
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert (ROOT / link).exists(), link
