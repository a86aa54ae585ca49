// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * keys.js - the keyboard. One table says what each key does; the dialog of `?` shows the
 * same table, so that it cannot be incomplete.
 */
import { byId, el, put } from "./dom.js";

/**
 * @typedef {Object} Key
 * @property {string} key as KeyboardEvent.key has it
 * @property {string=} shown what the dialog calls it
 * @property {string} text what it does
 * @property {function(KeyboardEvent): void} run
 * @property {boolean=} typing also while text is typed
 */

function isTyping(target) {
  return target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

/**
 * @param {Key[]} keys of every view
 * @param {function(): Key[]} ofView those of the view that is shown
 * @returns {{help: function(): void}}
 */
export function bindKeys(keys, ofView) {
  const dialog = byId("help");

  function help() {
    const row = k => el("tr", {}, el("td", {}, el("kbd", {}, k.shown ?? k.key)), el("td", {}, k.text));
    put(byId("help-keys"),
      el("table", { "aria-label": "Keys" }, el("tbody", {}, keys.map(row))),
      el("h3", {}, "In this view"),
      el("table", { "aria-label": "Keys of this view" }, el("tbody", {}, ofView().map(row),
        row({ key: "↑ ↓ Home End PgUp PgDn", text: "go through a table" }))));
    dialog.showModal();
  }

  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented)
      return;
    if (document.querySelector("dialog[open]"))
      return; // the browser closes it at Escape
    const typing = isTyping(event.target);
    const found = [...ofView(), ...keys].find(k => k.key === event.key && (!typing || k.typing));
    if (!found)
      return;
    event.preventDefault();
    found.run(event);
  });
  return { help };
}
