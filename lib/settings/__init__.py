"""The settings: of this installation (local), of remote services (remote), and their sources."""

from lib.settings.optional import CALLBACK, CompanyProvider
from lib.settings.remote import ConfiguredSeat
from lib.settings.sources import CONFIG, Settings, config_file, settings_table

__all__ = [
    "CALLBACK",
    "CONFIG",
    "CompanyProvider",
    "ConfiguredSeat",
    "Settings",
    "config_file",
    "settings_table",
]
