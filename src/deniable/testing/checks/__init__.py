"""What every mechanism promises, as checks that take a mechanism and fail with AssertionError and a reason.

`deniable.testing.check_mechanism` runs all of them. The tests of this package run them over the registry, and on
mechanisms with planted faults, each of which must be caught.
"""

from __future__ import annotations

from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing.checks.answers import (
    check_errors_are_those_of_every_value,
    check_likelihood,
    check_methods_find_the_truth,
    check_support,
    check_tails,
)
from deniable.testing.checks.batches import (
    check_batch_equals_one_by_one,
    check_one_value_changes_one_report,
    check_overflow_is_indexed_by_report_beyond_the_first_chunk,
    check_rejected_draws_use_the_overflow_stream,
)
from deniable.testing.checks.branches import (
    check_no_branch_depends_on_the_value_or_on_a_coin,
    check_no_branch_of_a_batch_depends_on_a_value_or_on_a_coin,
)
from deniable.testing.checks.channel import (
    channel_of,
    check_channel_sums_to_one,
    check_largest_ratio_is_within_epsilon,
    check_operator_is,
    check_operator_is_the_channel,
    check_reconstruction_rate,
)
from deniable.testing.checks.encoding import (
    check_bytes_decode_or_are_refused,
    check_encoding_round_trips,
    check_many_bytes_decode_or_are_refused,
)
from deniable.testing.checks.estimates import (
    check_error_is_the_stated_one,
    check_estimate_is_a_mean_over_reports,
    check_supporters,
    check_unbiased_and_variance,
    check_variances_of_weighted_sums,
)
from deniable.testing.checks.payloads import (
    payload_array,
    payload_key,
    tally,
)
from deniable.testing.checks.refusals import (
    EPSILONS,
    check_bad_settings_are_refused,
    check_bad_values_are_refused,
    made,
    served,
)
from deniable.testing.checks.sampling import (
    ALPHA,
    check_a_device_draws_a_fresh_key_each_time,
    check_sampler_follows_channel,
    check_simulation_follows_channel,
    chi_square_rejects,
    samples_for,
)
from deniable.testing.checks.specs import (
    check_labels_survive_the_spec,
    check_no_values_make_no_reports,
    check_seeded_reports_are_marked,
    check_spec_makes_the_same_mechanism,
    check_what_belongs_to_another_spec_is_refused,
    given,
)
from deniable.testing.checks.summaries import (
    check_summary_counts_every_report,
)
from deniable.testing.checks.words import (
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
    "EPSILONS",
    "channel_of",
    "check_a_device_draws_a_fresh_key_each_time",
    "check_bad_settings_are_refused",
    "check_bad_values_are_refused",
    "check_batch_equals_one_by_one",
    "check_bytes_decode_or_are_refused",
    "check_channel_sums_to_one",
    "check_encoding_round_trips",
    "check_error_is_the_stated_one",
    "check_errors_are_those_of_every_value",
    "check_estimate_is_a_mean_over_reports",
    "check_exact_and_unbiased",
    "check_kernel_makes_the_channel",
    "check_labels_survive_the_spec",
    "check_largest_ratio_is_within_epsilon",
    "check_likelihood",
    "check_many_bytes_decode_or_are_refused",
    "check_methods_find_the_truth",
    "check_no_branch_depends_on_the_value_or_on_a_coin",
    "check_no_branch_of_a_batch_depends_on_a_value_or_on_a_coin",
    "check_no_values_make_no_reports",
    "check_one_value_changes_one_report",
    "check_operator_is",
    "check_operator_is_the_channel",
    "check_overflow_is_indexed_by_report_beyond_the_first_chunk",
    "check_plain_path_makes_the_channel",
    "check_reconstruction_rate",
    "check_rejected_draws_use_the_overflow_stream",
    "check_sampler_follows_channel",
    "check_seeded_reports_are_marked",
    "check_simulation_follows_channel",
    "check_spec_makes_the_same_mechanism",
    "check_summary_counts_every_report",
    "check_support",
    "check_supporters",
    "check_tails",
    "check_unbiased_and_variance",
    "check_variances_of_weighted_sums",
    "check_what_belongs_to_another_spec_is_refused",
    "chi_square_rejects",
    "coarse",
    "coarse_bits",
    "enumerable_bits",
    "every_word",
    "given",
    "made",
    "matches_channel",
    "payload_array",
    "payload_key",
    "samples_for",
    "served",
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
