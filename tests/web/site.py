#!/usr/bin/env python3
"""The static site in a real Chromium, opened from files: search by keyboard, every width, light and dark, print.

    tests/web/site.py SITE_FOLDER [--shots FOLDER] [--axe axe.min.js]

--shots also writes a picture of each view; --axe, with a file of the PyPI package axe-core-python, also looks for what
keeps people out who use a keyboard or a screen reader.
"""

import pathlib
import sys
import time
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import AXE, PATIENCE, SHOTS, begin_browser, serious_faults, take_picture


SITE = pathlib.Path(sys.argv.pop(1)).resolve()
VIEWS = {"home": "index.html", "course": "course/index.html", "chapter": "course/06-memory/index.html",
         "exercise": "course/05-first-kernels/exercises/05.2-guard-the-end/index.html", "docs": "docs/index.html",
         "measured": "docs/zoo-measured.html", "ladder": "docs/ladders/matmul.html", "finding": "findings/race.html",
         "source": "src/ops/matmul/03_shared_tiles.cu.html"}


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = begin_browser("--hide-scrollbars")

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()

    def setUp(self):
        self.look(1280, "light")

    def tearDown(self):
        self.assertEqual([entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"], [])

    def look(self, width, colours):
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": colours}]})

    def open(self, address):
        self.browser.get((SITE / address).as_uri())

    def run_script(self, script):
        return self.browser.execute_script("return " + script)

    def until(self, script, what):
        end = time.monotonic() + PATIENCE
        while not self.run_script(script):
            if time.monotonic() > end:
                self.fail(what)
            time.sleep(0.02)

    def search(self, words):
        self.browser.find_element(By.TAG_NAME, "body").send_keys("/")
        field = self.browser.switch_to.active_element
        self.assertEqual(field.get_attribute("aria-label"), "Search the site")
        field.send_keys(words)
        self.until("!document.querySelector('.found').hidden && document.querySelector('.found li')", "nothing is shown")
        return field

    def found(self):
        return self.run_script("[...document.querySelectorAll('.found-title')].map((title) => title.innerText)")

    def test_the_search_is_used_without_a_mouse(self):
        self.open("docs/ladders/matmul.html")
        field = self.search("bank conflict")
        self.assertEqual(self.found()[0], "bank conflict")  # the word's own section before all that have it
        self.assertEqual(field.get_attribute("aria-expanded"), "true")
        first = field.get_attribute("aria-activedescendant")
        field.send_keys(Keys.ARROW_DOWN)
        self.assertNotEqual(field.get_attribute("aria-activedescendant"), first)
        field.send_keys(Keys.ARROW_UP, Keys.ENTER)
        self.until("location.hash === '#bank-conflict'", "Enter leads nowhere")
        self.assertTrue(self.browser.current_url.endswith("/course/GLOSSARY.html#bank-conflict"))

    def test_what_is_not_there_is_not_found_and_escape_closes(self):
        self.open("index.html")
        field = self.search("xyzzy plugh")
        self.assertEqual(self.run_script("document.querySelector('.found').innerText"), "Nothing found")
        self.assertEqual(self.run_script("document.querySelector('.search [role=status]').innerText"), "Nothing found")
        field.send_keys(Keys.ESCAPE)
        self.assertTrue(self.run_script("document.querySelector('.found').hidden"))
        self.assertEqual(field.get_attribute("value"), "")
        field = self.search("<img src=x onerror=alert(1)>.*(")  # a query is text
        self.assertEqual(self.run_script("document.querySelectorAll('.found img').length"), 0)

    def test_chapters_show_what_the_simulator_recorded(self):
        kinds = """[...document.querySelectorAll(".recorded .drawn svg.picture")].map((one) =>
            one.getAttribute("class").split("picture-")[1])"""
        for chapter, wanted in (("05-first-kernels", ["race", "block"]), ("06-memory", ["warp", "warp", "warp", "tile", "banks"]),
                                ("07-streams", ["streams"] * 3), ("10-matmul", ["warp", "warp", "tile"])):
            self.open(f"course/{chapter}/index.html")
            self.assertEqual(self.run_script(kinds), wanted)
        slider = self.browser.find_elements(By.CSS_SELECTOR, ".recorded [role=slider]")[-1]
        self.run_script("document.querySelectorAll('.recorded [role=slider]')[2].focus()")
        slider.send_keys(Keys.ARROW_RIGHT)
        self.assertRegex(slider.get_attribute("aria-valuetext"), r"access 2 of \d+, line \d+: write of tile_a\[0\]\[0\]")

    def test_every_view_fits_every_width_in_both_colours(self):
        for name, width, _ in self.each_view((320, 1280)):
            self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), width, name)
        backgrounds = set()
        for colours in ("light", "dark"):
            self.look(1280, colours)
            backgrounds.add(self.run_script("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(len(backgrounds), 2)

    def test_what_scrolls_is_reached_by_keyboard_and_nothing_else(self):
        for width in (390, 1920):
            self.look(width, "light")
            self.open(VIEWS["chapter"])
            self.until("document.querySelector('pre[tabindex]') || innerWidth > 1000", "nothing scrolls")
            wrong = self.run_script("""[...document.querySelectorAll("pre, .scroll, .figure")].filter((one) =>
                (one.scrollWidth > one.clientWidth) !== (one.tabIndex === 0)).length""")
            self.assertEqual(wrong, 0)

    def test_a_page_is_whole_without_scripts(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.open(VIEWS["exercise"])
            text = self.browser.find_element(By.TAG_NAME, "main").text
            self.assertIn("heddle learn run 05.2", text)
            self.assertIn("Hint 1 of", text)
            self.assertTrue(self.browser.find_element(By.CSS_SELECTOR, "main .code-cuda").is_displayed())
        finally:
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_print_has_the_text_and_not_the_frame(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.open(VIEWS["chapter"])
        shown = "[...document.querySelectorAll('%s')].some((one) => one.checkVisibility())"
        self.assertFalse(self.run_script(shown % ".bar, .side, .contents, .contents-folded, .turn, .anchor"))
        self.assertTrue(self.run_script(shown % "main h2"))
        self.assertEqual(self.run_script("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})

    def each_view(self, widths):
        for name, address in VIEWS.items():
            self.open(address)
            for width in widths:
                for colours in ("light", "dark"):
                    self.look(width, colours)
                    yield f"site-{name}-{width}-{colours}", width, colours

    def pictures(self):
        for name, _, _ in self.each_view((390, 1280)):
            if name.startswith("site-chapter"):
                self.run_script("document.querySelectorAll('.recorded')[1].scrollIntoView({block: 'center'})")
            take_picture(self.browser, name)

    def axe_finds_nothing_serious(self):
        for name, _, _ in self.each_view((390, 1280)):
            self.assertEqual(serious_faults(self.browser, name), [])


if SHOTS:
    Site.test_pictures = Site.pictures
if AXE:
    Site.test_axe = Site.axe_finds_nothing_serious

if __name__ == "__main__":
    unittest.main()
