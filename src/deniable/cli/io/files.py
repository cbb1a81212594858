"""Files: read once from the front, recognised by their first bytes, and written completely or not at all."""

from __future__ import annotations

import csv
import errno
import io
import os
import re
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from typing import Any, BinaryIO, cast

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from deniable.cli.running import SHOW_VALUES, STANDARD, CommandError
from deniable.cli.terminal import progress
from deniable.core.parquet import READ, check_read, check_rows
from deniable.core.summary import MAGIC
from deniable.heavy_hitters.collected import MAGIC as HITTERS_MAGIC

PARQUET, SUMMARY, HITTERS, TEXT = "Parquet", "summary", "summary of heavy hitters", "text"
_BUFFER = 2**20
# messages of Arrow, as far as they quote no cell
_WIDTH = re.compile(r"CSV parse error: (?:Row #[0-9]+: )?Expected [0-9]+ columns, got [0-9]+")
_ENCODING = re.compile(r"In CSV column #[0-9]+: (?:Row #[0-9]+: )?CSV conversion error to string: invalid UTF8 data")
_CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
_PARQUET_MAGIC = b"PAR1"
_MAGIC_SIZE = max(len(_PARQUET_MAGIC), len(MAGIC), len(HITTERS_MAGIC))


@contextmanager
def reading(name: str) -> Iterator[io.BufferedReader]:
    """Open a file or standard input, with a progress bar."""
    with progress() as bar:
        if name == STANDARD:
            if sys.stdin is None:
                raise CommandError("standard input is closed. Give a file, or pipe one in.")
            bar.add_task("standard input", total=None)
            yield io.BufferedReader(_Beginning(cast(io.RawIOBase, sys.stdin.buffer)), _BUFFER)
            return
        with open(name, "rb", buffering=0) as raw:
            counted = bar.wrap_file(cast(BinaryIO, raw), os.fstat(raw.fileno()).st_size, description=Path(name).name)
            yield io.BufferedReader(_Beginning(cast(io.RawIOBase, counted)), _BUFFER)


class _Beginning(io.RawIOBase):
    """A stream whose first read returns enough bytes to recognise a file; a pipe may deliver one at a time."""

    def __init__(self, source: io.RawIOBase) -> None:
        self._source = source
        # from a buffered stream, take what has arrived without waiting for a full buffer
        self._read_some: Callable[[Any], int | None] = getattr(source, "readinto1", source.readinto)
        self._wanted = _MAGIC_SIZE

    def readinto(self, buffer: Any) -> int:
        view, count = memoryview(buffer), 0
        while more := self._read_some(view[count:]):
            count += more
            if count >= min(self._wanted, len(view)):
                break
        self._wanted = 1
        return count

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._source.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._source.seek(offset, whence)

    def tell(self) -> int:
        return self._source.tell()


def kind_of(file: io.BufferedReader) -> str:
    """The kind of a file, recognised by its first bytes."""
    start = file.peek(_MAGIC_SIZE)
    known = {_PARQUET_MAGIC: PARQUET, MAGIC: SUMMARY, HITTERS_MAGIC: HITTERS}
    return next((kind for magic, kind in known.items() if start.startswith(magic)), TEXT)


@contextmanager
def parquet(file: io.BufferedReader) -> Iterator[Any]:
    """Open a Parquet file; a pipe, which cannot be read backwards, is copied to disk first."""
    with ExitStack() as closed:
        if not file.seekable():
            spooled = closed.enter_context(tempfile.TemporaryFile())
            copyfileobj(file, spooled, _BUFFER)
            file = cast(io.BufferedReader, spooled)
        yield closed.enter_context(pa.parquet.ParquetFile(file, buffer_size=_BUFFER, **READ))


def parquet_batches(source: Any, rows: int, columns: list[str] | None = None) -> Iterator[Any]:
    """Read a Parquet file in batches of at most this many rows."""
    check_rows(source.metadata)
    for group in range(source.num_row_groups):  # one reader of all groups would keep the bytes of those it has read
        read = 0
        for batch in source.iter_batches(rows, row_groups=[group], columns=columns):
            read += len(batch)
            yield batch
        check_read(source.metadata, group, read)


