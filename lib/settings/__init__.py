"""Every setting, its default and its description: local ones, and those that a plain desk leaves alone.

A setting comes from an option of the command line, else from the environment (`TRANCHE_<NAME>`), else from
one TOML file (`<home>/tranche.toml`, or the one that `TRANCHE_CONFIG` names), else it has its default.
"""

import logging
import os
import stat
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Self

from pydantic import ValidationError, model_validator
from pydantic_settings import EnvSettingsSource, SettingsError

from lib.settings.local import PREFIX, Local
from lib.settings.optional import (
    CALLBACK,
    DEMO,
    SECRETS,
    Alerting,
    CompanyProvider,
    CompanySignIn,
    ConfiguredSeat,
    DealSyncing,
    Mail,
    Remote,
)
from lib.wire.errors import WORDS, Misconfigured, UnknownName, requirement, suggestion
from lib.wire.network import is_loopback

__all__ = [
    "CALLBACK", "CONFIG", "SECTIONS", "SECTION_OF", "SETTINGS", "CompanyProvider", "ConfiguredSeat", "Remote",
    "Settings", "config_file",
]  # fmt: skip
CONFIG = "TRANCHE_CONFIG"
NO_SETTINGS = frozenset({CONFIG, "TRANCHE_ENGINE", "TRANCHE_TOKEN"})
TESTING = f"{PREFIX}TEST_"
log = logging.getLogger("tranche")
NO_OPTIONS: Mapping[str, Any] = {}


class Settings(Local):
    """All settings: those of this installation, and sections that a plain desk leaves alone.

    The file, the environment and options name each setting, not its section. `load` reads all sources; the
    constructor leaves the file out.
    """

    remote: Remote = Remote()
    alerts: Alerting = Alerting()
    mail: Mail = Mail()
    deal_sync: DealSyncing = DealSyncing()
    company: CompanySignIn = CompanySignIn()

    def __init__(self, **values: Any) -> None:
        # The settings of the environment; SettingsError for a table that is no JSON.
        options: dict[str, Any] = {"env_prefix": PREFIX, "env_ignore_empty": True}
        environment: dict[str, Any] = {}
        for model in SECTIONS.values():
            environment |= EnvSettingsSource(model, **options)()
        sections: dict[str, Any] = {}
        for name, value in (environment | values).items():
            section = SECTION_OF.get(name)
            (sections.setdefault(section, {}) if section else sections)[name] = value
        super().__init__(**sections)

    def __hash__(self) -> int:
        """As equal settings have it: some of them are mappings, which have no hash."""
        return hash((self.home, self.port, self.remote.base_url, self.deadline_seconds))

    @model_validator(mode="after")
    def _has_address_to_return_to(self) -> Self:
        provider = self.company.oidc
        if provider and not (provider.address or self.origins or is_loopback(self.host)):
            raise ValueError("oidc needs origins or oidc.address, to which the provider sends people back")
        return self

    @property
    def usual_terms(self) -> dict[str, str]:
        """What a term of deals means that is not set, by its field."""
        return {"price_type": self.price_type, "currency": self.price_currency}

    @property
    def sync_origin(self) -> str:
        """The origin of the documents of deal sync; empty where there are none."""
        return self.deal_sync.deal_sync_origin or (DEMO if self.demo else "")

    @property
    def company_address(self) -> str:
        """The scheme and host to which the provider sends people back; empty without a provider."""
        return "" if self.company.oidc is None else self.company.oidc.address or self.address

    @classmethod
    def load(cls, **options: Any) -> Self:
        """The settings of this process; `options` (of a command line) win over everything else.

        Raises Misconfigured, with one sentence for each wrong setting that names it and its source.
        """
        path = config_file(options)
        file_values = _read_file(path, set(SETTINGS))
        env_names = {name for name in SETTINGS if os.environ.get(f"{PREFIX}{name.upper()}")}
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
        # Log each variable that is nearly a setting, once per process. Not refused, as a key of the file
        # is: a variable may belong to another program, or to a connection.
        names = {f"{PREFIX}{name.upper()}" for name in SETTINGS} | NO_SETTINGS
        urls = " ".join(settings.connection_urls.values())
        for variable in sorted(os.environ):
            is_ours = variable.startswith(PREFIX) and not variable.startswith(TESTING)
            if is_ours and variable not in names and f"${{{variable}}}" not in urls:
                _warn_of_variable(variable)
        return settings

    @staticmethod
    def current() -> "Settings":
        """The settings of this process, read once: a change of the file or environment takes a restart."""
        return _current()


SECTIONS: dict[str, Any] = {"": Local} | {
    name: field.annotation for name, field in Settings.model_fields.items() if name not in Local.model_fields
}
SETTINGS = {name: field for model in SECTIONS.values() for name, field in model.model_fields.items()}
"""Every setting by its name in the file."""
SECTION_OF = {name: section for section, model in SECTIONS.items() for name in model.model_fields}


@cache
def _current() -> Settings:
    return Settings.load()


@cache
def _warn_of_variable(variable: str) -> None:
    name = variable.removeprefix(PREFIX).lower()
    if near := suggestion(name, [*SETTINGS]):
        log.warning("%s is ignored: Unknown setting '%s'%s", variable, name, near)


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
    # Check that a file with a password or a token is readable by its owner only.
    secrets = sorted(SECRETS & values.keys())
    secrets += [
        f"connections.{name}"
        for name, connection in _tables(values, "connections")
        if "@" in str(connection.get("url")) or ";token=" in str(connection.get("url"))
    ]
    secrets += [f"deal_sync_receivers.{name}" for name, _ in _tables(values, "deal_sync_receivers")]
    if secrets and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Misconfigured(f"{path} holds {', '.join(secrets)} and others can read it: chmod 600 {path}")
    if unknown := sorted(values.keys() - names):
        raise Misconfigured("\n".join(f"{path}: {UnknownName('setting', name, names)}" for name in unknown))
    return values


def _tables(values: dict[str, Any], name: str) -> list[tuple[str, dict[str, Any]]]:
    """The tables of a table of tables, by name."""
    table = values.get(name)
    entries = table.items() if isinstance(table, dict) else ()
    return [(key, entry) for key, entry in entries if isinstance(entry, dict)]


def _sentences(error: ValidationError, sources: dict[str, str]) -> str:
    """One line per problem. The value itself is left out: it may be a database's password."""
    lines = []
    for problem in error.errors(include_input=False, include_url=False):
        path = problem["loc"][1:] if problem["loc"] and problem["loc"][0] in SECTIONS else problem["loc"]
        name = ".".join(map(str, path))
        if problem["type"] == "default_factory_not_called":  # follows from another problem of the list
            continue
        source = sources.get(str(path[0]), "default") if name else ""
        where = f"Setting {name} ({source})" if name else "Settings"
        reason = problem["msg"]
        if problem["type"] in WORDS:
            reason = requirement(problem["type"], problem.get("ctx"))
        lines.append(f"{where}: {reason}")
    return "\n".join(lines)
