"""Guesses from a column's name."""

import re

_IDS = {
    "asn", "class", "code", "codes", "day", "dma", "guid", "hash", "hour", "id", "ids", "isbn",
    "key", "level", "metro", "minute", "month", "no", "nr", "number", "phone", "plz", "port",
    "postal", "postcode", "quarter", "sku", "status", "uuid", "version", "week", "weekday", "year",
    "zip",
}  # fmt: skip
_CODES = {
    "age", "bin", "bucket", "cat", "flag", "height", "idx", "index", "pos", "rank", "slot", "tier", "width",
}  # fmt: skip
_ANONYMOUS = re.compile(r"(?:c|cat|code|attr)_?[0-9]+", re.IGNORECASE)
_THINGS = {
    "account", "ad", "advertiser", "app", "browser", "bundle", "campaign", "category", "city",
    "country", "creative", "deal", "device", "domain", "dsp", "exchange", "group", "language",
    "order", "page", "placement", "platform", "product", "publisher", "region", "seat", "segment",
    "site", "size", "source", "ssp", "store", "tag", "type", "url", "user", "zone",
}  # fmt: skip
_AMOUNTS = {
    "added", "amount", "bids", "budget", "bytes", "click", "clicks", "completes",
    "conversion", "conversions", "convs", "cost", "count", "counts", "deleted", "delta", "duration",
    "earnings", "edits", "errors", "events", "fee", "hits", "imp", "impression", "impressions",
    "imps", "installs", "margin", "milliseconds", "minutes", "nobids", "orders", "payout", "profit",
    "qty", "quantity", "queries", "requests", "revenue", "sales", "seconds", "sessions", "spend",
    "starts", "sum", "total", "users", "value", "views", "visits", "volume", "wins",
}  # fmt: skip
_MEANS = {
    "average", "avg", "bid", "bidfloor", "bidprice", "cpa", "cpc", "cpi", "cpl", "cpm", "cpv", "cpcv", "ctr",
    "cvr", "ecpa", "ecpc", "ecpm", "floor", "frequency", "latency", "mean", "median", "pct", "percent",
    "percentage", "percentile", "position", "price", "quote", "rate", "ratio", "roas", "roi", "rpm", "score",
    "share", "temperature", "vcpm", "viewability", "vtr",
    "anteil", "durchschnitt", "preis", "prix", "precio", "prezzo", "promedio", "moyen", "moyenne", "taux",
    "tasa",
}  # fmt: skip
_MEAN_ENDS = ("price", "rate", "preis", "quote", "floor")
_SUMS = {"sum", "total", "count", "amount", "amt", "requests", "number", "num"}
_EXTREMES = {"min": "min", "minimum": "min", "max": "max", "maximum": "max"}
_TIMES = [
    "timestamp", "datetime", "time", "ts", "date", "datum", "fecha", "data", "jour", "tag", "day", "hour",
    "stunde", "heure", "hora", "epoch", "unix", "stamp", "dt", "zeit", "zeitpunkt", "at", "when", "created",
    "occurred", "on", "month", "monat", "mois", "mes", "week", "woche", "semaine", "semana",
]  # fmt: skip
_CLOCKS = {"hour", "hours", "hr", "hh", "time", "clock", "stunde", "uhrzeit", "zeit", "heure", "hora"}
_USERS = {"user", "uid", "visitor", "cookie", "idfa", "gaid", "maid", "customer", "subscriber", "email"}
_SPLIT = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_MACHINE_NAME = re.compile(r"[a-z0-9]+(_[A-Za-z0-9]+)*|[a-z]+([A-Z][a-z]+)+|[A-Z0-9]+(_[A-Z0-9]+)+")


def split_words(name: str) -> list[str]:
    """`bid.countryIsoCode` → bid, country, iso, code."""
    return [word.lower() for word in _SPLIT.findall(name)]


def is_id(name: str) -> bool:
    """Whether numbers under this name tell things apart and must not be added: `site_id`, `zip`, `dma`."""
    parts = split_words(name)
    if not parts:
        return False
    return (
        parts[-1] in _IDS or parts[0] in ("id", "is", "has") or (parts[-1] in _THINGS and not is_amount(name))
    )


def may_be_code(name: str) -> bool:
    """Whether whole numbers under this name are codes if there are few: `banner_pos`, `slot_width`, `C14`."""
    return split_words(name)[-1:] != [] and (
        split_words(name)[-1] in _CODES or _ANONYMOUS.fullmatch(name) is not None
    )


def is_version(name: str) -> bool:
    """Whether numbers under this name are not even numbers: `browser_version` 10.1."""
    return split_words(name)[-1:] == ["version"]


def is_mean(name: str) -> bool:
    """Whether numbers under this name must not be added: prices, rates, averages. `bid_amount` may be."""
    parts = split_words(name)
    if _SUMS.intersection(parts) and not {"avg", "average", "mean"}.intersection(parts):
        return False
    return (
        bool(_MEANS.intersection(parts))
        or "per" in parts[1:-1]
        or any(word.endswith(_MEAN_ENDS) for word in parts)
    )


def is_amount(name: str) -> bool:
    """Whether numbers under this name add up: `total_impressions`, `revenue`."""
    parts = split_words(name)
    return bool(_AMOUNTS.intersection(parts)) and parts[-1] not in _IDS


def aggregate(name: str) -> str:
    """How numbers under this name come together: mean for rates and prices, min and max where it says so."""
    parts = split_words(name)
    extreme = next((_EXTREMES[word] for word in (*parts[:1], *parts[-1:]) if word in _EXTREMES), None)
    if extreme:
        return extreme
    return "mean" if is_mean(name) else "sum"


def time_rank(name: str) -> int:
    """How little a name sounds like the time of a row: 0 for `timestamp`."""
    ranks = [_TIMES.index(word) for word in split_words(name) if word in _TIMES]
    return min(ranks, default=len(_TIMES))


def sounds_like_time(name: str) -> bool:
    """Whether a name speaks of time at all."""
    return time_rank(name) < len(_TIMES)


def sounds_like_clock(name: str) -> bool:
    """Whether values under this name may be times of day: `hour`, `time`."""
    return bool(_CLOCKS.intersection(split_words(name)))


def sounds_like_list(name: str) -> bool:
    """Whether values under this name may be several each: `segments`, `tag_list`."""
    last = (split_words(name) or [""])[-1]
    return last in ("list", "set") or (last.endswith("s") and not last.endswith(("ss", "us", "is")))


def sounds_like_users(name: str) -> bool:
    """Whether values under this name may be users: `user_id`, `visitor`."""
    return bool(_USERS.intersection(split_words(name))) and "agent" not in split_words(name)


def description(name: str) -> str:
    """A label for people: `user.geo.countryCode` → Country code; a name that people wrote stays as it is."""
    last = ([part for part in name.split(".") if part] or [name])[-1]
    if not _MACHINE_NAME.fullmatch(last):
        return last
    text = " ".join(word if word.isupper() else word.lower() for word in _SPLIT.findall(last))
    return text[0].upper() + text[1:]
