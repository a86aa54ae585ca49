// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * presets.js - views and stacks of filters under names. A preset holds the part of an
 * address behind #, so a link has the same content.
 *
 * If the server has a host name, the browser keeps its presets. `cpi web` runs on a
 * free port of 127.0.0.1, which another program may use later, and that program could
 * read what the browser keeps for the port. So presets of such an address are kept only
 * until the tab is closed.
 */
import { byId, el, plain, put } from "./dom.js";
import { fromHash, toHash } from "./state.js";

const PLACE = "cpi-views"; // in the storage
const MOST = 100;

/** Whether another program may use this address after the server has ended. */
const isPassing = () => location.protocol === "http:" &&
  /^(localhost|127\.0\.0\.1|\[::1\])$/.test(location.hostname);

/** Throws where the browser keeps nothing. */
const storage = () => (isPassing() ? sessionStorage : localStorage);

/** @typedef {{name: string, hash: string, filters: boolean}} Preset only filters, or all */

/** Another program that had this address before may have stored anything. */
function read() {
  try {
    const list = JSON.parse(storage().getItem(PLACE) ?? "[]");
    return list.filter(p => typeof p.name === "string" && typeof p.hash === "string").slice(0, MOST);
  } catch {
    return [];
  }
}

/** Whether the browser keeps it. */
function write(list) {
  try {
    storage().setItem(PLACE, JSON.stringify(list));
    return true;
  } catch {
    return false;
  }
}

/** Opens the list of saved views. */
export function showPresets({ store, say }) {
  const dialog = byId("presets");
  const name = el("input", { id: "preset-name", maxlength: 60, autocomplete: "off", placeholder: "name" });

  function save(filters) {
    const text = name.value.trim();
    if (!text) {
      name.focus();
      return;
    }
    const list = read().filter(p => p.name !== text);
    if (!write([...list, { name: text, hash: toHash(store.get()), filters }].slice(-MOST)))
      say("This browser does not let the page keep anything.");
    name.value = "";
    draw();
  }

  function open({ hash, filters }) {
    const state = fromHash(hash);
    dialog.close();
    store.set(filters ? { filters: state.filters } : state);
  }

  const item = p => el("li", {}, el("button", { type: "button", class: "link", title: plain(p.hash),
    click: () => open(p) }, plain(p.name)), p.filters ? el("span", { class: "quiet" }, " filters ") : " ",
  el("button", { type: "button", "aria-label": `remove ${plain(p.name)}`, click: () => {
    write(read().filter(other => other.name !== p.name));
    draw();
  } }, "×"));

  function draw() {
    const list = read();
    put(byId("preset-list"),
      el("div", { class: "tools" }, el("label", { for: "preset-name" }, "save as"), name,
        el("button", { type: "button", id: "save-view", click: () => save(false) }, "this view"),
        el("button", { type: "button", id: "save-filters", click: () => save(true) }, "its filters")),
      list.length ? el("ul", {}, list.map(item)) : el("p", { class: "quiet" },
        `Nothing is saved. Give what you see a name; it stays in this ${isPassing() ? "tab" : "browser"}. The address says the same to others.`));
  }

  draw();
  dialog.showModal();
  name.focus();
}
