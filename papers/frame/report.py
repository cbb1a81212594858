"""One page for all papers: each figure redrawn beside the claims, verdicts, their confidence, and the command."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from papers.frame.cache import CacheError
from papers.frame.drawing import svg
from papers.frame.experiment import NOT_RUN, VERDICTS, Experiment, Heat, Lines, Scatter, Table
from papers.frame.heat import heat_svg
from papers.frame.library import PAPERS, Paper
from papers.frame.page_style import STYLE
from papers.frame.record import Judged, Record, counts, file_name, in_words, pictures, record, text_of
from papers.frame.rows import Rows
from papers.frame.styles import known

_GRIDS = {"quick": "reduced", "full": "papers’ own"}
_FIGURES = "figures"  # the folder of pictures beside the page


def write(
    entries: Sequence[Judged],
    folder: Path,
    *,
    full: bool = False,
    page_name: str = "index.html",
    tables: bool = True,
    progress: Callable[[Experiment], None] | None = None,
) -> Path:
    """Write the page, the verdicts, and the SVG and CSV files of every experiment into a folder; return the page.

    Every file gets its name only when it is complete.
    """
    try:
        (folder / _FIGURES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(f"{folder}: {error.strerror}") from None
    for entry in entries:
        if progress is not None:
            progress(entry.experiment)
        if entry.rows:
            _draw(entry, folder, tables=tables)
    found = record(entries, full=full)
    _replace(folder / "verdicts.json", text_of(found))
    path = folder / page_name
    _replace(path, page(found))
    return path


def _draw(entry: Judged, folder: Path, *, tables: bool) -> None:
    experiment = entry.experiment
    if tables:
        _replace(folder / f"{experiment.paper}-{experiment.name}.csv", entry.rows.to_csv())
    for number, picture in enumerate(pictures(experiment)):
        if not isinstance(picture, Table):
            text = drawn(picture, entry.rows, experiment.title)
            _replace(folder / _FIGURES / file_name(experiment, number), text)


def drawn(picture: Lines | Scatter | Heat, rows: Rows, title: str = "") -> str:
    """Draw a picture as SVG."""
    return heat_svg(picture, rows, title) if isinstance(picture, Heat) else svg(picture, rows, title)


def page(found: Record) -> str:
    """Return the page of a record; its pictures are files beside it."""
    experiments = found["experiments"]
    papers = [(paper, [each for each in experiments if each["paper"] == paper.name]) for paper in _papers(experiments)]
    links = "".join(_navigation(paper, own) for paper, own in papers)
    body = "".join(_paper(paper, own) for paper, own in papers)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Published results, redrawn</title><style>{STYLE}</style></head><body>\n"
        f'<nav><a class="home" href="#top">Published results</a>{links}</nav>\n<main id="top">'
        "<h1>Published results, redrawn</h1>"
        f"<p>Every figure and table of {len(papers)} papers, measured again with deniable {escape(found['version'])} "
        f"on the {_GRIDS[found['grid']]} grid, with a verdict on each claim. {escape(in_words(experiments))}.</p>"
        f"{_KEY}{_filter()}{_summary(papers)}{body}</main></body></html>\n"
    )


def _papers(experiments: Sequence[Record]) -> list[Paper]:
    """The papers of these experiments; one that is not in the library has no title but its name."""
    known = {paper.name: paper for paper in PAPERS}
    names = dict.fromkeys(each["paper"] for each in experiments)
    return [known.get(name, Paper(name, name, "", "")) for name in names]


_KEY = (
    "<details><summary>What the verdicts mean</summary><dl>"
    "<dt>holds</dt><dd>A test speaks for the claim in every setting, or an exact computation confirms it.</dd>"
    "<dt>holds in part</dt><dd>True in most settings that speak, false in some.</dd>"
    "<dt>not decided</dt><dd>No setting speaks against the claim, and some do not speak: more runs could tell.</dd>"
    "<dt>printed slip</dt><dd>A formula or a sentence is misprinted; the corrected form is given.</dd>"
    "<dt>contradicted</dt><dd>Most settings that speak, or an exact computation, speak against the claim.</dd></dl>"
    "<p>Comparisons are tested setting by setting. A false claim is said to hold, or a true one to be false somewhere, "
    "with a chance of at most 1%. The power of a verdict is the smallest difference that would have been seen with a "
    "probability of 90%.</p></details>"
)


def _filter() -> str:
    """Buttons that show some verdicts only, without a script."""
    kinds = ["all", *(kind for kind in VERDICTS if kind != NOT_RUN)]
    button = '<label><input type="radio" name="show" id="show-{}"{}>{}</label>'
    buttons = "".join(button.format(_class(kind), " checked" if kind == "all" else "", kind) for kind in kinds)
    return f'<form class="show">Show figures with this verdict: {buttons}</form>'


def _navigation(paper: Paper, experiments: Sequence[Record]) -> str:
    links = "".join(
        f'<li><a href="#{each["id"]}">{escape(_short_title(each["title"]))}</a></li>' for each in experiments
    )
    return f'<details open><summary><a href="#{paper.name}">{paper.name}</a></summary><ul>{links}</ul></details>'


def _short_title(title: str) -> str:
    return title.partition(":")[0]


def _summary(papers: Sequence[tuple[Paper, list[Record]]]) -> str:
    kinds = [kind for kind in VERDICTS if kind != NOT_RUN]
    heading = "".join(f"<th>{kind}</th>" for kind in kinds)
    lines = []
    for paper, own in papers:
        tally = counts(own)
        numbers = "".join(f"<td>{tally[kind] or ''}</td>" for kind in kinds)
        lines.append(f'<tr><td><a href="#{paper.name}">{escape(paper.title)}</a></td>{numbers}</tr>')
    return f'<div class="wide"><table class="sum"><tr><th>paper</th>{heading}</tr>{"".join(lines)}</table></div>'


def _paper(paper: Paper, experiments: Sequence[Record]) -> str:
    cited = (
        f'<p class="note">{escape(paper.authors)} <a href="{paper.url}">{escape(paper.url)}</a></p>'
        if paper.url
        else ""
    )
    sections = "".join(map(_section, experiments))
    return f'\n<h2 id="{paper.name}">{escape(paper.title)}</h2>{cited}<p>{escape(in_words(experiments))}.</p>{sections}'


def _section(experiment: Record) -> str:
    kinds = " ".join(dict.fromkeys(_class(claim["kind"]) for claim in experiment["claims"]))
    claims = "".join(map(_claim, experiment["claims"]))
    shown = "".join(_shown(each, experiment["title"]) for each in experiment["pictures"])
    stand_ins = "; ".join(experiment["stand-ins"])
    data = f'<p class="note"><b>Other data than the paper’s.</b> {escape(stand_ins)}.</p>' if stand_ins else ""
    note = f'<p class="note">{escape(experiment["note"])}</p>' if experiment["note"] else ""
    return (
        f'\n<section id="{experiment["id"]}" class="{kinds}"><h3>{escape(experiment["title"])}</h3>'
        f'<p class="tally">{escape(in_words([experiment]))}</p><ul class="claims">{claims}</ul>{shown}{data}{note}'
        f"<p><code>{escape(experiment['command'])}</code></p></section>"
    )


def _claim(claim: Record) -> str:
    where = f' <span class="where">{escape(claim["where"])}</span>' if claim["where"] else ""
    slip = (
        f"<p>In print it should read: {escape(claim['slip'])}.</p>"
        if claim["slip"] and claim["kind"] == "printed slip"
        else ""
    )
    sure = claim["power"] or claim["confidence"]  # of a comparison, how sure it is stands at the top of the page
    small = f"<small>{escape(_sentence(sure))}</small>" if sure else ""
    return (
        f'<li><span class="verdict {_class(claim["kind"])}">{escape(claim["kind"])}</span> '
        f"<b>{escape(_sentence(claim['text']))}</b>{where}<p>{escape(_sentence(claim['numbers']))}</p>{slip}{small}</li>"
    )


def _sentence(text: str) -> str:
    """The text with a capital letter and a full stop, unless it begins with a symbol or the name of a method."""
    first = text.partition(" ")[0].rstrip(",:;")
    plain = first == "a" or (len(first) > 1 and first.isalpha() and first.islower() and not known(first))
    begun = text[:1].upper() + text[1:] if plain else text
    return begun if begun.endswith(".") or not begun else f"{begun}."


def _shown(picture: Record, title: str) -> str:
    if "file" in picture:
        caption = f"<figcaption>{escape(picture['caption'])}</figcaption>" if picture["caption"] else ""
        source = f"{_FIGURES}/{picture['file']}"
        image = f'<img loading="lazy" src="{source}" alt="{escape(title)}">'
        return f'<figure><a href="{source}">{image}</a>{caption}</figure>'
    heading = "".join(f"<th>{escape(each)}</th>" for each in picture["heading"])
    body = "".join("<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>" for row in picture["body"])
    return f'<div class="wide"><table><tr>{heading}</tr>{body}</table></div>'


def _class(kind: str) -> str:
    return kind.replace(" ", "-")


def _replace(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(text, "utf-8")
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise CacheError(f"{path}: {error.strerror}") from None
