"""Every control of Audience, Boards, Slicers and Export: after it, the screen is what its address says.

The controls are read from the page, in scenes in which each popover, menu, tab and dialog is open; one that
no row of `SCENES` names is a failure. Each is acted on as a person does; then all figures on screen are those
of the same address in a new tab, and headline, leaderboards and split are the API's own answers for it.
Meanwhile no fragment may leave the rest of the page behind (`fragments`), no thread ask for a session
(`threads`).
"""

import datetime as dt
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import fragments
import httpx
import pytest
import threads
from conftest import COUNTRIES, LAST_DAY, WATCHED, copied, running
from playwright.sync_api import Browser, Error, Locator, Page
from serving import free_port
from walks import SUMS, Answer, says

from browser.conftest import enter, new_context, settled
from lib.figures.query import state
from lib.reporting import named_days
from lib.reporting.client import Reporting
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.models import Slicer
from lib.views import BoardCell

SCRIPT = Path(__file__).parent / "controls.js"
ABOUT = ("demo", "delivery")
SLICER = "project=demo&slicer=delivery"
AUDIENCE, SPLIT = f"audience?{SLICER}", f"audience?{SLICER}&lower=split&split=geo.country~campaign_id"
FILTERS = f"{AUDIENCE}&is.campaign_id=2~3&is.categories=news~sport&starts.geo.country=U"
GROUP = f"{AUDIENCE}&any.is.geo.country=US&any.is.campaign_id=2"
SECONDS = 10
Act = Callable[[Page, Locator], None] | str
DOWNLOAD = "Pressed by the table of downloads."
OPENS = "Opens what another scene is about."
ELSEWHERE = "Leads to a screen that has tests of its own."
ALIKE = "The same form as that of a new filter."


@dataclass(frozen=True)
class Scene:
    """A page with something open on it, and its controls: a pattern of their names, and how a person acts.

    `opens` are clicked in turn: selectors, or pairs of one and what is typed there. A control with a sentence
    is not acted on here. What this tab alone knows is `own`: the figures are another tab's but for these.
    What `writes` changes what no address has: the figures of all addresses are looked at anew.
    """

    path: str
    controls: Mapping[str, Act]
    opens: Sequence[str | tuple[str, str]] = ()
    own: Sequence[str] = ()
    writes: Sequence[str] = ()


def press(page: Page, control: Locator) -> None:
    """Do with a control what its kind is for: choose another value, or click."""
    kind = control.first.evaluate(
        "node => node.localName + ' ' + (node.role ?? '') + ' ' + (node.type ?? '')"
    )
    if kind.startswith("select"):
        control.first.select_option(index=2)
    elif "combobox" in kind:
        control.first.click()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        page.keyboard.press("Escape")
    elif "checkbox" in kind or "switch" in kind:
        control.first.evaluate("node => node.click()")
    else:
        other = control.and_(page.locator(":not([aria-checked=true], [aria-pressed=true], [disabled])"))
        (other if other.count() else control).first.click()


def typed(text: str, key: str = "Enter") -> Callable[[Page, Locator], None]:
    """Type a text, and end with a key."""

    def act(page: Page, control: Locator) -> None:
        text_field = control.and_(page.locator("input, textarea")).first
        text_field.fill(text)
        text_field.press(key)

    return act


def chosen(option: str) -> Callable[[Page, Locator], None]:
    """Choose an option of a picker."""

    def act(page: Page, control: Locator) -> None:
        control.first.click()
        page.get_by_role("option", name=option).first.click()
        page.keyboard.press("Escape")

    return act


def brush(page: Page, control: Locator) -> None:
    """Drag over the days of a chart."""
    box = control.first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()


def earlier(page: Page, control: Locator) -> None:
    """Set the first part of a date a day back, and leave the field."""
    part = control.and_(page.locator("[role=spinbutton][aria-label^=day]")).first
    part.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")


