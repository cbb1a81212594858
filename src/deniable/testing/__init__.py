"""The contract of a mechanism, for classes from outside the package: `check_mechanism`.

It needs `deniable[server]`, and no test framework.
"""

from __future__ import annotations

from deniable.testing.contract import Checked, ContractBroken, check_mechanism
from deniable.testing.traits import Traits

__all__ = ["Checked", "ContractBroken", "Traits", "check_mechanism"]
