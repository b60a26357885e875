"""The digits of sums: 13 of fractions and of whole numbers from 2⁵³ on, all of other whole numbers.

Further digits depend on the order in which float64 was added up. A settled sum is what is shown, compared,
ordered and exported: a filter by the figure that an answer had keeps its row.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
DIGITS, LARGEST_WHOLE = 13, 2.0**53
LARGEST_POWER = 22
"""Powers of ten up to it are exact in float64, so that one multiplication rounds once."""


def settle(sums: Numbers) -> Numbers:
    """Sums to 13 significant digits, where they are no whole numbers below 2⁵³; NaN stays."""
    is_rounded = np.isfinite(sums) & ((sums != np.rint(sums)) | (np.abs(sums) >= LARGEST_WHOLE))
    if not is_rounded.any():
        return sums
    units = _units(np.where(is_rounded, sums, 1.0))
    is_extreme = is_rounded & (np.abs(units) > LARGEST_POWER)
    is_large = units > 2
    power = 10.0 ** np.clip(np.where(is_large, units, -units), 0, LARGEST_POWER)
    usual = np.where(is_extreme, 1.0, sums)
    result = np.where(is_large, np.rint(usual / power) * power, np.rint(usual * power) / power)
    result = np.where(is_rounded, result, sums)
    if is_extreme.any():
        result[is_extreme] = [float(f"{number:.{DIGITS - 1}e}") for number in sums[is_extreme].tolist()]
    return result


def slack(sums: Numbers) -> Numbers:
    """By how much settled sums may be off: from 2⁵³ on by one in the last digit, others by 0."""
    is_large = np.isfinite(sums) & (np.abs(sums) >= LARGEST_WHOLE)
    return np.where(is_large, 10.0 ** _units(np.where(is_large, sums, 1.0)), 0.0)


def _units(sums: Numbers) -> Numbers:
    """The power of ten of the last of 13 digits."""
    size: Numbers = np.floor(np.log10(np.abs(sums))) - (DIGITS - 1)
    return size
