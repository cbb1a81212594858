"""Reports of other libraries' clients. Runs in the peers' own environment and does not know deniable.

    python -m tools.peer_reports

reads requests from standard input, one per line, [client, value, n], and answers each on standard output by a line,
{"shape": ..., "dtype": ...} or {"missing": why}, followed by the bytes of the array. Clients are called user by user,
as the documentation of the libraries shows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np

VALUES, EPSILON = 8, 1.0
Client = Callable[[int], Any]


def pure_grr() -> Client:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(EPSILON, VALUES)
    return lambda value: client.privatise(value + 1)  # its values start at 1


def pure_oue() -> Client:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    client = UEClient(EPSILON, VALUES, use_oue=True)
    return lambda value: client.privatise(value + 1)


def pure_sue() -> Client:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    client = UEClient(EPSILON, VALUES, use_oue=False)
    return lambda value: client.privatise(value + 1)


def pure_olh() -> Client:
    from pure_ldp.frequency_oracles.local_hashing import LHClient

    client = LHClient(EPSILON, VALUES, use_olh=True)

    def report(value: int) -> Any:
        sent, seed = client.privatise(value + 1)
        return [sent, *supported(sent, seed, client.g)]

    return report


def pure_rappor() -> Client:
    from pure_ldp.frequency_oracles.rappor import RAPPORClient

    client = RAPPORClient(0.0, 16, [[lambda text: int(text) % 16]], num_of_cohorts=1)
    client.update_params(f=client.convert_eps_to_f(EPSILON), hash_funcs=client.hash_family)
    return lambda value: client.privatise(value + 1)[0]


def pure_hr() -> Client:
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer

    server = HadamardResponseServer(EPSILON, VALUES)
    client = HadamardResponseClient(EPSILON, VALUES, server.get_hash_funcs())
    return lambda value: client.privatise(value + 1)


def pure_cms() -> Client:
    from pure_ldp.frequency_oracles.apple_cms import CMSClient

    client = CMSClient(EPSILON, [lambda text: int(text) % 16], 16)
    return lambda value: np.asarray(client.privatise(value + 1)[0], np.int64)


def multi_grr() -> Client:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    return lambda value: GRR_Client(value, VALUES, EPSILON)


def multi_oue() -> Client:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda value: UE_Client(value, VALUES, EPSILON, True).astype(np.int64)


def multi_sue() -> Client:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return lambda value: UE_Client(value, VALUES, EPSILON, False).astype(np.int64)


def multi_ss() -> Client:
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    return lambda value: SS_Client(value, VALUES, EPSILON)


def multi_olh() -> Client:
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Client

    classes = round(np.exp(EPSILON)) + 1

    def report(value: int) -> Any:
        sent, seed = LH_Client(value, VALUES, EPSILON)
        return [sent, *supported(sent, seed, classes)]

    return report


def supported(sent: int, seed: int, classes: int) -> Iterator[bool]:
    """Which values have the hash that was sent."""
    from xxhash import xxh32

    return (xxh32(str(value), seed=seed).intdigest() % classes == sent for value in range(VALUES))


def opendp_response() -> Client:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    e = float(np.exp(EPSILON))
    answer = dp.m.make_randomized_response(list(range(VALUES)), prob=e / (e + VALUES - 1))
    return lambda value: answer(value)


def opendp_bool() -> Client:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    e = float(np.exp(EPSILON))
    answer = dp.m.make_randomized_response_bool(prob=e / (e + 1))
    return lambda value: answer(value == 1)


def diffprivlib_binary() -> Client:
    from diffprivlib.mechanisms import Binary

    mechanism = Binary(epsilon=EPSILON, value0="0", value1="1")
    return lambda value: int(mechanism.randomise(str(int(value == 1))))


CLIENTS: dict[str, tuple[str, str, Callable[[], Client]]] = {  # library, what is audited, how it is called
    "pure-grr": ("pure-ldp", "DEClient (grr)", pure_grr),
    "pure-oue": ("pure-ldp", "UEClient, use_oue=True", pure_oue),
    "pure-sue": ("pure-ldp", "UEClient, use_oue=False", pure_sue),
    "pure-olh": ("pure-ldp", "LHClient, use_olh=True", pure_olh),
    "pure-rappor": ("pure-ldp", "RAPPORClient, one hash", pure_rappor),
    "pure-hr": ("pure-ldp", "HadamardResponseClient", pure_hr),
    "pure-cms": ("pure-ldp", "CMSClient", pure_cms),
    "multi-grr": ("multi-freq-ldpy", "GRR_Client", multi_grr),
    "multi-oue": ("multi-freq-ldpy", "UE_Client, optimal=True", multi_oue),
    "multi-sue": ("multi-freq-ldpy", "UE_Client, optimal=False", multi_sue),
    "multi-ss": ("multi-freq-ldpy", "SS_Client", multi_ss),
    "multi-olh": ("multi-freq-ldpy", "LH_Client, optimal=True", multi_olh),
    "opendp-response": ("opendp", "make_randomized_response", opendp_response),
    "opendp-bool": ("opendp", "make_randomized_response_bool", opendp_bool),
    "diffprivlib-binary": ("diffprivlib", "Binary", diffprivlib_binary),
}


def main() -> None:
    """Answer requests until standard input ends."""
    made: dict[str, Client] = {}
    for line in sys.stdin:
        name, value, n = json.loads(line)
        library, _, make = CLIENTS[name]
        try:
            if name not in made:
                made[name] = make()
            client = made[name]
            rows = np.array([client(value) for _ in range(n)]).astype(np.int64)
            head = {"shape": rows.shape, "dtype": "int64", "version": version(library)}
        except Exception as error:  # of whatever kind: it is their code, and the table says so
            rows, head = np.zeros(0, np.int64), {"missing": f"{type(error).__name__}: {error}"}
        sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + rows.tobytes())
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
