"""The peers' part of each row. Runs in the peers' own environment and does not know deniable.

    python -m benchmarks.peers FOLDER

reads FOLDER/request.json (job, parameters, repeats) and the arrays beside it, FOLDER/*.npy, and prints
{peer: {"seconds": ...} or {"missing": why}} as JSON. An array that a peer returns is written to
FOLDER/answers/<peer>.npy.

A peer's work for a job is a function of (arrays, parameters) that returns the callable to be timed; peers
work user by user, in plain Python lists, as their documentation shows.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.clock import Job, medians, pin

NOT_INSTALLED = "peer not installed"

Arrays = Mapping[str, Any]
Work = Callable[..., Job]


def pure_ldp_grr_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon, k)
    values = (arrays["values"] + 1).tolist()  # its values start at 1
    return lambda: [client.privatise(value) for value in values]


def multi_freq_grr_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client

    values = arrays["values"].tolist()
    return lambda: [GRR_Client(value, k, epsilon) for value in values]


def pure_ldp_grr_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.direct_encoding import DEServer

    reports = arrays["reports"].tolist()

    def work() -> None:
        server = DEServer(epsilon, k)
        for report in reports:
            server.aggregate(report)

    return work


def multi_freq_grr_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI

    reports = arrays["reports"].tolist()
    return lambda: GRR_Aggregator_MI(reports, k, epsilon)  # counting comes with an estimate


def pure_ldp_oue_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.unary_encoding import UEClient

    client = UEClient(epsilon, k, use_oue=True)
    values = (arrays["values"] + 1).tolist()  # its values start at 1
    return lambda: [client.privatise(value) for value in values]


def multi_freq_oue_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    values = arrays["values"].tolist()
    return lambda: [UE_Client(value, k, epsilon, True) for value in values]


def pure_ldp_oue_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.unary_encoding import UEServer

    reports = list(arrays["reports"].astype(np.int64))  # as its client makes them

    def work() -> None:
        server = UEServer(epsilon, k, use_oue=True)
        for report in reports:
            server.aggregate(report)

    return work


def multi_freq_oue_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI

    del k
    reports = list(arrays["reports"].astype(np.float64))  # as its client makes them
    return lambda: UE_Aggregator_MI(reports, epsilon, True)  # counting comes with an estimate


def pure_ldp_he_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient

    client = HEClient(epsilon, k)
    values = (arrays["values"] + 1).tolist()  # its values start at 1
    return lambda: [client.privatise(value) for value in values]


def pure_ldp_she_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    return _pure_ldp_he_aggregate(arrays, k, epsilon, threshold=False)


def pure_ldp_the_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    return _pure_ldp_he_aggregate(arrays, k, epsilon, threshold=True)


def _pure_ldp_he_aggregate(arrays: Arrays, k: int, epsilon: float, threshold: bool) -> Job:
    from pure_ldp.frequency_oracles.histogram_encoding import HEServer

    reports = list(arrays["reports"])

    def work() -> None:
        server = HEServer(epsilon, k, use_the=threshold)
        for report in reports:  # it writes bits into them, which takes as long the second time
            server.aggregate(report)

    return work


def multi_freq_ss_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client

    values = arrays["values"].tolist()
    return lambda: [SS_Client(value, k, epsilon) for value in values]


def multi_freq_ss_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI

    reports = list(arrays["reports"])  # as its client makes them
    return lambda: SS_Aggregator_MI(reports, k, epsilon)  # counting comes with an estimate


def pure_ldp_olh_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer

    client = LHClient(epsilon, k, use_olh=True)
    reports = [client.privatise(value) for value in (arrays["values"] + 1).tolist()]  # its values start at 1

    def work() -> None:
        server = LHServer(epsilon, k, use_olh=True)
        for report in reports:
            server.aggregate(report)

    return work


def multi_freq_olh_aggregate(arrays: Arrays, k: int, epsilon: float) -> Job:
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client

    reports = [LH_Client(value, k, epsilon) for value in arrays["values"].tolist()]
    return lambda: LH_Aggregator_MI(reports, k, epsilon)  # counting comes with an estimate


def _pure_ldp_hr(k: int, epsilon: float) -> tuple[Any, Any]:
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer

    server = HadamardResponseServer(epsilon, k)
    return HadamardResponseClient(epsilon, k, server.get_hash_funcs()), server


def pure_ldp_hr_privatize(arrays: Arrays, k: int, epsilon: float) -> Job:
    client, _ = _pure_ldp_hr(k, epsilon)
    values = (arrays["values"] + 1).tolist()  # its values start at 1
    return lambda: [client.privatise(value) for value in values]


def pure_ldp_hr_decode(arrays: Arrays, k: int, epsilon: float) -> Job:
    client, server = _pure_ldp_hr(k, epsilon)
    for value in (arrays["values"] + 1).tolist():
        server.aggregate(client.privatise(value))
    return lambda: server._update_estimates()


def pure_ldp_sketch_privatize(arrays: Arrays, cohorts: int, buckets: int, epsilon: float, hadamard: bool) -> Job:
    from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer

    functions = CMSServer(epsilon, cohorts, buckets, is_hadamard=hadamard).get_hash_funcs()
    client = CMSClient(epsilon, functions, buckets, is_hadamard=hadamard)
    values = arrays["values"].tolist()
    return lambda: [client.privatise(value) for value in values]


def pure_ldp_sketch_aggregate(arrays: Arrays, cohorts: int, buckets: int, epsilon: float, hadamard: bool) -> Job:
    from pure_ldp.frequency_oracles.apple_cms import CMSClient, CMSServer

    server = CMSServer(epsilon, cohorts, buckets, is_hadamard=hadamard)
    client = CMSClient(epsilon, server.get_hash_funcs(), buckets, is_hadamard=hadamard)
    reports = [client.privatise(value) for value in arrays["values"].tolist()]

    def work() -> None:
        server.reset()
        for report in reports:
            server.aggregate(report)

    return work


def pure_ldp_simplex(arrays: Arrays) -> Job:
    from pure_ldp.core.prob_simplex import project_probability_simplex

    return lambda: project_probability_simplex(arrays["vector"])


def opendp_discrete_laplace(arrays: Arrays, epsilon: float) -> Job:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = space >> dp.m.then_laplace(scale=1 / epsilon)
    counts = arrays["counts"].tolist()
    return lambda: measurement(counts)


JOBS: dict[str, dict[str, Work]] = {
    "grr privatize": {"pure-ldp": pure_ldp_grr_privatize, "multi-freq-ldpy": multi_freq_grr_privatize},
    "grr aggregate": {"pure-ldp": pure_ldp_grr_aggregate, "multi-freq-ldpy": multi_freq_grr_aggregate},
    "oue privatize": {"pure-ldp": pure_ldp_oue_privatize, "multi-freq-ldpy": multi_freq_oue_privatize},
    "oue aggregate": {"pure-ldp": pure_ldp_oue_aggregate, "multi-freq-ldpy": multi_freq_oue_aggregate},
    "he privatize": {"pure-ldp": pure_ldp_he_privatize},
    "she aggregate": {"pure-ldp": pure_ldp_she_aggregate},
    "the aggregate": {"pure-ldp": pure_ldp_the_aggregate},
    "ss privatize": {"multi-freq-ldpy": multi_freq_ss_privatize},
    "ss aggregate": {"multi-freq-ldpy": multi_freq_ss_aggregate},
    "olh aggregate": {"pure-ldp": pure_ldp_olh_aggregate, "multi-freq-ldpy": multi_freq_olh_aggregate},
    "hr privatize": {"pure-ldp": pure_ldp_hr_privatize},
    "hr decode": {"pure-ldp": pure_ldp_hr_decode},
    "sketch privatize": {"pure-ldp": pure_ldp_sketch_privatize},
    "sketch aggregate": {"pure-ldp": pure_ldp_sketch_aggregate},
    "simplex projection": {"pure-ldp": pure_ldp_simplex},
    "discrete laplace": {"opendp": opendp_discrete_laplace},
}


def answer(folder: Path) -> dict[str, dict[str, Any]]:
    """Every peer's time for the job requested in this folder."""
    request = json.loads((folder / "request.json").read_text())
    arrays = {path.stem: np.load(path) for path in folder.glob("*.npy")}
    (folder / "answers").mkdir()
    found: dict[str, dict[str, Any]] = {}
    for peer, work in JOBS[request["job"]].items():
        try:
            job = work(arrays, **request["parameters"])
            result = job()
            seconds = medians({peer: job}, request["repeats"])[peer]
        except ImportError as error:
            found[peer] = {"missing": f"{NOT_INSTALLED} ({error})"}
        except Exception as error:  # its row says so; the other peers still run
            found[peer] = {"missing": f"peer failed ({type(error).__name__}: {error})"}
        else:
            found[peer] = {"seconds": seconds}
            if isinstance(result, np.ndarray):
                np.save(folder / "answers" / f"{peer}.npy", result)
    return found


def main() -> None:
    pin()
    with contextlib.redirect_stdout(sys.stderr):  # a peer may print
        found = answer(Path(sys.argv[1]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
