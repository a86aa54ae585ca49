// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * fleet.js - the machines of a fleet's store: choices of machine, cluster, release and
 * machine type in the page's first line. They are filters like the others.
 */
import { byId, el, plain, put } from "./dom.js";
import { withFilter } from "./filters.js";
import { createLoader } from "./loader.js";

const MOST = 500; // names in a choice

/** Kinds, and the word for several; the members of a row of `hosts` have the same names. */
const KINDS = [["host", "machines"], ["cluster", "clusters"], ["release", "releases"],
  ["machine", "types"]];

/**
 * @returns {{update: function(): void}} update() asks for the machines again
 */
export function createFleet({ store, api }) {
  const root = byId("host");
  const loader = createLoader(root, true);
  let rows = [];

  function choice([kind, several], state) {
    const chosen = state.filters.find(f => f.op === "only" && f.kind === kind)?.value ?? "";
    const names = [...new Set(rows.map(r => r[kind]))].filter(Boolean).sort();
    if (chosen && !names.includes(chosen))
      names.unshift(chosen);
    if (names.length < 2 && !chosen)
      return kind === "host" ? el("span", {}, names.map(plain)) : null;
    const select = el("select", { "aria-label": `only ${kind}`, "data-what": "host", "data-kind": kind,
      change: () => store.set({ filters: select.value ? withFilter(store.get().filters, "only", kind, select.value) :
        store.get().filters.filter(f => !(f.op === "only" && f.kind === kind)) }) },
    el("option", { value: "" }, `${names.length} ${several}`),
    names.slice(0, MOST).map(name => el("option", { value: name }, plain(name))));
    select.value = chosen;
    return select;
  }

  function draw(state) {
    const here = root.contains(document.activeElement) ? document.activeElement.dataset.kind : null;
    put(root, KINDS.map(kind => choice(kind, state)));
    if (here)
      root.querySelector(`[data-kind=${here}]`)?.focus();
  }

  store.subscribe((state, former) => {
    if (state.filters !== former.filters)
      draw(state);
  });

  return {
    update() {
      loader.run(signal => api.json("hosts", {}, signal), answer => {
        rows = answer.hosts ?? answer.rows;
        draw(store.get());
      });
    },
  };
}
