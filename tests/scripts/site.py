"""The static site: every page has its content, every link and anchor leads somewhere on the site, nothing is fetched
from elsewhere, and all that can be searched is there.

    site.py SOURCE_FOLDER SITE_FOLDER

The site is rendered into SITE_FOLDER and stays there, for the test in a browser.
"""
import html.parser
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

SOURCE, SITE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())


class Reader(html.parser.HTMLParser):
    """Anchors, addresses and text of a page; that its tags are balanced."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.images = [], [], [], []
        self.open, self.text, self.headings, self.classes = [], [], [], set()
        self.feed(text)
        self.close()
        if self.open:
            raise ValueError("not closed: %s" % self.open)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "id" in given:
            self.anchors.append(given["id"])
        self.classes.update(given.get("class", "").split())
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "img":
            self.images.append(given)
        if tag in ("img", "script") and "src" in given:
            self.loaded.append(given["src"])
        if tag == "link":
            self.loaded.append(given["href"])
        if tag == "h1":
            self.headings.append("")

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            raise ValueError("</%s> does not close what is open" % tag)

    def handle_data(self, data):
        if "main" in self.open:
            self.text.append(data)
        if "h1" in self.open:
            self.headings[-1] += data


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = SITE
        shutil.rmtree(SITE, ignore_errors=True)
        os.makedirs(SITE)
        for name in (".heddle-site", "stale.html"):  # of a site that was made before
            with open(os.path.join(SITE, name), "w"):
                pass
        done = cls.make(cls.root)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.pages = {}
        for folder, _, names in os.walk(cls.root):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith(".html"):
                    with open(path, encoding="utf-8") as file:
                        cls.pages[os.path.relpath(path, cls.root)] = Reader(file.read())

    @staticmethod
    def make(folder):
        return subprocess.run([SOURCE + "/scripts/site", folder], capture_output=True, text=True, timeout=300)

    def follow(self, page, address):
        """None, or why an address of a page leads nowhere."""
        parts = urllib.parse.urlsplit(address)
        if parts.scheme or parts.netloc:
            return "leads off the site"
        path = os.path.normpath(os.path.join(os.path.dirname(page), urllib.parse.unquote(parts.path))) if parts.path else page
        if path.startswith("..") or not os.path.isfile(os.path.join(self.root, path)):
            return "no such file"
        anchor = urllib.parse.unquote(parts.fragment)
        if anchor and path in self.pages and anchor not in self.pages[path].anchors:
            return "no such anchor"
        return None

    def test_every_link_and_anchor_leads_somewhere(self):
        wrong = []
        for page, reader in self.pages.items():
            for address in reader.links:
                if not address.startswith(("https://", "http://")):
                    why = self.follow(page, address)
                    if why:
                        wrong.append("%s: %s: %s" % (page, address, why))
        self.assertEqual(wrong, [])

    def test_a_page_loads_only_what_is_on_the_site(self):
        for page, reader in self.pages.items():
            for address in reader.loaded:
                self.assertIsNone(self.follow(page, address), "%s: %s" % (page, address))
            for image in reader.images:
                self.assertTrue(image.get("alt"), "%s: a picture without words" % page)

    def test_no_page_is_empty_and_each_has_one_title_and_its_anchors_once(self):
        for page, reader in self.pages.items():
            self.assertGreater(len("".join(reader.text).strip()), 60, page)
            self.assertEqual(len(reader.headings), 1, page)
            self.assertEqual(len(reader.anchors), len(set(reader.anchors)), page)

    def test_every_chapter_exercise_ladder_page_and_finding_is_there(self):
        expected = {"index.html", "course/index.html", "docs/index.html", "findings/index.html"}
        for folder, inside, names in os.walk(SOURCE):
            path = os.path.relpath(folder, SOURCE)
            inside[:] = [name for name in inside if path != "." or name in ("course", "docs", "src")]
            if path.startswith("course") and "README.md" in names:
                expected.add(path + "/index.html")
            if path in ("docs", "docs/ladders"):
                expected |= {"%s/%s.html" % (path, "index" if name == "README.md" else name[:-3]) for name in names
                             if name.endswith(".md")}
            if path == "src/check/pages":
                expected |= {"findings/%s.html" % name[:-3] for name in names if name.endswith(".md")}
        self.assertGreater(len(expected), 200)
        self.assertEqual(expected - set(self.pages), set())

    def test_an_exercise_has_its_start_and_its_hints_and_not_its_solution(self):
        folder = SOURCE + "/course/05-first-kernels/exercises/05.2-guard-the-end"
        text = "".join(self.pages["course/05-first-kernels/exercises/05.2-guard-the-end/index.html"].text)
        with open(folder + "/start.cu") as file:
            self.assertIn(file.read().strip(), text)
        with open(folder + "/hints.md") as file:
            hints = [line for line in file if line[0].isdigit()]
        self.assertEqual([text.count("Hint %d of %d" % (i + 1, len(hints))) for i in range(len(hints))], [1] * len(hints))
        with open(folder + "/solution.cu") as file:
            self.assertNotIn(file.read().strip(), text)

    def test_code_has_colours(self):
        self.assertLessEqual({"code-cuda", "code-type", "code-keyword", "code-comment", "prompt"},
                             self.pages["course/05-first-kernels/index.html"].classes)

    def test_the_search_knows_every_section_and_leads_there(self):
        with open(self.root + "/web/search.js", encoding="utf-8") as file:
            text = file.read()
        start, end = "window.heddleSections = ", ";\n"
        self.assertTrue(text.startswith(start) and text.endswith(end))
        sections = json.loads(text[len(start):-len(end)])
        self.assertEqual([row[0] for row in sections if self.follow("index.html", row[0])], [])
        listed = {row[0].partition("#")[0] for row in sections}
        self.assertEqual({page for page in self.pages if page not in listed and not page.endswith("index.html")}, set())
        found = [row for row in sections if row[2].startswith("5.2 Which element is mine")]
        self.assertEqual(found[0][0], "course/05-first-kernels/index.html#52-which-element-is-mine")
        self.assertIn("one thread per element", found[0][3])

    def test_a_site_is_replaced_and_any_other_folder_is_left_alone(self):
        self.assertFalse(os.path.exists(self.root + "/stale.html"))
        self.assertEqual([name for name in os.listdir(os.path.dirname(SITE)) if name.startswith(".site-")], [])
        with tempfile.TemporaryDirectory() as scratch:
            other = os.path.join(scratch, "other")
            os.mkdir(other)
            with open(other + "/mine", "w"):
                pass
            refused = self.make(other)
            self.assertEqual((refused.returncode, os.listdir(other), os.listdir(scratch)), (2, ["mine"], ["other"]))
            self.assertIn("is not a site: name another folder", refused.stderr)


if __name__ == "__main__":
    unittest.main()
