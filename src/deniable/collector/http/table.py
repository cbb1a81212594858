"""Every route, in one table: what it does, who may use it, what it takes and what it answers.

The application, the OpenAPI document, docs/collector-api.md and the test of who may do what are made from it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from deniable.collector.http import answered, shapes
from deniable.core.defaults import LEVEL, RATE
from deniable.wire.keys import ADMIN, READ, WRITE

ANYBODY = "anybody"
BINARY, PLAIN, JSON = "application/octet-stream", "text/plain", "application/json"
CSV, ARROW, PARQUET = "text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"
OPEN_METRICS = "application/openmetrics-text"
HTML = "text/html"


class Parameter(NamedTuple):
    """A parameter of the query; of `many` the name goes on after a dot, as in segment.country=de."""

    name: str
    kind: Any
    what: str
    default: Any = None
    needed: bool = False
    many: bool = False


class Route(NamedTuple):
    """One row. `body`, `answer` and `or_else` are the types of JSON; `takes` and `gives` list other media types."""

    method: str
    path: str
    role: str
    handler: str
    does: str
    query: tuple[Parameter, ...] = ()
    body: Any = None
    takes: tuple[str, ...] = ()
    answer: Any = None
    or_else: Any = None
    gives: tuple[str, ...] = (JSON,)
    status: int = 200
    kept: bool = False  # whether a client may have the answer already, and be told so by 304

    @property
    def key(self) -> str:
        """How logs, counters and tests name the route."""
        return f"{self.method} {self.path}"


_TIME = int | str
_PERIOD = (
    Parameter("from", _TIME, "the first bucket: a date, a time such as 2026-01-31T13:00Z, or hours since 1970"),
    Parameter("to", _TIME, "the last bucket, included"),
)
_SEGMENT = Parameter("segment", str, "only this label of a segment; may be given again for more labels", many=True)
_SPEC = Parameter("spec", str, "only reports of the spec with this fingerprint")
_TARGET = Parameter("target", Literal["users", "population"], "what errors refer to", "users")
_LEVEL = Parameter("level", Annotated[float, Meta(gt=0, lt=1)], "confidence level of the intervals", LEVEL)
_METHOD = Parameter("method", str, "method of estimation; the default depends on the mechanism")
_TOGETHER = Parameter("simultaneous", bool, "intervals that hold for all values at once; by default with top")
_TOP = Parameter("top", Annotated[int, Meta(ge=1, le=10**6)], "only so many rows, the first by size")
_SEARCH = Parameter("search", Annotated[str, Meta(max_length=200)], "only values whose label contains this text")
_FORMAT = Parameter("format", Literal["json", "csv", "arrow"], "the form of the answer", "json")
_COLUMNS = Parameter(
    "format", Literal["json", "columns", "csv", "arrow"], "the form; columns are JSON with a list per column", "json"
)
_RATE = Parameter(
    "rate", Annotated[float, Meta(gt=0, lt=1)], "the largest share of absent strings among those found", RATE
)
_WHERE = (*_PERIOD, _SEGMENT, _SPEC)
_TABLES = (JSON, CSV, ARROW)
_C = "/v1/collections/{name}"

ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/reports", WRITE, "take_report", "Send one report.",
          body=shapes.OneReport, takes=(BINARY, PLAIN), answer=shapes.Accepted),
    Route("POST", "/v1/batches", WRITE, "take_batch", "Send a batch of reports.",
          body=shapes.ManyReports, takes=(BINARY, PLAIN), answer=shapes.BatchAccepted),
    Route("DELETE", "/v1/reports/{id}", WRITE, "delete_report", "Delete a report by its id while it is not counted.",
          (Parameter("bucket", shapes.Hours, "the bucket that was sent with it", needed=True),), answer=shapes.Deleted),
    Route("GET", "/v1/ids", WRITE, "issue_ids", "Draw ids, for collections that take no others.",
          (Parameter("count", Annotated[int, Meta(ge=1, le=10_000)], "how many", 1),), answer=shapes.IssuedIds),
    Route("GET", "/v1/forms/{name}", ANYBODY, "form", "The signed form: all that a device needs to answer.",
          answer=shapes.SignedForm, kept=True),
    Route("GET", "/v1/collections", READ, "collections", "The collections that the key may read.",
          answer=shapes.Collections),
    Route("POST", "/v1/collections", ADMIN, "add_collection", "Make a collection, with a key to write and one to read.",
          body=shapes.NewCollection, answer=shapes.MadeCollection, status=201),
    Route("GET", _C, READ, "collection", "One collection.", answer=shapes.CollectionView),
    Route("PATCH", _C, ADMIN, "change_collection", "Change some settings.",
          body=dict[str, Any], answer=shapes.CollectionView),
    Route("GET", f"{_C}/specs", READ, "specs", "All specs as they were added, also those that have expired.",
          (Parameter("fingerprint", str, "only the spec with this fingerprint"),), answer=shapes.Specs),
    Route("POST", f"{_C}/specs", ADMIN, "add_spec", "Add a spec; devices use the newest.",
          body=shapes.NewSpec, answer=shapes.CollectionView, status=201),
    Route("GET", f"{_C}/keys", ADMIN, "keys", "The keys of a collection, without their secrets.", answer=shapes.Keys),
    Route("POST", f"{_C}/keys", ADMIN, "add_key", "Make a key.", body=shapes.NewKey, answer=shapes.MadeKey, status=201),
    Route("DELETE", f"{_C}/keys/{{id}}", ADMIN, "revoke_key", "Revoke a key.", answer=shapes.Revoked),
    Route("GET", "/v1/keys", ADMIN, "admin_keys", "The administrators' keys, without their secrets.",
          answer=shapes.Keys),
    Route("POST", "/v1/keys", ADMIN, "add_admin_key", "Make an administrator's key.",
          body=shapes.NewAdminKey, answer=shapes.MadeKey, status=201),
    Route("DELETE", "/v1/keys/{id}", ADMIN, "revoke_admin_key", "Revoke an administrator's key, but not the last.",
          answer=shapes.Revoked),
    Route("GET", f"{_C}/estimate", READ, "estimate", "Estimated frequencies, with errors and intervals.",
          (*_WHERE, _METHOD, _TARGET, _LEVEL, _TOGETHER, _TOP, _SEARCH, _COLUMNS),
          answer=answered.EstimateView, or_else=answered.ColumnsView, gives=_TABLES),
    Route("GET", f"{_C}/trend", READ, "trend", "The frequency of one value, bucket by bucket.",
          (Parameter("value", str, "the label", needed=True), *_WHERE, _METHOD, _TARGET, _LEVEL, _FORMAT),
          answer=answered.TrendView, gives=_TABLES),
    Route("GET", f"{_C}/difference", READ, "difference", "One selection minus another, with intervals.",
          (Parameter("a", str, "a label of a segment, or from and to, of the first selection", many=True),
           Parameter("b", str, "the same of the second", many=True),
           *_WHERE, _TARGET._replace(default="population"), _LEVEL, _TOP), answer=answered.DifferenceView),
    Route("POST", f"{_C}/candidates", READ, "candidates", "Which of these strings are present, and how frequent.",
          body=shapes.CandidatesAsked, answer=answered.CandidatesView),
    Route("GET", f"{_C}/heavy-hitters", READ, "heavy_hitters", "Frequent strings that nobody listed.",
          (*_WHERE, _RATE, _TARGET, _LEVEL, _TOP), answer=answered.HittersView),
    Route("GET", f"{_C}/published", READ, "published", "The published counts of one spec, as Parquet.",
          _WHERE, gives=(PARQUET,)),
    Route("GET", f"{_C}/refusals", READ, "refusals", "How many requests were refused, by day and reason.",
          answer=shapes.Refusals),
    Route("GET", f"{_C}/summaries", ADMIN, "export", "A table of the summaries of one spec, whole, as Parquet.",
          (*_PERIOD, _SPEC), gives=(PARQUET,)),
    Route("POST", f"{_C}/summaries", ADMIN, "take_summaries", "Add a table of summaries, once for each id.",
          (Parameter("id", shapes.Id, "a name for this import, drawn once", needed=True),),
          takes=(PARQUET, BINARY), answer=shapes.Imported),
    Route("POST", "/v1/preview", ADMIN, "preview", "What a spec costs, and the error to expect.",
          body=shapes.PreviewAsked, answer=answered.PreviewView),
    Route("GET", "/v1/openapi.json", ANYBODY, "openapi", "This table, as an OpenAPI document.", answer=dict[str, Any]),
    Route("GET", "/health", ANYBODY, "health", "Whether the process answers.", answer=shapes.Health),
    Route("GET", "/ready", ANYBODY, "ready", "Whether the store answers and reports are taken.", answer=shapes.Health),
    Route("GET", "/metrics", READ, "metrics", "Counters and gauges, for OpenMetrics.", gives=(OPEN_METRICS,)),
    Route("GET", "/", ANYBODY, "page", "The dashboard.", gives=(HTML,)),
    Route("GET", "/{file}", ANYBODY, "file", "A file of the dashboard.",
          gives=("text/javascript", "text/css", "image/svg+xml")),
)  # fmt: skip
