"""The page in a real browser: what it loads, what it shows first, and whether it can be read."""

import base64
import json
import re
import shutil

import pytest

from assay.report import figures, html

from . import fake

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
)
DESKTOP, PHONE, SMALL_PHONE = (1280, 800), (390, 844), (360, 740)

# Elements with text of their own whose colour stands too close to the background behind it
# (WCAG 2 AA: 4.5, or 3 from 24 px on). Backgrounds here are plain colours, never pictures.
CONTRAST = """
const rgb = c => (c.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
const light = c => {
  const [r, g, b] = rgb(c).slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = e => {
  for (; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length < 4 || c[3] > 0) return getComputedStyle(e).backgroundColor;
  }
  return 'rgb(255, 255, 255)';
};
const poor = [];
for (const e of document.querySelectorAll('body *')) {
  const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.getClientRects().length) continue;
  const style = getComputedStyle(e);
  const ink = e instanceof SVGElement ? style.fill : style.color;
  const [a, b] = [light(ink), light(behind(e))].sort((x, y) => y - x);
  const ratio = (a + 0.05) / (b + 0.05);
  if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5))
    poor.push([e.tagName, e.textContent.trim().slice(0, 30), ink, ratio]);
}
return poor;
"""


# Of every row of the list of losses: texts that run into each other, or out of their section.
OVERLAPS = """
const boxes = e => {
  const range = document.createRange();
  range.selectNodeContents(e);
  return [...range.getClientRects()].map(r => [r.left, r.right, r.top, r.bottom, e.textContent]);
};
const meet = (a, b) => Math.min(a[1], b[1]) - Math.max(a[0], b[0]) > 1
  && Math.min(a[3], b[3]) - Math.max(a[2], b[2]) > 1;
return [...document.querySelectorAll('.forest li:not(.scale)')].map(li => {
  const edge = li.closest('section').getBoundingClientRect().right + 1;
  const parts = [...li.querySelectorAll('.name, strong, .within')].map(boxes);
  const poor = parts.flat().filter(b => b[1] > edge).map(b => b[4]);
  parts.forEach((a, i) => parts.slice(i + 1).flat().forEach(b => {
    if (a.some(box => meet(box, b))) poor.push(a[0][4] + ' | ' + b[4]);
  }));
  return poor;
});
"""


@pytest.fixture(scope="module")
def browser():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("needs chromium and chromedriver on the path (apt-get install chromium-driver)")
    webdriver = pytest.importorskip("selenium.webdriver", reason="needs selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    opened = webdriver.Chrome(options=options, service=service)
    yield opened
    opened.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    drawn = figures.render(fake.not_earned(), (*fake.FIGURES, fake.CLOUD, fake.BROKEN))
    found = {}
    for name, make in fake.ALL.items():
        path = folder / f"{name}.html"
        path.write_text(html.render(make(), drawn), "utf-8", errors="replace")
        assert path.stat().st_size < 2_000_000
        found[name] = path
    return found


def show(browser, path, size=DESKTOP, scheme="light"):
    width, height = size
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": "prefers-color-scheme", "value": scheme}]},
    )
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())


def picture(browser, path):
    shot = browser.execute_cdp_cmd(
        "Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True}
    )
    path.write_bytes(base64.b64decode(shot["data"]))
    return path


@pytest.mark.parametrize("name", fake.ALL)
def test_no_error_and_no_request(browser, pages, name):
    show(browser, pages[name])
    assert browser.get_log("browser") == []
    asked = [
        message["params"]["request"]["url"]
        for entry in browser.get_log("performance")
        if (message := json.loads(entry["message"])["message"])["method"]
        == "Network.requestWillBeSent"
    ]
    outside = [url for url in asked if not url.startswith("data:")]
    assert outside == [pages[name].as_uri()]


def test_text_from_outside_shows_as_text(browser, pages):
    show(browser, pages["hostile"])
    assert fake.HOSTILE in browser.find_element("tag name", "body").text
    assert browser.find_elements("css selector", "script, img[onerror], img[src='x']") == []
    assert browser.execute_script("return document.title").startswith("Not earned: <script>")


@pytest.mark.parametrize("size", [DESKTOP, PHONE])
@pytest.mark.parametrize("name", fake.VERDICTS)
def test_the_verdict_is_on_the_first_screen(browser, pages, name, size):
    show(browser, pages[name], size)
    for selector in (".word h2", ".sentence", ".figure-number", ".range", ".interval"):
        place = browser.find_element("css selector", selector).rect
        assert place["height"] > 0
        assert place["y"] + place["height"] <= size[1], selector


@pytest.mark.parametrize("size", [DESKTOP, PHONE, SMALL_PHONE])
@pytest.mark.parametrize("name", fake.ALL)
def test_nothing_runs_out_of_the_page(browser, pages, name, size):
    show(browser, pages[name], size)
    # Tables scroll in frames of their own; the page itself must not.
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= size[0]
    cut = browser.execute_script(
        "return [...document.querySelectorAll('p, h1, h2, h3, li, dd, figcaption')]"
        ".filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.textContent.slice(0, 40))"
    )
    assert cut == []


@pytest.mark.parametrize("size", [DESKTOP, (1200, 800), (1000, 800), (700, 800), SMALL_PHONE])
@pytest.mark.parametrize("name", ["not_earned", "factors"])
def test_texts_beside_the_axis_of_losses_keep_apart(browser, pages, name, size):
    show(browser, pages[name], size)
    rows = browser.execute_script(OVERLAPS)
    assert len(rows) == len(fake.ALL[name]().gains)
    assert [row for row in rows if row] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [*fake.VERDICTS, "hostile"])
def test_everything_can_be_read_in_light_and_dark(browser, pages, name, scheme):
    show(browser, pages[name], scheme=scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", paper)[:3])) / 3
    assert brightness > 230 if scheme == "light" else brightness < 50
    assert browser.execute_script(CONTRAST) == []


def test_the_contrast_measure_finds_grey_on_grey(browser, pages):
    show(browser, pages["earned"])
    browser.execute_script("document.querySelector('.sentence').style.color = '#999'")
    assert [found[0] for found in browser.execute_script(CONTRAST)] == ["P"]


@pytest.mark.parametrize("name", ["not_earned", "large"])
def test_prints_on_a4(browser, pages, name):
    show(browser, pages[name], scheme="dark")
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    pdf = base64.b64decode(printed["data"])
    assert pdf.startswith(b"%PDF")
    sizes = {tuple(map(float, s)) for s in re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)}
    assert sizes
    assert all(abs(w - 595) < 1.5 and abs(h - 842) < 1.5 for w, h in sizes)


def test_screenshots(browser, pages, tmp_path):
    """Leaves pictures of each verdict in the test's folder for people to look at."""
    seen = set()
    for name in fake.VERDICTS:
        for size, scheme in ((DESKTOP, "light"), (DESKTOP, "dark"), (PHONE, "light")):
            show(browser, pages[name], size, scheme)
            path = picture(browser, tmp_path / f"{name}-{size[0]}-{scheme}.png")
            seen.add(path.read_bytes())
    assert len(seen) == 3 * len(fake.VERDICTS)  # every verdict and mode looks different
