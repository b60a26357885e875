"""The pictures of the README's tour: screens of the demo, light and dark, as a browser shows them.

    make screenshots
    python docs/screenshots.py story-drop deals    # these alone

Builds a demo of its own in a temporary folder, so that nothing of yours is in a picture.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from playwright.sync_api import Browser, Page, sync_playwright

Scheme = Literal["light", "dark"]
HERE = Path(__file__).parent
WINDOW = {"width": 1440, "height": 900}
QUESTION = "project=demo&slicer=delivery&split=bid_context_wrapper.user.geo.country"
DROP = "audience?project=demo&slicer=curation"
DEAL = "deals?deals_kind=Deals&open=demand_deals-25"
Clicks = tuple[str, ...]
ROLES: tuple[Literal["radio", "checkbox"], ...] = ("radio", "checkbox")
SCREENS: dict[str, tuple[str, Clicks]] = {
    "audience": (f"audience?{QUESTION}", ()),
    "export": (f"export?{QUESTION}", ()),
    "deals": ("deals", ()),
    "story-drop": (DROP, ()),
    "story-moved": (f"{DROP}&lower=moved", ()),
    "story-health": (DEAL, ("Delivery",)),
    "story-change": (DEAL, ("Change",)),
    "story-buyer": ("deals?deals_kind=Deals&open=demand_deals-37", ("Delivery",)),
    "story-answer": ("deals?deals_kind=Deals&open=demand_deals-37", ()),
    "boards": ("boards", ()),
    "new-package": ("new_package", ()),
    "access": ("access", ()),
    "story-repair": (
        "deals?deals_kind=Packages",
        ("Dead targets", "Choose Morning News Display", "Preview removal of 1"),
    ),
}
IDLE = """() => {
    const busy = !document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')
        || document.querySelector('[data-testid=stSkeleton], [data-testid=stSpinner]')
        || window.trancheOverview?.root.getAttribute('aria-busy') === 'true'
        || [...document.querySelectorAll('[data-testid=stIconMaterial]')].some(
            (icon) => icon.textContent === 'hourglass_top')
    window.idle = busy ? undefined : window.idle ?? performance.now()
    return window.idle !== undefined && performance.now() - window.idle > 2000
}"""
PATIENCE_MILLISECONDS = 180_000


def main() -> None:
    """Take every picture in both color schemes."""
    with tempfile.TemporaryDirectory() as home, desk(Path(home)) as address, sync_playwright() as playwright:
        chromium = (
            shutil.which("chromium-headless-shell")
            or shutil.which("chromium")
            or shutil.which("google-chrome")
        )
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for scheme in get_args(Scheme):
            photograph(browser, address, scheme, sys.argv[1:])
        browser.close()


def photograph(browser: Browser, address: str, scheme: Scheme, wanted: Sequence[str]) -> None:
    """Sign in as the manager, and save one picture per screen; of those `wanted`, if any are named."""
    page = browser.new_page(viewport=WINDOW, locale="en-US", color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MILLISECONDS)
    page.goto(address)
    with page.expect_response("**/auth/session"):
        page.get_by_role("button", name="Manager", exact=True).click()
    for name, (link, clicks) in SCREENS.items():
        if wanted and name not in wanted:
            continue
        page.goto(f"{address}/{link}")
        page.wait_for_selector("[data-testid=stMain] h1, [data-testid=stMain] button")
        page.wait_for_function(IDLE)
        for click in clicks:
            press(page, click)
            page.wait_for_function(IDLE)
        page.screenshot(path=HERE / f"{name}-{scheme}.png")
    page.close()


def press(page: Page, name: str) -> None:
    """Click the button, section or checkbox of this name, in the dialog if one is open."""
    dialog = page.get_by_role("dialog")
    area = dialog if dialog.count() else page
    found = area.get_by_role("button", name=name, exact=True)
    for role in ROLES:
        found = found.or_(area.get_by_role(role, name=name, exact=True))
    found.first.click()
    page.evaluate("window.idle = undefined")


@contextmanager
def desk(home: Path) -> Iterator[str]:
    """A desk with the demo in `home`; gives its address once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"TRANCHE_HOME": str(home), "TRANCHE_PORT": str(port)}
    root = HERE.parent
    subprocess.run(
        [str(Path(sys.executable).with_name("tranche")), "demo"],
        check=True,
        cwd=root,
        env=environment,
        stdout=sys.stderr,
    )
    server = subprocess.Popen(
        [sys.executable, "app.py"], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
    )
    try:
        next(line for line in server.stdout or () if "Tranche is at" in line)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