FRAME: dict[str, Act] = {
    "slicer": "Another slicer: tests/browser/test_frame.py",
    "person_menu": OPENS,
    "link .*|a .*": "Between screens: tests/browser/test_addresses.py",
    "button Skip to leaderboards": "Moves the focus: tests/browser/test_leaderboards.py",
    "button (Navigate to home page|Close|Expand sidebar|Open sidebar|Dismiss|Help)": ELSEWHERE,
    "button (Search|Show/hide columns|Download as CSV|Fullscreen|Close fullscreen).*": "Streamlit's tables.",
}
BAR: dict[str, Act] = {
    "menuitem .*|package_from": OPENS,
    "dates|comparison|filter_add|saved_views|share|question_menu|wording_text": OPENS,
    "package_from.*": ELSEWHERE,
    "(figure_)?filter_(geo-country|campaign_id|categories|any_[0-9]|[0-9])": OPENS,
}
TEXT_FILTER: dict[str, Act] = {
    "filter_0_match|filter_0_any_case|filter_0_descriptions": ALIKE,
    "filter_0_texts": typed("G", "Control+Enter"), "filter_0_or": press, "filter_0_remove": press,
}  # fmt: skip
NEW_GROUP: dict[str, Act] = {
    "filter_add_any_board/include": press, "filter_add_any_board/(find|exclude|only)": ALIKE,
    "filter_add_any_(way|pasted.*|draft.*|any_case|descriptions|swap|remove)": ALIKE,
}  # fmt: skip
OWN_GROUP: dict[str, Act] = {
    "filter_any_0_field": chosen("Campaign"), "filter_any_0_board/exclude": press,
    "filter_any_0_board/(find|include|only)": ALIKE,
    "filter_any_0_(way|pasted.*|draft.*|any_case|descriptions|swap|remove)": ALIKE,
    "filter_any_0_remove_1": press, "filter_any_0_remove_0": press, "filter_any_0_remove_[2-9]": ALIKE,
}  # fmt: skip
ARRANGED: dict[str, Act] = {
    **{f"board_1_[0-9]_[0-9]+_{part}.*": press for part in ("part", "width", "card", "close")},
    "board_1_[0-9]_[0-9]+_title.*": typed("Ours"),
    "board_[12]_tiles/button": press,
    "FormSubmitter-board_[12]_add.*": press,
}
ADD, ADD_FIELD = ".st-key-filter_add button", ".st-key-filter_add_field input"


def part_of_menu(part: str) -> tuple[str, str]:
    """What opens a part of the menu More."""
    return ".st-key-question_menu button", f".st-key-question_menu_part button:has-text('{part}')"


def of_view(name: str) -> tuple[str, str]:
    """What opens a panel of the saved view."""
    return (".st-key-saved_views button", ".st-key-view_do_1 button", f"[role=menuitem]:has-text({name!r})")


