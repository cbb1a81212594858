"""One page for all papers: each figure redrawn beside the claims, verdicts, their confidence, and the command."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from deniable._version import __version__
from papers.frame.cache import Cache, CacheError
from papers.frame.drawing import png
from papers.frame.experiment import FAILS, HOLDS, IN_PART, NOT_RUN, Claim, Experiment, Picture, Verdict
from papers.frame.judging import NOTHING
from papers.frame.library import PAPERS
from papers.frame.rows import Rows
from papers.frame.runner import results

_COLOURS = {HOLDS: "#15803d", IN_PART: "#b45309", FAILS: "#b91c1c", NOT_RUN: "#64748b"}
_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#1e293b}
h1,h2,h3{line-height:1.2}section{border-top:1px solid #cbd5e1;margin:1.5rem 0;padding-top:.5rem}
img{max-width:100%}code{background:#f1f5f9;padding:.1rem .3rem}.verdict{color:#fff;border-radius:.3rem;padding:0 .45rem}
table{border-collapse:collapse}td,th{padding:.15rem .6rem;text-align:left;border-bottom:1px solid #e2e8f0}
.note{color:#475569}
"""


@dataclass(frozen=True)
class Judged:
    """An experiment with its results and the verdicts on its claims."""

    experiment: Experiment
    rows: Rows
    verdicts: tuple[tuple[Claim, Verdict], ...]

    @property
    def kind(self) -> str:
        """The worst of its verdicts."""
        order = (FAILS, IN_PART, NOT_RUN, HOLDS)
        return min((verdict.kind for _, verdict in self.verdicts), key=order.index, default=NOT_RUN)


def judged(experiment: Experiment, cache: Cache, *, full: bool = False) -> Judged:
    """Judge an experiment on its results on disk."""
    rows = results(experiment, cache, full=full)
    if not rows:
        return Judged(experiment, rows, tuple((claim, NOTHING) for claim in experiment.claims))
    return Judged(experiment, rows, tuple(experiment.judged(rows)))


def write(
    entries: Sequence[Judged], folder: Path, *, full: bool = False, progress: Callable[[Experiment], None] | None = None
) -> Path:
    """Write index.html, and the PNG and CSV of every experiment, into a folder; return the path of the page.

    Every file gets its name only when it is complete.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(f"{folder}: {error.strerror}") from None
    sections = []
    for entry in entries:
        if progress is not None:
            progress(entry.experiment)
        sections.append(_section(entry, folder, full=full))
    page = folder / "index.html"
    _replace(page, _page(entries, sections).encode())
    return page


def _section(entry: Judged, folder: Path, *, full: bool) -> str:
    experiment, rows = entry.experiment, entry.rows
    images = []
    if rows:
        stem = f"{experiment.paper}-{experiment.name}"
        _replace(folder / f"{stem}.csv", rows.to_csv().encode())
        for number, picture in enumerate(_pictures(experiment)):
            data = png(experiment, picture, rows)
            _replace(folder / f"{stem}{f'-{number + 1}' if number else ''}.png", data)
            source = base64.b64encode(data).decode()
            images.append(f'<img alt="{escape(experiment.title)}" src="data:image/png;base64,{source}">')
    claims = "".join(_claim(claim, verdict) for claim, verdict in entry.verdicts)
    note = f'<p class="note">{escape(experiment.note)}</p>' if experiment.note else ""
    command = f"python -m papers run {experiment.id}{' --full' if full else ''}"
    return (
        f'<section id="{escape(experiment.id)}"><h3>{escape(experiment.title)}</h3><ul>{claims}</ul>'
        f"{''.join(images)}{note}<p><code>{escape(command)}</code></p></section>"
    )


def _claim(claim: Claim, verdict: Verdict) -> str:
    where = f" ({escape(claim.where)})" if claim.where else ""
    sure = f" <small>{escape(verdict.confidence)}</small>" if verdict.confidence else ""
    return f"<li>{escape(claim.text)}{where}: {_mark(verdict.kind)} {escape(verdict.numbers)}.{sure}</li>"


def _mark(kind: str) -> str:
    return f'<span class="verdict" style="background:{_COLOURS[kind]}">{escape(kind)}</span>'


def _page(entries: Sequence[Judged], sections: Iterable[str]) -> str:
    by_paper: dict[str, list[str]] = {}
    for entry, section in zip(entries, sections, strict=True):
        by_paper.setdefault(entry.experiment.paper, []).append(section)
    rows = "".join(
        f'<tr><td>{escape(e.experiment.paper)}</td><td><a href="#{escape(e.experiment.id)}">'
        f"{escape(e.experiment.title)}</a></td><td>{_mark(e.kind)}</td></tr>"
        for e in entries
    )
    titles = {paper.name: paper.title for paper in PAPERS}
    parts = [f"<h2>{escape(titles.get(name, name))}</h2>{''.join(found)}" for name, found in by_paper.items()]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Published results, redrawn</title>'
        f"<style>{_STYLE}</style><h1>Published results, redrawn</h1>"
        f"<p>Made by deniable {escape(__version__)}: every figure and table from its own code, a verdict on each "
        "claim, and the command that redraws it.</p>"
        f"<table><tr><th>paper</th><th>figure</th><th>verdict</th></tr>{rows}</table>{''.join(parts)}</html>\n"
    )


def _pictures(experiment: Experiment) -> tuple[Picture, ...]:
    return experiment.picture if isinstance(experiment.picture, tuple) else (experiment.picture,)


def _replace(path: Path, data: bytes) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(data)
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise CacheError(f"{path}: {error.strerror}") from None
