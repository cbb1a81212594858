"""Pictures of estimates: matplotlib for files, altair for a page that works offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deniable.core.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from deniable.core.estimate import Estimate, Row

STATIC = (".png", ".svg", ".pdf")
INK = "#1f4e79"
MISS = "#c2410c"
_TRUTH = "#cbd5e1"
DPI = 150


class Panel(NamedTuple):
    """One estimate beside the true frequencies, one per row and in the same order."""

    heading: str
    truth: Sequence[float]
    rows: Sequence[Row]


def draw_estimate(
    estimate: Estimate, path: str | Path | None, *, top: int, level: float, simultaneous: bool = True, ax: Any = None
) -> Any:
    """Draw the most frequent values as dots with their intervals; see Estimate.plot."""
    if path is not None:
        check_suffix(path)  # fail before the work
    rows = estimate.top(top, level, simultaneous=simultaneous)
    together = ", all at once" if simultaneous else ""
    title = f"{estimate.method} from {estimate.n:,} reports, {100 * level:g}% intervals{together}"
    return draw_rows(rows, path, title, ax)


def draw_rows(rows: Sequence[Any], path: str | Path | None, title: str, ax: Any = None) -> Any:
    """Draw values as dots with their intervals; return axes, and write a picture or a page if there is a path."""
    if path is not None:
        check_suffix(path)
        if Path(path).suffix.lower() == ".html":
            return save_page(interval_chart(rows, title), path)
    if ax is None:
        ax = new_axes(8.0, 1.2 + 0.26 * len(rows))
    _intervals(ax, rows, range(len(rows)), INK)
    ax.set_yticks(range(len(rows)), [_plain(row.label) for row in rows])
    ax.invert_yaxis()
    _frame(ax, title)
    if path is not None:
        ax.figure.savefig(path, dpi=DPI, bbox_inches="tight")
    return ax


def draw_comparison(panels: Sequence[Panel], path: str | Path, *, title: str) -> None:
    """Draw one panel per estimate: truth as bars, estimates as dots with intervals, misses in another colour."""
    count = len(panels[0].rows)
    figure = new_figure(2.6 + 3.1 * len(panels), 1.6 + 0.19 * count)
    for ax, panel in zip(
        figure.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0], panels, strict=True
    ):
        ax.barh(range(count), [100 * share for share in panel.truth], height=0.8, color=_TRUTH, label="truth")
        missed = [not row.low <= share <= row.high for row, share in zip(panel.rows, panel.truth, strict=True)]
        for miss, colour, meaning in ((False, INK, "interval contains the truth"), (True, MISS, "interval misses it")):
            places = [place for place in range(count) if missed[place] is miss]
            label = f"{meaning}: {len(places)}"
            _intervals(ax, [panel.rows[place] for place in places], places, colour, markersize=3.5, label=label)
        _frame(ax, panel.heading)
        ax.legend(loc="lower right", frameon=False, fontsize=8)
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, -0.02 * high), high)  # dots at 0 clear of the frame
    ax.set_ylim(count - 0.4, -0.6)
    figure.axes[0].set_yticks(range(count), [_plain(row.label) for row in panels[0].rows], fontsize=8)
    figure.suptitle(title, x=0.01, ha="left")
    figure.savefig(path, dpi=DPI)


def _intervals(ax: Any, rows: Sequence[Row], places: Sequence[int], colour: str, **style: Any) -> None:
    """Draw dots with intervals, in percent. An estimate outside its interval by rounding has no arm on that side."""
    middle = [100 * row.frequency for row in rows]
    below = [100 * max(0.0, row.frequency - row.low) for row in rows]
    above = [100 * max(0.0, row.high - row.frequency) for row in rows]
    ax.errorbar(middle, places, xerr=[below, above], fmt="o", color=colour, **style)


def _frame(ax: Any, title: str) -> None:
    ax.set_title(title, loc="left")
    ax.set_xlabel("frequency, %")
    ax.grid(axis="x", alpha=0.3)


def interval_chart(rows: Sequence[Row], title: str) -> Any:
    """Return an altair chart of rows: dots, intervals, and numbers in tooltips."""
    altair = load_altair()
    data = [{**row._asdict(), "label": _harmless(row.label)} for row in rows]
    base = altair.Chart(altair.InlineData(values=data), title=title, width=560)
    return altair.layer(
        *_interval_marks(altair, base, [entry["label"] for entry in data], altair.value(INK), altair.Scale())
    )


def comparison_page(entries: list[dict[str, Any]], path: str | Path, *, title: str, subtitle: list[str]) -> None:
    """Write a page with a choice of epsilon and method; entries are rows with epsilon, method, truth and covered."""
    altair = load_altair()
    chosen = []
    base = altair.Chart(
        altair.InlineData(values=entries), title=altair.TitleParams(title, subtitle=subtitle, anchor="start"), width=640
    )
    for name in ("epsilon", "method"):
        options = list(dict.fromkeys(entry[name] for entry in entries))
        preferred = options[min(1, len(options) - 1)] if name == "epsilon" else options[0]
        parameter = altair.param(
            f"chosen_{name}", value=preferred, bind=altair.binding_select(options=options, name=f"{name}  ")
        )
        base = base.transform_filter(altair.datum[name] == parameter)
        chosen.append(parameter)
    labels = list(dict.fromkeys(entry["label"] for entry in entries))
    truth = base.mark_bar(color=_TRUTH).encode(y=_by_label(altair, labels), x=altair.X("truth:Q"))
    colour = altair.Color(
        "covered:N",
        scale=altair.Scale(domain=[True, False], range=[INK, MISS]),
        legend=altair.Legend(title="interval contains the truth", orient="top"),
    )
    ends = [entry[end] for entry in entries for end in ("truth", "low", "high")]
    scale = altair.Scale(domain=[min(0.0, *ends), max(ends)])  # the same for every choice, to make them comparable
    marks = _interval_marks(altair, base, labels, colour, scale, more=["truth"])
    save_page(altair.layer(truth, *marks).add_params(*chosen), path)


def _interval_marks(
    altair: Any, base: Any, labels: list[str], colour: Any, scale: Any, more: Sequence[str] = ()
) -> tuple[Any, Any]:
    """Return rules from low to high and dots at the frequency, with all numbers in tooltips."""
    numbers = (*more, "frequency", "low", "high", "std_error")
    shown = [altair.Tooltip("label:N"), *(altair.Tooltip(f"{name}:Q", format=".4%") for name in numbers)]
    where = _by_label(altair, labels)
    span = altair.X("low:Q", title="frequency", axis=altair.Axis(format="%"), scale=scale)
    bars = base.mark_rule().encode(y=where, x=span, x2="high:Q", tooltip=shown, color=colour)
    dots = base.mark_circle(size=60, opacity=1).encode(y=where, x="frequency:Q", tooltip=shown, color=colour)
    return bars, dots


def _by_label(altair: Any, labels: list[str]) -> Any:
    return altair.Y("label:N", sort=labels, title=None, axis=altair.Axis(labelLimit=240))


def _plain(label: object) -> str:
    """Return a label as plain text: a dollar sign does not begin a formula."""
    return str(label).replace("$", r"\$")


def _harmless(label: object) -> str:
    """Return a label that cannot end the page's script: a zero-width space breaks up any tag."""
    return str(label).replace("<", "<\u200b")


def check_suffix(path: str | Path, known: Sequence[str] = (*STATIC, ".html")) -> None:
    """Refuse a file name whose ending is not a known kind of picture."""
    if Path(path).suffix.lower() not in known:
        raise InvalidArgument("path", f"end in {', '.join(known[:-1])} or {known[-1]}", str(path))


def check_installed() -> None:
    """Raise MissingExtra now rather than after the work, if pictures cannot be drawn."""
    new_figure(1.0, 1.0)
    load_altair()


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure, which needs no screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "deniable[plots]") from None
    return Figure(figsize=(width, height), layout="constrained")


def new_axes(width: float, height: float) -> Any:
    """Return empty axes that show themselves in a notebook."""
    try:
        from deniable.plots.axes import shown_axes
    except ImportError:
        raise MissingExtra("drawing a picture", "deniable[plots]") from None
    return shown_axes(width, height)


def load_altair() -> Any:
    """Import altair, and check that it can write a self-contained page."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtra("drawing a page", "deniable[plots]") from None
    return alt


def save_page(chart: Any, path: str | Path) -> Any:
    """Write a chart as one self-contained HTML file."""
    chart.save(str(path), format="html", inline=True)
    return chart
