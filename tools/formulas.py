"""Formulas of the documentation, from plain text, as the pages write them, to MathML, which browsers draw.

A formula is written as in an e-mail: `[q(1-q) + f(p-q)(1-p-q)] / (n(p-q)^2)`. Factors stand side by side;
`/` divides all factors before it by the one after it; `^` and `_` raise and lower the next factor; `f^` alone is an
estimate, f with a hat. Words of prose stay words. The sources stay readable where nothing renders them.
"""

from __future__ import annotations

import re
from html import escape
from typing import NamedTuple

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+(?:[.,]\d+)*)|(?P<word>[A-Za-z]+\d*'*)|(?P<sign><=|>=|->|\.\.\.?|\S))")
_GREEK = {"epsilon": "ε", "alpha": "α", "beta": "β", "gamma": "γ", "lambda": "λ", "theta": "θ", "mu": "μ", "pi": "π"}
_FUNCTIONS = {"log", "floor", "ceil", "max", "min", "sum", "Var", "Pr", "mod", "div", "conj", "exp"}
_LARGE = ("<mo>∑</mo>", "<mi>max</mi>")
_PROSE = {"to", "of", "at", "if", "by", "in", "is", "or", "as", "for"}
_NAMES = {"high", "low", "loss"}
_SIGNS = {"<=": "≤", ">=": "≥", "-": "−", "->": "→", "..": "…", "...": "…"}
_OPERATORS = set("+-=<>,;:|") | {"<=", ">=", "->", "..", "..."}
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_ROUNDED = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}


class Token(NamedTuple):
    """A number, a word or a sign, and whether a space stands before it."""

    kind: str
    text: str
    spaced: bool


class Node(NamedTuple):
    """A piece of MathML; `inner` is what its brackets hold, if it is a bracketed group and nothing else."""

    markup: str
    inner: str = ""


def mathml(formula: str, *, display: bool = True) -> str:
    """Return a formula as a `<math>` element."""
    style = ' displaystyle="true"' if display else ""
    row = Parser(formula).row().replace("&nbsp;</mtext><mtext>&nbsp;", "&nbsp;")  # one space between two words
    return f"<math{style}>{row}</math>"


class Parser:
    """Reads the tokens of a formula from left to right."""

    def __init__(self, formula: str) -> None:
        found = _TOKEN.finditer(formula.rstrip())
        self.tokens = [
            Token(match.lastgroup or "", match[match.lastgroup or 0], match[0][:1].isspace()) for match in found
        ]
        self.place = 0
        self.raised = 0  # within this many powers and indices, where a fraction would be too small to read

    def row(self, closing: str = "") -> str:
        """Read up to a closing bracket, or to the end."""
        done: list[str] = []
        run: list[Node] = []  # factors side by side
        while (token := self.peek()) is not None and token.text != closing:
            if token.text == "/" and not self.raised:
                self.place += 1
                run = [Node(f"<mfrac>{_row(run)}{_row([self.factor()])}</mfrac>")]
            elif token.text in _OPERATORS or token.text == "/":
                self.place += 1
                done += [*(node.markup for node in run), _sign(token.text)]
                run = []
            else:
                run.append(self.factor())
                if any(large in run[-1].markup for large in _LARGE):  # these are no part of a fraction that follows
                    done += [node.markup for node in run]
                    run = []
        return "".join([*done, *(node.markup for node in run)])

    def factor(self) -> Node:
        """Read one factor with its index and its power."""
        node = self.atom()
        lower = upper = ""
        while (token := self.peek()) is not None and token.text in "^_":
            self.place += 1
            self.raised += 1
            if token.text == "_":
                lower = _row([self.atom()])
            elif (after := self.peek()) is None or after.spaced:
                node = Node(f"<mover>{node.markup}<mo>^</mo></mover>")
            else:
                upper = _row([self.factor()])
            self.raised -= 1
        if lower and upper:
            return Node(f"<msubsup>{_row([node], keep=True)}{lower}{upper}</msubsup>")
        if lower or upper:
            tag = "msub" if lower else "msup"
            return Node(f"<{tag}>{_row([node], keep=True)}{lower or upper}</{tag}>")
        return node

    def atom(self) -> Node:
        """Read a number, a word, a bracketed group or a sign."""
        token = self.peek()
        if token is None:
            return Node("")
        self.place += 1
        if token.kind == "number":
            return Node(f"<mn>{token.text}</mn>")
        if token.text == "-":
            return Node(f"<mrow><mo>−</mo>{self.factor().markup}</mrow>")
        if token.text in _CLOSING:
            return self.group(token.text)
        return self.word(token.text) if token.kind == "word" else Node(_sign(token.text))

    def word(self, word: str) -> Node:
        """Read a name: a function, a letter, several letters that are multiplied, or a word of prose."""
        after = self.peek()
        if word in _ROUNDED and after is not None and after.text == "(":
            self.place += 1
            left, right = _ROUNDED[word]
            return Node(self.group("(", left, right).markup)
        if word == "log2":
            return Node('<msub><mi>log</mi><mn>2</mn></msub><mspace width="0.17em"/>')
        if word == "sum":
            return Node("<mo>∑</mo>")
        if word in _FUNCTIONS:
            return Node(f'<mi>{word}</mi><mspace width="0.17em"/>')
        if word in _GREEK:
            return Node(f"<mi>{_GREEK[word]}</mi>")
        letters = word.rstrip("'")
        primes = "′" * (len(word) - len(letters))
        if len(letters) == 1:
            return Node(f"<mi>{letters}{primes}</mi>")
        if word in _NAMES:
            return Node(f'<mi mathvariant="normal">{word}</mi>')
        if len(letters) == 2 and letters.isalpha() and word not in _PROSE:
            return Node("".join(f"<mi>{letter}</mi>" for letter in letters))  # kT is k times T
        return Node(f"<mtext>&nbsp;{word}&nbsp;</mtext>")

    def group(self, opening: str, left: str = "", right: str = "") -> Node:
        """Read what stands between brackets."""
        inner = self.row(_CLOSING[opening])
        self.place += 1
        mark = "<mo>" if "<mfrac>" in inner else '<mo stretchy="false">'
        brackets = f"{mark}{left or opening}</mo>{inner}{mark}{right or _CLOSING[opening]}</mo>"
        return Node(f"<mrow>{brackets}</mrow>", inner)

    def peek(self) -> Token | None:
        return self.tokens[self.place] if self.place < len(self.tokens) else None


def _row(nodes: list[Node], *, keep: bool = False) -> str:
    """One element for these nodes; a single group needs no brackets above or below a line or as an index."""
    if len(nodes) == 1 and nodes[0].inner and not keep:
        return f"<mrow>{nodes[0].inner}</mrow>"
    return f"<mrow>{''.join(node.markup for node in nodes)}</mrow>"


def _sign(text: str) -> str:
    return f"<mo>{escape(_SIGNS.get(text, text))}</mo>"
