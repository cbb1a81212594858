"""Formulas in plain text become MathML: fractions, powers, indices and words come out as they are meant."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tests.docs.pages import PAGES
from tools import mechanism_pages
from tools.formulas import mathml
from tools.site_hooks import formula_block, on_page_content, on_page_markdown


def drawn(formula: str) -> str:
    """The formula in one line, with brackets where MathML has structure."""
    return read(ET.fromstring(mathml(formula).replace("&nbsp;", " ")))


def read(node: ET.Element) -> str:
    parts = [read(child) for child in node]
    match node.tag:
        case "mfrac":
            return f"<{parts[0]}|{parts[1]}>"
        case "msup":
            return f"{parts[0]}^{{{parts[1]}}}"
        case "msub":
            return f"{parts[0]}_{{{parts[1]}}}"
        case "msubsup":
            return f"{parts[0]}_{{{parts[1]}}}^{{{parts[2]}}}"
        case "mover":
            return f"hat({parts[0]})"
    return (node.text or "") + "".join(parts)


@pytest.mark.parametrize(
    ("formula", "meant"),
    [
        ("1 + kT/(M - T) <= e^epsilon", "1+<kT|M−T>≤e^{ε}"),
        ("[q(1-q) + f(p-q)(1-p-q)] / (n(p-q)^2)", "<q(1−q)+f(p−q)(1−p−q)|n(p−q)^{2}>"),
        ("4 e^epsilon / (n(e^epsilon - 1)^2)", "<4e^{ε}|n(e^{ε}−1)^{2}>"),
        ("((M - t)/t)^2", "(<M−t|t>)^{2}"),
        ("s/(s - 1)^2 (m/(m - 1))^2", "<s|(s−1)^{2}>(<m|m−1>)^{2}"),
        ("ceil(log2(c K))", "⌈log_{2}(cK)⌉"),
        ("floor(M E / (E + 1))", "⌊<ME|E+1>⌋"),
        ("f^ = (C/n - q) / (p - q)", "hat(f)=<<C|n>−q|p−q>"),
        ("T_j(m_j - w_j)", "T_{j}(m_{j}−w_{j})"),
        ("b_(i+K) = e^(-epsilon theta/2)", "b_{i+K}=e^{−εθ/2}"),
        ("t = the least integer", "t= the least integer "),
        ("(1/l) sum p_j m_j/(k w_j)", "(<1|l>)∑<p_{j}m_{j}|kw_{j}>"),
        ("max W_(x,y)/W_(x',y)", "max<W_{x,y}|W_{x′,y}>"),
        ("x_j^2", "x_{j}^{2}"),
    ],
)
def test_a_formula_is_drawn_as_it_is_meant(formula: str, meant: str) -> None:
    assert drawn(formula) == meant


def test_a_block_has_a_row_per_formula_and_its_explanations() -> None:
    block = formula_block('p = T / M      the value < "x"\na = b,   c = d\n')
    assert block.count("<tr>") == 3
    assert "<td>the value &lt; &quot;x&quot;</td>" in block
    assert block.count("<td></td>") == 2
    assert "```" not in on_page_markdown("so\n\n```formula\np = 1\n```\n\nand")


def test_prose_gets_powers_and_indices_and_code_does_not() -> None:
    code = '<code>2^64 &lt;= e^epsilon</code><a title="2^64">x</a>'
    prose = "<p>2^64, (p-q)^2 and e^epsilon &lt;= T_j, rr_mle</p>"
    drawn = "<p>2<sup>64</sup>, (p-q)<sup>2</sup> and e<sup>ε</sup> ≤ T<sub>j</sub>, rr_mle</p>"
    assert on_page_content(prose + code) == drawn + code


def test_every_formula_of_the_pages_is_well_formed() -> None:
    blocks = [body for page in PAGES for body in re.findall(r"```formula\n(.*?)```", page.read_text(), re.DOTALL)]
    assert len(blocks) > 30
    for body in blocks:
        ET.fromstring(formula_block(body).replace("&nbsp;", " "))
    cells = re.findall(r'<code class="formula">(.*?)</code>', mechanism_pages.formulas() + mechanism_pages.costs())
    assert len(cells) > 40
    for cell in cells:
        ET.fromstring(on_page_content(f'<p><code class="formula">{cell}</code></p>').replace("&nbsp;", " "))
