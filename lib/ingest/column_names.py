"""Guesses from a column's name, by the words in it: column_words.yaml has what each says."""

import re
import unicodedata
from collections.abc import Iterable, KeysView
from functools import cache, lru_cache
from pathlib import Path

import yaml

_WORDS_FILE = Path(__file__).with_name("column_words.yaml")
_ANONYMOUS = re.compile(r"(?:c|cat|code|attr)_?[0-9]+", re.IGNORECASE)
# In "viewed to 25%", video_watched_25_percent and views_50pct a part of a video that was reached.
_MILESTONE = re.compile("(?<![0-9])(?:100|[1-9]?[0-9])[ _]?(?:%|percent|pct)", re.IGNORECASE)
_PERCENT = re.compile("[%‰]")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SHORTEST_STEM = 4
_QUOTIENT = re.compile(r"(.*\w.*?)\s*/\s*(.*\w.*)")
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_MACHINE_PATH = re.compile(r"(?!(?:abs|avg|conv|cum|est|impr|max|min|no|nr|rel|tot)$)[\w.]*")
_MACHINE_NAME = re.compile(r"[a-z][a-z0-9]*(_[A-Za-z0-9]+)*|[a-z]+([A-Z][a-z]+)+|[A-Z0-9]+(_[A-Z0-9]+)+")


@lru_cache(1 << 14)
def split_words(name: str) -> tuple[str, ...]:
    """`bid.countryIsoCode` → bid, country, iso, code; `Coût` → cout."""
    return tuple(word.lower() for word in _SPLIT.findall(without_accents(name)))


