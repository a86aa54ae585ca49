// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * api.js - asks the server. An address below api/v1/ is a command of cpi, its query the
 * command's long options; the answer is what `cpi COMMAND --format=json` prints. Answers
 * of the same address are shared and kept while the selection cannot have changed.
 */

const KEPT = 64; // answers in memory

/** What the server, or the way to it, could not do. */
export class ApiError extends Error {
  /** @param {number} status of HTTP; 0: no answer came */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/**
 * The address of a report, relative to the page.
 * @param {string} report name of a command
 * @param {Object} options long option → value, true for a flag, an array for several;
 *   empty, false and null ones are left out; "arg" are the command's arguments
 */
export function apiUrl(report, options = {}) {
  const words = new URLSearchParams();
  for (const [name, value] of Object.entries(options)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one === true)
        words.append(name, "");
      else if (one !== false && one !== null && one !== undefined && one !== "")
        words.append(name, one);
    }
  }
  const query = words.toString();
  return `api/v1/${report}${query ? "?" + query : ""}`;
}

async function failure(response) {
  const text = (await response.text()).slice(0, 2000);
  try {
    const { error } = JSON.parse(text);
    return typeof error === "string" ? error : (error?.message ?? text);
  } catch {
    return text.trim() || `${response.status} ${response.statusText}`;
  }
}

async function ask(url, signal) {
  let response;
  try {
    response = await fetch(url, { signal, credentials: "same-origin", cache: "no-cache" });
  } catch (error) {
    if (error.name === "AbortError")
      throw error;
    throw new ApiError(0, "The server does not answer.");
  }
  if (!response.ok)
    throw new ApiError(response.status, await failure(response));
  return response;
}

/**
 * @returns {{json: function(string, Object=, AbortSignal=): Promise<Object>,
 *   text: function(string, Object=, AbortSignal=): Promise<string>, forget: function(): void}}
 *   json() and text() reject with an ApiError, or with an AbortError when signal says so.
 *   forget() makes the next look ask again.
 */
export function createApi() {
  const kept = new Map();

  function get(report, options, signal, read) {
    const url = apiUrl(report, options);
    if (kept.has(url)) {
      const answer = kept.get(url);
      kept.delete(url);
      kept.set(url, answer);
      return answer;
    }
    const answer = ask(url, signal).then(read);
    kept.set(url, answer);
    answer.catch(() => {
      if (kept.get(url) === answer)
        kept.delete(url);
    });
    if (kept.size > KEPT)
      kept.delete(kept.keys().next().value);
    return answer;
  }

  return {
    json: (report, options, signal) => get(report, options, signal, r => r.json()),
    text: (report, options, signal) => get(report, options, signal, r => r.text()),
    forget: () => kept.clear(),
  };
}
