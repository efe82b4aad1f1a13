"""What a report does in a browser. Run by `check`, which says where the program and Chromium are."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect, sync_playwright

PROGRAM = os.environ["DEDUPDB_PROGRAM"]
CHROMIUM = os.environ["CHROMIUM"]

# Each of these runs where a key or a text becomes HTML, or part of a script or an address.
EVIL = [
    "</script><script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<!--<script>",
    "\"'><svg onload=window.pwned=3>",
    "javascript:window.pwned=4",
    "\u2028window.pwned = 5\u2029",
    "\u202egnp.exe",
    "a\nb\tc\u0000d\\n",
]


def words(seed, count):
    """As many words, the same for the same seed and unlike any other's."""
    return " ".join(f"w{seed * 7919 + index * index * 31:x}" for index in range(count))


class Opened:
    """A page that is open, and what it said and asked for."""

    def __init__(self, page: Page):
        self.page = page
        self.said = []
        self.asked = []
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.accept()))

    def open(self, path):
        self.page.goto(path.as_uri())
        return self

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def clusters(self):
        return self.page.locator("#list > li")

    def press(self, name, index=0):
        self.page.get_by_role("button", name=name).nth(index).click()

    def expand(self, index=0):
        self.clusters().nth(index).locator("summary").click()
        self.clusters().nth(index).locator(".rows").wait_for()

    def filter(self, shown, **fields):
        """Fills fields of the filter, whose line then says that so many clusters are shown."""
        for name, value in fields.items():
            field = self.page.locator(f"#{name.replace('_', '-')}")
            if name == "kind":
                field.select_option(value)
            else:
                field.fill(value)
        expect(self.page.locator("#status")).to_have_text(re.compile(f"^{shown} cluster"))

    def save(self, name):
        with self.page.expect_download() as download:
            self.press(name)
        return Path(download.value.path()).read_bytes()

    def check_quiet(self):
        """Nothing was said, nothing foreign ran, and nothing was fetched but the page."""
        assert self.said == [], self.said
        assert self.page.evaluate("window.pwned") is None
        assert all(url.startswith(("file:", "blob:", "data:")) for url in self.asked), self.asked


