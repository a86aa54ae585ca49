// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * filters.js - the stack of filters. "only" narrows what the server reads, so figures and
 * shares are of what is left. "hide" and "focus" choose among the rows and frames that
 * are shown; shares stay those of the whole. "from" is of call stacks: they begin with the
 * outermost frame that matches. Each step can be taken back.
 */
import { el, plain, base } from "./dom.js";

/** Options of the commands that choose by a kind. */
const OPTION = { image: "image", comm: "comm", container: "container", unit: "unit",
  label: "label", host: "host", cluster: "cluster", release: "release", machine: "machine" };

/** A name as a pattern that matches nothing else; names in brackets stand for themselves. */
function literal(name) {
  return /^\[[^*?\\]*\]$/.test(name) ? name : name.replace(/[\\*?[]/g, "\\$&");
}

/** @returns {Object} options of the server's reports for the filters "only" */
export function filterOptions(filters) {
  const options = {};
  for (const { op, kind, value } of filters) {
    if (op === "only" && OPTION[kind])
      options[OPTION[kind]] = literal(value);
  }
  return options;
}

/**
 * Whether a row is shown by the filters "hide" and "focus", and by "only" of a kind that
 * the server does not choose by.
 * @param {Object} row with procedure, image, comm, … as the server gave it
 */
export function passes(filters, row) {
  return filters.every(({ op, kind, value }) => {
    if (!(kind in row))
      return true;
    const equal = row[kind] === value;
    return op === "hide" ? !equal : op === "only" && OPTION[kind] ? true : equal;
  });
}

/** A new stack; an equal step is not added twice, and a new "only" or "from" replaces its kind's. */
export function withFilter(filters, op, kind, value) {
  if (value === null || value === undefined || value === "")
    return filters;
  const rest = filters.filter(f => !(f.op === op && f.kind === kind &&
    (f.value === value || op === "only" || op === "from")));
  return [...rest, { op, kind, value }];
}

const SIGN = { only: "only", hide: "without", focus: "focus", from: "from" };

/** The chips, each with a button that takes it back. */
export function filterChips(filters, change) {
  return filters.map((filter, i) => el("span", { class: `chip ${filter.op}`, "data-what": "filter" },
    `${SIGN[filter.op]} ${filter.kind} `, el("b", { title: plain(filter.value) },
      plain(base(filter.value))),
    el("button", {
      type: "button",
      "aria-label": `take back: ${SIGN[filter.op]} ${filter.kind} ${plain(filter.value)}`,
      click: () => change(filters.filter((_, j) => j !== i)),
    }, "×")));
}
