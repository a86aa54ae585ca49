// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_hosts.js - the machines of a fleet's store: a map with a field for each, as dark as
 * its measure is high, and the same as a table. Figures of machines are those of
 * `cpi fleet hosts`, their CPU time that of `cpi fleet top --by host`.
 */
import { el, plain, put, vars } from "./dom.js";
import { figure, digits, count, duration, estimate, rangeOf, span } from "./format.js";
import { filterOptions, withFilter } from "./filters.js";
import { createLoader, notice } from "./loader.js";
import { createTable } from "./table.js";
import { shownEpochs } from "./state.js";
import { what } from "./explain.js";

const MOST = 4000; // fields of the map

/** A ratio with its interval; beyond a factor of three a bound, or unknown. */
const ratio = (n, row) => estimate(n, rangeOf(row, "cpi"), digits, "most");

/** Measures of the map: title, value of a row, how it is shown, unit. */
const MEASURES = {
  cpus: ["CPUs busy", r => r.busy, digits, "CPUs"],
  share: ["CPUs busy of its own", r => (r.busy === null || !r.cpus ? null : 100 * r.busy / r.cpus), digits, "%"],
  cpi: ["CPI", r => r.cpi, ratio, "cycles per instruction"],
  money: ["cost at the price", r => r.cost, digits, ""],
  samples: ["samples", r => r.samples, count, "samples"],
  lost: ["lost samples", r => (r.samples ? 100 * r.lost / r.samples : null), digits, "%"],
  flushes_dropped: ["flushes dropped", r => r.flushes_dropped, count, "flushes"],
  lag_s: ["age of the newest epoch", r => r.lag_s, s => duration(1000 * s), "s"],
  rejected_rows: ["rows rejected", r => r.rejected_rows, count, "rows"],
};

/** Epochs as `fleet top` takes them: times. Others are the newest day. */
const times = spec => (spec === "all" ? "2000-01-01.." :
  /\.\.|^-[\d.]+[a-z]|^\d{4}-\d\d|^\d\d:\d\d|^(today|yesterday|last )/.test(spec) ? spec : "");

/** The filters by which machines are chosen. */
const chosenHosts = state => Object.fromEntries(Object.entries(filterOptions(state.filters))
  .filter(([name]) => ["host", "cluster", "release", "machine"].includes(name)));

