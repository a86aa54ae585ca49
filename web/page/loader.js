// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * loader.js - one question at a time for a part of the page. A new question ends the one
 * before. What is shown stays until the answer is there, so nothing flickers; only a part
 * that is empty says that it waits.
 */
import { el, plain, put } from "./dom.js";

const WAIT_SHOWN = 250; // ms before an empty part says that it waits

/** What to do about an error of the server. */
function advice(error) {
  const text = error.message;
  if (error.status === 0)
    return "Is cpi web still running? Start it again and open the address that it prints.";
  if (error.status === 401 || error.status === 403 || error.status === 404)
    return "Open the page again by the address that cpi web printed.";
  if (error.status === 429 || error.status === 503)
    return "The server is busy with other questions. It is asked again when you press r.";
  if (error.status === 504 || /time limit|timed out/.test(text))
    return "The analysis took too long. Choose a shorter time or one image, then press r.";
  if (/stack/.test(text))
    return "Call stacks are sampled by cpi record -g, and by cpid with --stacks.";
  if (/epoch/.test(text))
    return "Choose other epochs above: all, recent, -1h, or a label.";
  return "Take back a filter (u) or choose other epochs. Press r to try again.";
}

/** A message in place of a picture or table. */
export function notice(title, ...lines) {
  return el("div", { class: "notice", role: "status" }, el("h2", {}, title),
    lines.filter(Boolean).map(line => el("p", {}, line)));
}

/** The notice of an error. */
export function failed(error) {
  return notice(plain(error.message || "Something failed."), advice(error));
}

/**
 * @param {Element} root what says that it waits, and the error
 * @param {boolean=} aside what is asked for beside the main answer: it neither says that
 *   it waits, nor an error
 * @returns {{run: function(function(AbortSignal): Promise<T>, function(T): void):
 *   Promise<void>, stop: function(): void}}
 *   run() calls show with the answer, unless another run() or stop() came first.
 */
export function createLoader(root, aside = false) {
  let current = null;
  const busy = aside ? "data-busy" : "aria-busy";

  async function run(work, show) {
    current?.abort();
    const mine = new AbortController();
    current = mine;
    root.setAttribute(busy, "true");
    const timer = setTimeout(() => {
      if (aside)
        return;
      if (!root.childElementCount || root.firstElementChild?.classList.contains("notice"))
        put(root, el("p", { class: "notice quiet" }, "Reading…"));
    }, WAIT_SHOWN);
    try {
      const answer = await work(mine.signal);
      if (current === mine)
        show(answer);
    } catch (error) {
      if (current === mine && error.name !== "AbortError") {
        if (!error.status && error.status !== 0)
          throw error; // a fault of the page itself belongs on the console
        if (!aside)
          put(root, failed(error));
      }
    } finally {
      clearTimeout(timer);
      if (current === mine)
        root.removeAttribute(busy);
    }
  }

  return {
    run,
    stop() {
      current?.abort();
      current = null;
      root.removeAttribute(busy);
    },
  };
}
