"""Validation: all faults at once, per field, nested as the request is; exact numbers and times."""

from decimal import Decimal
from typing import Any

import pytest

from deals.caller import INVALID, START, Caller, World, option, package, unique
from lib.wire import exact

TIME = "This must be a time like '2026-11-20 09:00:00+0100' (YYYY-MM-DD HH:MM:SS+ZZZZ)."
NO_TIME = "This is no time of the years 2000 to 2999; '2026-11-20 09:00:00+0100' would be one."


def faulty(seat: int) -> dict[str, Any]:
    """A package with a fault of every kind; its deals name a seat twice."""
    return {
        "nam": "x",
        "media_type": "radio",
        "start_date": "tomorrow",
        "is_active": "yes",
        "geo_targetings": [{"type": "country", "value": "US"}, {"type": "planet", "valeu": "Mars"}],
        "size_targetings": [{"width": 0, "height": "250"}],
        "app_list_targetings": [{"id": 2**50}],
        "browser_targetings": {},
        "create_demand_deals": {
            "demand_deals_options": [option(seat), {"seat": {"id": seat}, "price": "2"}, {"seat": 3}],
            "contact_email": "nobody",
        },
    }


def test_everything_at_once(manager: Caller, there: World) -> None:
    """One answer names all faults: of single fields, of elements of lists, of rules, of references."""
    wrong = manager.wrong("supply_deals", **faulty(there.ada))
    twice = f"The seat {there.ada} is given twice."
    required = ["This field is required."]
    assert wrong == {
        "nam": ["There is no such field; did you mean 'name'?"],
        "name": required,
        "media_type": ["This must be 'banner', 'video', 'audio' or 'native'."],
        "start_date": [TIME],
        "is_active": ["This must be true or false."],
        "geo_targetings": [
            {},
            {
                "valeu": ["There is no such field; did you mean 'value'?"],
                "type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."],
                "value": required,
            },
        ],
        "size_targetings": [
            {"width": ["This must be at least 1."], "height": ["This must be a whole number."]}
        ],
        "app_list_targetings": [{"id": [f"There is no app list {2**50}."]}],
        "browser_targetings": ["This must be a list."],
        "create_demand_deals": {
            "demand_deals_options": [
                {},
                {"seat": {"id": [twice]}, "price": ["This must be a number."]},
                {"seat": ["This must be an object."], "price": required},
            ],
            "contact_email": ["This must be an e-mail address."],
        },
    }


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("name", None, "This must be text."),
        ("name", "", "This may not be empty."),
        ("name", "x" * 201, "This may have at most 200 characters."),
        ("name", "two\nlines", "This must not contain control characters."),
        ("name", "\x00", "This must not contain control characters."),
        ("start_date", None, "This must be text like 'YYYY-MM-DD HH:MM:SS+ZZZZ'."),
        ("start_date", "2026-03-01T09:00:00+01:00", TIME),
        ("start_date", "2026-03-01 09:00:00", TIME),
        ("start_date", "2026-02-30 09:00:00+0100", NO_TIME),
        ("start_date", "1026-02-03 09:00:00+0100", NO_TIME),
        ("start_date", "9999-12-31 23:59:59-1200", NO_TIME),
        ("start_date", "2026-02-03 09:00:00+9900", NO_TIME),
        ("demand_deals", [{"id": 1.5}], [{"id": ["This must be a whole number."]}]),
        ("demand_deals", [{}], [{"id": ["This field is required."]}]),
        ("demand_deals", [3], [{"non_field_errors": ["This must be an object."]}]),
        ("demand_deals", [{"id": 1}] * 501, "This may have at most 500 elements."),
        (
            "create_demand_deals",
            {"demand_deals_options": []},
            {"demand_deals_options": ["This may not be empty."]},
        ),
        ("create_demand_deals", [], "This must be an object."),
        ("is_active", 1, "This must be true or false."),
        ("media_type", "Banner", "This must be 'banner', 'video', 'audio' or 'native'."),
    ],
)
def test_single_faults(manager: Caller, field: str, value: Any, sentence: Any) -> None:
    """Each says what would be right; null is no value for a field that must have one."""
    expected = {field: [sentence] if isinstance(sentence, str) else sentence}
    assert manager.wrong("supply_deals", **package(**{field: value})) == expected


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"", "The body is no JSON"),
        (b'{"name": "x"', "The body is no JSON"),
        (b'{"name": NaN}', "NaN is not a JSON number"),
        (b'{"name": "\xff"}', "its text is not Unicode"),
        (b'{"name": "\\ud800"}', "its text is not Unicode"),
        (b'{"\\ud800": 1}', "its text is not Unicode"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b"1" * 100, "This must be an object."),
        (b"[]", "This must be an object."),
        (b"null", "This must be an object."),
    ],
)
def test_bodies_that_are_no_objects(manager: Caller, body: bytes, sentence: str) -> None:
    """What is no JSON, or no object, is wrong as a whole."""
    headers = {"Authorization": f"Bearer {manager.token}"}
    answer = manager.http.post("/api/supply_deals/", content=body, headers=headers)
    assert answer.status_code == INVALID
    assert sentence in answer.json()["non_field_errors"][0]


