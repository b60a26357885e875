"""Numbers as people type them, read and written digit by digit."""

import re
from decimal import Decimal

from lib.deals.values import AMOUNT, Limits
from lib.wire import exact
from lib.wire.currencies import CODES

DIGITS = re.compile(r"-?([0-9]+(\.[0-9]+)?|\.[0-9]+)")
SIGNS = {"$": "USD", "€": "EUR", "£": "GBP"}
PASTED = re.compile(r"(?P<before>[$€£]|[A-Z]{3})?\s*(?P<digits>[0-9.,]+)\s*(?P<after>[$€£]|[A-Z]{3})?")
UNIT = re.compile(r"\s*CPM$", re.IGNORECASE)
COMMA = re.compile(r"([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]{1,2}")  # 1.250,75 and 2,10
GROUPS = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")  # 1,250.75


def read(text: str, limits: Limits = AMOUNT) -> Decimal | None:
    """The exact number typed; None for an empty text.

    Plain digits with a point, in any locale; with a currency or unit as it is pasted: `$1,250.75`, `2,10 €`,
    `2.10 CPM`. ValueError, with a sentence for the reader, for anything else.
    """
    if not text.strip():
        return None
    digits = _plain_digits(text)
    if not DIGITS.fullmatch(digits):
        has_marks = re.fullmatch(r"-?[0-9.,'’\s]*,[0-9.,'’\s]*", digits) or currency(digits)
        form = "Write decimals with a point and no other marks, like 1250.75."
        raise ValueError(form if has_marks else "Not a number: write it like 12.50.")
    number = Decimal(digits)
    if number < limits.least:
        raise ValueError(f"Must be {limits.least:,} or more.")
    if number >= limits.below:
        raise ValueError(f"Must be less than {limits.below:,}.")
    if len(digits.partition(".")[2].rstrip("0")) > limits.decimals:
        raise ValueError(f"At most {limits.decimals} decimals." if limits.decimals else "A whole number.")
    return number


def currency(text: str) -> str:
    """The code of the currency that was typed or pasted with a number: `EUR`; empty without one."""
    match = PASTED.fullmatch(UNIT.sub("", text.strip()))
    sign = (match["before"] or match["after"] or "") if match else ""
    code = SIGNS.get(sign, sign)
    return code if code in CODES else ""


def fault(text: str, missing: str = "", limits: Limits = AMOUNT) -> str:
    """A typed number's error as a sentence, or empty. `missing` is for no number."""
    try:
        return missing if read(text, limits) is None else ""
    except ValueError as error:
        return str(error)


def to_text(number: Decimal | None) -> str:
    """A number as one would type it: all of its digits."""
    return "" if number is None else exact.plain(number)


def money_to_text(amount: Decimal | None) -> str:
    """A price, a fee or a budget as one would type it: `2.70`, at least two decimals."""
    whole, _, decimals = to_text(amount).partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}" if whole else ""


def _plain_digits(text: str) -> str:
    """The digits with a point, where the currency beside them says how it writes them; else the text."""
    entry = UNIT.sub("", " ".join(text.split()))
    code, match = currency(entry), PASTED.fullmatch(entry)
    if not code or match is None or (match["before"] and match["after"]):
        return entry
    digits = match["digits"]
    if code == "EUR" and COMMA.fullmatch(digits):
        return digits.replace(".", "").replace(",", ".")
    if code != "EUR" and GROUPS.fullmatch(digits):
        return digits.replace(",", "")
    is_ambiguous = code == "EUR" and re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", digits)
    return entry if is_ambiguous else digits
