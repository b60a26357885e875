"""From a click on the Audience page to the first new figure, and until all stands still, in a browser.

    python bench/desk_clicks.py [clicks] [data directory]

Starts a desk over a demo (made anew without a data directory) and drives Chromium: each interaction so often,
p50, p90 and p95 in milliseconds. The floor is the same for the barest Streamlit page: a button and a figure.
On Linux also the processor time of the server for each click, all that it does meanwhile included; beside it
that of the barest page, and of one with as many elements.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parent.parent
MEASURE = Path(__file__).with_suffix(".js").read_text()
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"]
NAMES = ("chromium", "chromium-headless-shell")
CHROMIUM = next((path for path in map(shutil.which, NAMES) if path), None)
QUANTILES = (50, 90, 95)
SCREEN = {"width": 1440, "height": 900}
PORT, FLOOR_PORT = int(os.environ.get("TRANCHE_PORT", "8555")), int(os.environ.get("FLOOR_PORT", "8556"))
CARD = "[data-card$='user.geo.country']"
DEVICE = "[data-card$='supply.publisher_id']"
INTERACTIONS: dict[str, tuple[str, ...]] = {
    "Choose the field by its figure": (
        "[data-name=clicks] .show, .st-key-show_figure_clicks button",
        "[data-name=imps] .show, .st-key-show_figure_imps button",
    ),
    "Keep a value, release it": (f"{CARD} tr.row .include",),
    "Leave a value out, let it in": (f"{CARD} tr.row:nth-child(2) .exclude",),
    "Order a leaderboard by change, by value": (
        f"{DEVICE} th[data-column=change] button",
        f"{DEVICE} th[data-column=value] button",
    ),
    "Draw a value as a line, or not": (f"{DEVICE} tr.row .line",),
    "Undo, redo": (".st-key-question_undo button", ".st-key-question_redo button"),
    "Change the granularity": (
        ".tools [name=grain] option:nth-child(3)",
        ".tools [name=grain] option:nth-child(2)",
    ),
}
SPLIT = "[data-table=split]"
SPLITS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "table": (
        "lower=split&split=bid_context_wrapper.supply.publisher_id",
        {
            "Order the split's table": (
                f"{SPLIT} [data-column=clicks] button",
                f"{SPLIT} [data-column=imps] button",
            )
        },
    ),
    "pivot": (
        "chart=pivot&split=bid_context_wrapper.user.geo.country~bid_context_wrapper.supply.publisher_id",
        {
            "Order the pivot": (f"{SPLIT} [data-column=clicks] button", f"{SPLIT} [data-column=imps] button"),
            "Close a row of the pivot, open it": (f"{SPLIT} [aria-level='1'] .fold",),
        },
    ),
}
RUNNING: set[int] = set()
BAREST = """
import streamlit as st
count = st.session_state.get("count", 0) + st.button("More", key="more")
st.session_state["count"] = count
st.metric("Count", count)
"""
CROWDED = (
    """
import streamlit as st
mount = st.components.v2.component("crowded", html="<div></div>", js="export default function () {}")
def page():
    pass
st.set_page_config(layout="wide")
st.navigation([st.Page(page, title=f"Page {number}", url_path=f"page{number}") for number in range(9)]).run()
for number in range(8):
    st.popover(f"Popover {number}", key=f"popover{number}", on_change="rerun")
for number in range(16):
    with st.container(horizontal=True, key=f"container{number}"):
        if number < 3:
            st.selectbox("Choice", range(3), key=f"choice{number}")
            mount(key=f"part{number}", data={"number": number})
        elif number < 9:
            st.button("Nothing", key=f"button{number}")
        elif number < 13:
            st.caption("Some text")
