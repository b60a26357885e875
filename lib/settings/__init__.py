"""What this installation was told: of itself (local), of services elsewhere (remote), and from where."""

from lib.settings.remote import ConfiguredSeat
from lib.settings.sources import CONFIG, Settings, settings_table

__all__ = ["CONFIG", "ConfiguredSeat", "Settings", "settings_table"]
