"""The command ``rffboost``."""

import re
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

from ..utils.packages import require_packages

if TYPE_CHECKING:
    from typer import Typer

NEEDED = ("typer", "rich")
FAILURE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line, by default with the arguments of the process.

    Returns
    -------
    int
        Exit code: 0, 1 if what was verified differs, 2 after one line on standard error that states
        the error, or 130 if interrupted.
    """
    try:
        require_packages("the command line", *NEEDED)
        return execute(application(), "rffboost", argv)
    except ImportError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        return fail("interrupted", code=130)


def execute(app: "Typer", program: str, argv: Sequence[str] | None = None) -> int:
    """Run a typer program; errors become one line on standard error, and the exit code is that of :func:`main`."""
    import typer

    # The base class of UsageError, whose module differs between versions of typer.
    click_exception = cast(type[Exception], typer.BadParameter.__mro__[2])
    command = typer.main.get_command(app)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = partial(show_warning, program)
            code = command.main(argv, prog_name=program, standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        return fail("interrupted", program, code=130)
    except (ValueError, TypeError, LookupError, OSError, ImportError, RuntimeError) as error:
        return fail(" ".join([str(error), *getattr(error, "__notes__", ())]), program)
    except click_exception as error:
        return fail(cast(Any, error).format_message(), program)
    # Typer turns Ctrl-C into this code.
    return fail("interrupted", program, code) if code == 130 else code if isinstance(code, int) else 0


def application() -> "Typer":
    """The program and its commands."""
    import typer

    from .compare import compare_command
    from .export import export_command
    from .fit import fit_command
    from .info import info_command
    from .predict import predict_command
    from .score import score_command
    from .warmup import warmup_command

    app = typer.Typer(add_completion=False)
    show = typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")

    @app.callback(invoke_without_command=True)
    def root(ctx: typer.Context, version: Annotated[bool, show] = False) -> None:
        """Boosting with random Fourier features and trees."""
        if ctx.invoked_subcommand is None:
            typer.echo(ctx.get_help())

    models = fit_command, predict_command, score_command, info_command, export_command
    for command in (*models, compare_command, warmup_command):
        app.command(command.__name__.removesuffix("_command"))(command)
    return app


def show_version(requested: bool) -> None:
    """Print the version and exit."""
    import typer

    from .._version import __version__

    if requested:
        typer.echo(f"rffboost-ext {__version__}")
        raise typer.Exit


def show_warning(program: str, message: Warning | str, *_: Any) -> None:
    """Print a warning in one line to standard error."""
    print(f"{program}: warning: {' '.join(str(message).split())}", file=sys.stderr)


def fail(message: str, program: str = "rffboost", code: int = FAILURE) -> int:
    """Print an error message in one line to standard error, and return the exit code."""
    told = " ".join(message.split()).removeprefix(f"{program}: ")
    # The names of parameters of sources are those of options.
    told = re.sub(r"^sources\.\w+: (\w+) must", lambda match: f"--{match[1].replace('_', '-')} must", told)
    print(f"{program}: error: {told}", file=sys.stderr)
    return code
