"""Execute docs/notebooks/first-look.ipynb and store its outputs.

Run from the project's root: `python docs/make_notebook.py`. Seeds are fixed, so that the tests can compare.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "notebooks" / "first-look.ipynb"


def executed(path: Path = NOTEBOOK) -> Any:
    """Return the notebook with fresh outputs, and without anything that differs from run to run."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3", record_timing=False).execute()
    notebook.metadata = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            output.pop("metadata", None) if output.output_type == "stream" else output.update(metadata={})
    return notebook


def main() -> None:
    """Execute the notebook in place."""
    nbformat.write(executed(), NOTEBOOK)


if __name__ == "__main__":
    main()
