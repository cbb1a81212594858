"""The test suite; it mirrors the tree of src/deniable."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The suite runs one process per core. Threads of the linear algebra would fight over the same cores, and spin while
# they wait: twice the work for the same numbers. It reads these before NumPy is imported, which is after this file.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")
