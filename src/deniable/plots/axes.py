"""Axes that show themselves in a notebook, once, and open no window elsewhere.

Where a notebook draws through pyplot ("inline"), the figure is made by pyplot, which shows it at the end of the cell,
also in the middle of a cell and after a semicolon. Everywhere else pyplot is left alone, since it may open windows;
the axes are then shown as a picture when they are the value of a cell.
"""

from __future__ import annotations

import io
import sys
from typing import Any

from matplotlib import get_backend
from matplotlib.axes import Axes

from deniable.plots.estimates import new_figure

_DPI = 100


class ShownAxes(Axes):
    """Matplotlib axes that a notebook shows as their figure."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.figure.canvas.print_figure(picture, format="png", dpi=_DPI)
        return picture.getvalue()

    def _ipython_display_(self) -> None:
        from IPython.display import display

        if not _shown_by_pyplot(self.figure):
            display({"image/png": self._repr_png_(), "text/plain": repr(self)}, raw=True)


def shown_axes(width: float, height: float) -> Any:
    """Return empty axes in a figure of their own."""
    if _in_notebook() and "inline" in get_backend():
        from matplotlib import pyplot as plt

        return plt.figure(figsize=(width, height), layout="constrained").add_subplot(axes_class=ShownAxes)
    return new_figure(width, height).add_subplot(axes_class=ShownAxes)


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this: then there is a `kernel`, which a shell in a terminal has not."""
    loaded: Any = sys.modules.get("IPython")
    shell = loaded.get_ipython() if loaded is not None else None
    return getattr(shell, "kernel", None) is not None


def _shown_by_pyplot(figure: Any) -> bool:
    """Whether pyplot still has the figure, and so shows it when the cell ends."""
    plt: Any = sys.modules.get("matplotlib.pyplot")
    number = getattr(figure, "number", None)
    return plt is not None and number is not None and plt.fignum_exists(number)
