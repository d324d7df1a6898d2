"""Open every page of the built site in chromium and use it (``make docs-test``).

Usage: python -m tools.site.browser docs/_build/html

Pages are opened from ``file://`` with the network switched off, in a wide window and a narrow one.
The test searches for a few words and reports errors in the console, scripts and pictures that do
not load, internal links that lead nowhere and pages that cannot be reached from the first one.
The browser is driven over the Chrome DevTools protocol, so nothing but Debian's ``chromium`` and
the package ``websockets`` is needed.
"""

import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

import websockets

# Words to search for, and a page that must be among the answers.
QUESTIONS = {
    "certificate": "guide/certificates",
    "SVC": "api/mercer.SVC",
    "Subsequence": "Subsequence",
}
PATIENCE = 600  # seconds to wait for an answer of the browser, on a machine with other work
LINKS = """
JSON.stringify([...document.querySelectorAll('a[href]')].map(a => a.href)
    .filter(href => href.startsWith('file:')))"""
BROKEN = """
JSON.stringify([...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src))"""
TARGETS = "JSON.stringify([...document.querySelectorAll('[id]')].map(e => e.id))"
RESULTS = "JSON.stringify([...document.querySelectorAll('#search-results li a')].map(a => a.href))"


class Tab:
    """One tab of the browser.

    Parameters
    ----------
    socket : websockets connection
        Where the tab listens.
    """

    def __init__(self, socket) -> None:
        self.socket = socket
        self.number = 0
        self.complaints: list[str] = []

    async def call(self, method: str, **parameters):
        """Send a command and return its result; note complaints that arrive meanwhile."""
        self.number += 1
        number = self.number
        await self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(await asyncio.wait_for(self.socket.recv(), PATIENCE))
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message: dict) -> None:
        """Keep what a page complains about."""
        kind, values = message.get("method"), message.get("params", {})
        if kind == "Log.entryAdded" and values["entry"]["level"] == "error":
            self.complaints.append(values["entry"]["text"] + " " + values["entry"].get("url", ""))
        elif kind == "Runtime.exceptionThrown":
            self.complaints.append(values["exceptionDetails"]["text"])
        elif kind == "Runtime.consoleAPICalled" and values["type"] == "error":
            self.complaints.append(str([part.get("value") for part in values["args"]]))

    async def evaluate(self, expression: str):
        """Return the value of an expression that gives JSON."""
        result = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True)
        return json.loads(result["result"]["value"])

    async def open(self, url: str) -> None:
        """Open a page and wait until it is complete."""
        await self.call("Page.navigate", url=url)
        for _ in range(600):
            if await self.evaluate("JSON.stringify(document.readyState == 'complete')"):
                return
            await asyncio.sleep(0.02)
        raise RuntimeError(f"{url} does not finish loading")


async def connect(profile: Path) -> str:
    """Return the address of the browser's first tab, once it has written its port."""
    port_file = profile / "DevToolsActivePort"
    for _ in range(600):
        if port_file.exists() and len(port_file.read_text().splitlines()) == 2:
            break
        await asyncio.sleep(0.1)
    else:
        raise SystemExit("chromium does not start")
    port = port_file.read_text().splitlines()[0]
    for _ in range(100):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            tabs = [tab for tab in json.load(answer) if tab["type"] == "page"]
        if tabs:
            return tabs[0]["webSocketDebuggerUrl"]
        await asyncio.sleep(0.1)
    raise SystemExit("chromium opens no tab")


