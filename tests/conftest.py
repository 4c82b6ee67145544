"""What all tests share: benchmark data, hypothesis with the same draws on every CI run, and pages in a real browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from trials import CI, trials

settings.register_profile("local", deadline=None)
settings.register_profile("ci", trials(), deadline=None, derandomize=True, database=None, print_blob=True)
settings.load_profile("ci" if CI else "local")

INSIDE = ("file:", "data:", "about:")  # where a page may get something from


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The benchmark data that does not ship: DUETO_DATA, or ../shared/data beside the repository."""
    beside = Path(__file__).parents[2] / "shared" / "data"
    folder = Path(os.environ.get("DUETO_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("set DUETO_DATA to the folder of benchmark data to run this test")
    return folder


@pytest.fixture(scope="session")
def browser():
    """One headless Chromium for all tests; skipped where there is none."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="pages are opened by playwright")
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        pytest.skip("no Chromium on the PATH to open pages with")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Opens a file (a `Path`) or the text of a page (a `str`), and gives the playwright page.

    At the end, no page opened has logged an error or asked for anything but files and data: of its own.
    """
    contexts, problems = [], []

    def one(page: Path | str, *, dark: bool = False, width: int = 1000):
        path = page if isinstance(page, Path) else tmp_path / f"opened-{len(contexts)}.html"
        if isinstance(page, str):
            path.write_text(page, encoding="utf-8")
        contexts.append(
            browser.new_context(
                color_scheme="dark" if dark else "light",
                viewport={"width": width, "height": 900},
                accept_downloads=True,
            )
        )
        shown = contexts[-1].new_page()
        shown.set_default_timeout(10_000)
        shown.on("console", lambda told: problems.append(f"console: {told.text}") if told.type == "error" else None)
        shown.on("pageerror", lambda error: problems.append(f"error: {error}"))
        shown.on(
            "request", lambda asked: None if asked.url.startswith(INSIDE) else problems.append(f"request: {asked.url}")
        )
        shown.goto(path.resolve().as_uri())
        return shown

    yield one
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def accessible():
    """Checks a page that is open by axe: no violation of any rule, best practices among them."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="accessibility is checked by axe")

    def check(page) -> None:
        found = axe.Axe().run(page).response["violations"]
        told = [f"{v['id']}: {v['help']}: {[n['html'][:120] for n in v['nodes'][:3]]}" for v in found]
        assert told == []

    return check
