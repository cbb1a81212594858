"""A device in Python: it answers once, keeps a ledger of what it has spent, and sends what it must.

What a device loads is light: numpy, cryptography and rfc8785, beside the standard library.
"""

from deniable.client.device import Client
from deniable.client.entries import Entry
from deniable.client.errors import CapReached, ConsentMissing, StoreFailed, Unreachable
from deniable.client.explaining import Explanation
from deniable.client.gateway import Gateway
from deniable.client.sending import Backoff, Sent

__all__ = [
    "Backoff",
    "CapReached",
    "Client",
    "ConsentMissing",
    "Entry",
    "Explanation",
    "Gateway",
    "Sent",
    "StoreFailed",
    "Unreachable",
]
