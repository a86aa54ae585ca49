# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of cpi-web in Debian's Chromium, for web_page.py and t/bench/web_pictures.

Waits are for the page: it marks a part that waits for an answer by aria-busy or data-busy.
"""
import re
import shutil
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

PATIENCE = 60  # seconds, for one answer

KEYS = {"Enter": Keys.ENTER, "Escape": Keys.ESCAPE, "ArrowDown": Keys.ARROW_DOWN,
        "ArrowUp": Keys.ARROW_UP, "ArrowLeft": Keys.ARROW_LEFT, "ArrowRight": Keys.ARROW_RIGHT,
        "End": Keys.END, "Home": Keys.HOME, "PageDown": Keys.PAGE_DOWN}

# Counts what the content security policy refuses, from the beginning of each document.
WATCH = """
window.refused = [];
window.pwned = () => { window.attacked = true; };
document.addEventListener("securitypolicyviolation", e =>
    window.refused.push(e.violatedDirective + " " + e.blockedURI));
"""


class Page:
    def __init__(self, url, width=1280, height=800, dark=False):
        self.url = url
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-dev-shm-usage", "--no-first-run"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")),
                                       options=options)
        self.driver.set_script_timeout(PATIENCE)
        self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self.resize(width, height)
        self.scheme(dark)

    def close(self):
        self.driver.quit()

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def scheme(self, dark):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def js(self, text, *args):
        return self.driver.execute_script(text, *args)

    def open(self, choice=""):
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}#{choice}")
        self.settle()

    def wait(self, condition):
        """True once the JavaScript expression is; False when the patience is over."""
        end = time.monotonic() + PATIENCE
        while not self.js(f"return Boolean({condition})"):
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def settle(self):
        """Waits until no part of the page waits, for two frames."""
        quiet = """
            const done = arguments[arguments.length - 1];
            let still = 0;
            const look = () => {
                still = document.querySelector("[aria-busy=true], [data-busy]") ? 0 : still + 1;
                still > 2 ? done(true) : requestAnimationFrame(() => setTimeout(look, 20));
            };
            look();"""
        return self.driver.execute_async_script(quiet)

    def press(self, *keys):
        for key in keys:
            ActionChains(self.driver).send_keys(KEYS.get(key, key)).perform()
            self.settle()

    def drag(self, selector, start, end, shift=False):
        """Drags over an element, from one part of its width to another."""
        element = self.driver.find_element("css selector", selector)
        width = element.rect["width"]
        chain = ActionChains(self.driver)
        if shift:
            chain.key_down(Keys.SHIFT)
        chain.move_to_element_with_offset(element, int(width * (start - 0.5)), 0)
        chain.click_and_hold()
        chain.move_to_element_with_offset(element, int(width * (end - 0.5)), 0)
        chain.release()
        if shift:
            chain.key_up(Keys.SHIFT)
        chain.perform()
        self.settle()

    def state(self):
        """What the address says was chosen."""
        return self.js("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

    def values(self, column):
        """data-value of a column's cells, in their order."""
        return self.js("""return [...document.querySelectorAll(
            `#main tbody td[data-column="${arguments[0]}"] [data-value]`)].map(n => n.dataset.value)""",
                       column)

    def texts(self, column):
        return self.js("""return [...document.querySelectorAll(
            `#main tbody td[data-column="${arguments[0]}"]`)].map(n => n.textContent)""", column)

    def console(self):
        """Messages, but those of the browser itself that the server refused an analysis."""
        refusal = re.compile(r"api/v1/\S+ - Failed to load resource: .* status of 4(00|22)")
        return [f"{e['level']} {e['message']}" for e in self.driver.get_log("browser")
                if not refusal.search(e["message"])]
