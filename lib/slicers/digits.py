"""Sums to the last digit: decimal numbers as whole ones, and settled sums where there are none.

A file has 0.1, and float64 the number nearest to it. Times a power of ten it is whole again, and float64 adds
up whole numbers exactly, in any order, while their sizes add up to less than 2⁵³. Where they add up to more,
each is split in two, and either part is added up exactly. The sum is divided once, at the end. A sum of other
numbers is settled: what is smaller than 10⁻¹³ of its addends is rounding.
"""

import math

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
DIGITS, LARGEST_WHOLE = 13, 2.0**53
DECIMAL_DIGITS = 15
"""So many digits of a decimal number float64 keeps."""
MOST_DECIMALS = 9
LARGEST_POWER = 22
"""Powers of ten up to it are exact in float64, so that one multiplication rounds once."""
LEAST_PLACE = -324
POWERS, TENS = 10.0 ** np.arange(LARGEST_POWER + 1), 10.0 ** np.arange(LEAST_PLACE, 309)
MOST_AT_ONCE = 1 << 15  # numbers whose digits are found in the processor's cache
PROBE = 1 << 10
SPLITTER = 2.0**27 + 1


def decimals(numbers: Numbers) -> tuple[int, int] | None:
    """The least and the most decimals with which finite numbers are decimal ones; None where with none.

    Each of them, times the power of ten, is then a whole number that float64 holds exactly.
    """
    least = 0
    for part in (numbers[:PROBE], numbers)[len(numbers) <= PROBE :]:
        while not _have_decimals(part, least):
            least += 1
            if least > MOST_DECIMALS:
                return None
    largest = float(np.abs(numbers).max(initial=0.0))
    most = least
    while most < MOST_DECIMALS and (
        largest * 10 ** (most + 1) < 10**DECIMAL_DIGITS or _have_decimals(numbers, most + 1)
    ):
        most += 1
    return least, most


def whole_numbers(numbers: Numbers, places: int) -> Numbers:
    """Numbers of so many decimals as whole ones."""
    return np.rint(numbers * 10.0**places) if places else numbers


def _have_decimals(numbers: Numbers, places: int) -> bool:
    power = 10.0**places
    with np.errstate(over="ignore"):
        whole = np.rint(numbers * power)
    is_decimal = whole / power == numbers
    if places:
        is_decimal &= np.abs(whole) < 10**DECIMAL_DIGITS
    if is_decimal.all():
        return True
    large = numbers[~is_decimal]
    return bool((np.rint(large) == large).all() and not _product_error(large, power).any())


def _product_error(numbers: Numbers, power: float) -> Numbers:
    """What rounding takes from numbers × power, up to 10⁹: the two-product of Dekker (1971)."""
    with np.errstate(all="ignore"):
        high = numbers * SPLITTER - (numbers * SPLITTER - numbers)
        return np.asarray((high * power - numbers * power) + (numbers - high) * power)


UNIT_STEP = 4  # powers of two from one unit to the next, so that few days change it
LEAST_EXPONENT = -1020  # of the smallest unit: float64 is less precise below 2⁻¹⁰²²
LARGEST_VOLUME = 1e300  # from it on the unit is 1; float64 ends at 1.8e308


def unit(volume: float) -> float:
    """Multiples of this power of two add up exactly where the sizes of numbers add up to `volume`.

    It is the same for similar volumes, so that few days change it.
    """
    if not 0 < volume < LARGEST_VOLUME:
        return 1.0
    return float(2.0 ** max(math.ceil((math.log2(volume) - 52) / UNIT_STEP) * UNIT_STEP, LEAST_EXPONENT))


SHIFT = 3 * 2.0**52  # units, so large that the last digit of a sum is the unit


def split(numbers: Numbers, unit: float) -> tuple[Numbers, Numbers]:
    """Multiples of a power of two, and the rest: both exact."""
    shift = SHIFT * unit
    high = (numbers + shift) - shift
    return high, numbers - high


def join(high: Numbers, low: Numbers, places: int) -> Numbers:
    """The decimal numbers that sums of two parts of whole numbers make."""
    if np.all(np.abs(high) + np.abs(low) < LARGEST_WHOLE) or not np.isfinite(high + low).all():
        return (high + low) / 10.0**places
    parts = zip(high.tolist(), low.tolist(), strict=True)
    return np.array([(int(above) + int(below)) / 10**places for above, below in parts])


def decimal_sum(numbers: Numbers) -> float:
    """The sum of decimal numbers, to the last digit; of others, what float64 makes of the exact one."""
    places = decimals(numbers) if np.isfinite(numbers).all() else None
    if places is None:
        return math.fsum(numbers.tolist()) if np.isfinite(numbers).all() else float(numbers.sum())
    whole = whole_numbers(numbers, places[0])
    if float(np.abs(whole).sum()) < 10**DECIMAL_DIGITS:
        return float(whole.sum() / 10 ** places[0])
    return float(sum(map(int, whole.tolist())) / 10 ** places[0])


def settle(sums: Numbers, sizes: Numbers | None = None, digits: int = DIGITS) -> Numbers:
    """Sums to 13 significant digits of what was added up (`sizes`, the sums themselves without them).

    Whole numbers below 2⁵³ stay, and so does NaN.
    """
    sums = np.asarray(sums)
    if sums.size > MOST_AT_ONCE and sums.ndim == 1:
        parts = (slice(start, start + MOST_AT_ONCE) for start in range(0, len(sums), MOST_AT_ONCE))
        pairs = ((sums[part], None if sizes is None else sizes[part]) for part in parts)
        return np.concatenate([settle(*pair, digits) for pair in pairs])
    is_rounded = np.isfinite(sums) & ((sums != np.rint(sums)) | (np.abs(sums) >= LARGEST_WHOLE))
    if not is_rounded.any():
        return sums
    sizes = np.abs(sums) if sizes is None else np.fmax(np.abs(sizes), np.abs(sums))
    units = last_place(np.where(is_rounded & np.isfinite(sizes), sizes, 1.0), digits)
    power = POWERS[np.clip(-units, 0, LARGEST_POWER)]
    with np.errstate(over="ignore"):
        result = np.where(is_rounded, np.rint(sums * power) / power, sums)
    is_large = is_rounded & (units > 2)
    if is_large.any():
        power = POWERS[np.clip(units[is_large], 0, LARGEST_POWER)]
        result[is_large] = np.rint(sums[is_large] / power) * power
    is_extreme = is_rounded & (np.abs(units) > LARGEST_POWER)
    if is_extreme.any():
        extreme = zip(sums[is_extreme].tolist(), units[is_extreme].tolist(), strict=True)
        result[is_extreme] = [round(number, -place) for number, place in extreme]
    return result


def last_place(sizes: Numbers, digits: int = DIGITS) -> npt.NDArray[np.int64]:
    """The power of ten of the last of so many digits of sizes above zero."""
    places = np.floor(np.log10(sizes)).astype(np.int64)
    places -= TENS[places - LEAST_PLACE] > sizes  # 9.99…, of which the logarithm is rounded up
    return np.asarray(places - (digits - 1))