SCENES: dict[str, Scene] = {
    "audience": Scene(
        AUDIENCE,
        {
            "leaderboards/field": press,
            "leaderboards/select": press,
            "leaderboards/chart": brush,
            "leaderboards/add": typed("Categories"),
            "leaderboards/find": typed("United"),
            "leaderboards/order": press,
            "leaderboards/include": press,
            "leaderboards/exclude": press,
            "leaderboards/line": press,
            "leaderboards/records": press,
            "leaderboards/more": press,
            "leaderboards/more lines": press,
            "leaderboards/lower": press,
            "leaderboard_picker|leaderboards_download": OPENS,
        },
    ),
    "steps": Scene(
        FILTERS,
        {"question_undo": press, "question_redo": press, "filters_clear": press},
        opens=("[data-control='leaderboards/include']",),
    ),
    "dates": Scene(
        AUDIENCE,
        {
            "dates_preset.*": press,
            "dates_last.*": typed("10 days"),
            "dates_range.*": earlier,
            "dates_zone.*": press,
        },
        opens=(".st-key-dates button",),
    ),
    "comparison": Scene(
        AUDIENCE, {"compare_kind.*": press, "also_kind.*": press}, opens=(".st-key-comparison button",)
    ),
    "compared ranges": Scene(
        f"{AUDIENCE}&compare=2026-11-08~2026-11-14&also=2026-11-01~2026-11-07",
        {"compare_range.*": earlier, "also_range.*": earlier},
        opens=(".st-key-comparison button",),
    ),
    "words": Scene(
        AUDIENCE,
        {"wording_text": typed("clicks by country yesterday"), "filter_add_field": OPENS},
        opens=(ADD,),
    ),
    "readings": Scene(
        AUDIENCE,
        {"wording_reading_0": press},
        opens=((".st-key-wording_text input", "imps only united states"),),
    ),
    "list of values": Scene(
        AUDIENCE,
        {
            "filter_add_board/find": typed("United"),
            "filter_add_board/include": press,
            "filter_add_board/exclude": press,
            "filter_add_board/only": press,
            "filter_add_any_case": press,
            "filter_add_descriptions": press,
            "filter_add_swap": press,
            "filter_add_remove": press,
            "filter_add_way": press,
        },
        opens=(ADD, (ADD_FIELD, "Country")),
    ),
    "pasted values": Scene(
        AUDIENCE,
        {
            "filter_add_pasted_geo-country": typed("US, JP, nowhere", "Control+Enter"),
            "filter_add_pasted_geo-country_check": press,
            "filter_add_pasted_geo-country_unknown": press,
            "filter_add_pasted_geo-country_include": press,
            "filter_add_pasted_geo-country_exclude": "Pressed as Include.",
        },
        opens=(ADD, (ADD_FIELD, "Country"), ".st-key-filter_add_way button:has-text('Paste')"),
    ),
    "new texts": Scene(
        AUDIENCE,
        {
            "filter_add_draft_match": press,
            "filter_add_draft_texts": typed("U", "Control+Enter"),
            "filter_add_draft_(any_case|descriptions)": ALIKE,
            "filter_add_draft_done": press,
        },
        opens=(ADD, (ADD_FIELD, "Country"), ".st-key-filter_add_way button:has-text('Text')"),
    ),
    "new metric filter": Scene(
        AUDIENCE,
        {
            "filter_add_figure_match": press,
            "filter_add_figure_value": typed("1000"),
            "filter_add_figure_done": press,
        },
        opens=(ADD, (ADD_FIELD, "Impressions (metric)")),
    ),
    "new group": Scene(
        AUDIENCE,
        {"filter_add_any_field": chosen("Campaign")},
        opens=(ADD, (ADD_FIELD, "Any of several filters")),
    ),
    "first of a group": Scene(
        AUDIENCE,
        NEW_GROUP,
        opens=(
            ADD,
            (ADD_FIELD, "Any of several filters"),
            (".st-key-filter_add_any_field input", "Campaign"),
        ),
    ),
    "pill": Scene(
        f"{AUDIENCE}&is.geo.country=US",
        {
            "filter_geo-country_or": press,
            "filter_geo-country_board/include": press,
            "filter_geo-country_board/(find|exclude|only)": ALIKE,
            "filter_geo-country_(any_case|descriptions|way|pasted.*)": ALIKE,
            "filter_geo-country_swap": ALIKE,
            "filter_geo-country_remove": press,
        },
        opens=(".st-key-filter_geo-country button",),
    ),
    "pill of texts": Scene(
        f"{AUDIENCE}&starts.geo.country=U", TEXT_FILTER, opens=(".st-key-filter_0 button",)
    ),
    "no data": Scene(f"{AUDIENCE}&starts.geo.country=Q", {"leaderboards/go": press}),
    "pill of a metric": Scene(
        f"{AUDIENCE}&having=imps~ge~1000",
        {
            "figure_filter_0_match": press,
            "figure_filter_0_value": typed("40000"),
            "figure_filter_0_remove": press,
        },
        opens=(".st-key-figure_filter_0 button",),
    ),
    "pill of a group": Scene(
        GROUP,
        OWN_GROUP,
        opens=(".st-key-filter_any_0 button", (".st-key-filter_any_0_field input", "Country")),
    ),
    "views": Scene(
        AUDIENCE,
        {
            "view_name": typed("Another", "Tab"),
            "view_share": "tests/ui/test_views.py",
            "FormSubmitter-view_new.*": press,
            "view_open_.*": press,
            "view_do_[0-9]+": press,
        },
        opens=(".st-key-saved_views button",),
        writes=("FormSubmitter-view_new.*",),
    ),
    "changed view": Scene(
        AUDIENCE,
        {"view_restore": press, "view_update": press},
        opens=(
            ".st-key-saved_views button",
            ".st-key-view_open_1 button",
            "[data-control='leaderboards/field'] >> nth=2",
            ".st-key-saved_views button",
        ),
        writes=("view_update",),
    ),
    "edited view": Scene(
        AUDIENCE,
        {
            "view_(all|reshare_.*)": "tests/ui/test_views.py",
            "view_rename_.*": typed("Weekly", "Tab"),
            "FormSubmitter-view_change.*": press,
            "view_update": press,
        },
        opens=of_view("edit"),
        writes=("FormSubmitter-view_change.*", "view_update"),
    ),
    "alert of a view": Scene(
        AUDIENCE,
        {
            "view_alert_(field|rule)_.*": "tests/ui/admin/test_alerts.py",
            "view_alert_bound_.*": typed("12"),
            "view_alert_set": press,
            "view_alert_remove": press,
        },
        opens=of_view("alert"),
    ),
    "view to a board": Scene(
        AUDIENCE,
        {"view_board": press, "view_board_part": press, "view_board_add": press},
        opens=of_view("board"),
        writes=("view_board_add",),
    ),
    "comments on a view": Scene(
        AUDIENCE,
        {
            "view_1_note_text_0": typed("Why?", "Tab"),
            "view_1_note_text_[1-9].*": "As that of a new one.",
            "FormSubmitter-view_1_note.*": press,
            "view_1_edit_.*": press,
            "view_1_note_cancel": press,
            "view_1_delete_.*": press,
        },
        opens=of_view("comments"),
        writes=("FormSubmitter-view_1_note.*", "view_1_delete_.*"),
    ),
    "link of a view": Scene(AUDIENCE, {"button Copy.*|.*to_copy.*": "Copies a text."}, opens=of_view("link")),
    "deleted view": Scene(
        AUDIENCE,
        {"view_delete_not": press, "view_delete_sure": "Pressed on Slicers."},
        opens=of_view("delete"),
    ),
    "link": Scene(
        AUDIENCE,
        {
            "snapshot_.*": DOWNLOAD,
            "share_link_name.*": typed("A link", "Tab"),
            "share_link_lifetime.*": press,
            "share_link_(days|origins).*": "tests/ui/test_sharing.py",
            "FormSubmitter-share_link.*": press,
            "share_link_another": press,
        },
        opens=(".st-key-share button", "summary:has-text('Embed it')"),
    ),
    "metrics": Scene(
        AUDIENCE,
        {
            "question_menu_part": press,
            "shown_metrics.*": press,
            "question_reset": press,
            "own_metric_(add|[0-9]+)": OPENS,
        },
        opens=part_of_menu("Metrics"),
    ),
    "own metric": Scene(
        AUDIENCE,
        {
            "own_metric_insert": press,
            "own_metric_name": typed("Rate", "Tab"),
            "own_metric_formula": typed("clicks / imps"),
            "own_metric_unit": typed("%", "Tab"),
            "own_metric_digits": typed("3", "Tab"),
            "own_metric_shared": press,
            "own_metric_save": press,
        },
        opens=(*part_of_menu("Metrics"), ".st-key-own_metric_add button"),
        writes=("own_metric_save",),
    ),
    "lines": Scene(AUDIENCE, {"chart_trend.*": press, "chart_second.*": press}, opens=part_of_menu("Lines")),
    "notes": Scene(
        AUDIENCE,
        {
            "date_note_text_0": typed("Campaign began", "Tab"),
            "date_note_day_0": "tests/ui/admin/test_notes.py",
            "date_note_(text|day)_[1-9].*": "As those of a new one.",
            "FormSubmitter-date_note.*": press,
            "date_edit_.*": press,
            "date_note_cancel": press,
            "date_delete_[0-9].*": press,
            "date_delete_(not|sure)": press,
        },
        opens=part_of_menu("Notes"),
        writes=("FormSubmitter-date_note.*", "date_delete_(not|sure)"),
    ),
    "cards": Scene(
        AUDIENCE,
        {
            "card_fields.*": press,
            "card_columns.*": press,
            "compared_columns.*": press,
            "card_across.*": press,
            "card_changes.*": press,
        },
        opens=(".st-key-leaderboard_picker button",),
    ),
    "downloads": Scene(
        AUDIENCE,
        {"exported_card": press, "[a-z_]+_(csv|png|xlsx)(/button)?": DOWNLOAD},
        opens=(".st-key-leaderboards_download button",),
    ),
    "split": Scene(
        SPLIT,
        {
            "split_rows/order": press,
            "split_rows/include": press,
            "split_rows/exclude": press,
            "split_rows/records": press,
            "split_tab/Show more": press,
            "split_fields": press,
            "split_chart": press,
            "split/.*Columns.*|split_download": OPENS,
        },
    ),
    "columns": Scene(SPLIT, {"compared_columns.*": press}, opens=("[data-control*='Columns']",)),
    "pivot": Scene(
        f"{SPLIT}&chart=pivot",
        {
            "split_rows/fold": press,
            "split_unfold_more": press,
            "split_unfold_less": press,
            "split_cross": press,
        },
    ),
    "bars": Scene(f"{SPLIT}&chart=bars", {"drill_mode": press, "split_bars.*/plot": press}),
    "heatmap": Scene(f"{SPLIT}&chart=heatmap", {"split_heatmap.*/plot": press}),
    "rows": Scene(
        f"{AUDIENCE}&lower=records&records=row~geo.country~US",
        {
            "records_all": press,
            "records_(columns|order).*": "tests/ui/test_records_tab.py",
            "records_download": OPENS,
            "records_tab/.*|records_table/.*|records_table": "Of Streamlit's table.",
        },
    ),
    "slicers": Scene(
        f"slicers?{SLICER}",
        {
            "key_field-.*": press,
            "data_field-.*": press,
            "top_rows/order": press,
            "fields_search": typed("cam"),
            "top_rows/include": press,
            "top_rows/exclude": press,
            "split_by_it": press,
            "view_figures_open_.*": press,
            "saved_views|manage_slicer": OPENS,
            "slicer_figure_.*|.*/Help.*": "Help.",
        },
        own=("fields_search",),
    ),
    "views of slicers": Scene(
        f"slicers?{SLICER}",
        {"view_do_2": press, "menuitem delete Delete .*": press, "view_delete_sure": press},
        opens=(".st-key-saved_views button",),
        writes=("view_delete_sure",),
    ),
    "export": Scene(
        f"export?{SLICER}",
        {
            "split_fields": press,
            "question_reset": press,
            "export_fields.*": press,
            "export_(order|limit|mappings|total).*": "tests/ui/test_export_screen.py",
            "export_format.*": press,
            "export_escape": press,
            "export_digits": press,
            "export_download": DOWNLOAD,
        },
        own=("export_(fields|format|escape|digits).*",),
    ),
    "board": Scene(
        "boards?board=1",
        {
            "board_days_1.*": press,
            "board_compare_1.*": press,
            "board_filter_1|board_link|boards_menu": OPENS,
            "board_head_.*": "A link to Audience.",
            "board_save_params": press,
            "board_block_.*/order": press,
            "board_block_.*/block chart": "Nothing to press.",
            "board_arrange": press,
            "board_(days|compare|filter)_[2-9].*": "Those of another board.",
        },
        own=("board_arrange", "board_block_.*/order"),
        writes=("board_save_params",),
    ),
    "filter of a board": Scene(
        "boards?board=1&start=-7d&end=yesterday",
        {
            "board_filter_1_field": chosen("Campaign"),
            "board_filter_1_board/include": press,
            "board_filter_1_board/(find|exclude|only)": ALIKE,
            "board_filter_1_(way|pasted.*|draft.*|any_case|descriptions|swap|remove)": ALIKE,
            "board_filter_1_0_[a-z_-]+": OPENS,
        },
        opens=(".st-key-board_filter_1 button", (".st-key-board_filter_1_field input", "Country")),
    ),
    "pill of a board": Scene(
        "boards?board=1&start=-7d&end=yesterday&is.geo.country=US",
        {
            "board_filter_1_0_geo-country_board/include": press,
            "board_filter_1_0_geo-country_.*(find|exclude|only|way|pasted.*|any_case|descriptions)": ALIKE,
            "board_filter_1_0_geo-country_swap": ALIKE,
            "board_filter_1_0_geo-country_remove": press,
        },
        opens=(".st-key-board_filter_1_0_geo-country button",),
    ),
    "boards": Scene(
        "boards?board=1",
        {
            "view_board_name": typed("Second", "Tab"),
            "view_board_share": press,
            "FormSubmitter-view_board_new.*": press,
            "view_open_board_.*|view_open_.*": press,
            "view_do_.*": press,
        },
        opens=(".st-key-boards_menu button",),
        writes=("FormSubmitter-view_board_new.*",),
    ),
    "empty board": Scene(
        "boards?board=2",
        {"board_2_0_[0-9]+_.*": "Of a cell that another scene put there."},
        opens=(".st-key-board_arrange button",),
    ),
    "arranged board": Scene(
        "boards?board=1",
        {
            **ARRANGED,
            "board_[12]_tiles/handle": "tests/browser/test_boards.py",
            "board_[12]_(view|part)": press,
            "board_[12]_(heading|text)_.*": typed("A heading", "Tab"),
            "board_arrange": press,
        },
        opens=(".st-key-board_arrange button",),
        own=("board_(1|.12.)_.*", "FormSubmitter.*"),
        writes=(*ARRANGED,),
    ),
    "link of a board": Scene("boards?board=1", {}, opens=(".st-key-board_link button",)),
    "slicer to rename": Scene(
        "slicers?project=demo&slicer=curation",
        {
            "manage_project|manage_sure": "Not without the other.",
            "manage_name": typed("deals", "Tab"),
            "manage_rename": press,
            "manage_remove": "tests/ui/test_slicers.py",
        },
        opens=(".st-key-manage_slicer button",),
    ),
}


