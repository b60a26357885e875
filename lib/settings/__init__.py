"""Every setting, its default and its description: local ones, and those that a plain desk leaves alone.

A setting comes from an option of the command line, else from the environment (`TRANCHE_<NAME>`), else from
one TOML file (`<home>/tranche.toml`, or the one that `TRANCHE_CONFIG` names), else it has its default.
"""

import logging
import os
import stat
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import SettingsError

from lib.settings.local import PREFIX
from lib.settings.optional import CALLBACK, SECRETS, CompanyProvider, ConfiguredSeat, SigningIn
from lib.wire.errors import WORDS, Misconfigured, UnknownName, requirement, suggestion

__all__ = [
    "CALLBACK",
    "CONFIG",
    "CompanyProvider",
    "ConfiguredSeat",
    "Settings",
    "config_file",
    "settings_tables",
]
CONFIG = "TRANCHE_CONFIG"
NO_SETTINGS = frozenset({CONFIG, "TRANCHE_ENGINE", "TRANCHE_TOKEN"})
TESTING = f"{PREFIX}TEST_"
log = logging.getLogger("tranche")
NO_OPTIONS: Mapping[str, Any] = {}
FIRST = (
    "home",
    "host",
    "port",
    "origins",
    "trusted_proxies",
    "database_url",
    "question_megabytes",
    "metrics_token",
    "log_format",
)
"""Settings that whoever installs Tranche looks at; the others are for later."""


class Settings(SigningIn):
    """All settings. `load` reads all sources; the constructor leaves the TOML file out."""

    def __hash__(self) -> int:
        """As equal settings have it: some of them are mappings, which have no hash."""
        return hash((self.home, self.port, self.base_url, self.curate_url, self.deadline_seconds))

    @classmethod
    def load(cls, **options: Any) -> Self:
        """The settings of this process; `options` (of a command line) win over everything else.

        Raises Misconfigured, with one sentence for each wrong setting that names it and its source.
        """
        path = config_file(options)
        file_values = _read_file(path, set(cls.model_fields))
        env_names = {name for name in cls.model_fields if os.environ.get(f"{PREFIX}{name.upper()}")}
        values = {name: value for name, value in file_values.items() if name not in env_names} | options
        try:
            settings = cls(**values)
        except ValidationError as error:
            sources = dict.fromkeys(file_values, f"in {path}")
            sources |= {name: f"from {PREFIX}{name.upper()}" for name in env_names}
            sources |= dict.fromkeys(options, "given as an option")
            raise Misconfigured(_sentences(error, sources)) from None
        except SettingsError as error:
            raise Misconfigured(f"A setting of the environment is not valid JSON: {error}") from None
        _warn_of_misspelled_variables(settings)
        return settings

    @staticmethod
    def current() -> "Settings":
        """The settings of this process, read once: a change of the file or environment takes a restart."""
        return _current()


@cache
def _current() -> Settings:
    return Settings.load()


def _warn_of_misspelled_variables(settings: Settings) -> None:
    """Log each variable that is nearly a setting, once per process.

    Not refused, as a key of the file is: a variable may belong to another program, or to a connection.
    """
    names = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | NO_SETTINGS
    urls = " ".join(settings.connection_urls.values())
    for variable in sorted(os.environ):
        is_ours = variable.startswith(PREFIX) and not variable.startswith(TESTING)
        if is_ours and variable not in names and f"${{{variable}}}" not in urls:
            _warn_of_variable(variable)


@cache
def _warn_of_variable(variable: str) -> None:
    name = variable.removeprefix(PREFIX).lower()
    if near := suggestion(name, list(Settings.model_fields)):
        log.warning("%s is ignored: Unknown setting '%s'%s", variable, name, near)


def settings_tables() -> str:
    """The Markdown tables of all settings, as docs/settings.md has them between `<!-- settings -->` marks."""
    others = [name for name in Settings.model_fields if name not in FIRST]
    return f"## Look at these first\n\n{_table(FIRST)}\n\n## The others\n\n{_table(others)}"


def _table(names: Iterable[str]) -> str:
    fields = {name: Settings.model_fields[name] for name in names}
    rows = [
        f"| `{name}` | `{PREFIX}{name.upper()}` | {_field_name(field)} | {field.description} |"
        for name, field in fields.items()
    ]
    return "\n".join(["| Setting | Environment | Default | Meaning |", "|---|---|---|---|", *rows])


def _field_name(field: FieldInfo) -> str:
    extra = field.json_schema_extra
    default = extra["shown"] if isinstance(extra, dict) else field.default
    if default in (None, "", (), {}):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def config_file(options: Mapping[str, Any] = NO_OPTIONS) -> Path:
    """The path of the TOML file. Misconfigured if it was set and does not exist."""
    if path := os.environ.get(CONFIG):
        if not Path(path).is_file():
            raise Misconfigured(f"{CONFIG} names the file {path}, which does not exist")
        return Path(path)
    return Path(options.get("home") or os.environ.get(f"{PREFIX}HOME") or ".tranche") / "tranche.toml"


def _read_file(path: Path, names: set[str]) -> dict[str, Any]:
    """The settings in the file; empty without a file. Misconfigured for a file without any text."""
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except RecursionError:
        raise Misconfigured(f"{path} can't be read as TOML: nested too deeply") from None
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{path} can't be read as TOML: {error}") from None
    if not text.strip():
        raise Misconfigured(f"{path} is empty: restore it from a backup; or remove it to use the defaults")
    _check_mode(path, values)
    if unknown := sorted(values.keys() - names):
        raise Misconfigured("\n".join(f"{path}: {UnknownName('setting', name, names)}" for name in unknown))
    return values


def _check_mode(path: Path, values: dict[str, Any]) -> None:
    """Check that a file with a password or a token is readable by its owner only."""
    secrets = sorted(SECRETS & values.keys())
    secrets += [
        f"connections.{name}"
        for name, connection in _tables(values, "connections")
        if "@" in str(connection.get("url")) or ";token=" in str(connection.get("url"))
    ]
    secrets += [f"deal_sync_receivers.{name}" for name, _ in _tables(values, "deal_sync_receivers")]
    if secrets and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Misconfigured(f"{path} holds {', '.join(secrets)} and others can read it: chmod 600 {path}")


def _tables(values: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """The tables of a table of tables, by name."""
    table = values.get(name)
    return (
        [(key, entry) for key, entry in table.items() if isinstance(entry, dict)]
        if isinstance(table, dict)
        else []
    )


def _sentences(error: ValidationError, sources: dict[str, str]) -> str:
    """One line per problem. The value itself is left out: it may be a database's password."""
    lines = []
    for problem in error.errors(include_input=False, include_url=False):
        name = ".".join(map(str, problem["loc"]))
        if problem["type"] == "default_factory_not_called":  # follows from another problem of the list
            continue
        source = sources.get(str(problem["loc"][0]), "default") if name else ""
        where = f"Setting {name} ({source})" if name else "Settings"
        reason = problem["msg"]
        if problem["type"] in WORDS:
            reason = requirement(problem["type"], problem.get("ctx"))
        lines.append(f"{where}: {reason}")
    return "\n".join(lines)
