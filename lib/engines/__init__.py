"""Engines turn a question into sums: the resident one, and plain pandas as its reference."""

import os
from collections.abc import Callable, Mapping

from lib.engines.plain_pandas import PandasEngine
from lib.engines.resident import ResidentEngine
from lib.engines.sums import Engine
from lib.wire.errors import Misconfigured, UnknownName

VARIABLE, DEFAULT = "TRANCHE_ENGINE", "resident"
ENGINES: Mapping[str, Callable[[int], Engine]] = {
    DEFAULT: ResidentEngine,
    "pandas": lambda threads: PandasEngine(),
}


def engine_for_imports(threads: int) -> Engine:
    """The engine for imported rows: the resident one, unless TRANCHE_ENGINE names the reference.

    The variable is no setting: it is there to follow a figure through plain pandas, and for tests.
    Misconfigured for another name.
    """
    name = os.environ.get(VARIABLE) or DEFAULT
    if name not in ENGINES:
        raise Misconfigured(f"{VARIABLE}: {UnknownName('engine', name, ENGINES)}")
    return ENGINES[name](threads)
