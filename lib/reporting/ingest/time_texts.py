"""Dates as people write them → as strptime reads them: names in other languages, ordinals, ranges of days."""

import calendar
import re

from lib.reporting.ingest.column_names import without_accents

RANGE_MARKS = (" - ", " – ", " — ", " to ", " bis ", " au ", "–", "~", "/", "-")
# Names of months beside the English ones, without accents and full stops; each belongs to one month.
_MONTHS = (
    "januar janner janv janvier enero ene janeiro gennaio gen januari stycznia styczen ianuarie ocak",
    "februar feber fev fevr fevrier febrero fevereiro febbraio februari lutego luty subat",
    "marz maerz mrz mars marzo marco maart mrt marca marzec mart",
    "avr avril abr abril aprile april kwietnia kwiecien nisan",
    "mai mayo maio mag maggio mei maja mayis",
    "juni juin junio junho giu giugno czerwca czerwiec haziran",
    "juli juil juillet julio julho lug luglio lipca lipiec temmuz",
    "aout ago agosto augustus sierpnia sierpien agustos",
    "sept septembre septiembre setembro settembre set wrzesnia wrzesien eylul",
    "okt oktober octobre octubre out outubro ott ottobre pazdziernika ekim",
    "novembre noviembre novembro listopada kasim",
    "dez dezember decembre dic diciembre dezembro dicembre december grudnia aralik",
)
_WEEKDAYS = (
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday "
    "mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "lun mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche "
    "mie jue vie sab dom lunes martes miercoles jueves viernes sabado domingo "
    "gio lunedi martedi mercoledi giovedi venerdi sabato domenica "
    "ma wo za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
).split()
MONTH_OF = {name: month for month, names in enumerate(_MONTHS, 1) for name in names.split()} | {
    name.lower(): month
    for month in range(1, 13)
    for name in (calendar.month_name[month], calendar.month_abbr[month])
}
_NAME = re.compile(r"([^\W\d_]{2,})\.?")
_WEEKDAY = re.compile(r"^([^\W\d_]{2,9})(?:\.,|[.,])? (?=\D{0,12}\d)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|º)\b")
_TOKEN = re.compile(r"\d+|[^\W\d_]+")


def english(text: str, format_: str) -> str:
    """A date with the English names of its months, as the format has them (%b or %B), without its weekday.

    `So., 1. März 2026` → `1. Mar 2026`, `Nov 1st` → `Nov 1`. What has other words stays.
    """
    names = calendar.month_name if "%B" in format_ else calendar.month_abbr
    weekday = _WEEKDAY.match(text)
    if weekday and "%a" not in format_ and "%A" not in format_ and _plain(weekday[1]) in _WEEKDAYS:
        text = text[weekday.end() :]

    def month(name: re.Match[str]) -> str:
        number = MONTH_OF.get(_plain(name[1]))
        return name[0] if number is None else names[number]

    return _NAME.sub(month, _ORDINAL.sub("", text))


def needs_english(text: str, format_: str) -> bool:
    """Whether a text of this format may have names in other languages."""
    return "%b" in format_ or "%B" in format_ or text[:1].isalpha()


def range_start(format_: str) -> tuple[str, str] | None:
    """The format of a range's first day, and the mark after it (`%d %b %Y - %d %b %Y`); None of a day."""
    for mark in RANGE_MARKS:
        parts = format_.split(mark)
        half = len(parts) // 2
        if len(parts) % 2 == 0 and parts[:half] == parts[half:]:
            return mark.join(parts[:half]), mark
    return None


def first_day(text: str, format_: str, mark: str) -> str:
    """The first day of a range, in the format of a day, with what only its last day has.

    `Nov 2 – 8, 2026` → `Nov 2, 2026`, `28.12.–3.1.2027` → `28.12.2026`.
    """
    parts = text.split(mark)
    half = len(parts) // 2
    if len(parts) % 2 or len(parts) == 1:
        parts, half = text.split(mark.strip()), 1
    first, last = mark.join(parts[:half]).strip(), mark.join(parts[half:]).strip()
    codes = re.findall("%([dmbBYy])", format_)
    start, end = _date_parts(first, codes), _date_parts(last, codes)
    if start.keys() == {*codes} or not {*codes} <= start.keys() | end.keys():
        return first
    year, month = codes[-1] if codes[-1] in "Yy" else codes[0], {*codes} & {*"mbB"}
    key = month.pop() if month else ""
    if key in start and key in end and _month(start[key]) > _month(end[key]) and end[year].isdigit():
        end[year] = str(int(end[year]) - 1)
    values = end | start
    return re.sub("%(.)", lambda code: values.get(code[1], code[0]), format_)


def _date_parts(text: str, codes: list[str]) -> dict[str, str]:
    """The values of a format's codes in a date that may lack its year, or its month and year."""
    words = [token for token in _TOKEN.findall(text) if not token.isdigit()]
    numbers = [token for token in _TOKEN.findall(text) if token.isdigit()]
    name = next((code for code in codes if code in "bB"), None)
    wanted = [code for code in codes if code != name]
    without_year = [code for code in wanted if code not in "Yy"]
    for candidates in (wanted, without_year, ["d"]):
        if len(candidates) == len(numbers):
            named = {name: words[0]} if name and words else {}
            return dict(zip(candidates, numbers, strict=True)) | named
    return {}


def _month(text: str) -> int:
    return int(text) if text.isdigit() else MONTH_OF.get(_plain(text), 0)


def _plain(name: str) -> str:
    return without_accents(name).lower().replace("ı", "i")
