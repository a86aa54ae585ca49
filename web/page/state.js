// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * state.js - what the reader may choose, and its form in the address. The part behind #
 * never reaches the server and is in no log. Members that have their default are left
 * out, so an address says only what was chosen.
 */

/** The views by their keys 1 to 7; the last one is of a fleet's store. */
export const VIEWS = ["where", "flame", "why", "changed", "runs", "health", "hosts"];

/** What each member is without a choice. Its type is the type that is read back. */
export const DEFAULTS = Object.freeze({
  view: "where",
  range: "recent", // epochs that the time line shows, as --epoch takes them
  a: "", // brushed: the epochs of all views; empty: range
  b: "", // the other side of a comparison
  line: "image", // what the areas of the time line are
  heat: false, // the heat map instead of the areas
  by: "procedure", // what a row of Where is
  q: "", // search in Where
  sort: "-time",
  cpi: false, // the column CPI, which costs an analysis a row
  idle: false,
  filters: [], // [{op, kind, value}], oldest first
  proc: "", // procedure of Why and of the sandwich
  image: "", // and its image, where a name is not enough
  zoom: "", // box of the flame graph, as names from the root
  fq: "", // search in the flame graph
  shape: "icicle", // icicle, flame or sandwich
  commands: false, // stacks begin with their command
  dock: false, // the tooltip stands in its own line
  inverted: false,
  folded: false, // recursive calls are part of the outermost one
  hideimages: [], // images whose boxes the flame graph leaves out
  why: "both", // both, source or asm
  graph: false, // the control-flow graph instead of the code
  whole: false, // also code without samples
  at: "", // the block of code that was chosen, by its start
  diffby: "procedure",
  diffflame: false, // the flame graph of both sides instead of the table
  diffproc: "", // the procedure whose instructions are compared
  diffsort: "", // as the verdicts say
  runsby: "procedure",
  runssort: "-range_percent",
  measure: "cpus", // what the map of machines shows
  hostsort: "-busy",
  price: "", // of a CPU-hour, for the cost of machines
  paused: false, // a live range does not follow
  table: false, // the picture's table instead of the picture
});

const SEPARATOR = "~";

function write(value) {
  if (Array.isArray(value))
    return value.map(item => (typeof item === "string" ? [item] : [item.op, item.kind, item.value])
      .map(part => part.replaceAll("!", "!0").replaceAll(SEPARATOR, "!1").replaceAll(":", "!2"))
      .join(":")).join(SEPARATOR);
  return value === true ? "1" : String(value);
}

function read(text, pattern) {
  if (typeof pattern === "boolean")
    return text === "1";
  if (!Array.isArray(pattern))
    return text;
  return text.split(SEPARATOR).filter(Boolean).slice(0, 50).map(item => item.split(":")
    .map(part => part.replaceAll("!2", ":").replaceAll("!1", SEPARATOR).replaceAll("!0", "!")));
}

/** @returns {string} state as it stands behind #, without it */
export function toHash(state) {
  const words = new URLSearchParams();
  for (const [name, standard] of Object.entries(DEFAULTS)) {
    if (JSON.stringify(state[name]) !== JSON.stringify(standard))
      words.set(name, write(state[name]));
  }
  return words.toString();
}

const OPS = ["only", "hide", "focus", "from"];
const KINDS = ["procedure", "image", "comm", "container", "unit", "label", "host", "cluster",
  "release", "machine", "match"];

/** @returns {Object} a whole state; what hash does not say or says wrongly is standard */
export function fromHash(hash) {
  const state = { ...DEFAULTS };
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  for (const name of Object.keys(DEFAULTS)) {
    if (words.has(name))
      state[name] = read(words.get(name).slice(0, 4000), DEFAULTS[name]);
  }
  state.filters = state.filters
    .filter(part => part.length === 3 && OPS.includes(part[0]) && KINDS.includes(part[1]))
    .map(([op, kind, value]) => ({ op, kind, value }));
  state.hideimages = state.hideimages.map(part => part[0]);
  if (!VIEWS.includes(state.view))
    state.view = DEFAULTS.view;
  return state;
}

/** Members whose change is a step that the browser's Back undoes. */
const STEPS = ["view", "range", "a", "b", "filters", "proc", "by", "zoom", "shape"];

/**
 * Keeps address and store equal in both directions.
 * @param {ReturnType<import("./store.js").createStore>} store
 */
export function bindAddress(store) {
  store.subscribe((state, former) => {
    const hash = "#" + toHash(state);
    if (hash === location.hash || (hash === "#" && !location.hash))
      return;
    const step = STEPS.some(name => JSON.stringify(state[name]) !== JSON.stringify(former[name]));
    history[step ? "pushState" : "replaceState"](null, "", hash);
  });
  addEventListener("popstate", () => store.set(fromHash(location.hash)));
}

/** The epochs that the views show. */
export function shownEpochs(state) {
  return state.a || state.range;
}

/** Whether epochs end at the present, so that a later look has more. */
export function isLive(spec) {
  return spec === "recent" || spec === "today" || /(^|\.\.)(now)?$/.test(spec) ||
    /^-\d+[smhd]$/.test(spec);
}