@pytest.mark.parametrize("size", [0, 501])
def test_a_list_of_changes_has_1_to_500(manager: Caller, size: int) -> None:
    """A list of no changes, or of more than 500, is wrong as a whole."""
    body = [{"id": number + 1} for number in range(size)]
    errors = manager.invalid("PUT", "supply_deals/", body)
    assert errors == {"non_field_errors": ["This must be a list of 1 to 500 objects, each with its id."]}


@pytest.mark.parametrize(
    ("digits", "sentence"),
    [
        ("9" * 100, "This must be at least 0 and below 1,000,000,000,000."),
        ("9" * 500_000, "This must be at least 0 and below 1,000,000,000,000."),
        ("-1e400", "This must be at least 0 and below 1,000,000,000,000."),
        ("0.1234567", "This may have at most 6 decimals."),
    ],
)
def test_a_number_that_is_too_long_is_named_by_its_field(manager: Caller, digits: str, sentence: str) -> None:
    """Of a number with more digits than a field takes the answer says which field, and what would do."""
    headers = {"Authorization": f"Bearer {manager.token}"}
    body = f'{{"price": {digits}, "seat": {{"id": {digits}}}}}'
    answer = manager.http.post("/api/demand_deals/", content=body, headers=headers)
    assert answer.status_code == INVALID
    assert answer.json()["price"] == [sentence]
    assert "id" in answer.json()["seat"]


def test_a_zero_with_an_exponent_is_zero(manager: Caller, there: World) -> None:
    """`0e-999999999` is 0, and not a billion digits."""
    headers = {"Authorization": f"Bearer {manager.token}", "Idempotency-Key": unique("key")}
    body = f'{{"name": "Free", "price": 0e-999999999, "seat": {{"id": {there.ada}}}}}'
    answer = manager.http.post("/api/demand_deals/", content=body, headers=headers)
    assert (answer.status_code, answer.json()["price"]) == (201, 0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("\u200b\u200d\ufeff", "This has no visible character."),
        ("\u2800\u3164", "This has no visible character."),
        ("Deal \u202egnp.exe", "This must not contain characters that change the reading direction."),
        ("Deal\u2067", "This must not contain characters that change the reading direction."),
        ("two\u2028lines", "This must not contain control characters."),
        (
            "Zero\u200bWidth",
            "This must not contain invisible characters: character 5 is U+200B ZERO WIDTH SPACE.",
        ),
    ],
)
@pytest.mark.parametrize("entity", ["supply_deals", "dsps", "domain_lists"])
def test_names_that_mislead(manager: Caller, entity: str, name: str, sentence: str) -> None:
    """A name that can't be seen, or reads as another one, is refused for every entity."""
    assert manager.wrong(entity, name=name)["name"] == [sentence]