def without_accents(text: str) -> str:
    """A text with plain letters: Coût → Cout."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss"))
    return "".join(letter for letter in plain if not unicodedata.combining(letter))


_COUNT = re.compile(r"(count|uniq|approx_\w+|sum)\w*\s*\(", re.I)
"""A function of a database over what follows: `uniqExact(user)`, `COUNT(DISTINCT user_id)`."""


def is_id(name: str) -> bool:
    """Whether numbers under this name tell things apart and must not be added: `site_id`, `zip`, `dma`."""
    parts = split_words(name)
    if not parts or _COUNT.match(name):
        return False
    is_thing = parts[-1] in _words("things") and not is_amount(name)
    return parts[-1] in _words("ids") or parts[0] in ("id", "is", "has") or is_thing


def may_be_code(name: str) -> bool:
    """Whether whole numbers under this name are codes if there are few: `banner_pos`, `slot_width`, `C14`."""
    parts = split_words(name)
    return bool(parts) and (parts[-1] in _words("codes") or _ANONYMOUS.fullmatch(name) is not None)


def is_version(name: str) -> bool:
    """Whether numbers under this name are not even numbers: `browser_version` 10.1."""
    return split_words(name)[-1:] == ("version",)


def is_mean(name: str) -> bool:
    """Whether numbers under this name must not be added: prices, rates, averages.

    Of a price the last word decides, brackets left out: "CPM revenue" and "Revenue (CPM)" are revenue, and
    `bid_amount` may be one.
    """
    name = _MILESTONE.sub("", name)
    parts = split_words(name)
    head = (split_words(_BRACKETS.sub("", name)) or parts or ("",))[-1]
    is_total = head in _words("heads") or not _words("totals").isdisjoint(parts)
    return is_rate(name) or (has_price(name) and not is_total)


def is_rate(name: str) -> bool:
    """Whether a name says that its numbers are quotients: rates, shares, averages."""
    name = _MILESTONE.sub("", name)
    parts = split_words(name)
    if not parts:
        return False
    quotient = _QUOTIENT.fullmatch(name)
    return (
        not _words("rates").isdisjoint(parts)
        or not _words("per").isdisjoint(parts[1:-1])
        or parts[0] in ("avg", "average")
        or _PERCENT.search(name) is not None
        or any(word.endswith(end) for word in parts for end in _words("rate_ends"))
        or (quotient is not None and (is_amount(quotient[1]) or not any(map(str.isalnum, quotient[1]))))
    )


def has_money(name: str) -> bool:
    """Whether a word of a name is one for an amount of money or a price: `Ausgaben`, `eCPM`."""
    money = {*_vocabulary()["kinds"]["money"].split(), *_words("money")}
    return not money.isdisjoint(split_words(name))


def has_price(name: str) -> bool:
    """Whether a name has a word for a price or a position in it, whatever the others say."""
    return any(
        word in _words("prices") or any(word.endswith(end) for end in _words("price_ends"))
        for word in split_words(name)
    )


def may_be_mean(name: str) -> bool:
    """Whether numbers under this name are shares if they are small, else counts: `IVT`, `opens/clicks`."""
    return (
        not _words("rates_or_counts").isdisjoint(split_words(name))
        or _QUOTIENT.fullmatch(name) is not None
        or _MILESTONE.search(name) is not None
    )


def quotient_words(rate: str) -> tuple[set[str], set[str]]:
    """Words for what a rate divides (empty: its name does not say), and by what (empty: by anything).

    CTR divides clicks by impressions, "Cost / conv." costs by conversions, "Engagement rate" engagements.
    """
    parts, quotient = split_words(rate), _QUOTIENT.fullmatch(rate)
    for word in parts:
        if word in _vocabulary()["quotients"]:
            top, bottom = _vocabulary()["quotients"][word].split("/")
            return _synonyms(top.split()), _synonyms(bottom.split())
    per = next((number for number, word in enumerate(parts) if number and word in _words("per")), None)
    if quotient:
        return _synonyms(split_words(quotient[1])), _synonyms(split_words(quotient[2]))
    if per:
        return _synonyms(parts[:per]), _synonyms(parts[per + 1 :])
    return _synonyms(parts) if is_mean(rate) or may_be_mean(rate) else set(), set()


def _synonyms(words: Iterable[str]) -> set[str]:
    """The words, with those of the same kinds of amounts: cost, spend; conv, conversions, results."""
    kinds = {kind: members.split() for kind, members in _vocabulary()["kinds"].items()}
    parts = [word for word in words if word not in _words("rates")]
    return {*parts} | {
        other
        for word in parts
        for kind, members in kinds.items()
        if word == kind or word in members
        for other in members
    }


def common_words(name: str, words: Iterable[str]) -> int:
    """How many of these words are in a name, in the singular or the plural, or cut: conv in conversions."""
    parts = split_words(name)
    return sum(
        any(
            short == long or (len(short) >= _SHORTEST_STEM and long.startswith(short.rstrip("s")))
            for short, long in (sorted((word, part), key=len) for part in parts)
        )
        for word in words
    )


def counts_people(name: str) -> bool:
    """Whether numbers under this name count somebody in each of several rows: `reach`, `unique users`."""
    return not _words("people").isdisjoint(split_words(name))


def is_amount(name: str) -> bool:
    """Whether numbers under this name add up: `total_impressions`, `revenue`."""
    parts = split_words(name)
    return not _words("amounts").isdisjoint(parts) and parts[-1] not in _words("ids")


def extreme(name: str) -> str | None:
    """Which of `min` and `max` the name begins or ends with."""
    parts = split_words(name)
    kinds = _vocabulary()["extremes"]
    return next((kinds[word] for word in (*parts[:1], *parts[-1:]) if word in kinds), None)


def time_rank(name: str) -> int:
    """How little a name sounds like the time of a row: 0 for `timestamp`."""
    times = list(_words("times"))
    return min((times.index(word) for word in split_words(name) if word in times), default=len(times))


def sounds_like_time(name: str) -> bool:
    """Whether a name speaks of time at all."""
    return time_rank(name) < len(_words("times"))


def date_role(name: str) -> int:
    """How little a date under this name is that of its row: 1 for `Start Date`, 3 for `End Date`."""
    roles = _vocabulary()["other_dates"]
    return max((int(roles[word]) for word in split_words(name) if word in roles), default=0)


def sounds_like_clock(name: str) -> bool:
    """Whether values under this name may be times of day: `hour`, `time`."""
    parts = split_words(name)
    is_duration = not _words("durations").isdisjoint(parts) or is_mean(name)
    return not _words("clocks").isdisjoint(parts) and not is_duration


def sounds_like_hour(name: str) -> bool:
    """Whether a name says that its times are hours: `stat_time_hour`."""
    return not _words("hours").isdisjoint(split_words(name))


def sounds_like_list(name: str) -> bool:
    """Whether values under this name may be several each: `segments`, `tag_list`."""
    last = (split_words(name) or ("",))[-1]
    return last in ("list", "set") or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def sounds_like_users(name: str) -> bool:
    """Whether values under this name may be users: `user_id`, `visitor`."""
    return not _words("users").isdisjoint(split_words(name)) and "agent" not in split_words(name)


def description(name: str) -> str:
    """A label for people: `user.geo.countryCode` → Country code; a name that people wrote stays as it is."""
    first, _, last = name.rpartition(".")
    if not _MACHINE_NAME.fullmatch(last) or not _MACHINE_PATH.fullmatch(first):
        return name  # the full stop in "Avg. CPC" parts no names
    text = " ".join(word if word.isupper() else word.lower() for word in _SPLIT.findall(last))
    return text[0].upper() + text[1:]


def _words(kind: str) -> KeysView[str]:
    """The words of a kind, in the order of the file."""
    return _vocabulary()[kind].keys()


@cache
def _vocabulary() -> dict[str, dict[str, str]]:
    content = yaml.safe_load(without_accents(_WORDS_FILE.read_text(encoding="utf-8")))
    return {
        kind: words if isinstance(words, dict) else dict.fromkeys(words.split(), "")
        for kind, words in content.items()
    }
