"""Settings as the file has them: each by its name, in no section."""

from typing import Any

from lib.settings import SECTION_OF, SETTINGS, Settings


def setting(settings: Settings, name: str) -> Any:
    """A setting by its name in the file."""
    section = SECTION_OF[name]
    return getattr(getattr(settings, section) if section else settings, name)


def changed(settings: Settings, **changes: Any) -> Settings:
    """The settings with others in their place."""
    return Settings(**{name: setting(settings, name) for name in SETTINGS} | changes)
