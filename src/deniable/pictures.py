"""Pictures of estimates: matplotlib for files, altair for a page that needs nothing from the network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import InvalidArgument, MissingExtra

if TYPE_CHECKING:
    from deniable.estimate import Estimate

_STATIC = (".png", ".svg", ".pdf")
_INK = "#1f4e79"


def draw_estimate(estimate: Estimate, path: str | Path | None, *, top: int, level: float, ax: Any = None) -> Any:
    """The most frequent values as dots with their intervals; see Estimate.plot."""
    suffix = Path(path).suffix.lower() if path is not None else ""
    if path is not None and suffix not in (*_STATIC, ".html"):
        raise InvalidArgument("path", f"end in {', '.join(_STATIC)} or .html", str(path))
    rows = estimate.top(top, level)
    title = f"{estimate.method} from {estimate.n:,} reports, {level:.0%} intervals"
    if path is not None and suffix == ".html":
        return save_page(interval_chart(rows, title), path)
    if ax is None:
        ax = new_axes(height=1.2 + 0.26 * len(rows))
    places = range(len(rows))
    middle = [100 * row.frequency for row in rows]
    below = [100 * (row.frequency - row.low) for row in rows]
    above = [100 * (row.high - row.frequency) for row in rows]
    ax.errorbar(middle, places, xerr=[[max(0, x) for x in below], [max(0, x) for x in above]], fmt="o", color=_INK)
    ax.set_yticks(list(places), [str(row.label) for row in rows])
    ax.invert_yaxis()
    ax.set_xlabel("frequency, %")
    ax.set_title(title, loc="left")
    ax.grid(axis="x", alpha=0.3)
    if path is not None:
        ax.figure.savefig(path, dpi=150, bbox_inches="tight")
    return ax


def new_axes(width: float = 8.0, height: float = 6.0) -> Any:
    """Axes on a figure of their own, drawn without a screen."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("drawing a picture", "deniable[plots]") from None
    return Figure(figsize=(width, height), layout="constrained").add_subplot()


def interval_chart(rows: list[Any], title: str) -> Any:
    """An altair chart of rows: dots, intervals, and numbers under the pointer."""
    altair = load_altair()
    data = [{**row._asdict(), "label": str(row.label)} for row in rows]
    base = altair.Chart(altair.InlineData(values=data), title=title, width=560)
    where = altair.Y("label:N", sort=[entry["label"] for entry in data], title=None)
    shown = [altair.Tooltip("label:N"), *(altair.Tooltip(f"{c}:Q", format=".4%") for c in ("frequency", "low", "high"))]
    bars = base.mark_rule(color=_INK).encode(
        y=where, x=altair.X("low:Q", title="frequency", axis=altair.Axis(format="%")), x2="high:Q", tooltip=shown
    )
    return bars + base.mark_circle(color=_INK, size=60, opacity=1).encode(y=where, x="frequency:Q", tooltip=shown)


def load_altair() -> Any:
    """altair and what it needs to write a self-contained page."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtra("drawing a page", "deniable[plots]") from None
    return alt


def save_page(chart: Any, path: str | Path) -> Any:
    """Write a chart as one HTML file with everything inside."""
    chart.save(str(path), format="html", inline=True)
    return chart
