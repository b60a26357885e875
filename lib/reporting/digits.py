"""The digits of sums: 13 of fractions and of whole numbers from 2⁵³ on, all of other whole numbers.

Further digits depend on the order in which float64 was added up.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
DIGITS, LARGEST_WHOLE = 13, 2.0**53


def settle(sums: Numbers) -> Numbers:
    """Sums to 13 significant digits, where they are no whole numbers below 2⁵³; NaN stays."""
    is_rounded = np.isfinite(sums) & ((sums != np.rint(sums)) | (np.abs(sums) >= LARGEST_WHOLE))
    if not is_rounded.any():
        return sums
    units = _units(np.where(is_rounded, sums, 1.0))
    scale = 10.0 ** np.clip(-units, 0, 22)
    result = np.where(units > 2, np.rint(sums / 10.0**units) * 10.0**units, np.rint(sums * scale) / scale)
    return np.where(is_rounded, result, sums)


def slack(sums: Numbers) -> Numbers:
    """By how much settled sums may be off: from 2⁵³ on by one in the last digit, others by 0."""
    is_large = np.isfinite(sums) & (np.abs(sums) >= LARGEST_WHOLE)
    return np.where(is_large, 10.0 ** _units(np.where(is_large, sums, 1.0)), 0.0)


def _units(sums: Numbers) -> Numbers:
    """The power of ten of the last of 13 digits."""
    size: Numbers = np.floor(np.log10(np.abs(sums))) - (DIGITS - 1)
    return size
