"""Numbers as text, a column at a time; a missing one (NaN) is the empty string."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

_EXACT_INTEGERS = 2.0**53


def display(values: npt.NDArray[np.float64], decimals: int) -> pa.StringArray:
    """With so many decimal places, rounded as Python does it; never "-0.00", never an exponent."""
    if decimals == 0 and np.all(~(np.abs(values) >= _EXACT_INTEGERS)):
        return _integers(np.rint(values), ~np.isnan(values))
    texts = pa.array(list(map(f"%.{decimals}f".__mod__, values.tolist())), pa.string())
    zero = f"{0:.{decimals}f}"
    return _present(pc.if_else(pc.equal(texts, f"-{zero}"), zero, texts), ~np.isnan(values))


def exact(values: npt.NDArray[np.float64]) -> pa.StringArray:
    """With as many digits as it takes to read the same number again; a whole one without a decimal point."""
    is_whole = (np.abs(values) < _EXACT_INTEGERS) & (values == np.rint(values))
    integers = _integers(values, is_whole)
    if np.all(is_whole | np.isnan(values)):
        return integers
    texts = pa.array(list(map(repr, values.tolist())), pa.string())
    return _present(pc.if_else(is_whole, integers, texts), ~np.isnan(values))


def _integers(values: npt.NDArray[np.float64], present: npt.NDArray[np.bool_]) -> pa.StringArray:
    texts = pa.array(np.where(present, values, 0).astype(np.int64)).cast(pa.string())
    return _present(texts, present)


def _present(texts: pa.StringArray, present: npt.NDArray[np.bool_]) -> pa.StringArray:
    return texts if present.all() else pc.if_else(present, texts, "")
