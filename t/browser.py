# SPDX-License-Identifier: GPL-2.0-or-later
"""Clicks through a flame graph in a real browser, over its debugging pipe.

    browser.py BROWSER PICTURE ICICLE

Prints "NAME: VALUE" lines of what it saw, for a script to judge; exits 77 with a reason
when the browser cannot be run. Every wait is for an answer or an event of the browser.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

TIMEOUT = 60  # seconds, for all of it


class Browser:
    def __init__(self, program, profile):
        to_browser, self.write_fd = os.pipe()
        self.read_fd, from_browser = os.pipe()
        command = [program, "--headless", "--no-sandbox", "--disable-gpu",
                   "--remote-debugging-pipe", "--no-first-run",
                   f"--user-data-dir={profile}", "about:blank"]

        def place():  # the pipe is 3 and 4, wherever these were
            fds = os.dup(to_browser), os.dup(from_browser)
            high = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self.process = subprocess.Popen(command, preexec_fn=place, close_fds=False,
                                        stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.last = 0
        self.session = None
        self.buffer = b""
        self.trouble = []
        self.events = []

    def message(self):
        while b"\0" not in self.buffer:
            data = os.read(self.read_fd, 1 << 16)
            if not data:
                raise EOFError
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        message = json.loads(text)
        method = message.get("method", "")
        if method in ("Runtime.exceptionThrown", "Page.javascriptDialogOpening",
                      "Network.requestWillBeSent", "Log.entryAdded"):
            self.trouble.append(message)
        self.events.append(method)
        return message

    def call(self, method, **params):
        self.last += 1
        command = {"id": self.last, "method": method, "params": params}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(command).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, url):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.resize(1220)
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.message()
        self.call("Network.enable")  # what is asked for from now on

    def resize(self, width):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=600,
                  deviceScaleFactor=1, mobile=False)
        # Layout follows the resize event, which is told of before the next frame.
        self.value("new Promise(done => requestAnimationFrame(() => "
                   "requestAnimationFrame(() => done(0))))")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def key(self, key, text=None):
        more = {"text": text} if text else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def close(self):
        self.process.kill()
        self.process.wait()


HELPERS = """
var nameOf = g => g.getAttribute('aria-label').split(', ')[0];
var shown = () => [...document.querySelectorAll('.f')].filter(g => g.style.display !== 'none');
var named = name => shown().find(g => nameOf(g) === name);
var box = name => {
  const b = named(name).querySelector('rect').getBoundingClientRect();
  return [Math.round(b.left), Math.round(b.top), Math.round(b.width), Math.round(b.height)];
};
var names = list => list.map(nameOf).sort().join(' ');
"""


def middle(browser, name):
    left, top, width, height = browser.value(f"box({json.dumps(name)})")
    return left + width / 2, top + height / 2


def say(name, value):
    print(f"{name}: {value}")


def walk(b, icicle):
    b.value(HELPERS)
    wide = b.value("box('all')")[2]
    everything = b.value("shown().length")
    say("root", b.value("box('all')[1] < box('alpha')[1] ? 'top' : 'bottom'"))
    say("title", b.value("document.title || document.querySelector('title').textContent"))
    say("scripts", b.value("document.querySelectorAll('script').length"))
    say("hostile name", b.value("nameOf(shown().find(g => nameOf(g).includes('script')))"))
    say("label", b.value("named('alpha').querySelector('text').textContent"))

    x, y = middle(b, "alpha")
    b.mouse("mouseMoved", x, y)
    say("tip", b.value("document.querySelector('.tip').getAttribute('visibility')"))
    say("tip text", b.value("[...document.querySelectorAll('.tip tspan')]"
                            ".map(t => t.textContent).join(' | ')"))
    b.click(x, y)
    say("zoomed width", b.value("box('alpha')[2]") == wide)
    say("zoomed boxes", b.value("names(shown())"))
    say("reset enabled", b.value("!document.querySelector('button').disabled"))
    b.key("Escape")
    say("all back", b.value("shown().length") == everything)
    say("reset disabled", b.value("document.querySelector('button').disabled"))
    b.click(*middle(b, "alpha"))
    left, top, width, height = b.value("(r => [r.left, r.top, r.width, r.height])"
                                       "(document.querySelector('button').getBoundingClientRect())")
    b.click(left + width / 2, top + height / 2)
    say("reset resets", b.value("shown().length") == everything)

    def search(text):
        b.key("/", "/")
        b.value("document.activeElement.select && document.activeElement.select()")
        b.type(text)
        result = b.value("document.querySelector('output').textContent + ' = ' + "
                         "names([...document.querySelectorAll('.m')])")
        b.key("Enter")
        return result

    say("search gamma", search("gamma"))
    say("search main", search("MAIN"))
    say("search (", search("("))
    say("search ^(al|be)", search("^(al|be)"))
    b.key("Escape")
    say("search ended", b.value("document.querySelectorAll('.m').length") == 0)

    inwards, outwards = ("ArrowDown", "ArrowUp") if icicle else ("ArrowUp", "ArrowDown")
    steps = []
    for key in (inwards, inwards, inwards, "ArrowRight", "ArrowLeft", inwards, outwards):
        b.key(key)
        steps.append(b.value("nameOf(document.querySelector('.here'))"))
    say("steps", " ".join(steps))
    say("said", b.value("document.querySelector('.said').textContent"))
    b.key("Enter")
    say("zoomed by key", b.value("nameOf(document.querySelector('.here'))") + " "
        + str(b.value("box('alpha')[2]") == wide))
    b.key("Escape")
    b.resize(700)
    say("fits", b.value("box('all')[0] + box('all')[2] <= 700 && box('all')[2] > 600"))
    say("trouble", json.dumps(b.trouble))


def main():
    program, picture, icicle = sys.argv[1], sys.argv[2], sys.argv[3] == "1"
    signal.alarm(TIMEOUT)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.open(pathlib.Path(picture).resolve().as_uri())
        except (EOFError, BrokenPipeError):
            print("the browser ends at once")
            sys.exit(77)
        else:
            walk(browser, icicle)
        finally:
            browser.close()


main()
