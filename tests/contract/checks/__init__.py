"""What every mechanism promises, as checks that take a mechanism and fail with AssertionError.

They run over the registry (test_contract.py), and on mechanisms with planted faults, each of which must
be caught (faults.py, and a list in the test file of each mechanism).
"""

from __future__ import annotations

from deniable.mechanisms.base.mechanism import Mechanism
from tests.contract.checks.batches import (
    check_batch_equals_one_by_one,
    check_one_value_changes_one_report,
    check_overflow_is_indexed_by_report_beyond_the_first_chunk,
    check_rejected_draws_use_the_overflow_stream,
)
from tests.contract.checks.channel import (
    channel_of,
    check_channel_sums_to_one,
    check_largest_ratio_is_within_epsilon,
    check_operator_is,
    check_operator_is_the_channel,
    check_reconstruction_rate,
)
from tests.contract.checks.encoding import (
    check_bytes_decode_or_are_refused,
    check_encoding_round_trips,
)
from tests.contract.checks.estimates import (
    check_error_is_the_stated_one,
    check_estimate_is_a_mean_over_reports,
    check_supporters,
    check_unbiased_and_variance,
    check_variances_of_weighted_sums,
)
from tests.contract.checks.payloads import (
    payload_array,
    payload_key,
    tally,
)
from tests.contract.checks.sampling import (
    ALPHA,
    check_a_device_draws_a_fresh_key_each_time,
    check_sampler_follows_channel,
    check_simulation_follows_channel,
    chi_square_rejects,
    samples_for,
)
from tests.contract.checks.summaries import (
    check_summary_counts_every_report,
)
from tests.contract.checks.words import (
    check_kernel_makes_the_channel,
    check_plain_path_makes_the_channel,
    coarse,
    coarse_bits,
    enumerable_bits,
    every_word,
    matches_channel,
)

__all__ = [
    "ALPHA",
    "channel_of",
    "check_a_device_draws_a_fresh_key_each_time",
    "check_batch_equals_one_by_one",
    "check_bytes_decode_or_are_refused",
    "check_channel_sums_to_one",
    "check_encoding_round_trips",
    "check_error_is_the_stated_one",
    "check_estimate_is_a_mean_over_reports",
    "check_exact_and_unbiased",
    "check_kernel_makes_the_channel",
    "check_largest_ratio_is_within_epsilon",
    "check_one_value_changes_one_report",
    "check_operator_is",
    "check_operator_is_the_channel",
    "check_overflow_is_indexed_by_report_beyond_the_first_chunk",
    "check_plain_path_makes_the_channel",
    "check_reconstruction_rate",
    "check_rejected_draws_use_the_overflow_stream",
    "check_sampler_follows_channel",
    "check_simulation_follows_channel",
    "check_summary_counts_every_report",
    "check_supporters",
    "check_unbiased_and_variance",
    "check_variances_of_weighted_sums",
    "chi_square_rejects",
    "coarse",
    "coarse_bits",
    "enumerable_bits",
    "every_word",
    "matches_channel",
    "payload_array",
    "payload_key",
    "samples_for",
    "tally",
]


def check_exact_and_unbiased(m: Mechanism, seed: int) -> None:
    """Most of the contract, for shapes that are not among the settings of the registry."""
    table = channel_of(m)
    check_channel_sums_to_one(m, table)
    check_largest_ratio_is_within_epsilon(m, table)
    check_reconstruction_rate(m, table)
    check_unbiased_and_variance(m)
    check_unbiased_and_variance(coarse(m, 8))
    check_batch_equals_one_by_one(m, seed)