PATTERNS = [*FRAME, *BAR, *(pattern for scene in SCENES.values() for pattern in scene.controls)]
HEADLINE = """() => Object.fromEntries(
  [...document.querySelector(".tranche-overview")?.shadowRoot.querySelectorAll(".fig") ?? []].map(
    figure => [figure.dataset.name, figure.querySelector(".fig-value").textContent]))"""
SHOWN = """() => document.querySelector(".tranche-overview").shadowRoot.querySelector(
  ".fig:has([aria-pressed=true])")?.dataset.name"""


@dataclass
class Tabs:
    """A tab in which a person acts, and one that is led to the same addresses.

    `known` are the figures of addresses, as the second tab shows them; `loaded` the parameters of those
    that it loaded anew since something was written.
    """

    address: str
    acted: Page
    fresh: Page
    reporting: Reporting
    log: Path
    slicer: Slicer
    known: dict[str, list[str]] = field(default_factory=dict)
    loaded: set[str] = field(default_factory=set)
    unnamed: set[str] = field(default_factory=set)

    def open(self, scene: Scene) -> None:
        """Open a scene anew."""
        self.acted.goto(f"{self.address}/{scene.path}")
        quiet(self.acted)
        for step in scene.opens:
            selector, text = (step, None) if isinstance(step, str) else step
            self.names()
            control = self.acted.locator(selector).first
            control.click()
            if text is not None:
                control.fill(text)
                if "combobox" in str(control.get_attribute("role")):
                    self.acted.get_by_role("option", name=text, exact=True).first.click()
            quiet(self.acted)

    def names(self) -> list[str]:
        """The names of all controls in sight; those that no row names are noted."""
        names: list[str] = self.acted.evaluate("trancheControls()")
        self.unnamed |= {name for name in names if not any(re.fullmatch(row, name) for row in PATTERNS)}
        return names

    def find(self, pattern: str, seconds: float = 0) -> Locator | None:
        """The controls of this name, if they are in sight, or come within so many seconds."""
        deadline = time.monotonic() + seconds
        while (name := next((name for name in self.names() if re.fullmatch(pattern, name)), None)) is None:
            if time.monotonic() >= deadline:
                return None
            quiet(self.acted)
        return self.acted.locator(f'[data-control="{name}"]').filter(visible=True)

    def difference(self) -> list[str]:
        """What is on screen and not said by its address, or the other way round; and what the API doubts."""
        deadline = time.monotonic() + SECONDS
        while True:
            url = self.acted.url
            shown = self.acted.evaluate("trancheFigures()")
            if shown != self.known.get(url):
                self.known[url] = self.figures_of(url)
            if shown == self.known[url] or time.monotonic() > deadline:
                break
            quiet(self.acted)
        differences = [
            f"{mark} {text}"
            for mark, here, there in (("shown", shown, self.known[url]), ("address", self.known[url], shown))
            for text in here
            if text not in there
        ]
        return differences or ([] if shown == self.known[url] else ["other order"])

    def figures_of(self, url: str) -> list[str]:
        """The figures of an address in the second tab: loaded anew where a parameter of it was in none
        before, otherwise reached on Audience as by Back and Forward, which takes a quarter of the work.
        """
        path, query = urlsplit(url).path, urlsplit(url).query
        parameters = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
        if path == urlsplit(self.fresh.url).path == "/audience" and parameters <= self.loaded:
            self.fresh.evaluate(
                "url => { history.pushState({}, '', url); dispatchEvent(new PopStateEvent('popstate')) }", url
            )
        else:
            self.fresh.goto(url)
            self.loaded |= parameters
        quiet(self.fresh)
        figures: list[str] = self.fresh.evaluate("trancheFigures()")
        return figures

    def faults(self) -> list[str]:
        """What fragments changed outside of themselves and threads asked for, as the desk has logged it."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if fragments.MARK in line or threads.MARK in line]

    def doubts(self) -> list[str]:
        """The figures of headline, leaderboards and split that are not the API's for the address."""
        parts = urlsplit(self.acted.url)
        figures: dict[str, str] = self.acted.evaluate(HEADLINE)
        if parts.path != "/audience" or not figures:
            return []
        link = state.from_params(dict(parse_qsl(parts.query, keep_blank_values=True)), self.slicer, *ABOUT)
        own = {field.name for field in self.slicer.data_fields}
        tables = [(("headline",), [], figures), *self.acted.evaluate("trancheRows()")]
        shown = self.acted.evaluate(SHOWN)
        answers: dict[tuple[str, ...], Answer] = {}
        doubts = []
        for table, pairs, cells in tables:
            names = tuple(name for name, _ in pairs)
            if (key := (*table, *names)) not in answers:
                # A leaderboard has all values of its field, those that are filtered out too.
                others = [
                    condition
                    for condition in link.query.filters
                    if table != ["card"]
                    or condition.name not in names
                    or condition.match not in ("equals", "not equals")
                ]
                query = link.query.model_copy(
                    update={
                        "split_by": names, "order_by": (), "filters": tuple(others), "limit": None,
                        "data_fields": tuple(field.name for field in self.slicer.data_fields),
                    }
                )  # fmt: skip
                answers[key] = Answer(
                    self.reporting.audience(query, self.slicer), named_days.days_of(query, self.slicer)
                )
            answer, row = answers[key], tuple(value for _, value in pairs)
            for column, text in cells.items():
                name = shown if column == "value" else column.removeprefix(".")
                if name not in own:
                    continue
                value = answer.value(row, name) if row else answer.total[name]
                if value is None and name in SUMS and row not in answer.rows:
                    value = 0.0
                if not says(text, value):
                    doubts.append(f"API {' '.join(row)} {name}: {text}, {value}")
        return doubts


