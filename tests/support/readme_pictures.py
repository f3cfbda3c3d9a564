"""The pictures of the README: the first screen of a report, light and dark.

    PYTHONPATH=tests/support python -m readme_pictures

draws both again in headless Chromium. A picture keeps the text that it shows as its description, so
that a test notices when reports have come to say something else.
"""

from __future__ import annotations

import base64
import io
import tempfile
from pathlib import Path

from lxml import html
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import ir_lexirecall as irl

FOLDER = Path(__file__).parents[2] / ".github"
SCHEMES = ("light", "dark")
_WIDTH, _HEIGHT = 1280, 620
_N_COLOURS = 64  # enough for text, and half of the size


def write_report(folder: Path) -> Path:
    """Write the report of the README's pictures, and return its path."""
    path = folder / "report.html"
    criteria = ["nDCG@10", "AP", "lexirecall"]
    runs = irl.demo.runs()
    result = irl.compare("lexirecall/demo", runs, criteria, baseline="bm25")
    irl.report(result, path, title="Five runs on the demo collection")
    return path


def text_at_a_glance(report: Path) -> str:
    """Return the text of a report's first screen, its words separated by single blanks."""
    page = html.fromstring(report.read_text(encoding="utf-8"))
    (glance,) = page.get_element_by_id("summary").find_class("irl-glance")
    return " ".join(" ".join(glance.itertext()).split())


def text_of(picture: Path) -> str:
    """Return the text that a picture shows, as it was when the picture was drawn."""
    with Image.open(picture) as image:
        return str(image.info["Description"])


def draw() -> None:
    """Draw the pictures of all colour schemes."""
    from chromium import CHROMIUM, Browser

    assert CHROMIUM, "drawing needs Chromium"
    with tempfile.TemporaryDirectory() as folder:
        report = write_report(Path(folder))
        browser = Browser(CHROMIUM, Path(folder))
        browser("Emulation.setScrollbarsHidden", hidden=True)
        clip = {"x": 0, "y": 0, "width": _WIDTH, "height": _HEIGHT, "scale": 1}
        for scheme in SCHEMES:
            browser.open(report, _WIDTH, scheme)
            taken = browser("Page.captureScreenshot", format="png", clip=clip)
            description = PngInfo()
            description.add_itxt("Description", text_at_a_glance(report))
            with Image.open(io.BytesIO(base64.b64decode(taken["data"]))) as image:
                few_colours = image.convert("RGB").quantize(_N_COLOURS)
            path = FOLDER / f"report-{scheme}.png"
            few_colours.save(path, optimize=True, pnginfo=description)
        browser.close()


if __name__ == "__main__":
    draw()
