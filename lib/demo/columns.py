"""Codes into Arrow columns: a million rows, but each text only once."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from lib.demo.draw import Floats, Ints

EPOCH_HOUR = 3600


def text(codes: Ints, labels: Sequence[str]) -> pa.DictionaryArray:
    """Row n has the text `labels[codes[n]]`; the empty text is a missing value. Labels may repeat."""
    values, place = np.unique(np.asarray(labels, dtype=object), return_inverse=True)
    places = place[codes].astype(np.int32)
    missing = (values == "")[places]
    indices = pa.array(places, mask=missing) if missing.any() else pa.array(places)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values.tolist(), pa.string()))


def lists(codes: Ints, variants: Sequence[Sequence[str]]) -> pa.ListArray:
    """Row n has the texts `variants[codes[n]]`."""
    elements, labels = np.array([len(variant) for variant in variants]), [t for v in variants for t in v]
    lengths = elements[codes]
    ends = np.cumsum(lengths)
    begins = (np.cumsum(elements) - elements)[codes]
    places = np.arange(ends[-1]) + np.repeat(begins - ends + lengths, lengths)
    offsets = pa.array(np.concatenate([[0], ends]).astype(np.int32))
    return pa.ListArray.from_arrays(offsets, text(places, labels))


def numbers(values: Ints | Floats) -> pa.Array:
    """Numbers as data fields are stored: float64."""
    return pa.array(values.astype(np.float64))


def instants(first_day: int, hour: Ints) -> pa.Array:
    """UTC instants: `hour` counts from midnight of `first_day`, which counts from 1970."""
    return pa.array((first_day * 24 + hour) * EPOCH_HOUR, pa.timestamp("s", tz="UTC"))