@pytest.mark.parametrize(
    "name", ["\u062e\u0628\u0631\u200c\u0647\u0627", "\u05e2\u05d1\u200f 5", "\U0001f468\u200d\U0001f469"]
)
def test_names_of_all_scripts(manager: Caller, name: str) -> None:
    """Joiners and marks of direction that Persian, Hebrew and emoji need are part of a name."""
    assert manager.make("dsps", {"name": f"{name} {unique('')}"})


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
def test_json_is_read_whatever_its_type_says(manager: Caller, content_type: str | None) -> None:
    """A script that forgets the content type is understood."""
    headers = {"Content-Type": content_type} if content_type else {}
    assert manager.make("dsps", {"name": unique("DSP")}, headers)


@pytest.mark.parametrize(
    "price", ["0", "2", "2.5", "0.1", "0.000001", "1e2", "1.0e-3", "999999999999.999999", "2.500000000000"]
)
def test_prices_are_exact(manager: Caller, there: World, price: str) -> None:
    """A price is a JSON number on the wire, a decimal inside, and the same number when it comes back."""
    body = f'{{"name": "{unique("Deal")}", "seat": {{"id": {there.ada}}}, "price": {price}}}'
    headers = {"Authorization": f"Bearer {manager.token}"}
    answer = manager.http.post("/api/demand_deals/", content=body.encode(), headers=headers)
    assert answer.status_code == 201, answer.text
    assert exact.loads(answer.content)["price"] == Decimal(price)
    assert f'"price":{exact.plain(Decimal(price))},' in answer.text


@pytest.mark.parametrize(
    ("price", "sentence"),
    [
        ("-0.01", "This must be at least 0 and below 1,000,000,000,000."),
        ("1e12", "This must be at least 0 and below 1,000,000,000,000."),
        ("1e999999", "This must be at least 0 and below 1,000,000,000,000."),
        ("0.0000001", "This may have at most 6 decimals."),
        ("1e-999999", "This may have at most 6 decimals."),
        ('"2.5"', "This must be a number."),
        ("true", "This must be a number."),
        ("null", "This must be a number."),
    ],
)
def test_prices_that_are_refused(manager: Caller, there: World, price: str, sentence: str) -> None:
    """Nothing is rounded, and no text is taken for a number."""
    body = f'{{"name": "Deal", "seat": {{"id": {there.ada}}}, "price": {price}}}'
    headers = {"Authorization": f"Bearer {manager.token}"}
    answer = manager.http.post("/api/demand_deals/", content=body.encode(), headers=headers)
    assert (answer.status_code, answer.json()) == (INVALID, {"price": [sentence]})


@pytest.mark.parametrize("offset", ["+0000", "+0530", "-0330", "+1400", "-1200", "+0100"])
def test_times_keep_their_offset(manager: Caller, offset: str) -> None:
    """A time comes back as it was sent, not turned to UTC."""
    sent = f"2026-03-01 09:00:00{offset}"
    new_package = manager.make("supply_deals", package(start_date=sent))
    assert new_package["start_date"] == sent
    assert manager.get(f"supply_deals/{new_package['id']}/")["start_date"] == sent


def test_whole_numbers_may_have_a_point(manager: Caller, there: World) -> None:
    """1.0 is a whole number, as JSON has it."""
    body = f'{{"name": "{unique("Deal")}", "seat": {{"id": {there.ada}.0}}, "price": 2}}'
    headers = {"Authorization": f"Bearer {manager.token}"}
    assert manager.http.post("/api/demand_deals/", content=body.encode(), headers=headers).status_code == 201


@pytest.mark.parametrize(
    "name", ["Брянск · 東京 🎧", "a'); DROP TABLE seats;--", "<b>bold</b>", "  spaces  "]
)
def test_names_in_any_script(manager: Caller, name: str) -> None:
    """A name is text, whatever is in it; the space around it is dropped."""
    new_package = manager.make("supply_deals", package(name=name, start_date=START))
    assert manager.get(f"supply_deals/{new_package['id']}/")["name"] == name.strip()
