#!/usr/bin/env python3
"""From the last key to the verdict on the page, for every exercise, in a real Chromium. Run by hand: it asserts no time.

    tests/web/latency.py build/heddle course [--only 05.] [--solutions]

Each exercise is opened as a learner gets it (or, with --solutions, solved), one key is pressed at its end, and the page's own
clock tells how long it took until the verdict stood there. Prints one line per exercise, then median, nine in ten, and the
share that took less than 1.2 seconds.
"""

import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from chromium import PATIENCE, begin_browser

LIMIT = 1200  # milliseconds

# Notes when a key goes down, and when the verdict that follows it has been drawn.
WATCH = """
    window.pressed = window.shown = 0;
    document.addEventListener("keydown", () => { window.pressed = performance.now(); window.shown = 0; }, {capture: true});
    const verdict = document.querySelector("#verdict");
    let waiting = false;
    new MutationObserver(() => {
        if (verdict.classList.contains("stale")) waiting = true;
        else if (waiting) {
            waiting = false;
            requestAnimationFrame(() => { window.shown = performance.now(); });
        }
    }).observe(verdict, {attributes: true});
"""


def until(browser, script):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        value = browser.execute_script(f"return {script}")
        if value:
            return value
        time.sleep(0.05)
    raise TimeoutError(script)


def measure(browser, origin, number):
    browser.get(f"{origin}/exercise/{number}")
    until(browser, "document.querySelector('#verdict .headline') && !document.querySelector('.verdict.stale')")
    browser.execute_script(WATCH)
    area = browser.find_element(By.CSS_SELECTOR, ".editor textarea")
    browser.execute_script("arguments[0].focus()", area)
    area.send_keys(Keys.CONTROL, Keys.END)
    area.send_keys(Keys.ENTER)
    taken = until(browser, "window.shown && window.shown - window.pressed")
    judged = json.loads(browser.execute_async_script(
        f"fetch('/v1/learn/exercises/{number}').then((one) => one.text()).then(arguments[0])"))["judged"]
    return taken, 1000 * judged["verdict"]["seconds"]


def main():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have us ignore it, and the server with us
    only = sys.argv[sys.argv.index("--only") + 1] if "--only" in sys.argv else ""
    heddle, course = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    scratch = tempfile.mkdtemp()
    folder = os.path.join(scratch, "heddle-course")
    environment = dict(os.environ, HEDDLE_COURSE=course)
    subprocess.run([heddle, "learn", "init", folder], env=environment, check=True, capture_output=True)
    numbers = {}
    for path in sorted(glob.glob(os.path.join(folder, "*", "[0-9][0-9].*-*.c*"))):
        numbers[os.path.basename(path).split("-")[0]] = path
        solution = os.path.join(course, os.path.basename(os.path.dirname(path)), "exercises",
                                os.path.splitext(os.path.basename(path))[0], "solution" + os.path.splitext(path)[1])
        if "--solutions" in sys.argv:
            shutil.copy(solution, path)
    server = subprocess.Popen([heddle, "learn", "--web"], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE)
    url = next(re.search(r"http://\S+", line).group(0) for line in server.stdout if "http://" in line)
    browser = begin_browser()
    taken = []
    try:
        browser.get(url)
        for number in sorted(numbers, key=lambda one: [int(part) for part in one.split(".")]):
            if number.startswith(only):
                page, judge = measure(browser, url.split("/?")[0], number)
                taken.append(page)
                print(f"{number:6} {page:6.0f} ms on the page, of which the judge took {judge:6.0f}", flush=True)
    finally:
        browser.quit()
        server.send_signal(signal.SIGINT)
        server.wait(timeout=PATIENCE)
        shutil.rmtree(scratch)
    nine = statistics.quantiles(taken, n=10)[-1] if len(taken) > 1 else taken[0]
    print(f"{len(taken)} exercises: median {statistics.median(taken):.0f} ms, nine in ten below {nine:.0f} ms, "
          f"{100 * sum(one < LIMIT for one in taken) / len(taken):.0f} % below {LIMIT} ms; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
