"""`deniable warm-up`: compile everything once."""

from __future__ import annotations

from typing import Annotated

import typer


def warm_up(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MECHANISM]...", help="Only these mechanisms, release, files; default: all."),
    ] = None,
) -> None:
    """Compile all loops once and cache the result.

    The first process that runs a mechanism on a large batch compiles its loops, which takes
    seconds. Run this while an image is built, or once after an installation that its users
    cannot write. NUMBA_CACHE_DIR says where the compiled code goes; later processes need
    the same setting. The code fits the processor it was compiled on.

    \b
    Examples:
      deniable warm-up
      NUMBA_CACHE_DIR=/opt/deniable-cache deniable warm-up grr csr
    """
    from time import perf_counter

    from deniable.cli.running import CommandError
    from deniable.cli.terminal import progress
    from deniable.core.validate import choice
    from deniable.engines.warm_up import FILES
    from deniable.engines.warm_up import warm_up as warm_files
    from deniable.mechanisms.registry import list_mechanisms
    from deniable.simulation.warm_up import NOISE, cache_folder
    from deniable.simulation.warm_up import warm_up as warmed

    known = [*list_mechanisms(), NOISE, FILES]
    chosen = [choice(known, mechanism=name) for name in names] if names else known
    folder = cache_folder()
    if folder is None:
        raise CommandError("compiled code cannot be cached here: set NUMBA_CACHE_DIR to a folder that can be written")
    start = perf_counter()
    with progress() as bar:
        others = [name for name in chosen if name != FILES]
        for _ in bar.track(warmed(others), len(others), description="compiling"):
            pass
        if FILES in chosen:
            warm_files()
    typer.echo(f"compiled {len(chosen)} of {len(known)} in {perf_counter() - start:.1f} s, cached in {folder}")
