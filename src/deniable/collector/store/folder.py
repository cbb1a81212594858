"""A folder that holds a SQLite database, and belongs to one process at a time."""

from __future__ import annotations

import os
from pathlib import Path

from deniable.collector.store.protocol import StorageTrouble, StoreInUse

DATABASE = "deniable.sqlite"
_LOCK = "lock"


class Folder:
    """A folder locked for this process; the lock ends with the process, however it ends."""

    def __init__(self, path: Path) -> None:
        import fcntl  # where this module does not exist, only PostgreSQL is supported

        self.path = path
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StorageTrouble(f"the store's folder {path} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._file, 20).decode(errors="replace").strip()
            os.close(self._file)
            raise StoreInUse(
                f"the store in {path} is in use by process {holder or 'unknown'}; one collector at a time can "
                "use a folder, several can share a PostgreSQL database"
            ) from error
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)
        try:  # the database, and what SQLite puts beside it, is for its owner alone, whoever may see the folder
            os.close(os.open(self.database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError as error:
            self.release()
            raise StorageTrouble(f"the database {self.database} cannot be used: {error.strerror}") from error

    @property
    def database(self) -> Path:
        """The file of the database."""
        return self.path / DATABASE

    def release(self) -> None:
        """Let another process use the folder."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
