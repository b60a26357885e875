"""Engines turn a question into sums. `engine` in the settings chooses one by its name here."""

from collections.abc import Callable, Mapping

from lib.reporting.engines.plain_pandas import PandasEngine
from lib.reporting.engines.resident import ResidentEngine
from lib.reporting.engines.sums import Engine

ENGINES: Mapping[str, Callable[[int], Engine]] = {
    "resident": ResidentEngine,
    "pandas": lambda threads: PandasEngine(),
}
