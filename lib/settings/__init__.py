"""The settings: of this installation (local), of remote services (remote), and their sources."""

from lib.settings.remote import ConfiguredSeat
from lib.settings.sources import CONFIG, Settings, config_file, settings_table

__all__ = ["CONFIG", "ConfiguredSeat", "Settings", "config_file", "settings_table"]
