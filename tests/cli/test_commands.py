"""The command line from a spec to an answer."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import deniable as dn
from deniable.cli.io.keystreams import keystreams
from deniable.randomness.keystream import Keystream
from tests.cli.command import run, succeed
from tests.contract import cases

LABELS = ["never", "once", "often, or more"]


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "spec.json"
    labels = 'never, once, "often, or more"'
    succeed("spec", "new", "--labels", labels, "--no-answer", "--epsilon", 2, "-o", path)
    return path


@pytest.fixture
def mechanism(spec: Path) -> dn.RandomizedResponse:
    made = dn.from_spec(spec.read_text())
    assert isinstance(made, dn.RandomizedResponse)
    return made


@pytest.fixture
def values() -> list[str | None]:
    return [[*LABELS, None][(7 * user) % 11 % 4] for user in range(400_000)]


@pytest.fixture
def table(tmp_path: Path, values: list[str | None]) -> Path:
    path = tmp_path / "values.csv"
    pa.csv.write_csv(pa.table({"user": range(len(values)), "answer": values}), path)
    return path


def test_a_spec_made_by_the_command_line_is_the_one_python_makes(spec: Path) -> None:
    domain = dn.Domain.categories(LABELS, no_answer=True)
    assert dn.Spec.from_json(spec.read_bytes()) == dn.mechanism("grr", domain=domain, epsilon=2.0).spec


def test_a_spec_is_shown_with_its_exact_guarantee(spec: Path, mechanism: dn.RandomizedResponse) -> None:
    guarantee = mechanism.guarantee()
    shown = json.loads(succeed("spec", "show", spec, "--json"))
    assert shown["fingerprint"] == mechanism.fingerprint
    assert shown["guarantee"]["ratio"] == f"{guarantee.ratio.numerator}/{guarantee.ratio.denominator}"
    assert shown["guarantee"]["slack"] == guarantee.slack >= 0
    assert {entry["users"] for entry in shown["standard_errors"]} == {10**4, 10**5, 10**6, 10**7, 10**8}
    for_people = succeed("spec", "show", spec)
    assert mechanism.fingerprint in for_people
    assert str(guarantee.ratio.numerator) in for_people


def test_a_whole_spec_and_its_files_pass_the_check(spec: Path, table: Path, mechanism: dn.RandomizedResponse) -> None:
    reports, summary = spec.with_name("reports.csv"), spec.with_name("all.summary")
    succeed("privatize", table, "--column", "answer", "--spec", spec, "-o", reports)
    succeed("summarize", reports, "--spec", spec, "-o", summary)
    lines = succeed("spec", "check", spec, reports, summary).splitlines()
    assert lines == [f"{mechanism.fingerprint}  {path}" for path in (spec, reports, summary)]


def test_a_spec_with_a_byte_order_mark_passes_the_check_in_any_place(spec: Path) -> None:
    marked = spec.with_name("marked.json")
    marked.write_bytes(b"\xef\xbb\xbf" + spec.read_bytes())
    assert len(succeed("spec", "check", spec, marked).splitlines()) == 2
    assert len(succeed("spec", "check", marked, spec).splitlines()) == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_seeded_reports_are_those_of_python_however_the_file_is_cut_into_batches(
    suffix: str, spec: Path, table: Path, mechanism: dn.RandomizedResponse, values: list[str | None]
) -> None:
    path = spec.with_name(f"reports{suffix}")
    outcome = run("privatize", table, "--column", "answer", "--spec", spec, "--seed", 5, "-o", path)
    assert outcome.code == 0
    assert "protect nobody" in outcome.err
    expected = mechanism.privatize(values, seed=5)
    if suffix == ".parquet":
        assert dn.Reports.from_arrow(pa.parquet.read_table(path)) == expected
    else:
        found = pa.csv.read_csv(path)
        assert found.column_names == [f"simulated_report@{mechanism.fingerprint}"]
        assert (found.column(0).to_numpy() == expected.data).all()


def test_a_seeded_keystream_goes_on_where_the_last_batch_ended() -> None:
    stride = 3
    whole, following = Keystream.seeded(3), keystreams(3, lambda reports: stride * reports)
    expected = whole.stream(0).words(stride * 30).tolist()
    first, second = following(10), following(20)
    found = [*first.stream(0).words(stride * 10).tolist(), *second.stream(0).words(stride * 20).tolist()]
    assert found == expected
    assert [next(first.overflow(4)), next(second.overflow(4))] == [next(whole.overflow(4)), next(whole.overflow(14))]


def test_reports_without_a_seed_differ_each_time_and_are_not_simulated(
    spec: Path, mechanism: dn.RandomizedResponse
) -> None:
    first, second = (succeed("privatize", "-", "--spec", spec, "-o", "-", stdin=b"once\n" * 200) for _ in range(2))
    assert first != second
    assert first.splitlines()[0] == second.splitlines()[0] == f"report@{mechanism.fingerprint}"


@pytest.mark.parametrize(
    "form", ["csv", "parquet", "standard input", "csv on standard input", "parquet on standard input"]
)
def test_values_are_the_same_in_every_form(form: str, spec: Path, values: list[str | None]) -> None:
    few = pa.table({"user": range(1000), "answer": values[:1000]})
    csv, parquet = spec.with_name("few.csv"), spec.with_name("few.parquet")
    pa.csv.write_csv(few, csv)
    pa.parquet.write_table(few, parquet)
    lines = "".join(f"{value or ''}\n" for value in values[:1000]).encode()
    source, stdin = {
        "csv": ([csv, "--column", "answer"], b""),
        "parquet": ([parquet, "--column", "answer"], b""),
        "standard input": (["-"], lines),
        "csv on standard input": (["-", "--column", "answer"], csv.read_bytes()),
        "parquet on standard input": (["-", "--column", "answer"], parquet.read_bytes()),
    }[form]
    out = succeed("privatize", *source, "--spec", spec, "--seed", 1, "-o", "-", stdin=stdin)
    assert out == succeed("privatize", "-", "--spec", spec, "--seed", 1, "-o", "-", stdin=lines)


def test_two_halves_of_a_report_file_add_up_to_the_whole(spec: Path, table: Path) -> None:
    whole, first, second = (spec.with_name(f"{name}.csv") for name in ("whole", "first", "second"))
    succeed("privatize", table, "--column", "answer", "--spec", spec, "-o", whole)
    header, *rows = whole.read_text().splitlines()
    first.write_text("\n".join([header, *rows[:123_456]]))
    second.write_text("\n".join([header, *rows[123_456:], ""]))
    parts = [path.with_suffix(".summary") for path in (whole, first, second)]
    for path, part in zip((whole, first, second), parts, strict=True):
        succeed("summarize", path, "--spec", spec, "-o", part)
    both = spec.with_name("both.summary")
    succeed("summarize", parts[1], parts[2], "--spec", spec, "-o", both)
    assert both.read_bytes() == parts[0].read_bytes()
    succeed("summarize", parts[2], first, "--spec", spec, "-o", both)
    assert both.read_bytes() == parts[0].read_bytes()


@pytest.mark.parametrize("name", dn.list_mechanisms())
def test_reports_of_every_mechanism_survive_csv_and_parquet(name: str, tmp_path: Path) -> None:
    m = cases.of(name).one()
    spec = tmp_path / "spec.json"
    spec.write_text(m.spec.to_json())
    (tmp_path / "values.csv").write_text("\n".join(["value", *(str(user % m.k) for user in range(200))]))
    made = []
    for suffix in ("csv", "parquet"):
        reports, summary = tmp_path / f"reports.{suffix}", tmp_path / f"{suffix}.summary"
        succeed("privatize", tmp_path / "values.csv", "--spec", spec, "--seed", 3, "-o", reports)
        succeed("summarize", reports, "--spec", spec, "-o", summary)
        made.append(summary.read_bytes())
    assert made[0] == made[1] == m.summarize(m.privatize([user % m.k for user in range(200)], seed=3)).to_bytes()


@pytest.mark.parametrize("cell", ["1", "1 2 3", "x y", "1 99999999999999999999", "-1 2"])
def test_a_row_of_numbers_that_no_client_could_send_is_refused(cell: str, tmp_path: Path) -> None:
    m = dn.mechanism("oue", k=100, epsilon=1.0)
    (tmp_path / "spec.json").write_text(m.spec.to_json())
    (tmp_path / "reports.csv").write_text(f"report@{m.fingerprint}\n{cell}\n1 2\n")
    code, _, error = run("summarize", tmp_path / "reports.csv", "--spec", tmp_path / "spec.json", "-o", tmp_path / "s")
    assert code == 2
    assert error.startswith("deniable: error:")
    assert error.count("\n") == 1


def test_an_estimate_is_the_one_python_makes(
    spec: Path, mechanism: dn.RandomizedResponse, values: list[str | None]
) -> None:
    summary = mechanism.summarize(mechanism.privatize(values, seed=2))
    path = spec.with_name("all.summary")
    path.write_bytes(summary.to_bytes())
    for method in mechanism.methods:
        options = ["--method", method, "--target", "population", "--level", 0.9, "--simultaneous"]
        found = json.loads(succeed("estimate", path, "--spec", spec, "--json", *options))
        expected = mechanism.estimate(summary, method, target="population")
        rows = expected.rows(0.9, simultaneous=True)
        assert found["values"] == [row._asdict() for row in rows]
        assert (found["n"], found["method"], found["target"]) == (len(values), method, "population")
        assert (found["unbiased"], found["simulated"], found["level"]) == (expected.unbiased, True, 0.9)
        assert found["fingerprint"] == mechanism.fingerprint
        assert found["interval_note"] == expected.interval_note
        assert found["details"] == dict(expected.details)


def test_an_estimate_is_printed_written_and_drawn(spec: Path, mechanism: dn.RandomizedResponse) -> None:
    path, answer, picture = (spec.with_name(name) for name in ("all.summary", "answer.parquet", "answer.png"))
    path.write_bytes(dn.simulate(mechanism, [600, 300, 100, 0]).to_bytes())
    out = succeed("estimate", path, "--spec", spec, "--top", 2, "-o", answer, "--plot", picture)
    assert "never" in out
    assert "(no answer)" not in out
    assert "simulated" in out
    expected = mechanism.estimate(dn.Summary.from_bytes(path.read_bytes()))
    assert str(expected).splitlines()[0] in " ".join(out.split())
    assert pa.parquet.read_table(answer).equals(expected.to_arrow())
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("suffix", [".csv", ".json"])
def test_an_estimate_written_to_a_file_holds_all_values(
    suffix: str, spec: Path, mechanism: dn.RandomizedResponse
) -> None:
    path, answer = spec.with_name("all.summary"), spec.with_name(f"answer{suffix}")
    path.write_bytes(dn.simulate(mechanism, [600, 300, 100, 0]).to_bytes())
    succeed("estimate", path, "--spec", spec, "--top", 1, "-o", answer)
    if suffix == ".csv":
        labels = pa.csv.read_csv(answer)["label"].to_pylist()
    else:
        labels = [value["label"] for value in json.loads(answer.read_text())["values"]]
    assert labels == mechanism.domain.all_labels()


def test_users_needed_is_the_number_python_gives(spec: Path, mechanism: dn.RandomizedResponse) -> None:
    assert int(succeed("users-needed", "--spec", spec, "--margin", 0.01)) == dn.users_needed(mechanism, margin=0.01)
    found = int(succeed("users-needed", "--spec", spec, "--detect", 0.001, "--power", 0.9, "--simultaneous"))
    assert found == dn.users_needed(mechanism, detect=0.001, power=0.9, simultaneous=True)


def test_every_mechanism_is_listed() -> None:
    assert set(dn.list_mechanisms()) <= set(succeed("mechanisms").split())
