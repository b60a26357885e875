"""The command line: `tranche`. Each command's module is imported when the command is called."""

import gc
import importlib

import click

from lib.wire import private
from lib.wire.errors import TrancheError, UnknownName

COMMANDS = {
    "import": ("import_files", "Import files into a slicer."),
    "connect": ("connect", "Make a slicer of a table in a database."),
    "slicers": ("warehouse", "List the slicers: days, rows, size."),
    "slicer": ("warehouse", "Rename or remove a slicer, or confirm its guesses."),
    "user": ("people", "People: add, list, remove, grant, password."),
    "supply": ("supply", "Import ads.txt, app-ads.txt and sellers.json."),
    "token": ("tokens", "Tokens for the APIs: create, list, revoke."),
    "snapshot": ("snapshot", "Write a saved view's figures as HTML, PDF or PNG."),
    "log": ("tokens", "The audit log: sign-ins, permissions, tokens."),
    "demo": ("demo", "Build the demo: two slicers and three people."),
    "serve": ("serve", "Serve the APIs without the desk."),
    "mcp": ("mcp", "Serve agents over standard input and output."),
    "verify": ("check", "Check every stored file against its checksums."),
    "backup": ("backup", "Write one archive of the installation."),
    "restore": ("backup", "Restore the installation from an archive."),
    "move-state": ("backup", "Move people, deals and tokens to PostgreSQL."),
    "check": ("check", "Check the settings and remote services."),
}


class Commands(click.Group):
    """The commands of `COMMANDS`: of each module, the click command that has the name on the command line."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, from its module; None for a name that is none."""
        if cmd_name not in COMMANDS:
            return None
        gc.disable()  # a tenth of the time of a short command: no module is garbage
        module = importlib.import_module(f"lib.cli.{COMMANDS[cmd_name][0]}")
        gc.enable()
        commands = (member for member in vars(module).values() if isinstance(member, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name; a usage error offers the nearest name for one that is none."""
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            raise click.UsageError(UnknownName("command", args[0], COMMANDS).reason, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, without importing what it names."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, sentence) for name, (_, sentence) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; an error of ours, or of a file or disk, is printed as a sentence, exit code 1."""
        private.closed_to_others()
        try:
            return super().invoke(ctx)
        except TrancheError as error:
            raise click.ClickException(error.reason) from error
        except BrokenPipeError:
            raise
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise click.ClickException(f"{error.strerror or error}{where}") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="tranche", message="tranche %(version)s")
def main() -> None:
    """Slice report data and set up deals: a desk in the browser, and two APIs.

    Everything is kept in one folder, `.tranche` here or the one that TRANCHE_HOME names.

    \b
    A first slicer of your own, and somebody who may see it:
      tranche import auctions.csv --project acme --slicer auctions
      tranche user add ada --role manager --grant acme --deals write
      tranche token create --person ada --service reporting --name "nightly report"

    Exit codes: 0 done, 1 refused or failed (the sentence on standard error says why), 2 not understood.
    """
