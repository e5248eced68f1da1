#!/usr/bin/env python3
"""The learning page in a real Chromium: a wrong kernel is typed, found wrong at its line, mended and passed.

    tests/web/browser.py build/heddle course [--shots FOLDER] [--axe axe.min.js]

With --shots it also writes a picture of each view, at 390 and 1280 pixels, light and dark. With --axe, a file of the PyPI
package axe-core-python, it also looks for what keeps people out who use a keyboard or a screen reader.
"""

import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import AXE, PATIENCE, SHOTS, begin_browser, serious_faults, take_picture


HEDDLE, COURSE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
PLACES = ("05-first-kernels", "06-memory", "include")

WRONG = """__global__ void double_all(const float *in, float *out)
{
int i = threadIdx.x;
out[i] = 2 * in[i];
}
"""
RIGHT = WRONG.replace("= threadIdx.x", "= blockIdx.x * blockDim.x + threadIdx.x")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        course = os.path.join(cls.scratch, "course")
        for place in PLACES:
            shutil.copytree(os.path.join(COURSE, place), os.path.join(course, place))
        shutil.copy(os.path.join(COURSE, "GLOSSARY.md"), course)
        environment = dict(os.environ, HEDDLE_COURSE=course)
        if SHOTS:
            environment["HOME"] = cls.scratch  # the page shows where the folder is
        cls.folder = os.path.join(cls.scratch, "heddle-course")
        subprocess.run([HEDDLE, "learn", "init", cls.folder], env=environment, check=True, capture_output=True)
        cls.server = subprocess.Popen([HEDDLE, "learn", "--web"], cwd=cls.folder, env=environment, text=True,
                                      stdout=subprocess.PIPE)
        cls.url = next(re.search(r"http://\S+", line).group(0) for line in cls.server.stdout if "http://" in line)
        cls.origin = cls.url.split("/?")[0]
        cls.browser = begin_browser()
        cls.browser.set_window_size(1280, 900)
        cls.browser.get(cls.url)  # for the cookie

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.server.send_signal(signal.SIGINT)
        cls.server.wait(timeout=60)
        cls.server.stdout.close()
        shutil.rmtree(cls.scratch)

    # --- helpers --------------------------------------------------------------------------------------------------------

    def until(self, script, what):
        """Waits until a script returns something true, and returns it."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            value = self.browser.execute_script(f"return {script}")
            if value:
                return value
            time.sleep(0.02)
        self.fail(f"{what}: the page shows {self.browser.find_element(By.TAG_NAME, 'body').text[:2000]}")

    def open(self, place):
        self.browser.get(self.origin + place)
        self.until(f"document.body.dataset.ready === {json.dumps(place)}", f"{place} does not open")

    def text(self, selector):
        return self.browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def type(self, text):
        """Replaces all of the editor's text, key by key."""
        area = self.browser.find_element(By.CSS_SELECTOR, ".editor textarea")
        self.browser.execute_script("arguments[0].focus()", area)
        area.send_keys(Keys.CONTROL, "a")
        area.send_keys(text)
        return time.monotonic()

    def verdict(self, headline):
        self.until(f"!document.querySelector('.verdict.stale') && document.querySelector('.verdict .headline')?.innerText "
                   f"=== {json.dumps(headline)}", f"no verdict '{headline}'")

    def file(self, name="05-first-kernels/05.1-which-element.cu"):
        return os.path.join(self.folder, name)

    def complaints(self):
        """What the browser has to complain of: errors, and what the content policy forbade."""
        return [entry["message"] for entry in self.browser.get_log("browser") if entry["level"] == "SEVERE"]

    # --- tests, in the order of their names ------------------------------------------------------------------------------

    def test_1_a_wrong_kernel_is_found_at_its_line_mended_and_passed(self):
        self.browser.get(self.url)
        self.verdict("Not yet")
        self.assertEqual(self.browser.current_url, self.origin + "/exercise/05.1")  # the token is out of sight
        self.assertTrue(self.browser.execute_script("return Boolean(document.querySelector('.CodeMirror'))"))

        self.type(WRONG)
        self.until("document.querySelector('.reason')?.dataset.line === '4'", "no finding at line 4")
        self.verdict("Not yet")
        reason = self.browser.find_element(By.CSS_SELECTOR, ".reason")
        self.assertEqual(reason.get_attribute("data-reason"), "race")
        self.assertIn("data race on global memory out in kernel double_all", reason.text)
        number = self.browser.execute_script("return document.querySelector('.dot.main')"
                                             ".closest('.CodeMirror-gutter-wrapper').innerText.trim()")
        self.assertEqual(number, "4")
        self.assertIn("data race", self.text(".CodeMirror-linewidget .mark"))
        self.assertIn("Not yet: data race", self.text("#announcer"))
        with open(self.file(), encoding="utf-8") as file:
            self.assertIn("int i = threadIdx.x;", file.read())

        picture = self.browser.execute_script("return document.querySelector('.reason .drawn').textContent")
        self.assertRegex(picture, r"A race on out\[\d+\]")
        self.assertEqual(picture.count("at line 4"), 2)  # both threads
        self.assertIn("out[i] = 2 * in[i];", picture)
        firsts = re.findall(r"If thread \d+ of block \d+ is first", picture)
        self.assertEqual(len(set(firsts)), 2, firsts)
        self.assertEqual(self.browser.execute_script("return document.querySelector('.verdict-pane').scrollTop"), 0)
        self.browser.execute_script("document.querySelector('.reason details').open = true")
        self.until("document.querySelector('.reason details [role=slider]')", "no slider")
        slider = self.browser.find_element(By.CSS_SELECTOR, ".reason details [role=slider]")
        before = slider.get_attribute("aria-valuenow")
        self.browser.execute_script("arguments[0].focus()", slider)
        said = slider.get_attribute("aria-valuetext")
        slider.send_keys(Keys.ARROW_RIGHT if before == "0" else Keys.ARROW_LEFT)
        self.until(f"document.querySelector('.reason details [role=slider]').getAttribute('aria-valuenow') !== '{before}'",
                   "the slider does not move")
        self.assertNotEqual(slider.get_attribute("aria-valuetext"), said)

        typed = self.type(RIGHT)
        self.verdict("Passed")
        print(f"from the last key to the verdict: {time.monotonic() - typed:.2f} s")
        self.assertEqual(self.text(".CodeMirror-linewidget"), "")
        self.until("document.querySelector('#progress').innerText.includes('1 of ')", "no progress in the bar")
        self.assertIn("Next: 05.2", self.text(".verdict"))
        self.browser.find_element(By.CSS_SELECTOR, ".verdict details.more summary").click()
        self.until("document.querySelector('.verdict .drawn')", "no picture of the kernel")
        self.assertIn("load of in,", self.browser.execute_script("return document.querySelector('.verdict .drawn').textContent"))
        self.browser.find_element(By.XPATH, "//button[.='Compare with a solution']").click()
        self.until("document.querySelector('#pane-solution .wrapped')", "no solution")
        self.assertLessEqual(*self.browser.execute_script(
            "const all = document.querySelector('.wrapped'); return [all.scrollWidth, all.clientWidth]"))
        self.browser.find_element(By.CSS_SELECTOR, ".verdict .words a[href$='#lane']").click()
        self.until("document.querySelector('#pane-chapter #lane')", "no glossary beside the code")
        self.browser.find_element(By.CSS_SELECTOR, "#to-map").click()
        self.until("document.querySelector('.tile.solved')?.innerText.startsWith('05.1')", "no progress on the map")
        self.assertIn("Go on with 05.2", self.text(".map"))
        self.assertEqual(self.complaints(), [])

    def test_2_a_change_by_another_editor_appears(self):
        self.open("/exercise/05.2")
        self.verdict("Not yet")
        with open(self.file("05-first-kernels/05.2-guard-the-end.cu"), "a", encoding="utf-8") as file:
            file.write("// from elsewhere\n")
        self.until("document.querySelector('.CodeMirror').CodeMirror.getValue().includes('// from elsewhere')",
                   "a change of the file does not appear")

    def test_3_hints_solution_chapter_and_search(self):
        self.open("/exercise/05.2")
        self.browser.find_element(By.ID, "tab-hints").click()
        self.browser.find_element(By.CSS_SELECTOR, "#pane-hints button").click()
        self.until("document.querySelectorAll('.hints li').length === 1", "no hint")
        self.browser.find_element(By.ID, "tab-solution").click()
        self.until("document.querySelector('#pane-solution').innerText.includes('once you have passed')", "no solution")
        self.browser.find_element(By.ID, "tab-chapter").click()
        self.until("document.querySelector('#pane-chapter h2')", "no chapter")
        self.until("document.querySelector('#pane-chapter .recorded .picture-race')", "no picture in the chapter")
        search = self.browser.find_element(By.CSS_SELECTOR, "#search input")
        search.send_keys("bank conflicts")
        self.until("document.querySelector('.found li .found-title')", "nothing found")
        self.assertIn(self.text(".found li .found-kind"), ("exercise", "section", "glossary"))
        search.send_keys(Keys.ENTER)
        self.until("location.pathname !== '/exercise/05.2'", "the search leads nowhere")
        self.open("/read/06-memory")
        self.until("document.querySelectorAll('.recorded svg.picture').length === 5", "pictures are missing")
        self.assertEqual(self.complaints(), [])

    def test_4_the_plain_editor_does_the_same(self):
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/codemirror/*"]})
        try:
            self.open("/exercise/05.1")
            self.until("document.querySelector('.editor.plain textarea')", "no plain editor")
            self.verdict("Passed")
            self.type(WRONG)
            self.until("document.querySelector('.plain-numbers .marked-main')?.innerText === '4'", "line 4 is not marked")
            self.assertIn("race", self.browser.find_element(By.CSS_SELECTOR, ".reason").get_attribute("data-reason"))
        finally:
            self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
            self.browser.get_log("browser")

    def test_5_a_page_of_another_origin_can_neither_read_nor_start_anything(self):
        attack = """<!DOCTYPE html><title>other</title><script>
            const target = %s, results = {};
            const note = (name, promise) => promise.then((value) => { results[name] = value; },
                () => { results[name] = "refused"; });
            const once = (element, attributes) => new Promise((resolve, reject) => {
                Object.assign(element, attributes, {onload: () => resolve("loaded"), onerror: reject});
                document.body.append(element);
            });
            const form = () => new Promise((resolve) => {
                const frame = Object.assign(document.createElement("iframe"), {name: "frame"});
                document.body.append(frame);
                frame.onload = () => resolve("sent");
                const made = Object.assign(document.createElement("form"), {method: "post", target: "frame",
                    action: target + "/v1/learn/exercises/05.1/reset", enctype: "text/plain"});
                made.append(Object.assign(document.createElement("input"), {name: '{"a":"', value: '"}'}));
                document.body.append(made);
                made.submit();
            }).then(() => {
                try {
                    return frames.frame.document.body.textContent;
                } catch {
                    throw new Error("not ours to read");
                }
            });
            addEventListener("load", async () => {
                await Promise.all([
                    note("read", fetch(target + "/v1/learn/course", {credentials: "include"}).then((r) => r.text())),
                    note("reset", fetch(target + "/v1/learn/exercises/05.1/reset", {method: "POST", body: "{}",
                        credentials: "include", headers: {"Content-Type": "application/json"}}).then((r) => r.text())),
                    note("blind", fetch(target + "/v1/learn/exercises/05.1/reset", {method: "POST", body: "{}",
                        credentials: "include", mode: "no-cors"}).then(() => "sent")),
                    note("script", once(document.createElement("script"), {src: target + "/learn/main.js"})),
                    note("picture", once(new Image(), {src: target + "/course/05-first-kernels/grid-1d.svg"})),
                    note("events", new Promise((resolve, reject) => {
                        const stream = new EventSource(target + "/v1/learn/events", {withCredentials: true});
                        stream.onopen = () => resolve("open");
                        stream.onerror = reject;
                    })),
                    note("socket", new Promise((resolve, reject) => {
                        const made = new WebSocket(target.replace("http", "ws") + "/v1/learn/events");
                        made.onopen = () => resolve("open");
                        made.onerror = reject;
                    })),
                    note("form", form()),
                ]);
                document.title = JSON.stringify(results);
            });
            </script><body>""" % json.dumps(self.origin)

        class Other(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(attack.encode())

            def log_message(self, *_):
                pass

        with open(self.file(), "a", encoding="utf-8") as file:
            file.write("// a reset would take this away\n")
        with open(self.file(), encoding="utf-8") as file:
            before = file.read()
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        try:
            self.browser.get(f"http://127.0.0.1:{other.server_port}/")  # the same site, so our cookie goes along
            self.until("document.title.startsWith('{')", "the other page does not end")
            results = json.loads(self.browser.title)
        finally:
            other.shutdown()
            other.server_close()
        self.assertEqual(results, dict.fromkeys(("read", "reset", "blind", "script", "picture", "events", "socket", "form"),
                                                "refused"))
        with open(self.file(), encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.browser.get_log("browser")

    def test_6_line_ends_are_kept_and_edits_that_cannot_be_saved_are_not_left(self):
        path = self.file("05-first-kernels/05.3-enough-blocks.cu")
        with open(path, "rb") as file:
            text = file.read().replace(b"\n", b"\r\n")
        with open(path, "wb") as file:
            file.write(text)
        self.open("/exercise/05.3")
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/source"]})
        self.browser.execute_script("document.querySelector('.CodeMirror').CodeMirror"
                                    ".replaceRange('// mine\\n', {line: 0, ch: 0})")
        self.browser.find_element(By.CSS_SELECTOR, "#to-map").click()
        self.until("document.querySelector('.notice [role=alert]')", "no word of the failed save")
        self.assertEqual(self.browser.current_url, self.origin + "/exercise/05.3")
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.browser.find_element(By.CSS_SELECTOR, "#to-map").click()
        self.until("document.body.dataset.ready === '/map'", "the page cannot be left")
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"// mine\r\n" + text)
        self.browser.get_log("browser")

    def test_7_back_and_forward_do_not_lose_edits(self):
        path = self.file("05-first-kernels/05.4-hello.cu")
        self.open("/map")
        self.browser.find_element(By.CSS_SELECTOR, "a.tile[href='/exercise/05.4']").click()
        self.until("document.body.dataset.ready === '/exercise/05.4'", "the exercise does not open")
        self.browser.execute_cdp_cmd("Network.enable", {})
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": ["*/source"]})
        self.browser.execute_script("document.querySelector('.CodeMirror').CodeMirror"
                                    ".replaceRange('// kept\\n', {line: 0, ch: 0})")
        self.browser.back()
        self.until("document.querySelector('.notice [role=alert]')", "no word of the failed save")
        self.until("location.pathname === '/exercise/05.4'", "the address is not that of what is shown")
        self.assertIn("// kept", self.browser.execute_script(
            "return document.querySelector('.CodeMirror').CodeMirror.getValue()"))
        self.browser.execute_cdp_cmd("Network.setBlockedURLs", {"urls": []})
        self.browser.back()
        self.until("document.body.dataset.ready === '/map'", "Back leads nowhere")
        with open(path, encoding="utf-8") as file:
            self.assertTrue(file.read().startswith("// kept\n"))
        self.browser.forward()
        self.until("document.body.dataset.ready === '/exercise/05.4'", "Forward leads nowhere")
        self.until("document.querySelector('.CodeMirror').CodeMirror.getValue().startsWith('// kept')", "the edit is lost")
        self.browser.get_log("browser")

    def test_8_every_view_fits_a_narrow_phone_and_stands_still_while_it_loads(self):
        try:
            for width in (320, 1280):
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600})
                for view in (self.view_exercise, self.view_map, self.view_chapter):
                    view()
                    self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width)
                    moved = self.browser.execute_async_script("""
                        let moved = 0;
                        new PerformanceObserver((list) => list.getEntries().forEach((one) => { moved += one.value; }))
                            .observe({type: "layout-shift", buffered: true});
                        setTimeout(() => arguments[0](moved), 100)""")
                    self.assertLess(moved, 0.1)  # what browsers call good
        finally:
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    # --- every view, for pictures and for axe -----------------------------------------------------------------------------

    def view_exercise(self):
        self.open("/exercise/05.15")
        self.verdict("Not yet")

    def view_picture(self):
        self.view_exercise()
        self.browser.execute_script("document.querySelector('.reason details').open = true")
        self.until("document.querySelector('.reason details [role=slider]')", "no slider")
        self.browser.execute_script("""
            const slider = document.querySelector('.reason details [role=slider]');
            slider.setValue(Number(slider.getAttribute('aria-valuemax')));
            document.querySelector('.reason .drawn').scrollIntoView()""")

    def view_passed(self):
        self.open("/exercise/05.2")
        self.verdict("Passed")

    def view_hints(self):
        self.open("/exercise/05.12")
        self.verdict("Not yet")
        self.browser.find_element(By.ID, "tab-hints").click()
        if not self.browser.find_elements(By.CSS_SELECTOR, ".hints li"):
            self.browser.find_element(By.CSS_SELECTOR, "#pane-hints button").click()
        self.until("document.querySelector('.hints li')", "no hint")

    def view_beside(self):
        self.open("/exercise/05.15")
        self.verdict("Not yet")
        self.browser.find_element(By.ID, "tab-chapter").click()
        self.until("document.querySelector('#pane-chapter .recorded svg')", "no chapter beside the code")

    def view_map(self):
        self.open("/map")

    def view_chapter(self):
        self.open("/read/06-memory")
        self.until("document.querySelector('.recorded svg')", "no picture")
        self.browser.execute_script("document.querySelectorAll('.recorded')[1].scrollIntoView({block: 'center'})")

    def view_search(self):
        self.open("/map")
        self.browser.find_element(By.CSS_SELECTOR, "#search input").send_keys("bank conflict")
        self.until("document.querySelector('.found li .found-title')", "nothing found")

    def view_report(self):
        program = os.path.join(COURSE, "05-first-kernels/shift_left_race.cu")
        report = os.path.join(self.scratch, "report.html")
        if not os.path.exists(report):
            subprocess.run([HEDDLE, "check", "--no-nvcc", "--quiet", os.path.basename(program), "--html", report],
                           cwd=os.path.dirname(program), check=False, capture_output=True)
        self.browser.get("file://" + report)

    def each_view(self):
        """Goes through the views at both widths and in both colours."""
        for name in ("05.1-which-element", "05.2-guard-the-end", "05.3-enough-blocks"):
            shutil.copy(os.path.join(COURSE, f"05-first-kernels/exercises/{name}/solution.cu"),
                        self.file(f"05-first-kernels/{name}.cu"))
        self.open("/map")
        self.until("document.querySelector('#progress').innerText.includes('3 of ')", "what was solved elsewhere is not seen")
        views = ("exercise", "picture", "passed", "hints", "beside", "map", "chapter", "search", "report")
        for width, height in ((1280, 900), (390, 844)):
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
            for colours in ("light", "dark"):
                self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                    "features": [{"name": "prefers-color-scheme", "value": colours}]})
                for view in views:
                    getattr(self, f"view_{view}")()
                    self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), width, view)
                    yield f"{'check' if view == 'report' else 'learn'}-{view}-{width}-{colours}"

    def pictures(self):
        for name in self.each_view():
            if re.match("learn-(exercise|passed)-390", name):
                self.browser.execute_script("document.querySelector('.work').scrollIntoView()")
            take_picture(self.browser, name)

    def axe_finds_nothing_serious(self):
        for name in self.each_view():
            self.assertEqual(serious_faults(self.browser, name), [])


if SHOTS:
    Page.test_9_pictures = Page.pictures
if AXE:
    Page.test_9_axe = Page.axe_finds_nothing_serious

if __name__ == "__main__":
    unittest.main()
