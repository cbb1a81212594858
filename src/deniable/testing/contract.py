"""Every promise of a mechanism, checked one by one: exactly where all reports can be listed, else by sampling."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from deniable.core.errors import InvalidArgument
from deniable.mechanisms.base.mechanism import Mechanism
from deniable.testing import checks
from deniable.testing.expectations import require
from deniable.testing.traits import USUAL, Traits

MOST_REPORTS = 4096  # of a mechanism to be checked: all of them are tried
USUAL_SETTINGS = tuple({"k": k, "epsilon": epsilon} for k in (2, 3, 5) for epsilon in (0.5, 1.0, 3.0))
_KERNEL_BITS, _PLAIN_BITS = 16, 12  # of all words of a report together, of which every combination is tried

Check = Callable[[Mechanism, int, Traits], None]


class ContractBroken(AssertionError):
    """A mechanism broke a promise: `check` names it, `setting` is the mechanism, and `why` says how."""

    def __init__(self, check: str, setting: str, why: str) -> None:
        super().__init__(f"{setting} fails the check: {check}\n{why}")
        self.check, self.setting, self.why = check, setting, why


@dataclass(frozen=True)
class Checked:
    """What was checked and held: the checks, the settings they ran on, and the settings that were refused and why."""

    name: str
    checks: tuple[str, ...]
    settings: tuple[str, ...]
    refused: tuple[str, ...] = ()

    def __str__(self) -> str:
        title = f"{self.name} keeps the contract: {len(self.checks)} checks on {len(self.settings)} settings"
        lines = [title, *(f"  ok  {check}" for check in self.checks), *(f"  on  {each}" for each in self.settings)]
        return "\n".join([*lines, *(f"  refused  {each}" for each in self.refused)])


def check_mechanism(
    subject: Mechanism | type[Mechanism],
    *,
    settings: Iterable[Mapping[str, Any]] | None = None,
    traits: Traits = USUAL,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Checked:
    """Check every promise of a mechanism, or of a class in several settings; raise ContractBroken if one fails.

    `settings` are the arguments that the class is made with: k or labels, epsilon, and parameters. Every report of
    each is tried, so they must be small. By default they are k = 2, 3, 5 with epsilon = 0.5, 1, 3, of which a class may
    refuse some. `traits` say how the mechanism differs from the usual one. Statistical checks have one false alarm in
    10^9; with the same seed they repeat.

    >>> import deniable as dn
    >>> print(str(check_mechanism(dn.mechanism("grr", k=3, epsilon=1.0))).partition(":")[0])
    grr keeps the contract
    """
    cls = subject if isinstance(subject, type) else type(subject)
    if not issubclass(cls, Mechanism):
        raise InvalidArgument("mechanism", "be a Mechanism, or a class of them", subject)
    refusals: list[str] = []
    done: dict[str, None] = {}
    made = []
    for m in _subjects(subject, settings, refusals):
        made.append(_shown(m))
        for check in CHECKS:
            what = _sentence(check)
            if progress is not None:
                progress(f"{made[-1]}: {what}")
            _run(check, what, m, seed, traits)
            done[what] = None
    if not made:
        raise ContractBroken("the usual settings make a mechanism", cls.__name__, "\n".join(refusals))
    return Checked(cls.name, tuple(done), tuple(made), tuple(refusals))


def _subjects(
    subject: Mechanism | type[Mechanism], settings: Iterable[Mapping[str, Any]] | None, refusals: list[str]
) -> Iterator[Mechanism]:
    if isinstance(subject, Mechanism):
        if settings is not None:
            raise InvalidArgument("settings", "be left out", settings, "A mechanism has its own; give the class.")
        yield _small(subject)
    elif settings is not None:
        yield from (_small(checks.made(subject, **setting)) for setting in settings)
    else:
        yield from map(_small, checks.served(subject, [dict(each) for each in USUAL_SETTINGS], refusals))


def _small(m: Mechanism) -> Mechanism:
    if sum(1 for _ in islice(m.layout.all(), MOST_REPORTS + 1)) > MOST_REPORTS:
        rule = f"make at most {MOST_REPORTS} different reports"
        raise InvalidArgument("settings", rule, _shown(m), "Take a smaller k.")
    return m


def _run(check: Check, what: str, m: Mechanism, seed: int, traits: Traits) -> None:
    try:
        check(m, seed, traits)
    except AssertionError as failure:
        raise ContractBroken(what, _shown(m), str(failure) or "an assertion of the mechanism failed") from failure
    except Exception as failure:
        raise ContractBroken(what, _shown(m), f"it raised {type(failure).__name__}: {failure}") from failure


def _shown(m: Mechanism) -> str:
    parameters = ", ".join(f"{name}={_short(value)}" for name, value in m.spec.parameters.items())
    return f"{m.name}(k={m.k}, {parameters})"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _sentence(check: Check) -> str:
    return (check.__doc__ or check.__name__).partition("\n")[0].rstrip(".")


def _of(check: Callable[[Mechanism], None]) -> Check:
    return _named(lambda m, _seed, _traits: check(m), check)


def _seeded(check: Callable[[Mechanism, int], None]) -> Check:
    return _named(lambda m, seed, _traits: check(m, seed), check)


def _named(check: Check, original: Callable[..., None]) -> Check:
    check.__doc__ = original.__doc__
    return check


def _kernel(m: Mechanism, _seed: int, traits: Traits) -> None:
    checks.check_kernel_makes_the_channel(m, checks.enumerable_bits(m, _KERNEL_BITS, traits), traits)


def _plain_path(m: Mechanism, _seed: int, traits: Traits) -> None:
    checks.check_plain_path_makes_the_channel(m, checks.enumerable_bits(m, _PLAIN_BITS, traits), traits)


def _coarse(m: Mechanism, seed: int, _traits: Traits) -> None:
    """With coins of few bits, far from the ideal ones, the estimate is still unbiased and has the stated variance."""
    coarse = checks.coarse(m, checks.coarse_bits(m))
    checks.check_unbiased_and_variance(coarse)
    checks.check_variances_of_weighted_sums(coarse, seed)


def _any_epsilon(m: Mechanism, _seed: int, _traits: Traits) -> None:
    """At any epsilon from 1e-6 to 50 the class is within it, or refuses it in one line."""
    others = [{"k": m.k, "epsilon": epsilon, **checks.given(m)} for epsilon in checks.EPSILONS]
    for other in checks.served(type(m), others, []):
        table = checks.channel_of(other)
        checks.check_channel_sums_to_one(other, table)
        checks.check_largest_ratio_is_within_epsilon(other, table)
        require(other.guarantee().ratio > 1, f"reports must tell something, and {_shown(other)} tells nothing")


CHECKS: tuple[Check, ...] = (
    _of(checks.check_channel_sums_to_one),
    _of(checks.check_largest_ratio_is_within_epsilon),
    _any_epsilon,
    _of(checks.check_reconstruction_rate),
    _named(_plain_path, checks.check_plain_path_makes_the_channel),
    _named(_kernel, checks.check_kernel_makes_the_channel),
    _seeded(checks.check_no_branch_depends_on_the_value_or_on_a_coin),
    _seeded(checks.check_no_branch_of_a_batch_depends_on_a_value_or_on_a_coin),
    _seeded(checks.check_batch_equals_one_by_one),
    _seeded(checks.check_rejected_draws_use_the_overflow_stream),
    _seeded(checks.check_overflow_is_indexed_by_report_beyond_the_first_chunk),
    _seeded(checks.check_one_value_changes_one_report),
    _seeded(checks.check_sampler_follows_channel),
    _of(checks.check_a_device_draws_a_fresh_key_each_time),
    _seeded(checks.check_simulation_follows_channel),
    _seeded(checks.check_summary_counts_every_report),
    _of(checks.check_unbiased_and_variance),
    _seeded(checks.check_estimate_is_a_mean_over_reports),
    _seeded(checks.check_variances_of_weighted_sums),
    _coarse,
    _named(checks.check_likelihood, checks.check_likelihood),
    _of(checks.check_support),
    _of(checks.check_supporters),
    _seeded(checks.check_tails),
    _of(checks.check_errors_are_those_of_every_value),
    _of(checks.check_methods_find_the_truth),
    _named(lambda m, _, traits: checks.check_encoding_round_trips(m, traits=traits), checks.check_encoding_round_trips),
    _seeded(checks.check_many_bytes_decode_or_are_refused),
    _of(checks.check_spec_makes_the_same_mechanism),
    _of(checks.check_labels_survive_the_spec),
    _of(checks.check_seeded_reports_are_marked),
    _of(checks.check_no_values_make_no_reports),
    _of(checks.check_bad_settings_are_refused),
    _of(checks.check_bad_values_are_refused),
    _of(checks.check_what_belongs_to_another_spec_is_refused),
)