class Tests:
    def __init__(self, browser, folder):
        self.browser = browser
        self.folder = folder

    def run(self, *arguments, code=0):
        ran = subprocess.run([PROGRAM, *arguments], cwd=self.folder, capture_output=True, text=True)
        assert ran.returncode == code, ran
        return ran.stdout

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    @contextmanager
    def opened(self, path, width=1300, **options):
        context = self.browser.new_context(viewport={"width": width, "height": 900}, **options)
        opened = Opened(context.new_page())
        opened.open(path)
        yield opened
        opened.check_quiet()
        context.close()

    def report(self):
        """A report of a folder: three alike of which two are the same, two alike, two the same."""
        if not (self.folder / "report.html").exists():
            # The first two are as large as each other, so the path says which of them stays.
            first, second, third = words(1, 90), words(2, 60), words(3, 40)
            self.write("in/a.txt", first)
            self.write("in/b.txt", first.replace(first.split()[50], "switch"))
            self.write("in/c.txt", first)
            self.write("in/d.txt", second)
            self.write("in/e.txt", f"{second} at the end")
            self.write("in/x & y.txt", third)
            self.write("in/z.txt", third)
            self.run("add", "-q", "in")
            self.run("report", "-o", "report.html")
        return self.folder / "report.html"

    def test_pages_open_and_filter(self):
        with self.opened(self.report()) as opened:
            assert opened.text("#status") == "3 clusters of 3"
            assert "in/a.txt" in opened.clusters().nth(0).inner_text()
            opened.filter("1", find="Y.TXT")
            assert "in/z.txt" in opened.clusters().nth(0).inner_text(), "the shorter name comes first"
            opened.press("Show all")
            opened.filter("1", least_size="3")
            opened.filter("0", most_size="2")
            opened.press("Show all")
            opened.filter("1", kind="identical")
            opened.filter("2", kind="nearly")
            opened.filter("0", kind="nearly", least_alike="1")
            opened.press("Show all")
            opened.filter("2", most_alike="0.9999")

    def test_texts_are_compared_word_by_word(self):
        with self.opened(self.report()) as opened:
            opened.expand()
            opened.press("Compare in/b.txt")
            gone, come = opened.page.locator("del"), opened.page.locator("ins")
            assert gone.all_inner_texts() == [words(1, 90).split()[50]]
            assert come.all_inner_texts() == ["switch"]
            assert "words the same" in opened.text(".sides")
            told = opened.text("[aria-label=Comparison]")
            assert "in/b.txt: 89 of 90 words (98.9%) in passages of at least 20 words that both have" in told, told
            assert "Each is mostly inside the other." in told, told
            opened.press("All words")
            assert "words the same" not in opened.text(".sides")
            sides = opened.page.locator(".sides .text").all_inner_texts()
            left = " ".join(" ".join(sides[0::2]).split())
            right = " ".join(" ".join(sides[1::2]).split())
            assert left == words(1, 90) and right.split()[50] == "switch"
            opened.press("Compare in/b.txt")
            assert opened.page.locator(".sides").count() == 0
            opened.press("Compare in/c.txt")
            assert "The texts are the same." in opened.text("[aria-label=Comparison]")
            opened.press("Text in/a.txt")

    def moved(self):
        """A report of two texts with the same parts in another order, of which one has one twice and more besides."""
        parts = [words(seed, 40) for seed in range(61, 66)]
        self.write("moved/a.txt", "\n\n".join([parts[0], words(60, 30), *parts[1:], parts[0]]))
        self.write("moved/b.txt", "\n\n".join(parts[::-1]))
        self.run("report", "moved", "-o", "moved.html", "--threshold", "0.7")
        return self.folder / "moved.html"

    def test_a_shared_passage_leads_to_the_same_one_in_the_other_text(self):
        with self.opened(self.moved()) as opened:
            page = opened.page
            opened.expand()
            opened.press("Compare moved/b.txt")
            told = opened.text("[aria-label=Comparison]")
            assert "moved/b.txt is mostly inside moved/a.txt." in told or "Each is mostly" in told, told
            assert "moved/b.txt: 200 of 200 words (100.0%)" in told, told
            assert "moved/a.txt: 240 of 270 words (88.9%)" in told, told
            assert page.locator(".strip").count() == 2
            opened.press("Shared passages")
            sides = [page.locator(".linked").nth(side).locator("mark") for side in range(2)]
            numbers = [side.locator(".no").all_inner_texts() for side in sides]
            assert numbers[0] == ["1", "2", "3", "4", "5", "6"] and len(numbers[1]) == 5, numbers
            for mark, number in zip(sides[1].all(), numbers[1]):
                mark.click()
                focused = page.evaluate("document.activeElement.textContent")
                assert focused == number, (focused, number)
                inside = page.evaluate("document.activeElement.parentElement.textContent")
                assert inside[len(focused):] == mark.inner_text().strip()[len(number):], inside
                # Back, by a key.
                page.keyboard.press("Enter")
                assert page.evaluate("document.activeElement.closest('.linked').getAttribute('aria-label')") == "Passages in moved/b.txt"

    def test_what_is_inside_a_larger_text_goes_and_never_the_larger_one(self):
        inner, rest = words(71, 60), words(72, 90)
        self.write("whole/inner.txt", inner)
        self.write("whole/outer.txt", f"{inner} {rest}")
        shutil.copy2(self.folder / "whole/outer.txt", self.folder / "whole/outer2.txt")
        self.run("report", "whole", "-o", "whole.html", "--containment", "80%")
        with self.opened(self.folder / "whole.html", accept_downloads=True) as opened:
            opened.expand()
            assert "100.0% of it in the representative" in opened.text("#list")
            opened.press("Compare whole/inner.txt")
            told = opened.text("[aria-label=Comparison]")
            assert "whole/inner.txt is mostly inside whole/outer.txt." in told, told
            assert opened.page.locator(".linked").count() == 2, "what is not alike is shown by its passages"
            opened.press("Keep whole/inner.txt")
            opened.press("Drop whole/outer.txt")
            opened.press("Drop what the representative contains")
            assert opened.save("Save what is to go") == b"whole/outer.txt\0"
            opened.press("Clear marks")
            opened.press("Drop what the representative contains")
            assert opened.save("Save what is to go") == b"whole/outer2.txt\0whole/inner.txt\0"

    def test_a_text_is_beside_the_one_with_which_it_shares_most(self):
        parts = [words(seed, 60) for seed in range(81, 84)]
        self.write("chain2/a.txt", f"{parts[0]} {words(84, 40)}")
        self.write("chain2/b.txt", f"{parts[0][:300]} {parts[1]}")
        self.write("chain2/c.txt", f"{words(85, 20)} {parts[1]}")
        self.run("report", "chain2", "-o", "chain2.html", "--passages")
        with self.opened(self.folder / "chain2.html", accept_downloads=True) as opened:
            opened.expand()
            assert "shares 60 words with chain2/b.txt" in opened.text("#list"), opened.text("#list")
            opened.press("Compare chain2/c.txt")
            heads = opened.page.locator(".sides h3").all_inner_texts()
            assert heads == ["chain2/b.txt", "chain2/c.txt"], heads
            assert opened.page.locator(".linked mark").count() == 2
            opened.press("Drop what resembles the representative")
            assert opened.page.locator("#save-drop").is_disabled()
            self.check_accessible(opened, 1300)

    def test_what_is_ignored_is_neither_marked_nor_counted(self):
        form, quoted = words(86, 60), words(87, 30)
        self.write("form.txt", form)
        self.write("forms/a.txt", f"{form} {words(88, 20)} {quoted}")
        self.write("forms/b.txt", f"{form} {words(89, 25)} {quoted}")
        self.run("report", "forms", "-o", "forms.html", "--passages", "--ignore", "form.txt")
        with self.opened(self.folder / "forms.html") as opened:
            assert "what the texts have of form.txt" in opened.text("main")
            opened.expand()
            opened.press("Compare forms/a.txt")
            told = opened.text("[aria-label=Comparison]")
            # Four words of the form are in shingles with others.
            assert "forms/a.txt: 30 of 54 words (55.6%)" in told, told
            assert "forms/b.txt: 30 of 59 words (50.8%)" in told, told
            assert opened.page.locator(".linked mark").all_inner_texts() == [f"1{quoted}"] * 2

    def test_the_diff_is_one_of_both_texts(self):
        """Also where texts are too large to compare all words with all."""
        seeds = range(2600)
        one = " ".join(f"u{seed} common word" for seed in seeds)
        other = " ".join(f"u{seed} common {'ward' if seed % 97 == 0 else 'word'}" for seed in seeds if seed % 31)
        self.write("large/a.txt", one)
        self.write("large/b.txt", other)
        self.run("report", "large", "-o", "large.html", "--threshold", "0.5")
        with self.opened(self.folder / "large.html") as opened:
            opened.expand()
            opened.press("Compare large/b.txt")
            opened.press("All words")
            sides = opened.page.locator(".sides .text").all_inner_texts()
            left = " ".join(sides[0::2]).split()
            right = " ".join(sides[1::2]).split()
            assert left == one[: 32 << 10].split() and right == other[: 32 << 10].split()
            gone = sum(len(text.split()) for text in opened.page.locator("del").all_inner_texts())
            assert 0 < gone < 600, gone

    def test_ticks_become_a_list_that_remove_takes(self):
        report = self.report()
        with self.opened(report, accept_downloads=True) as opened:
            opened.expand()
            opened.press("Keep in/c.txt")
            opened.press("Drop what is identical")
            assert opened.text("#ticked").startswith("To go: 1 document")
            opened.press("Drop in/b.txt")
            drop = opened.save("Save what is to go")
            assert drop == b"in/b.txt\0in/x & y.txt\0", drop
            assert opened.save("Save what is to stay") == b"in/c.txt\0"
            opened.press("Clear marks")
            opened.press("Drop what resembles the representative")
            going = opened.save("Save what is to go, as lines")
            assert going == b"in/b.txt\nin/c.txt\nin/d.txt\nin/x & y.txt\n", going
        (self.folder / "drop.keys").write_bytes(drop)
        self.run("backup", "copy")
        removed = self.run("--store", "copy", "remove", "--keys-from", "drop.keys")
        assert removed == "removed 2 documents\n", removed
        moved = self.run("move", "in", "aside", "--keys-from", "drop.keys")
        assert {line.split("\t")[0] for line in moved.splitlines()} == {"in/b.txt", "in/x & y.txt"}, moved
        self.run("move", "--undo", "aside")
        listed = subprocess.run(["xargs", "-0", "ls"], cwd=self.folder, input=drop, capture_output=True)
        assert listed.returncode == 0, listed

    def test_only_what_is_known_to_be_alike_goes(self):
        # A chain of versions, each like the next; and copies of a text that is not the representative's.
        text = words(31, 100).split()
        for version in range(12):
            start = [f"new{index:03}" for index in range(4 * version)]
            self.write(f"chain/{version:02}.txt", " ".join(start + text[4 * version :]))
        base = words(32, 80).split()
        self.write("copies/a.txt", " ".join(base))
        for name in "bcd":
            self.write(f"copies/{name}.txt", " ".join([*base[:70], "change", *base[71:]]))
        self.run("report", "chain", "copies", "-o", "alike.html")
        with self.opened(self.folder / "alike.html", accept_downloads=True) as opened:
            opened.expand(1)
            assert "identical to copies/b.txt" in opened.text("#list")
            opened.press("Drop what is identical")
            assert opened.save("Save what is to go") == b"copies/c.txt\0copies/d.txt\0"
            opened.press("Clear marks")
            opened.press("Drop what resembles the representative")
            told = opened.text("#ticked")
            going = opened.save("Save what is to go").decode().split("\0")[:-1]
            assert "not similar enough" in told, told
            assert set(going) >= {f"copies/{name}.txt" for name in "bcd"}, going
            chain = [key for key in going if key.startswith("chain")]
            assert 0 < len(chain) < 6, chain
            # What goes is as like the one that stays as the report says.
            for key in chain:
                ran = subprocess.run([PROGRAM, "jaccard", "chain/00.txt", key], cwd=self.folder, capture_output=True, text=True)
                assert float(re.search(r"jaccard +([0-9.]+)", ran.stdout)[1]) >= 0.8, (key, ran)

    def test_no_list_names_the_only_copy(self):
        text, other = words(21, 60), words(22, 60)
        self.write("notes/a.txt", text)
        self.write("notes/b.txt", text)
        self.write("notes/c.txt", f"{text} at the end")
        self.run("--store", "law", "add", "-q", "notes")
        (self.folder / "notes").rename(self.folder / "papers")
        self.run("--store", "law", "add", "-q", "papers")
        # A file under two names, and two files of which one changes.
        self.write("docs/x.txt", other)
        shutil.copy2(self.folder / "docs/x.txt", self.folder / "docs/xx.txt")
        self.run("--store", "law", "add", "-q", "docs")
        (self.folder / "docs/xx.txt").unlink()
        (self.folder / "docs/xx.txt").hardlink_to(self.folder / "docs/x.txt")
        third = words(23, 60)
        self.write("more/y.txt", third)
        self.write("more/z.txt", third)
        self.run("--store", "law", "add", "-q", "more")
        self.write("more/z.txt", "something else")
        self.run("--store", "law", "report", "-o", "law.html")
        with self.opened(self.folder / "law.html", accept_downloads=True) as opened:
            opened.expand()
            opened.expand(1)
            opened.expand(2)
            shown = opened.text("#list")
            assert "identical to papers/a.txt, gone" in shown and "another name of docs/x.txt" in shown, shown
            assert "changed since it was added" in shown, shown
            opened.press("Drop what is identical")
            assert opened.save("Save what is to go") == b"papers/b.txt\0"
            opened.press("Clear marks")
            opened.press("Drop what resembles the representative")
            assert opened.save("Save what is to go") == b"papers/a.txt\0papers/b.txt\0"
            # By hand anything can be marked; who saves it is told before.
            opened.press("Drop papers/c.txt")
            opened.press("Save what is to go")
            told = opened.text("#ticked")
            assert told.startswith("Not saved: 1 cluster would lose") and "papers/c.txt" in told, told
            opened.press("Keep papers/a.txt")
            assert opened.save("Save what is to go") == b"papers/c.txt\0papers/b.txt\0"
            # Another name of a file is that file.
            opened.press("Clear marks")
            opened.press("Drop docs/xx.txt")
            opened.press("Save what is to go")
            assert "Not saved" in opened.text("#ticked")
            assert opened.save("Save what is to go") == b"docs/xx.txt\0"

    def test_keys_and_texts_run_no_script(self):
        lines = []
        for number, evil in enumerate(EVIL):
            for copy in range(2):
                text = f"{words(number + 10, 50)} {evil} {'twice' if copy else 'first'}"
                lines.append(json.dumps({"id": f"{copy}{evil}", "text": text}))
        self.write("evil.jsonl", "\n".join(lines))
        arguments = ["evil.jsonl", "-o", "evil.html"]
        self.run("report", *arguments)
        with self.opened(self.folder / "evil.html", accept_downloads=True) as opened:
            assert opened.clusters().count() == len(EVIL)
            for index in range(len(EVIL)):
                opened.expand(index)
            for index in range(len(EVIL)):
                opened.press("Compare", index)
                opened.press("Text", index)
            assert opened.page.locator("script").count() == 2
            assert opened.page.locator("img, svg[onload], a[href^=javascript]").count() == 0
            text = opened.text("#list")
            for evil in EVIL[:5]:
                assert evil in text, evil
            assert "\\u{202e}gnp.exe" in text
            opened.press("Drop what resembles the representative")
            lines = opened.save("Save what is to go, as lines").decode().splitlines()
            assert "1a\\nb\\tc\\u{0}d\\\\n" in lines and len(lines) == len(EVIL), lines
        # What a page would do without its policy's leave is refused.
        with_more = (self.folder / "evil.html").read_text().replace("<main>", "<main><script>window.more = 1</script>")
        page = self.browser.new_page()
        page.goto(self.write("more.html", with_more).as_uri())
        assert page.evaluate("window.more") is None
        assert page.locator("#list > li").count() == len(EVIL), "the script of the page does run"
        page.close()

    def check_accessible(self, opened, width):
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(opened.page).response["violations"]
        told = [(it["id"], it["impact"], [node["html"] for node in it["nodes"]]) for it in found]
        assert told == [], told

    def sources(self):
        """A page of one text: a passage that one document has, one that six have, and one with all that is evil."""
        own, common = words(51, 40), words(52, 30)
        self.write("class/a.txt", f"{words(53, 20)}\n{own}\n{words(54, 20)}")
        for name in "bcdefg":
            self.write(f"class/{name}.txt", f"{common}\n{words(55 + ord(name), 30)}")
        lines = (json.dumps({"id": evil, "text": f"{words(200 + n, 30)} {evil}"}) for n, evil in enumerate(EVIL))
        self.write("class/evil.jsonl", "\n".join(lines))
        hostile = "\n".join(f"{words(200 + n, 30)} {evil}" for n, evil in enumerate(EVIL))
        essay = {"id": "essay", "text": f"{common}\n{words(56, 10)}\n{own}\n{hostile}"}
        self.write("essay.jsonl", json.dumps(essay))
        self.run("report", "--sources", "essay.jsonl", "--against", "class", "-o", "essay.html")
        return self.folder / "essay.html"

    def test_a_text_leads_to_its_sources_and_back(self):
        with self.opened(self.sources()) as opened:
            page = opened.page
            assert page.locator("mark.many .no").all_inner_texts() == ["1"]
            assert page.locator(".whole mark.few .no").count() == 1 + len(EVIL)
            page.locator(".whole .no").nth(1).click()
            assert page.evaluate("document.activeElement.id") == "passage-2"
            told = opened.text("#passage-2")
            assert "class/a.txt" in told and words(53, 20).split()[-1] in told, told
            # Back, with the keyboard alone.
            for key in ["Tab", "Enter"]:
                page.keyboard.press(key)
            assert page.evaluate("document.activeElement.id") == "mark-2"
            assert page.locator("script, img, svg[onload], a[href^=javascript]").count() == 0
            assert all(evil in opened.text(".whole") for evil in EVIL[:5])
            page.emulate_media(media="print")
            assert not page.locator("nav").is_visible() and page.locator(".whole .no").first.is_visible()
            line = "getComputedStyle(document.querySelector('.whole mark.{}')).textDecorationStyle"
            assert [page.evaluate(line.format(kind)) for kind in ["few", "many"]] == ["solid", "dotted"]
        for scheme in ["light", "dark"]:
            for width in [400, 1300, 2000]:
                with self.opened(self.sources(), width=width, color_scheme=scheme) as opened:
                    self.check_accessible(opened, width)

    def test_anybody_can_use_it(self):
        for scheme in ["light", "dark"]:
            for width in [400, 1300, 2000]:
                with self.opened(self.report(), width=width, color_scheme=scheme) as opened:
                    opened.expand()
                    opened.press("Compare in/b.txt")
                    opened.press("Drop in/b.txt")
                    opened.press("Keep in/a.txt")
                    opened.press("Shared passages")
                    self.check_accessible(opened, width)

    def test_the_keyboard_is_enough(self):
        with self.opened(self.report()) as opened:
            opened.clusters().nth(0).locator("summary").focus()
            opened.page.keyboard.press("Enter")
            # A cluster is filled once it is open.
            opened.clusters().nth(0).locator(".rows").wait_for()
            for key in ["Tab", "Tab", "Tab", "Enter"]:
                opened.page.keyboard.press(key)
            pressed = opened.page.locator("[aria-pressed=true]")
            assert pressed.get_attribute("aria-label") == "Drop in/a.txt"

    def test_many_clusters_open_at_once(self):
        text = self.report().read_text()
        start = text.index('id="data">') + len('id="data">')
        end = text.index("</script>", start)
        row = "crawl/2026/segment-{}/page-{}-{}.html"
        clusters = [
            [2, 0.9, 0, [[row.format(n % 90, n, copy), 0.9, copy, n, n, -1, 0, copy, 1] for copy in range(2)]]
            for n in range(100_000)
        ]
        data = json.dumps({"estimated": False, "unit": ["word", "words"], "least": 20, "clusters": clusters, "texts": [], "shared": []})
        many = self.write("many.html", text[:start] + data + text[end:])
        began = time.monotonic()
        with self.opened(many) as opened:
            assert opened.text("#status") == "100,000 clusters of 100,000"
            print(f"    100,000 clusters, {len(data) / 1e6:.0f} MB: open after {time.monotonic() - began:.2f} s")
            assert opened.clusters().count() == 50
            assert opened.page.evaluate("document.querySelectorAll('*').length") < 2000
            opened.press("Next")
            assert opened.text("#page") == "Page 2 of 2,000"
            opened.filter("1", find="page-99999-1")
            opened.press("Drop what resembles the representative")
            assert opened.text("#ticked").startswith("To go: 1 document")


def main():
    failed = 0
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        # Without its sandbox: as root Chromium has none, and the pages are our own.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        tests = Tests(browser, Path(folder))
        for name in [name for name in dir(tests) if name.startswith("test_")]:
            print(name)
            try:
                getattr(tests, name)()
            except Exception as error:  # Each is told, and the next is run.
                failed += 1
                print(f"    FAILED: {type(error).__name__}: {error}")
        browser.close()
    return failed > 0


sys.exit(main())
