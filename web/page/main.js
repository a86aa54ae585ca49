// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * main.js - puts the page together: the store and its address, the time line, the view
 * that is chosen, the keyboard. A view is a module with create(ctx); see README.md.
 */
import { createApi } from "./api.js";
import { byId, el, plain, put, vars } from "./dom.js";
import { bindExplain, showMeaning } from "./explain.js";
import { filterChips, withFilter } from "./filters.js";
import { createFleet } from "./fleet.js";
import { createHues } from "./hues.js";
import { bindKeys } from "./keys.js";
import { createLive } from "./live.js";
import { showPresets } from "./presets.js";
import { createRange } from "./range.js";
import { showSaves } from "./saves.js";
import { bindAddress, fromHash, VIEWS } from "./state.js";
import { createStore } from "./store.js";
import { createTimePane } from "./timepane.js";
import { create as changedView } from "./view_changed.js";
import { create as flame } from "./view_flame.js";
import { create as health } from "./view_health.js";
import { create as hosts } from "./view_hosts.js";
import { create as runs } from "./view_runs.js";
import { create as why } from "./view_why.js";
import { create as where } from "./view_where.js";

const MAKERS = { where, flame, why, changed: changedView, runs, health, hosts };
const TITLES = { where: "Where", flame: "Flame", why: "Why", changed: "What changed", runs: "Runs",
  health: "Health", hosts: "Hosts" };
/** Members whose change makes every view ask again. */
const ASKED = ["range", "a", "filters", "view"];

/** Views of every database. */
const COMMON = VIEWS.filter(name => name !== "hosts");

const changed = (names, state, former) => names.some(
  name => JSON.stringify(state[name]) !== JSON.stringify(former[name]));

