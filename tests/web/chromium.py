"""What the tests in a real Chromium share: their options, the browser, and what axe says of a page."""

import os
import shutil
import subprocess
import sys
import time

from selenium import webdriver

PATIENCE = 120  # seconds; a test that waits so long has failed


def option(name):
    """Takes the value of an option off the command line."""
    if name not in sys.argv:
        return None
    at = sys.argv.index(name)
    value = sys.argv[at + 1]
    del sys.argv[at:at + 2]
    return os.path.abspath(value)


SHOTS, AXE = option("--shots"), option("--axe")


def begin_browser(*arguments):
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--disable-dev-shm-usage", "--disable-gpu", *arguments):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(service=service, options=options)


def take_picture(browser, name):
    """A picture of the window, for the docs: with a palette, where pngquant is installed."""
    os.makedirs(SHOTS, exist_ok=True)
    path = os.path.join(SHOTS, f"{name}.png")
    time.sleep(0.3)  # what moves has come to rest
    browser.save_screenshot(path)
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--skip-if-larger", "--ext", ".png", "--strip", "112", path], check=False)


def serious_faults(browser, name):
    """What axe finds on the page that is open; prints all of it, and returns what is serious or critical."""
    with open(AXE, encoding="utf-8") as file:
        browser.execute_script(file.read())
    browser.set_script_timeout(PATIENCE)
    faults = browser.execute_async_script("axe.run().then(arguments[arguments.length - 1])")["violations"]
    for found in faults:
        print(name, found["impact"], found["id"], [node["target"] for node in found["nodes"]][:4])
    return [found["id"] for found in faults if found["impact"] in ("serious", "critical")]
