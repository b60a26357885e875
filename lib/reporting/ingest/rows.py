"""Raw rows: what a reader yields, before anything is made of them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.ingest.files import DataFile, Progress
from lib.reporting.ingest.rejects import Reject

Ints = npt.NDArray[np.int64]
Refuse = Callable[[Reject], None]


@dataclass(frozen=True)
class RawRows:
    """Some rows of a file: columns as they were found (of any Arrow type), and each row's line.

    `text` gives the row at a position as it stands in the file; `as_text` the table with the text of cells
    that were read as numbers (None: none were).
    """

    table: pa.Table
    lines: Ints
    text: Callable[[int], str]
    as_text: Callable[[], pa.Table] | None = None


class Reader(Protocol):
    """Reads a file of one format.

    `columns` are the file's columns, where they are known before its rows are read; else None, and `seen`
    fills while they are. Without a header the names are made up.
    """

    file: DataFile
    columns: tuple[str, ...] | None
    seen: dict[str, None]
    has_header: bool

    @property
    def description(self) -> str:
        """The format found, in a few words."""
        ...

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches, with the wanted columns (None: all); what can't be read goes to `refuse`.

        Columns of `numbers` may come as float64 where each of their cells in a batch is a number as computers
        write it.
        """
        ...
