"""Engines turn a Question into Sums. You may ignore what is behind these names; others import them from here.

    open_engine(threads)     the Engine of imported rows: resident, or plain pandas as its reference
    ConnectedSlicers         slicers whose rows lie in databases, and their engine
    Question → Sums          which atoms of which records by which groups → an Aggregate of the groups, one of
                             the total, and the Sample that they are from
    RecordsQuestion          the records themselves
    prepare, repair          a slicer's layout on disk: build it ahead, look for damage

Engines raise BadRequest for what is too large, DeadlineExceeded, and Damaged for files that can't be read.
"""

import os
from collections.abc import Callable, Mapping

from lib.engines.connected_slicers import ConnectedSlicers
from lib.engines.plain_pandas import PandasEngine
from lib.engines.records import RecordsQuestion
from lib.engines.resident import ResidentEngine, prepare, repair
from lib.engines.sums import Aggregate, Engine, Question, Sample, Sums
from lib.wire.errors import Misconfigured, UnknownName

__all__ = [
    "Aggregate",
    "ConnectedSlicers",
    "Engine",
    "Question",
    "RecordsQuestion",
    "Sample",
    "Sums",
    "open_engine",
    "prepare",
    "repair",
]
VARIABLE, DEFAULT = "TRANCHE_ENGINE", "resident"
ENGINES: Mapping[str, Callable[[int], Engine]] = {
    DEFAULT: ResidentEngine,
    "pandas": lambda threads: PandasEngine(),
}


def open_engine(threads: int) -> Engine:
    """The engine for imported rows: the resident one, unless TRANCHE_ENGINE names the reference.

    The variable is no setting: it is there to follow a figure through plain pandas, and for tests.
    Misconfigured for another name.
    """
    name = os.environ.get(VARIABLE) or DEFAULT
    if name not in ENGINES:
        raise Misconfigured(f"{VARIABLE}: {UnknownName('engine', name, ENGINES)}")
    return ENGINES[name](threads)