"""
    + BAREST
)
"""About as many elements as the Audience page: containers, popovers, pickers, components, buttons, texts."""


def main() -> None:
    """Measure, and print a table."""
    clicks = (int(sys.argv[1]) if len(sys.argv) > 1 else 30) // 2 * 2  # what is kept is released again
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(sys.argv[2]) if len(sys.argv) > 2 else made(Path(folder) / "home")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        load = os.getloadavg()[0]
        print(f"{clicks} clicks each; load of this machine {load:.1f} on {os.cpu_count()} processors\n")
        heading()
        for name, script in (("Barest Streamlit page", BAREST), ("With as many elements", CROWDED)):
            with barest(Path(folder), script) as address:
                page = browser.new_page(viewport=SCREEN)
                page.goto(address)
                page.get_by_role("button", name="More").wait_for()
                before = processor_seconds()
                show(name, [click(page, ".st-key-more button") for _ in range(clicks)])
                spent = 1000 * (processor_seconds() - before) / clicks
                print(f"{'Processor time of it per click':42} {spent:8,.0f}", flush=True)
                page.close()
        with desk(home) as address:
            page = opened(browser, address)
            before = processor_seconds()
            for name, what in INTERACTIONS.items():
                show(name, [click(page, what[turn % len(what)]) for turn in range(clicks)])
            spent = 1000 * (processor_seconds() - before) / (clicks * len(INTERACTIONS))
            print(f"{'Processor time of the desk per click':42} {spent:8,.0f}", flush=True)
            for params, interactions in SPLITS.values():
                page.goto(f"{address}/audience?project=demo&slicer=delivery&{params}")
                page.locator(f"{SPLIT} tr.row").first.wait_for()
                page.wait_for_timeout(3000)
                for name, what in interactions.items():
                    show(name, [click(page, what[turn % len(what)]) for turn in range(clicks)])


def processor_seconds() -> float:
    """Processor time of the servers that run now, user and system; not a number without /proc."""
    try:
        stats = [Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split() for number in RUNNING]
    except FileNotFoundError:
        return float("nan")
    return sum(int(stat[11]) + int(stat[12]) for stat in stats) / os.sysconf("SC_CLK_TCK")


def made(home: Path) -> Path:
    """A data directory with the demo."""
    command = [sys.executable, "-c", "from lib.cli import main; main()", "demo"]
    environment = {**os.environ, "TRANCHE_HOME": str(home), "PYTHONPATH": str(ROOT)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
    return home


def show(name: str, times: Sequence[tuple[float, float]]) -> None:
    """One line of the table."""
    first, last = (
        "".join(f"{quantile([one[side] for one in times], q):8,.0f}" for q in QUANTILES) for side in (0, 1)
    )
    print(f"{name:42} {first} {last}", flush=True)


def heading() -> None:
    """The first lines of the table."""
    percents = "".join(f"{f'p{q}':>8}" for q in QUANTILES)
    print(f"{'ms':42} {'first new figure':>24} {'all stands still':>24}")
    print(f"{'':42} {percents} {percents}", flush=True)


def quantile(values: Sequence[float], percent: int) -> float:
    """The value below which so many percent of the values are."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


def click(page: Page, what: str) -> tuple[float, float]:
    """Milliseconds from a click to the first new figure, and to the last."""
    first, last = page.evaluate(MEASURE, what)
    return first, last


def opened(browser: Browser, address: str) -> Page:
    """The Audience page of the demo's slicer delivery, once it stands still."""
    page = browser.new_page(viewport=SCREEN)
    page.set_default_timeout(120_000)
    page.goto(f"{address}/audience?project=demo&slicer=delivery")
    page.get_by_role("button", name="Manager", exact=True).click()
    page.locator(f"{CARD} tr.row").first.wait_for()
    page.locator(".js-line, .course").first.wait_for(state="attached")
    page.wait_for_timeout(3000)
    return page


@contextmanager
def desk(home: Path, **more: str) -> Iterator[str]:
    """A desk of its own over that data directory, with these variables too; its address."""
    environment = {"TRANCHE_HOME": str(home), "TRANCHE_PORT": str(PORT), **more}
    with running([sys.executable, "app.py"], environment) as address:
        yield address


@contextmanager
def barest(folder: Path, code: str) -> Iterator[str]:
    """A page of Streamlit alone, with this script; its address."""
    script = folder / "barest.py"
    script.write_text(code)
    options = ["--server.headless=true", "--server.address=127.0.0.1", f"--server.port={FLOOR_PORT}"]
    with running([sys.executable, "-m", "streamlit", "run", str(script), *options], {}) as address:
        yield address


@contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[str]:
    """The first address that a server says, in a process of its own; stopped afterwards."""
    variables = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT), **environment}
    process = subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    RUNNING.add(process.pid)
    try:
        lines = iter(process.stdout or ())
        yield next(found[0] for line in lines if (found := re.search(r"http://[\w.\[\]:]+", line)))
    finally:
        RUNNING.discard(process.pid)
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