def quiet(page: Page) -> None:
    """Wait until a page runs and loads nothing, with the pointer over none of its charts."""
    page.mouse.move(720, 4)
    settled(page)
    page.wait_for_function("() => !window.trancheIsBusy()", polling=50)


@pytest.fixture(scope="module")
def tabs(home: Path, tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Tabs]:
    """Two tabs of an administrator at a desk with a view, a board of it, notes and an own metric."""
    folder = tmp_path_factory.mktemp("controls")
    own, log = copied(home, folder / "home"), folder / "log"
    installation = connect.installation(Settings(home=own, demo=True))
    store = connect.connect(installation.people.get("admin"), installation.settings).view_store
    view = store.views.save(*ABOUT, "Weekly by country", {"is.geo.country": "US~JP"}, is_shared=True)
    store.views.save(*ABOUT, "To be deleted", {"is.geo.country": "FR"})
    parts = ("headline", "chart", "leaderboard", "table")
    store.boards.save("Everything", is_shared=True, cells=[BoardCell(view.id, part, 2) for part in parts])
    store.boards.save("Empty")
    store.notes.add(*ABOUT, LAST_DAY - dt.timedelta(days=2), "Prices rose")
    store.notes.comment(view.id, "As planned")
    store.metrics.save(*ABOUT, "Revenue per click", "revenue / clicks", "$", 2, is_shared=True)
    with running(WATCHED, own, log, TRANCHE_PORT=str(free_port())) as (address, _):
        context = new_context(chromium)
        context.add_init_script(path=SCRIPT)
        pages = [context.new_page() for _ in range(2)]
        enter(pages[0], f"{address}/{AUDIENCE}", "Admin")
        token = installation.access.issue(
            "admin", installation.settings.reporting_service, "test", dt.timedelta(hours=1)
        )
        with httpx.Client(base_url=address, timeout=60) as http:
            reporting = Reporting(http, token)
            slicer = reporting.info(InfoQuery(project_name=ABOUT[0], slicer_name=ABOUT[1]))
            tabs = Tabs(address, *pages, reporting, log, slicer)
            tabs.open(SCENES["audience"])
            assert {*pages[0].evaluate(HEADLINE).values()} <= {*pages[0].evaluate("trancheFigures()")}
            assert len(pages[0].evaluate("trancheRows()")) > len(COUNTRIES)
            yield tabs
        context.close()