def csv_header(file: io.BufferedReader) -> list[str]:
    """Read the column names in the first line."""
    line = file.readline(_BUFFER).decode("utf-8-sig")
    if not line.strip():
        raise CommandError("the file is empty. CSV must start with a line of column names.")
    if "\0" in line:
        raise CommandError("this file is neither CSV nor Parquet nor a summary: it has null bytes")
    return next(csv.reader([line]))


def csv_column(
    file: io.BufferedReader, header: list[str], name: str, *, show: bool, line_bytes: int = 0
) -> Iterator[Any]:
    """Read one column of CSV after its header as text, batch by batch; empty cells are null.

    In a file of one column an empty line is an empty cell, which it has no other way to write. Lines may be as long as
    a buffer, or as `line_bytes` where that is longer.
    """
    if not file.peek(1):
        return
    block = max(_BUFFER, line_bytes)
    with _wording(show):
        reader = pa.csv.open_csv(
            file,
            pa.csv.ReadOptions(column_names=header, use_threads=False, block_size=block),  # so that errors name the row
            pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(header) > 1),
            pa.csv.ConvertOptions(
                include_columns=[name], column_types={name: pa.string()}, null_values=[""], strings_can_be_null=True
            ),
        )
        # closed here, because a thread that still reads ahead when the interpreter ends would abort it
        with reader:
            for batch in reader:
                yield batch.column(0)


@contextmanager
def _wording(show: bool) -> Iterator[None]:
    """Word a fault in CSV by its row and what was expected; the row itself is quoted only if `show` says so."""
    try:
        yield
    except pa.ArrowInvalid as error:
        text = " ".join(str(error).split())
        if not show and (told := _WIDTH.match(text)):
            text = f"{told[0]}; {SHOW_VALUES}"
        elif not show and not _ENCODING.fullmatch(text):
            text = "this is not CSV with rows of the same length; --show-values says more"
        raise CommandError(text) from None


def csv_table(file: io.BufferedReader, header: list[str], *, show: bool = True) -> Any:
    """Read CSV after its header, as a table of text; empty cells are null."""
    schema = pa.schema([(name, pa.string()) for name in header])
    if not file.peek(1):
        return schema.empty_table()
    with _wording(show):
        table = pa.csv.read_csv(
            file,
            pa.csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
            pa.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(header) > 1),
            pa.csv.ConvertOptions(
                column_types={f"f{place}": pa.string() for place in range(len(header))},
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
    if table.num_columns != len(header):
        raise CommandError(f"the first row has {table.num_columns} cells, but there are {len(header)} column names")
    return table.rename_columns(header)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when everything has been written."""
    try:
        with _destination(path) as file:
            yield file
            file.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        where = "standard output" if str(path) == STANDARD else path
        raise CommandError(f"{where}: {error.strerror or error}") from error


@contextmanager
def _destination(path: Path) -> Iterator[BinaryIO]:
    if str(path) == STANDARD:
        yield sys.stdout.buffer
    elif path.exists() and not path.is_file():
        with open(path, "wb") as file:  # a device or a pipe; a folder raises its error here
            yield file
    else:
        with replacing(path) as partial, open(partial, "wb") as file:
            yield file


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file in the same folder, with the same suffix, renamed at the end or removed."""
    final = Path(os.path.realpath(path))
    if final.is_dir():
        raise CommandError(f"{path}: this is a folder, not a file")
    partial = final.with_name(f".{final.stem}-{secrets.token_hex(4)}{final.suffix}")
    try:
        kept = stat.S_IMODE(final.stat().st_mode) if final.exists() else None
        # the system applies the umask, which could be asked for only by setting it, for all threads
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if kept is None else 0o600))
        yield partial
        _sync(partial)  # or a crash could leave the new name with nothing in it
        if kept is not None:
            os.chmod(partial, kept)  # only now: the file that is replaced may be read-only
        os.replace(partial, final)
        with suppress(OSError):  # what is written is written; some systems open no folders
            _sync(final.parent)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(partial):
            raise CommandError(f"{path}: cannot be written: {error.strerror}") from error
        raise


def _sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; some file systems know no such thing."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:  # what is left is a disk that is full or broken
            raise
    finally:
        os.close(handle)
