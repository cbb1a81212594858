"""What mkdocs does beyond Markdown: it draws formulas as MathML when the site is built, so that no script has to.

A block in the language `formula` has one formula per line, with its explanation after two or more spaces. Within a
line of text a formula is `<code class="formula">`, as the derived tables write it.
"""

from __future__ import annotations

import re
from html import escape, unescape
from typing import Any

from tools.formulas import mathml

_BLOCK = re.compile(r"^(?P<indent> *)```formula\n(?P<body>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_SEVERAL = re.compile(r"[,;]\s{2,}|\n\s*(?=\n|$)")  # between the formulas of one line; empty lines
_GAP = re.compile(r"(?<![,;+=\s])\s{2,}(?![+=\s])")  # not within a formula that goes on
_POWER = re.compile(r"((?<![\w^])(?:\w|\d+)|\))\^(-?\d+|epsilon|[a-z]\b|\(epsilon/2\))")
_INDEX = re.compile(r"(?<![\w_])([A-Za-z])_(\w|\([^()]*\))(?![\w_])")
_TEXT = re.compile(r"<(code|pre|math|script|style)\b.*?</\1>|<[^>]*>|(?P<prose>[^<]+)", re.DOTALL)
_INLINE = re.compile(r'<code class="formula">(.*?)</code>', re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace blocks of formulas by tables: the formula, and what it is."""
    return _BLOCK.sub(lambda found: found["indent"] + formula_block(found["body"]), markdown)


def on_page_content(html: str, **_: Any) -> str:
    """Replace the formulas of a line of text, then powers, indices and inequalities in prose."""
    drawn = _INLINE.sub(lambda found: mathml(unescape(found[1])), html)
    return _TEXT.sub(lambda found: _prose(found["prose"]) if found["prose"] else found[0], drawn)


def _prose(text: str) -> str:
    lowered = _INDEX.sub(lambda found: f"{found[1]}<sub>{found[2].strip('()')}</sub>", text)
    raised = _POWER.sub(lambda found: f"{found[1]}<sup>{found[2].strip('()').replace('epsilon', 'ε')}</sup>", lowered)
    return raised.replace("&lt;=", "≤").replace("&gt;=", "≥")


def formula_block(body: str) -> str:
    """Return the table of a block, in one line."""
    rows = []
    for line in _SEVERAL.sub("\n", body).splitlines():
        formula, *said = _GAP.split(line.strip(), maxsplit=1)
        rows.append(f"<tr><td>{mathml(formula)}</td><td>{escape(''.join(said))}</td></tr>")
    return f'<div class="formulas"><table class="formulas" role="presentation">{"".join(rows)}</table></div>'