async def visit(site: Path, profile: Path) -> list[str]:
    """Open all pages and return what is wrong."""
    wrong: list[str] = []
    async with websockets.connect(await connect(profile), max_size=None) as socket:
        tab = Tab(socket)
        for domain in ("Page", "Runtime", "Log", "Network"):
            await tab.call(f"{domain}.enable")
        await tab.call(
            "Network.emulateNetworkConditions",
            offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1,
        )  # fmt: skip
        pages = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
        links: dict[str, set[str]] = {}
        anchors: dict[str, set[str]] = {}
        for page in pages:
            url = page.resolve().as_uri()
            await tab.open(url)
            links[url] = set(await tab.evaluate(LINKS))
            anchors[url] = set(await tab.evaluate(TARGETS))
            wrong += [f"{page}: picture {src}" for src in await tab.evaluate(BROKEN)]
            wrong += [f"{page}: {complaint}" for complaint in tab.complaints]
            tab.complaints.clear()
        wrong += dead_links(links, anchors)
        wrong += unreachable(site, links)
        wrong += await ask(tab, site)
        wrong += await look_narrow(tab, site)
    print(f"{len(pages)} pages opened, {sum(map(len, links.values())):,} links followed")
    return wrong


def dead_links(links: dict[str, set[str]], anchors: dict[str, set[str]]) -> list[str]:
    """Return the internal links to files or headings that do not exist."""
    wrong, files = [], {}
    for page, targets in links.items():
        for target in sorted(targets):
            address, _, fragment = target.partition("#")
            address = address.partition("?")[0]
            if address not in files:
                files[address] = Path(
                    urllib.parse.unquote(address.removeprefix("file://"))
                ).exists()
            if not files[address]:
                wrong.append(f"{page}: link to {target}")
            elif (
                fragment
                and address in anchors
                and urllib.parse.unquote(fragment) not in anchors[address]
            ):
                wrong.append(f"{page}: no heading {target}")
    return wrong


def unreachable(site: Path, links: dict[str, set[str]]) -> list[str]:
    """Return the pages that no chain of links from the first page reaches."""
    waiting, seen = [(site / "index.html").resolve().as_uri()], set()
    while waiting:
        page = waiting.pop()
        if page not in seen:
            seen.add(page)
            waiting += [target.partition("#")[0] for target in links.get(page, ())]
    return [f"{page}: no link leads there" for page in sorted(set(links) - seen) if not tool(page)]


def tool(page: str) -> bool:
    """Tell whether a page is one of Sphinx's own, which are opened by forms, or shows a source.

    An incremental build leaves sources that no page links to any more.
    """
    return "_modules" in Path(page).parts or Path(page).name in (
        "search.html",
        "genindex.html",
        "py-modindex.html",
    )


async def ask(tab: Tab, site: Path) -> list[str]:
    """Search for a few words and return those whose page is not found."""
    wrong = []
    for word, page in QUESTIONS.items():
        await tab.open((site / "search.html").resolve().as_uri() + f"?q={word}")
        for _ in range(200):
            found = await tab.evaluate(RESULTS)
            if any(page in target for target in found):
                break
            await asyncio.sleep(0.05)
        else:
            wrong.append(f"search for {word!r} does not find {page}")
        wrong += [f"search: {complaint}" for complaint in tab.complaints]
        tab.complaints.clear()
    return wrong


async def look_narrow(tab: Tab, site: Path) -> list[str]:
    """Return the pages of a first selection that are wider than a telephone."""
    wrong = []
    await tab.call(
        "Emulation.setDeviceMetricsOverride",
        width=390, height=844, deviceScaleFactor=2, mobile=True,
    )  # fmt: skip
    names = ["index.html", "get-started.html", "guide/certificates.html", "api/mercer.SVC.html"]
    for name in names:
        await tab.open((site / name).resolve().as_uri())
        if await tab.evaluate("JSON.stringify(document.documentElement.scrollWidth > 400)"):
            wrong.append(f"{name} is wider than a narrow window")
    return wrong


def main(arguments: list[str]) -> int:
    """Start the browser, visit the site, report."""
    site = Path(arguments[0] if arguments else "docs/_build/html")
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        print("chromium is needed: apt install chromium", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += ["--remote-debugging-port=0", f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wrong = asyncio.run(visit(site, Path(folder)))
        finally:
            process.terminate()
            process.wait(timeout=30)
    for line in wrong:
        print(line)
    print("the site works" if not wrong else f"{len(wrong)} things are wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
