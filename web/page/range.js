// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * range.js - the field of the epochs, the words that it proposes, and what was read.
 */
import { byId, el, plain, put } from "./dom.js";
import { withFilter } from "./filters.js";
import { duration, span } from "./format.js";

const WORDS = ["recent", "all", "today", "yesterday", "-15m", "-1h", "-6h", "-1d", "-7d", "-30d"];

export function createRange(ctx) {
  const { store } = ctx;
  const field = byId("range");

  byId("range-form").addEventListener("submit", event => {
    event.preventDefault();
    take();
  });
  field.addEventListener("change", take);

  function take() {
    const text = field.value.trim() || "recent";
    store.set({ range: text, a: "" });
  }

  /** The machine; of several one can be chosen, which is a filter like the others. */
  function showHosts(hosts) {
    if (hosts.length < 2) {
      byId("host").textContent = hosts.map(plain).join("");
      return;
    }
    const choice = el("select", { "aria-label": "Machine", change: () => store.set({ filters:
      withFilter(store.get().filters, "only", "host", choice.value) }) },
    el("option", { value: "" }, `${hosts.length} machines`),
    hosts.map(name => el("option", { value: name }, plain(name))));
    put(byId("host"), choice);
  }

  store.subscribe((state, former) => {
    if (state.range !== former.range)
      field.value = state.range;
  });
  field.value = store.get().range;

  return {
    /** @param {import("./timedata.js").TimeLine} line */
    show(line) {
      const hosts = [...new Set(line.epochs.map(e => e.host))].filter(Boolean);
      if (!ctx.fleet) // which has machines without an epoch here, too
        showHosts(hosts.slice(0, 500));
      const ms = line.intervals.reduce((a, i) => a + 1000 * i.seconds, 0);
      byId("shown").textContent = line.intervals.length ?
        `${span(line.from, line.to)} (${duration(ms)})` : "";
      byId("shown").title = `${line.count} epochs`;
      put(byId("ranges"), [...WORDS, ...new Set(line.labels.map(l => l.name))].slice(0, 60)
        .map(value => el("option", { value })));
    },
    focus() {
      field.focus();
      field.select();
    },
  };
}
