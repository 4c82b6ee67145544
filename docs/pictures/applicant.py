"""Draw the README's picture: two parts of the page about the demo's client, as a browser shows them.

    python docs/pictures/applicant.py

needs the extra `dev` and a Chromium: the one that CHROMIUM names, or else playwright's own. Data, model and row are
those of `dueto demo`.
"""

from __future__ import annotations

import io
import os
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import dueto
from dueto.cli.demo import PLAF, ROW, fitted

OUT = Path(__file__).with_suffix(".png")
WIDE, GAP = 860, 40  # of one part, and between the two
PARTS = ((None, "What if?"), ("Where this applicant stands", "The applicant"))  # from heading to heading


def main() -> None:
    """Write the page to a file, and what two parts of it look like beside this script."""
    data, model, _ = fitted()
    explanation = dueto.explain(model, data, ROW, constraints=PLAF)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        page = Path(folder) / "page.html"
        explanation.to_html(page)
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": WIDE, "height": 1000}, color_scheme="light")
        tab.goto(page.as_uri())
        parts = [part(tab, *headings) for headings in PARTS]
        browser.close()
    picture = Image.new("RGB", (2 * WIDE + GAP, max(image.height for image in parts)), "white")
    for k, image in enumerate(parts):
        picture.paste(image, (k * (WIDE + GAP), 0))
    picture.quantize(128).save(OUT, optimize=True)


def part(tab: Page, start: str | None, end: str) -> Image.Image:
    """The page from one heading to another, which is left out."""
    top, bottom = (_top(tab, heading) if heading else 0 for heading in (start, end))
    clip = {"x": 0, "y": top - 16 * bool(start), "width": WIDE, "height": bottom - top - 16}
    return Image.open(io.BytesIO(tab.screenshot(full_page=True, clip=clip)))


def _top(tab: Page, heading: str) -> float:
    return float(tab.get_by_role("heading", name=heading, exact=True).evaluate("e => e.getBoundingClientRect().top"))


if __name__ == "__main__":
    main()
