"""The matches of filters on key fields: their tests, their words, and their codes in links.

`COMPARE` are those of data filters, on a number or an array, for the service and for previews.

A new match is an entry here: the API, the engines, links and screens read these. An engine that knows a
quicker way than `holds` may take it, for the tests that it names; others are done by `holds`.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from lib.wire.errors import UnknownName
from lib.wire.filters import Match as Match

DataMatch = Literal["<", "<=", ">", ">=", "=", "!="]
MATCHES: tuple[Match, ...] = get_args(Match)
COMPARE: dict[DataMatch, Callable[[Any, float], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """One match: whether a text passes for a value, the words on screen, and the code in links.

    `test` names the test that `holds` is; a negative match lets through what does not pass it. Of an
    `is_whole` match, the values are whole values of the key field.
    """

    test: str
    holds: Callable[[str, str], bool]
    words: str
    code: str
    is_negative: bool = False
    is_whole: bool = False


RULES: dict[Match, Rule] = {
    "equals": Rule("equals", str.__eq__, "is", "is", is_whole=True),
    "not equals": Rule("equals", str.__eq__, "is not", "not", is_negative=True, is_whole=True),
    "contains": Rule("contains", str.__contains__, "contains", "has"),
    "not contains": Rule("contains", str.__contains__, "doesn't contain", "hasnt", is_negative=True),
    "begins with": Rule("begins with", str.startswith, "begins with", "starts"),
    "ends with": Rule("ends with", str.endswith, "ends with", "ends"),
}
BY_CODE: dict[str, Match] = {rule.code: match for match, rule in RULES.items()}


def rule(match: str) -> Rule:
    """The rule of a match; UnknownName if there is none."""
    if match not in RULES:
        raise UnknownName("match", match, RULES)
    return RULES[match]