export function create(ctx) {
  const { store, api } = ctx;
  const by = el("select", { id: "measure", change: () => store.set({ measure: by.value }) },
    Object.entries(MEASURES).map(([value, [title]]) => el("option", { value }, title)));
  const price = el("input", { id: "price", type: "number", min: 0, step: "any", placeholder: "none",
    "data-what": "price", change: () => store.set({ price: price.value }) });
  const truth = el("p", { class: "truth" });
  const map = el("div", { class: "hostmap", role: "group", "data-what": "hostmap",
    "aria-label": "Map of machines; arrows move, Enter shows one", keydown: move });
  const place = el("div", { class: "place" });
  const node = el("section", { class: "view", "aria-label": "Hosts" }, truth,
    el("div", { class: "tools" }, el("label", { for: "measure" }, "map of"), by,
      el("span", { class: "push" }), el("label", { for: "price" }, "price per CPU-hour"), price), map, place);
  const loader = createLoader(place);
  const table = createTable({ caption: "Machines", key: row => row.host, select, open,
    sort: order => store.set({ hostsort: order }) });
  let rows = null;
  let scope = null;

  const named = state => (Object.hasOwn(MEASURES, state.measure) ? state.measure : "cpus");
  const measure = state => MEASURES[named(state)];

  function words(row, state) {
    const [title, value, show, unit] = measure(state);
    const n = value(row);
    return `${plain(row.host)}: ${title} ${n === null ? "not known" :
      `${show(n, row)}${unit === "s" ? "" : ` ${unit}`}`.trimEnd()}`;
  }

  function open(row) {
    store.set({ filters: withFilter(store.get().filters, "only", "host", row.host), view: "where" });
  }

  function select(row) {
    ctx.pick(row);
    for (const field of map.children) {
      const here = field.dataset.host === row.host;
      field.setAttribute("aria-pressed", String(here));
      field.tabIndex = here ? 0 : -1;
    }
  }

  function drawMap(state) {
    const value = measure(state)[1];
    const known = rows.filter(r => value(r) !== null).sort((a, b) => value(b) - value(a));
    const all = [...known, ...rows.filter(r => value(r) === null)].slice(0, MOST);
    const most = Math.max(1e-9, ...known.slice(0, 1).map(value));
    put(map, all.map((row, i) => vars(el("button", { type: "button", class: value(row) === null ? "unknown" : null,
      tabindex: i ? -1 : 0, "aria-pressed": "false", "data-host": row.host, "data-value": value(row) ?? "",
      "aria-label": words(row, state), title: words(row, state),
      focus: () => ctx.say(words(row, state)), click: () => table.select(row.host), dblclick: () => open(row) }),
    { "--heat": `${(100 * (value(row) ?? 0) / most).toFixed(0)}%` })));
  }

  function move(event) {
    const fields = [...map.children];
    const at = fields.indexOf(document.activeElement);
    if (at < 0 || event.ctrlKey || event.altKey || event.metaKey)
      return;
    const line = fields.findIndex(f => f.offsetTop > fields[0].offsetTop);
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: line < 0 ? -at : -line,
      ArrowDown: line < 0 ? fields.length : line, Home: -at, End: fields.length }[event.key];
    if (step !== undefined) {
      const next = fields[Math.min(fields.length - 1, Math.max(0, at + step))];
      table.select(next.dataset.host);
      next.focus();
    } else if (event.key === "Enter") {
      open(rows.find(r => r.host === fields[at].dataset.host));
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  function columns() {
    const number = (id, title, show, unit, value = r => r[id]) => ({ id, title, unit, what: id, number: true,
      grow: ["busy", "fleetcpi"].includes(id) ? "w2" : "w1", sort: value, cell: r => figure(value(r), value(r) === null ? "–" : show(value(r), r), unit) });
    const text = (id, title, grow) => ({ id, title, what: "host", grow, sort: r => r[id],
      cell: r => el("span", { title: plain(r[id]) }, plain(r[id])) });
    return [text("host", "machine", "wide"), number("busy", "busy", digits, "CPUs"), number("cpus", "CPUs", count, ""),
      number("fleetcpi", "CPI", ratio, "", r => r.cpi),
      ...scope.cost === undefined ? [] : [number("money", "cost", digits, "", r => r.cost)],
      number("samples", "samples", count, ""), number("lost", "lost", digits, "%", MEASURES.lost[1]),
      number("flushes_dropped", "dropped", count, ""),
      number("lag_s", "age", s => duration(1000 * s), ""), number("epochs", "epochs", count, ""),
      number("rejected_rows", "rejected", count, ""),
      text("cluster", "cluster", "w2"), text("release", "release", "w2"), text("machine", "type", "w3")];
  }

  function draw(state) {
    by.value = named(state);
    if (document.activeElement !== price) // what is typed stays
      price.value = state.price;
    if (!rows)
      return;
    if (!rows.length) {
      put(map);
      put(place, notice("No machine has sent an epoch.", "Take back a filter (u), or see cpi-ship(8)."));
      return;
    }
    put(truth, el("span", what("host"), figure(rows.length, count(rows.length)), rows.length === 1 ? " machine" : " machines"),
      !scope.error ? el("span", what("cpus"), figure(scope.cpus, digits(scope.cpus)), " CPUs busy, ",
        span(Date.parse(scope.from), Date.parse(scope.to)), scope.thinned > 1 ? ", estimated" : "",
        scope.cost !== undefined ? `, which cost ${digits(scope.cost)}` :
          named(state) === "money" ? "; the cost needs a price per CPU-hour" : "") :
        el("span", { class: "quiet" }, plain(scope.error.message)));
    drawMap(state);
    put(place, table.node);
    table.show(columns(), rows, state.hostsort);
  }

  return {
    node,
    update(state) {
      const chosen = chosenHosts(state);
      loader.run(async signal => {
        const [hosts, top] = await Promise.all([api.json("hosts", chosen, signal),
          api.json("fleet-top", { ...chosen, by: "host", cpi: true, epoch: times(shownEpochs(state)),
            price: Number(state.price) > 0 ? state.price : "" }, signal).catch(error => {
            if (error.name === "AbortError")
              throw error;
            return { error };
          })]);
        return { hosts, top };
      }, ({ hosts, top }) => {
        const times = new Map(top.rows?.map(r => [r.host, r]));
        scope = top;
        rows = (hosts.hosts ?? hosts.rows).map(r => {
          const { cpus = null, cost = null, cpi = null, cpi_low = null, cpi_high = null } = times.get(r.host) ?? {};
          return { ...r, busy: cpus, cost, cpi, cpi_low, cpi_high };
        });
        draw(store.get());
      });
    },
    draw,
    needs: ["price"],
    keys: () => [
      { key: "g", text: "map of the next measure", run: () => {
        const all = Object.keys(MEASURES);
        store.set({ measure: all[(all.indexOf(by.value) + 1) % all.length] });
      } },
      { key: "m", text: "go to the map", run: () => map.querySelector("[tabindex='0']")?.focus() },
      { key: "Enter", text: "where: the selected machine alone", run: () => table.selected() && open(table.selected()) },
    ],
    focus: () => table.focus(),
    saves: state => ["csv", "json"].map(format => ({ name: format.toUpperCase(), report: "hosts",
      options: { ...chosenHosts(state), format } })),
    stop: () => loader.stop(),
  };
}
