"""Where the processor time of a click on the Audience page goes: threads, functions, the browser.

    python bench/desk_profile.py CLICKS DATA_DIRECTORY [TREE DATA_DIRECTORY] [functions FOLDER]

The clicks of desk_clicks.py on a demo: milliseconds of processor for a click, by kind of thread of the desk,
and what Chromium's page does. With another TREE and a copy of the data its desk takes turns with this one,
click by click, so that both meet the same load of the machine. With `functions` the desk runs under cProfile,
and writes one file for pstats by kind of thread: times are several times as long, their shares are what to
look at.
"""

import cProfile
import json
import os
import pstats
import signal
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

TARGET, FUNCTIONS = "TRANCHE_BENCH_TARGET", "TRANCHE_BENCH_FUNCTIONS"


class Tally:
    """Processor time by kind of thread, of those that ended and those that run."""

    def __init__(self, folder: str) -> None:
        self._ended: Counter[str] = Counter()
        self._profiles: defaultdict[str, list[cProfile.Profile]] = defaultdict(list)
        self._folder = folder

    def watch_threads(self) -> None:
        """Count each thread that starts from now on, and profile it where functions are wanted."""
        run = threading.Thread.run

        def counted(thread: threading.Thread) -> None:
            name = kind(thread.name)
            profile = cProfile.Profile(time.thread_time) if self._folder else None
            if profile:
                self._profiles[name].append(profile)
                profile.enable()
            try:
                run(thread)
            finally:
                if profile:
                    profile.disable()
                self._ended[name] += time.thread_time()

        threading.Thread.run = counted  # type: ignore[method-assign]

    def seconds(self) -> dict[str, float]:
        """Seconds by kind of thread since the start."""
        seconds = Counter(self._ended)
        for thread in threading.enumerate():
            with suppress(OSError):  # it has just ended
                stat = Path(f"/proc/self/task/{thread.native_id}/schedstat").read_text()
                seconds[kind(thread.name)] += int(stat.split()[0]) / 1e9
        return {**seconds, "process": time.process_time()}

    def write_functions(self) -> None:
        """A file for pstats by kind of thread."""
        for name, profiles in self._profiles.items():
            for profile in profiles:
                profile.snapshot_stats()
            with suppress(TypeError):  # none has ended yet
                pstats.Stats(*profiles).dump_stats(Path(self._folder, f"{name}.pstats"))


def kind(thread: str) -> str:
    """The name of a thread without its number."""
    return thread.split("_")[0].rstrip("-0123456789")


def serve() -> None:
    """The desk, which writes what it has spent to a file at each SIGUSR1."""
    target, tally = Path(os.environ[TARGET]), Tally(os.environ.get(FUNCTIONS, ""))
    tally.watch_threads()

    def write(*_: Any) -> None:
        if os.environ.get(FUNCTIONS):
            tally.write_functions()
        target.with_suffix(".new").write_text(json.dumps(tally.seconds()))
        target.with_suffix(".new").rename(target)

    signal.signal(signal.SIGUSR1, write)
    import app

    app.main()


if __name__ == "__main__" and TARGET in os.environ:
    sys.argv[1:] = []
    serve()
    sys.exit()

import desk_clicks  # noqa: E402
from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402


class Desk:
    """A desk of a tree in a process of its own, with a page of it in a browser."""

    def __init__(self, stack: ExitStack, browser: Browser, tree: Path, home: str, functions: str) -> None:
        self._target = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "spent"
        before, self.tree = {*desk_clicks.RUNNING}, tree
        environment = {
            "PYTHONPATH": str(tree), "TRANCHE_HOME": home, TARGET: str(self._target), FUNCTIONS: functions,
            "TRANCHE_PORT": str(desk_clicks.PORT + 10 * len(before)),
        }  # fmt: skip
        address = stack.enter_context(desk_clicks.running([sys.executable, __file__], environment))
        (self._process,) = desk_clicks.RUNNING - before
        # A page of a browser's own context has a process of its own, whose time is told from that of others.
        self.page: Page = desk_clicks.opened(browser, address)
        self._session = self.page.context.new_cdp_session(self.page)
        self._session.send("Performance.enable")

    def spent(self) -> Counter[str]:
        """Seconds since the start, of threads and of the page."""
        self._target.unlink(missing_ok=True)
        os.kill(self._process, signal.SIGUSR1)
        while not self._target.exists():
            time.sleep(0.05)
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return Counter(json.loads(self._target.read_text())) + Counter(
            {one["name"]: one["value"] for one in metrics if one["name"].endswith("Duration")}
        )


def main() -> None:
    """Measure, and print a table."""
    arguments = sys.argv[1:]
    functions = arguments[arguments.index("functions") + 1] if "functions" in arguments else ""
    if functions:
        del arguments[arguments.index("functions") :]
    clicks, home, *others = arguments
    with ExitStack() as stack:
        chromium = stack.enter_context(sync_playwright()).chromium
        browser = chromium.launch(executable_path=desk_clicks.CHROMIUM, args=desk_clicks.ARGUMENTS)
        desks = [Desk(stack, browser, desk_clicks.ROOT, home, functions)]
        if others:
            desks.append(Desk(stack, browser, Path(others[0]), others[1], ""))
        # Each once before: caches fill.
        before = [Counter[str]() for _ in desks]
        for rounds in (2, int(clicks) // 2 * 2):
            before, count = [desk.spent() for desk in desks], 0
            for what in desk_clicks.INTERACTIONS.values():
                for turn in range(rounds):
                    for desk in desks:
                        desk_clicks.click(desk.page, what[turn % len(what)])
                    count += 1
        print(f"Processor, ms a click of {count}; load {os.getloadavg()[0]:.1f}\n")
        for desk, start in zip(desks, before, strict=True):
            print(desk.tree)
            spent = desk.spent() - start
            for name, seconds in spent.most_common():
                if seconds / count >= 0.00005:
                    print(f"    {name:32} {1000 * seconds / count:8.1f}")


if __name__ == "__main__":
    main()
