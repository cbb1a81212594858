"""Print a spec of every mechanism, one a line, for clients/typescript/scripts/speed.mjs: 22,000 values where it can."""

from __future__ import annotations

import deniable as dn

VALUES, EPSILON = 22_000, 2.0
SMALL = {  # whose parameters grow with the values
    "design": {"k": 7, "blocks": [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]},
    "matrix": {"k": 3, "matrix": [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5]]},
}

if __name__ == "__main__":
    for name in dn.list_mechanisms():
        print(dn.mechanism(name, **{"epsilon": EPSILON, "k": VALUES, **SMALL.get(name, {})}).spec.to_json())
