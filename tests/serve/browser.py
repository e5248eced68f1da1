#!/usr/bin/env python3
"""`heddle serve` in a real Chromium: a network is trained from the page, paused, resumed, and recognises a drawn digit.

    tests/serve/browser.py build/heddle [--shots FOLDER] [--axe axe.min.js]

With --shots it also writes a picture of each view, at 390 and 1280 pixels, light and dark, made small by
pngquant. With --axe, a file of the PyPI package axe-core-python, it also looks for what keeps people out who use a keyboard
or a screen reader.
"""

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "web"))
from chromium import AXE, PATIENCE, SHOTS, begin_browser, serious_faults  # noqa: E402


HEDDLE = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TALLEST, MARGIN = 1000, 16  # pixels of a picture

RACE = """__global__ void last(int *out)
{
    *out = threadIdx.x;
}
int main()
{
    int *out;
    cudaMalloc(&out, sizeof *out);
    last<<<1, 64>>>(out);
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.mkdtemp()
        data, epochs = ("synth:count=2000", "2") if SHOTS else ("synth:count=200", "1")
        subprocess.run([HEDDLE, "train", "--data", data, "--model", "mlp", "--epochs", epochs, "--lr", "0.1", "--quiet",
                        "--out", "runs/first"], cwd=cls.scratch, check=True, capture_output=True)
        cls.server = subprocess.Popen([HEDDLE, "serve"], cwd=cls.scratch, text=True, stdout=subprocess.PIPE)
        cls.url = next(re.search(r"http://\S+", line).group(0) for line in cls.server.stdout if "http://" in line)
        cls.browser = begin_browser()
        cls.browser.set_window_size(1280, 900)
        cls.browser.get(cls.url)

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.server.send_signal(signal.SIGINT)
        cls.server.wait(timeout=60)
        cls.server.stdout.close()
        shutil.rmtree(cls.scratch)

    # --- tools --------------------------------------------------------------------------------------------------------

    def until(self, what, ask):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = ask()
            if found:
                return found
            time.sleep(0.05)
        self.fail(f"{what}: not after {PATIENCE} s. The page says: {self.text('main')[:500]}")

    def text(self, selector):
        return self.browser.execute_script("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def go(self, view):
        self.find(f".places a[href='#{view}']").click()
        self.until(view, lambda: view.capitalize() == self.text("h1"))

    def press(self, label):
        self.find("main").find_element(By.XPATH, f".//button[normalize-space()='{label}']").click()

    def screens(self):
        """Narrow and wide, light and dark, one after another."""
        for width in (390, 1280):
            for scheme in ("light", "dark"):
                self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
                    "features": [{"name": "prefers-color-scheme", "value": scheme}]})
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                    "width": width, "height": TALLEST, "deviceScaleFactor": 1, "mobile": width < 500})
                time.sleep(0.3)  # transitions
                yield width, scheme
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def shoot(self, name, first=None, last=None):
        """Pictures of a view, or of a part of it, as small files."""
        if not SHOTS:
            return
        os.makedirs(SHOTS, exist_ok=True)
        self.browser.execute_script("document.activeElement.blur()")
        ActionChains(self.browser).move_to_element_with_offset(self.find("h1"), 0, 0).perform()
        for width, scheme in self.screens():
            self.shoot_one(os.path.join(SHOTS, f"serve-{name}-{width}-{scheme}.png"), width, first, last)

    def shoot_one(self, path, width, first, last):
        """From the top of one element, or of the page, to the bottom of another, or of the page."""
        wide, top, bottom = self.browser.execute_script("""
            const [first, last] = [...arguments].map((one) => one && document.querySelector(one).getBoundingClientRect());
            const lowest = [...document.querySelectorAll(".view > *, body > *")].filter((one) => one.id !== "main")
                .map((one) => one.getBoundingClientRect().bottom);
            return [document.documentElement.scrollWidth, first ? first.top + scrollY : 0,
                (last?.bottom ?? Math.max(...lowest)) + scrollY]""", first, last)
        self.assertLessEqual(wide, width, f"{path} is wider than {width} pixels")
        top, bottom = max(0, top - MARGIN), bottom + MARGIN
        clip = {"x": 0, "y": top, "width": width, "height": min(bottom - top, TALLEST), "scale": 1}
        picture = self.browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
        with open(path, "wb") as file:
            file.write(base64.b64decode(picture["data"]))
        if shutil.which("pngquant"):
            subprocess.run(["pngquant", "--force", "--speed", "1", "--output", path, "96", path], check=True)

    def look(self, name, last=None):
        """A view is whole: pictures for the docs, and nothing serious for axe."""
        self.shoot(name, last=last)
        for width, scheme in self.screens() if AXE else ():
            self.assertEqual(serious_faults(self.browser, f"{name} {width} {scheme}"), [])

    # --- what a person does -------------------------------------------------------------------------------------------

    def train(self):
        self.go("train")
        Select(self.find("#model")).select_by_value("cnn")
        Select(self.find("#data")).select_by_value("synth")
        for name, value in (("epochs", "3" if SHOTS else "1"), ("batch", "32")):
            field = self.find(f"#{name}")
            field.clear()
            field.send_keys(value)
        self.press("Start training")
        part = 0.5 if SHOTS else 0
        self.until("training", lambda: self.text(".pill") == "training" and self.text(".figures dd:nth-of-type(1)") and
                   float(self.find("progress").get_attribute("value")) >= part)
        self.press("Pause")
        self.until("a pause", lambda: self.text(".pill") == "paused")

        def rests():  # the step under way when it was paused may still come in
            at = self.find("progress").get_attribute("value")
            time.sleep(0.3)
            return self.find("progress").get_attribute("value") == at and self.text(".pill") == "paused"

        self.until("a run that stands still", rests)
        self.look("train")
        self.press("Resume")
        self.until("the end of the run", lambda: self.text(".pill") == "complete")
        self.assertGreater(len(self.browser.find_elements(By.CSS_SELECTOR, ".chart .line")), 1)
        accuracy = float(re.search(r"Test accuracy\s+([\d.]+) %", self.text(".figures")).group(1))
        self.assertGreater(accuracy, 90)

    def draw(self, *strokes):
        """Lines over the sheet, in parts of its side."""
        sheet = self.find(".sheet")
        size = sheet.size["width"]
        for stroke in strokes:
            chain = ActionChains(self.browser, duration=10)
            (x, y), *rest = [((x - 0.5) * size, (y - 0.5) * size) for x, y in stroke]
            chain.move_to_element_with_offset(sheet, int(x), int(y)).click_and_hold()
            for x, y in rest:
                chain.move_to_element_with_offset(sheet, int(x), int(y))
            chain.release().perform()

    def recognise(self):
        self.go("try")
        self.until("the new network", lambda: "synth-cnn" in self.text("#about"))
        self.draw([(0.3, 0.2), (0.7, 0.2), (0.6, 0.45), (0.5, 0.8)])
        self.until("a seven", lambda: self.text(".verdict strong") == "7")
        self.until("values of layers", lambda: self.browser.execute_script(
            "return document.querySelectorAll('.maps canvas').length") > 50)
        self.look("try", ".tryout")
        self.shoot("network", ".inside", ".inside")
        self.press("Clear")
        self.until("nothing", lambda: "Draw" in self.text(".verdict"))
        sheet = self.find(".sheet")
        sheet.send_keys(Keys.ARROW_UP * 6, " ", Keys.ARROW_DOWN * 12)
        self.until("a one, by keys", lambda: self.text(".verdict strong") == "1")
        self.find("[aria-label='Next test image']").click()
        self.until("a test image", lambda: "Test image 1 of" in self.text(".source"))

    def evaluate(self):
        self.go("test")
        self.until("the evaluation", lambda: self.text(".confusion") and self.text(".wrong"))
        self.assertGreater(float(re.search(r"([\d.]+) %", self.text(".verdict")).group(1)), 90)
        cells = self.browser.find_elements(By.CSS_SELECTOR, ".confusion tbody tr")
        rows = [[int(number) for number in row.text.split()[1:]] for row in cells]
        said = self.text(".verdict").replace(",", "")
        right, count = map(int, re.search(r"(\d+) of (\d+) test", said).groups())
        self.assertEqual((sum(map(sum, rows)), sum(row[at] for at, row in enumerate(rows))), (count, right))
        self.look("test")
        self.find(".wrong button").click()
        self.until("a misclassified image", lambda: "but the label is" in self.text(".verdict"))

    def compare(self):
        self.go("runs")
        self.until("two runs", lambda: "first" in self.text(".list") and "synth-cnn" in self.text(".list"))
        self.until("their curves", lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".chart .line")) >= 4)
        self.assertIn("model", self.text("[aria-label='Settings that differ']"))
        self.look("runs")
        self.find("[aria-label='Predict with first']").click()
        self.until("the other network", lambda: "runs/first/" in self.text("#about"))

    def measure(self):
        self.go("bench")
        self.until("the operators", lambda: self.text("#operator"))
        self.assertIn("There are no results in results yet", self.text("main .note"))
        Select(self.find("#operator")).select_by_value("transpose")
        self.press("Measure")
        self.until("a ladder", lambda: self.text(".ladder .figure"))
        self.assertIn("cpu_naive", self.text(".figures-of table"))
        self.assertEqual(os.listdir(os.path.join(self.scratch, "results")), ["quick-transpose-cpu.json"])
        shutil.copy(os.path.join(ROOT, "results", "ladders-h200.json"), os.path.join(self.scratch, "results"))
        self.go("try")
        self.go("bench")
        self.until("both files", lambda: "ladders-h200" in self.text("#result-file"))
        Select(self.find("#result-file")).select_by_value("ladders-h200.json")
        self.until("the GPU's ladders", lambda: "NVIDIA H200" in self.text("main"))
        wanted = next(one.text for one in Select(self.find("#result-group")).options if one.text.startswith("matmul_forward"))
        Select(self.find("#result-group")).select_by_visible_text(wanted)
        self.until("the vendor's rung", lambda: "cublas" in self.text(".ladder"))
        self.look("bench")

    def check(self):
        """Dropped on another view than that of checks."""
        self.go("runs")
        self.browser.execute_script("""
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([arguments[0]], "last.cu"));
            document.querySelector("h1").dispatchEvent(
                new DragEvent("drop", {dataTransfer, bubbles: true, cancelable: true}));""", RACE)
        answer = self.until("an answer", lambda: re.search(r"race|not built", self.text(".result")))
        if answer.group(0) == "race":
            self.assertIn("in kernel last, line 3: write", self.text(".result"))
            self.assertIn("Fix: ", self.text(".result"))
            self.look("check")
            self.browser.get(self.find(".result a").get_attribute("href"))
            self.until("the report", lambda: "last.cu:3" in self.text("body"))
            self.assertEqual(self.browser.title, "last.cu · heddle check")
            self.assertNotIn("/last.cu", self.browser.page_source)  # where it was meanwhile is nobody's business
            self.until("colours", lambda: self.text(".source .code-cuda"))
            self.assertEqual(self.browser.execute_script("return self.origin"), "null")  # it shares nothing with the page
            self.look("report")

    def lose_the_token(self):
        self.browser.delete_all_cookies()
        self.browser.get(re.sub(r"\?.*", "", self.url))
        self.assertIn("token", self.text("body"))
        self.look("no-token")

    def test_a_network_is_trained_tried_tested_compared_and_a_program_checked(self):
        self.train()
        self.recognise()
        self.evaluate()
        self.compare()
        self.measure()
        self.check()
        bad = [line["message"] for line in self.browser.get_log("browser") if line["level"] == "SEVERE"]
        self.assertEqual(bad, [])
        self.lose_the_token()

    def test_without_a_network_the_quick_data_is_chosen_and_a_run_is_waited_for(self):
        folder = os.path.join(self.scratch, "empty")
        os.mkdir(folder)
        with subprocess.Popen([HEDDLE, "serve"], cwd=folder, text=True, stdout=subprocess.PIPE) as server:
            self.browser.get(next(re.search(r"http://\S+", line).group(0) for line in server.stdout if "http://" in line))
            self.until("a link", lambda: "There is no network yet" in self.text("main .note"))
            self.find("main .note a").click()
            self.until("the form", lambda: self.text("h1") == "Train")
            self.assertEqual(self.find("#data").get_attribute("value"), "synth")
            self.press("Start training")
            self.until("a run", lambda: self.text(".pill") in ("starting", "training"))
            self.go("try")
            self.until("patience", lambda: "ready after the first epoch" in self.text("main .note"))
            server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    unittest.main()
