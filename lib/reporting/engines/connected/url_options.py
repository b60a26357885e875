"""The options in the URL of a connection."""

from collections.abc import Collection
from urllib.parse import SplitResult, parse_qsl

from lib.wire.errors import Misconfigured


def url_options(parts: SplitResult, names: Collection[str], whose: str) -> dict[str, str]:
    """The options by name. Misconfigured, which lists those of `whose` connections, for any other one."""
    options = dict(parse_qsl(parts.query))
    if unknown := sorted(options.keys() - set(names)):
        raise Misconfigured(f"{whose} connection's url can have {', '.join(sorted(names))}, not {unknown[0]}")
    return options