function start() {
  const store = createStore(fromHash(location.hash));
  const ctx = { store, api: createApi(), hues: createHues(), say, copy, pick, swatch, time: null };
  let view = null;
  let picked = null; // row or box that f, x, … are about

  function say(text) {
    byId("what").textContent = plain(text);
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      say("copied");
    } catch {
      say("The browser does not let this page copy.");
    }
  }

  /** The colour of an image as a small field ahead of its name. */
  function swatch(image) {
    return vars(el("span", { class: "swatch", "aria-hidden": "true" }),
      { "--hue": `var(--${ctx.hues.known(image)})` });
  }

  function pick(row) {
    picked = row;
  }

  const time = createTimePane(ctx);
  ctx.time = time;
  const range = createRange(ctx);
  const live = createLive(ctx, () => {
    ctx.api.forget();
    time.update(store.get());
    view?.update(store.get(), { live: true });
  });
  time.onData(line => {
    range.show(line);
    live.show(line);
    view?.draw?.(store.get(), store.get()); // images have their colours now
  });

  const tab = (name, i) => el("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "main", "data-view": name,
    click: () => store.set({ view: name }),
    keydown: event => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step) {
        tabs[(i + step + tabs.length) % tabs.length].click();
        tabs[(i + step + tabs.length) % tabs.length].focus();
      }
    },
  }, TITLES[name], el("kbd", { class: "tabkey", "aria-hidden": "true" }, i + 1));
  const tabs = COMMON.map(tab);
  put(byId("tabs"), tabs);

  function showFrame(state) {
    put(byId("filters"), filterChips(state.filters, filters => store.set({ filters })));
    byId("undo").disabled = !state.filters.length;
    for (const tab of tabs) {
      const here = tab.dataset.view === state.view;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
    }
    document.title = `CPI ${TITLES[state.view]}${state.view === "why" && state.proc ?
      ": " + plain(state.proc) : ""}`;
  }

  function mount(state) {
    view?.stop();
    picked = null;
    view = MAKERS[state.view](ctx);
    byId("main").setAttribute("aria-labelledby", `tab-${state.view}`);
    put(byId("main"), view.node);
  }

  store.subscribe((state, former) => {
    if (changed(["filters", "view", "proc"], state, former))
      showFrame(state);
    if (state.at && state.at === former.at && state.proc !== former.proc)
      store.set({ at: "" });
    if (state.view !== former.view)
      mount(state);
    if (changed([...ASKED, ...(view.needs ?? [])], state, former))
      view.update(state, { live: false });
    else
      view.draw?.(state, former);
  });
  bindAddress(store);

  /** f and x: what the picked row or box is called, or its image with shift. */
  function filter(op, ofImage) {
    const state = store.get();
    const row = picked;
    const kind = ofImage || !row ? "image" : state.view !== "where" ? "procedure" :
      state.by === "line" ? "procedure" : state.by;
    if (!row)
      say("Select a row or box first.");
    else
      store.set({ filters: withFilter(state.filters,
        op === "focus" && kind !== "procedure" ? "only" : op, kind, row[kind]) });
  }

  function undo() {
    store.set({ filters: store.get().filters.slice(0, -1) });
  }

  function back() {
    const state = store.get();
    if (document.activeElement?.matches("input, select")) {
      document.activeElement.blur();
      view.focus?.();
    } else if (view.escape?.()) {
      return;
    } else if (state.b || state.a) {
      store.set(state.b ? { b: "" } : { a: "" });
    } else if (state.view !== "where") {
      store.set({ view: "where" });
    }
  }

  const viewKey = (name, i) => ({ key: String(i + 1), text: `view: ${TITLES[name]}`,
    run: () => store.set({ view: name }) });
  const list = [
    ...COMMON.map(viewKey),
    { key: "?", text: "this list", run: () => keys.help() },
    { key: "i", text: "what the figures mean", run: showMeaning },
    { key: "e", text: "choose epochs", run: () => range.focus() },
    { key: "a", text: "side A: the epochs that are shown", run: () => time.take("a") },
    { key: "b", text: "side B: the epochs that are shown", run: () => time.take("b") },
    { key: "[", text: "earlier by as much as is shown", run: () => time.move(-1) },
    { key: "]", text: "later by as much as is shown", run: () => time.move(1) },
    { key: "h", text: "heat map or areas", run: () => store.set({ heat: !store.get().heat }) },
    { key: "d", text: "what the areas of the time line are", run: () => time.next() },
    { key: "w", text: "go to the time line", run: () => time.focus() },
    { key: "f", text: "focus: only what is selected", run: () => filter("focus", false) },
    { key: "x", text: "hide what is selected", run: () => filter("hide", false) },
    { key: "F", text: "only the image of what is selected", run: () => filter("focus", true) },
    { key: "X", text: "hide the image of what is selected", run: () => filter("hide", true) },
    { key: "u", text: "take back the last filter", run: undo },
    { key: "t", text: "the picture as a table, and back",
      run: () => store.set({ table: !store.get().table }) },
    { key: "l", text: "follow the present, or hold", run: () => live.toggle() },
    { key: "r", text: "read again", run: () => {
      ctx.api.forget();
      time.update(store.get());
      view.update(store.get(), { live: false });
    } },
    { key: "j", text: "saved views: open one, or save this one", run: () => showPresets(ctx) },
    { key: "s", text: "save what is shown", run: () => showSaves(ctx, view) },
    { key: "Escape", shown: "Esc", text: "back: search, zoom, B, A, view", typing: true, run: back },
  ];
  const keys = bindKeys(list, () => view.keys?.() ?? []);

  /** What only the store of a fleet has. */
  async function addFleet() {
    const { fleet } = await ctx.api.json("").catch(() => ({}));
    if (!fleet)
      return;
    ctx.fleet = createFleet(ctx);
    ctx.fleet.update();
    tabs.push(tab("hosts", COMMON.length));
    put(byId("tabs"), tabs);
    list.splice(COMMON.length, 0, viewKey("hosts", COMMON.length));
    showFrame(store.get());
  }

  byId("keys").addEventListener("click", keys.help);
  byId("figures").addEventListener("click", showMeaning);
  byId("undo").addEventListener("click", undo);
  byId("download").addEventListener("click", () => showSaves(ctx, view));
  byId("saved").addEventListener("click", () => showPresets(ctx));
  bindExplain();
  mount(store.get());
  showFrame(store.get());
  time.update(store.get());
  view.update(store.get(), { live: false });
  addFleet();
}

start();