@pytest.mark.parametrize("name", SCENES)
def test_what_is_on_screen_is_what_its_address_says(tabs: Tabs, name: str) -> None:
    """After each control of a scene; there is none that the table does not name."""
    scene, faults = SCENES[name], {}
    tabs.unnamed.clear()
    logged = len(tabs.faults())
    tabs.open(scene)
    tabs.names()
    for pattern, act in scene.controls.items():
        if isinstance(act, str):
            continue
        if (control := tabs.find(pattern)) is None:
            tabs.open(scene)
            control = tabs.find(pattern, SECONDS)
        if control is None:
            faults[pattern] = ["not in sight"]
            continue
        try:
            act(tabs.acted, control)
        except Error as error:
            faults[pattern] = [str(error)[:300]]
            continue
        quiet(tabs.acted)
        tabs.names()
        if pattern in scene.writes:
            tabs.known.clear()
            tabs.loaded.clear()
        is_own = any(re.fullmatch(own, pattern) for own in scene.own)
        deadline = time.monotonic() + SECONDS  # what is typed is asked for once nobody has typed for a moment
        while differences := [*([] if is_own else tabs.difference()), *tabs.doubts()]:
            if time.monotonic() > deadline:
                break
            quiet(tabs.acted)
        if differences:
            faults[pattern] = differences
            tabs.open(scene)
    assert not faults, faults
    assert not tabs.unnamed, tabs.unnamed
    assert not tabs.faults()[logged:], tabs.faults()[logged:]
