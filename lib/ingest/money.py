"""What a column of money is in: which currency, and whether in millionths, thousandths or cents.

Both are told by names. A column of currencies has codes of ISO 4217 beside such a name, and scaled numbers
are whole ones.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.ingest import cells, column_names
from lib.ingest.column_guess import ColumnGuess
from lib.ingest.numbers import PERCENT
from lib.wire.currencies import CODES

Floats = npt.NDArray[np.float64]
_ENDS = {"bid", "value"}  # money only as the last of several words, or before a scale
_NO_MONEY = {
    "share", "rate", "ratio", "percent", "pct", "roas", "roi", "count", "num", "number", "id", "type",
}  # fmt: skip
_CURRENCY = {"currency", "currencies", "ccy", "devise", "moneda", "monnaie", "valuta", "wahrung", "waehrung"}
_SCALES = {
    "micros": 10**6, "micro": 10**6, "e6": 10**6, "millionths": 10**6, "nanos": 10**9, "thousandths": 1000,
    "millis": 1000, "e3": 1000, "cents": 100, "centimes": 100, "pence": 100,
}  # fmt: skip
_SUFFIX = re.compile(
    rf"(?:[_\s.(-]+(?:(?i:in)[_\s]+)?|(?<=[a-z])(?=[A-Z]))((?i:{'|'.join(_SCALES)}))"
    r"(?:[_\s-]*(?i:dollars?|euros?|currency))?\)?$"  # SPEND_IN_MICRO_DOLLAR
)
_CODE = re.compile(r"(?P<mark>[_\s.(\[-])(?P<end>[A-Za-z]{3})[)\]]?$|^(?P<start>[A-Za-z]{3})(?=[_\s])")
_WORDS_TOO = {"ALL", "COP", "CUP", "GEL", "MAD", "MOP", "PEN", "SSP", "TOP", "TRY"}
"""Codes of currencies that are words of the trade: of a name they have to be in brackets."""
_LARGE_MONEY = 10**6
MAY_BE_MILLIONTHS = "whole numbers of money this large may be millionths"
_DUMP, _DUMPED = re.compile(r"Dimension\.|Column\."), "Column."
_LARGE_AVERAGE = 10**4
"""From here on, a cent, averages are in millionths where other money is."""


def is_money(name: str) -> bool:
    """Whether numbers under this name are amounts or prices: `metrics.cost_micros`, `Revenue (USD)`."""
    suffix = _SUFFIX.search(name)
    name = name[: suffix.start()] if suffix else name
    parts = column_names.split_words(name)
    has_code = len(parts) > 1 and parts[-1].upper() in set(CODES) - _WORDS_TOO
    parts = parts[:-1] if has_code else parts
    is_end = not _ENDS.isdisjoint(parts[-1:]) and (suffix is not None or has_code or len(parts) > 1)
    return (column_names.has_money(name) or is_end) and _NO_MONEY.isdisjoint(parts)


def scale(guesses: Sequence[ColumnGuess], figures: dict[str, Floats]) -> list[ColumnGuess]:
    """The guesses, with the scale of columns in parts of a currency; their `figures` are divided.

    Those of an ad server's dump (`Dimension.DATE`, `Column.…REVENUE`) are in millionths; so are averages
    beside a column that says so, as Google Ads has `metrics.averageCpc` beside `metrics.costMicros`.
    """
    is_dump = bool(guesses) and any(_DUMP.match(guess.column) for guess in guesses)
    suffixes = (_SUFFIX.search(guess.column) for guess in guesses if guess.column in figures)
    divisors = [_SCALES[suffix[1].lower()] for suffix in suffixes if suffix]
    return [_with_scale(guess, figures, is_dump, 10**6 in divisors) for guess in guesses]


def _with_scale(
    guess: ColumnGuess, figures: dict[str, Floats], is_dump: bool, has_micros: bool
) -> ColumnGuess:
    name, values = guess.column, figures.get(guess.column)
    if guess.is_key or values is None or guess.options.get("unit") or not is_money(name):
        return guess
    # Whole money, too: a first month of zeros would have later cents rounded in files.
    guess = guess._replace(options={"display_type": "float", "display_precision": 2} | guess.options)
    suffix, present = _SUFFIX.search(name), values[np.isfinite(values)]
    is_average = has_micros and guess.options.get("aggregate") == "mean"
    is_large_average = is_average and len(present) > 0 and np.median(np.abs(present)) >= _LARGE_AVERAGE
    is_named = suffix or (is_dump and name.startswith(_DUMPED))
    if (is_named and (present % 1 == 0).all()) or is_large_average:
        divisor = _SCALES[suffix[1].lower()] if suffix else 10**6
        figures[name] = values / divisor
        options = guess.options | {"scale": divisor}
        if suffix:
            options["description"] = column_names.description(name[: suffix.start()])
            return guess._replace(options=options).with_note(f"divided by {divisor:,}")
        why = "other money of this file is" if is_average else "an ad server dumps money"
        doubt = f"in millionths, as {why}; if it is not, leave out the scale"
        return guess._replace(options=options, doubt=doubt).with_note(f"divided by {divisor:,}")
    is_large = len(present) > 0 and np.median(np.abs(present)) >= _LARGE_MONEY and (present % 1 == 0).all()
    if suffix or guess.doubt or not is_large:
        return guess
    return guess._replace(doubt=f"if they are, write scale: 1000000, as {MAY_BE_MILLIONTHS}")


def with_currencies(guesses: Sequence[ColumnGuess], columns: Mapping[str, pa.Array]) -> list[ColumnGuess]:
    """The guesses, money with its currency: a code in its name, or the column that tells it.

    Of several such columns it is the one that shares most words with the name; where two share as many, the
    first is a guess.
    """
    keys = list[str]()
    for guess in guesses:
        is_named = not _CURRENCY.isdisjoint(column_names.split_words(guess.column))
        if guess.is_key and is_named and "segmented" not in guess.options:
            texts = cells.trim(cells.text(columns[guess.column])).drop_null().unique().to_pylist()
            keys += [guess.column] if texts and set(texts) <= set(CODES) else []
    return [_in_currency(guess, keys) for guess in guesses]


def _in_currency(guess: ColumnGuess, keys: Sequence[str]) -> ColumnGuess:
    is_amount = guess.options.get("aggregate") not in ("count", "distinct") and "formula" not in guess.options
    if guess.is_key or not is_amount or guess.options.get("unit") == PERCENT or not is_money(guess.column):
        return guess
    # A code at an end of the name: `Revenue (USD)`, `spend_eur`; of net_revenue_eur both look like one.
    suffix = _SUFFIX.search(guess.column)
    for match in _CODE.finditer(guess.column[: suffix.start()] if suffix else guess.column):
        code = (match["end"] or match["start"]).upper()
        if code in CODES and (code not in _WORDS_TOO or match["mark"] in ("(", "[")):
            return guess._replace(options=guess.options | {"currency": code}).with_note(f"in {code}")
    if not keys:
        return guess
    # Cut words too: `Cost (Adv Currency)`. "Currency" says nothing about which, nor does a short word.
    words = {word for word in column_names.split_words(guess.column) if len(word) > 2} - _CURRENCY
    ranks = {
        key: sum(part.startswith(tuple(words)) for part in column_names.split_words(key)) for key in keys
    }
    key, *others = sorted(keys, key=lambda key: -ranks[key])
    guess = guess._replace(options=guess.options | {"currency": key})
    if others and ranks[others[0]] == ranks[key] and not guess.doubt:
        return guess._replace(doubt=f"in the currency of {key}, though {others[0]} may be its column too")
    return guess.with_note(f"in the currency of {key}")
