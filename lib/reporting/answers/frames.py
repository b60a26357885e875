"""Frames of answers, made quickly: of a few rows, most of the time goes into an index of the columns."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd


def number_frame(block: npt.NDArray[np.float64], names: Iterable[str]) -> pd.DataFrame:
    """The columns of a block (rows × names) of float64."""
    return pd.DataFrame(block, index=pd.RangeIndex(len(block)), columns=_index(tuple(names)))


def texts_at(categories: pd.DataFrame, places: npt.NDArray[np.intp]) -> pd.DataFrame:
    """The rows at these places of a frame of categories, as texts."""
    columns = {}
    for name, column in categories.items():
        texts = column.array.categories.array.take(np.asarray(column.array.codes)[places])
        columns[name] = texts if isinstance(texts.dtype, pd.StringDtype) else texts.astype("str")
    return pd.DataFrame(columns, index=pd.RangeIndex(len(places)))


@lru_cache(maxsize=1024)
def _index(names: tuple[str, ...]) -> pd.Index:
    """Shared by frames, and among threads: its table of places is made before anybody has it."""
    index = pd.Index(names) if names else pd.RangeIndex(0)
    index.get_indexer(index)
    return index
