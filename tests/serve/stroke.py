#!/usr/bin/env python3
"""How long after a stroke the prediction on the page has moved, in a real Chromium; run by hand, as it measures times.

    tests/serve/stroke.py build/heddle [--json results/serve-cpu.json]

Digits are drawn with the mouse, a piece every 16 ms as a screen shows it. A piece's time begins with its pointer event and
ends when the page's bars are those of an image that has it. All rounds count, and each is reported with the load average at
that time: beside other programs the browser itself is late. With --json the figures go into that file.
"""

import argparse
import itertools
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(HERE, os.pardir, "web"), os.path.join(HERE, os.pardir, os.pardir, "peers")]
import result_file  # noqa: E402
from chromium import PATIENCE, begin_browser  # noqa: E402

from selenium.webdriver.common.actions.action_builder import ActionBuilder  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

PIECE = 16  # milliseconds
ROUNDS = 5
DIGITS = [[(0.3, 0.2), (0.7, 0.2), (0.6, 0.45), (0.5, 0.8)],
          [(0.5, 0.15), (0.5, 0.85)],
          [(0.3, 0.3), (0.5, 0.15), (0.7, 0.3), (0.3, 0.8), (0.7, 0.8)],
          [(0.5, 0.15), (0.3, 0.5), (0.5, 0.85), (0.7, 0.5), (0.5, 0.15)]]

# Questions are asked one after another, and each is answered by one change of the bars.
WATCH = """
window.seen = {events: [], asked: [], shown: []};
document.querySelector(".sheet").addEventListener("onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove",
    (event) => { if (event.buttons) seen.events.push(event.timeStamp); }, true);
const real = window.fetch;
window.fetch = (address, how) => {
    if (address === "/v1/predict" && !how.body.includes('"layers":true')) seen.asked.push(performance.now());
    return real(address, how);
};
new MutationObserver(() => seen.shown.push(performance.now())).observe(document.querySelector(".verdict"), {childList: true});
"""


def times(seen):
    """For each event the time until the answer to the first question that was asked after it."""
    found = []
    for event in seen["events"]:
        after = [asked for asked in seen["asked"] if asked >= event]
        shown = [shown for shown in seen["shown"] if after and shown >= after[0]]
        if shown:
            found.append(shown[0] - event)
    return found


def draw(browser, points):
    """Along the line, a piece at a time."""
    sheet = browser.find_element(By.CSS_SELECTOR, ".sheet")
    box = sheet.rect
    actions = ActionBuilder(browser, duration=PIECE)
    pen = actions.pointer_action

    def move(x, y):
        pen.move_to_location(int(box["x"] + x * box["width"]), int(box["y"] + y * box["height"]))

    move(*points[0])
    pen.pointer_down()
    for (x, y), (to_x, to_y) in zip(points, points[1:]):
        for step in range(1, 9):
            move(x + (to_x - x) * step / 8, y + (to_y - y) * step / 8)
    pen.pointer_up()
    actions.perform()


def measure(browser):
    """The times of one round, sorted."""
    found = []
    for points in DIGITS * 2:
        browser.execute_script("seen.events = []; seen.asked = []; seen.shown = []")
        draw(browser, points)
        time.sleep(0.3)
        found += times(browser.execute_script("return seen"))
        browser.find_element(By.XPATH, "//button[normalize-space()='Clear']").click()
        time.sleep(0.1)
    return sorted(found)


def summary(found):
    return {"events": len(found), "median_ms": round(statistics.median(found), 1),
            "p95_ms": round(found[int(0.95 * len(found))], 1), "most_ms": round(found[-1], 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("heddle")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    heddle = os.path.abspath(arguments.heddle)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([heddle, "train", "--data", "synth", "--epochs", "1", "--quiet"], cwd=folder, check=True,
                       stdout=subprocess.DEVNULL)
        server = subprocess.Popen([heddle, "serve", "--device", "cpu"], cwd=folder, text=True, stdout=subprocess.PIPE)
        url = next(re.search(r"http://\S+", line).group(0) for line in server.stdout if "http://" in line)
        browser = begin_browser()
        browser.set_window_size(1280, 900)
        browser.get(url)
        end = time.monotonic() + PATIENCE
        while not browser.find_elements(By.CSS_SELECTOR, ".bars li") and time.monotonic() < end:
            time.sleep(0.1)
        browser.execute_script(WATCH)
        rounds = []
        for _ in range(ROUNDS):
            rounds.append({"times": measure(browser), "load_average": round(os.getloadavg()[0], 1)})
        version = browser.capabilities["browserVersion"]
        browser.quit()
        server.terminate()
        server.wait(timeout=PATIENCE)
        server.stdout.close()
    all_times = sorted(itertools.chain.from_iterable(one["times"] for one in rounds))
    figures = {"browser": f"Chromium {version}", **summary(all_times),
               "rounds": [{**summary(one["times"]), "load_average": one["load_average"]} for one in rounds]}
    print(figures)
    if arguments.json:
        document = result_file.load(arguments.json)
        document["stroke"] = figures
        result_file.save(arguments.json, document)


if __name__ == "__main__":
    main()
