// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * table.js - a table of many rows. Beyond 500 rows only those in sight are elements; rows
 * have one height, so that positions follow from numbers. New rows replace old ones in
 * place: selection, scroll and focus stay with the row's key.
 */
import { el, put } from "./dom.js";

const ROW = 22; // pixels, as in table.css
const ALL = 500; // rows that are all made
const AROUND = 20; // rows made above and below those in sight

/**
 * @typedef {Object} Column
 * @property {string} id what sorting calls it
 * @property {string} title
 * @property {string=} unit stands behind the title
 * @property {string=} what its explanation in explain.js
 * @property {boolean=} number aligned to the right
 * @property {string=} grow class of the column's width
 * @property {function(Object): *} sort value of a row to sort by
 * @property {function(Object): (Node|string)} cell
 */

/** Numbers by size, text by letters; what is not known comes last. */
export function compare(a, b) {
  if (a === b)
    return 0;
  if (a === null || a === undefined || a === "")
    return 1;
  if (b === null || b === undefined || b === "")
    return -1;
  return typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1;
}

/** @returns {Object[]} rows in the order of "-time" or "time" */
export function sorted(rows, columns, order) {
  const down = order.startsWith("-");
  const column = columns.find(c => c.id === order.replace(/^-/, ""));
  if (!column)
    return rows;
  return rows.map((row, i) => [column.sort(row), i, row]).sort((a, b) => {
    const missing = v => v === null || v === undefined || v === "";
    const sign = down && !missing(a[0]) && !missing(b[0]) ? -1 : 1;
    return sign * compare(a[0], b[0]) || a[1] - b[1];
  }).map(entry => entry[2]);
}

/**
 * @param {Object} options
 * @param {string} options.caption says what the table is; people who see read the heading
 * @param {function(Object): string} options.key names a row
 * @param {function(Object): void=} options.select one click, or the arrow keys
 * @param {function(Object): void=} options.open Enter, or a double click
 * @param {function(string): void=} options.sort a new order, "-time"
 * @param {function(Object): string=} options.rowClass
 * @returns {{node: Element, show: function(Column[], Object[], string=): void,
 *   selected: function(): Object|null, focus: function(): void}}
 */
export function createTable(options) {
  const head = el("tr", {});
  const body = el("tbody", {});
  const table = el("table", { role: "grid", "aria-label": options.caption },
    el("thead", {}, head), body);
  const node = el("div", { class: "scroll" }, table);
  let columns = [];
  let rows = [];
  let order = "";
  let chosen = null; // key
  let range = [-1, -1];

  function makeRow(row, i) {
    const key = options.key(row);
    const here = key === chosen;
    const tr = el("tr", {
      "aria-rowindex": i + 2,
      "aria-selected": here ? "true" : "false",
      tabindex: here || (chosen === null && i === 0) ? 0 : -1,
      "data-index": i,
      class: options.rowClass?.(row),
    }, columns.map(c => el("td", { class: [c.number && "r", c.grow].filter(Boolean).join(" ") ||
      null, "data-column": c.id, "data-what": c.what }, c.cell(row))));
    return tr;
  }

  const spacer = n => (n > 0 ? el("tr", { class: "spacer", "aria-hidden": "true" },
    withHeight(el("td", { colspan: columns.length }), n * ROW)) : null);

  function withHeight(td, pixels) {
    td.style.height = `${pixels}px`;
    return td;
  }

  function inSight() {
    if (rows.length <= ALL)
      return [0, rows.length];
    const first = Math.floor(node.scrollTop / ROW);
    const many = Math.ceil((node.clientHeight || 600) / ROW);
    return [Math.max(0, first - AROUND), Math.min(rows.length, first + many + AROUND)];
  }

  function draw(force) {
    const [from, to] = inSight();
    if (!force && from === range[0] && to === range[1])
      return;
    range = [from, to];
    const focused = body.contains(document.activeElement);
    put(body, spacer(from), rows.slice(from, to).map((row, i) => makeRow(row, from + i)),
      spacer(rows.length - to));
    if (focused)
      body.querySelector("tr[tabindex='0']")?.focus({ preventScroll: true });
  }

  function drawHead() {
    const by = order.replace(/^-/, "");
    put(head, columns.map(c => el("th", {
      scope: "col",
      class: [c.number && "r", c.grow].filter(Boolean).join(" ") || null,
      "data-what": c.what,
      "data-column": c.id,
      "aria-sort": c.id === by ? (order.startsWith("-") ? "descending" : "ascending") : null,
    }, options.sort && c.sort ? el("button", {
      type: "button",
      click: () => options.sort(c.id === by && order.startsWith("-") === Boolean(c.number) ?
        (c.number ? c.id : "-" + c.id) : (c.number ? "-" : "") + c.id),
    }, c.title, c.unit ? el("span", { class: "unit" }, " " + c.unit) : null) :
      [c.title, c.unit ? el("span", { class: "unit" }, " " + c.unit) : null])));
  }

  function indexOf(target) {
    const tr = target.closest?.("tr[data-index]");
    return tr && body.contains(tr) ? Number(tr.dataset.index) : -1;
  }

  function choose(i, focus) {
    if (i < 0 || i >= rows.length)
      return;
    chosen = options.key(rows[i]);
    const top = i * ROW;
    if (rows.length > ALL && focus) {
      if (top < node.scrollTop)
        node.scrollTop = top;
      else if (top + 2 * ROW > node.scrollTop + node.clientHeight)
        node.scrollTop = top + 2 * ROW - node.clientHeight;
    }
    if (i < range[0] || i >= range[1])
      draw(true);
    for (const tr of body.querySelectorAll("tr[data-index]")) {
      const here = Number(tr.dataset.index) === i;
      tr.setAttribute("aria-selected", String(here));
      tr.tabIndex = here ? 0 : -1;
      if (here && focus) {
        tr.focus({ preventScroll: true });
        tr.scrollIntoView({ block: "nearest" });
      }
    }
    options.select?.(rows[i]);
  }

  const page = () => Math.max(1, Math.floor(node.clientHeight / ROW) - 2);
  const STEPS = {
    ArrowDown: i => i + 1,
    ArrowUp: i => Math.max(0, i - 1),
    PageDown: i => Math.min(rows.length - 1, i + page()),
    PageUp: i => Math.max(0, i - page()),
    Home: () => 0,
    End: () => rows.length - 1,
  };

  body.addEventListener("click", event => {
    if (!event.target.closest("a, button"))
      choose(indexOf(event.target), true);
  });
  body.addEventListener("dblclick", event => {
    const i = indexOf(event.target);
    if (i >= 0)
      options.open?.(rows[i]);
  });
  body.addEventListener("keydown", event => {
    const i = indexOf(event.target);
    if (i < 0 || event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (STEPS[event.key])
      choose(STEPS[event.key](i), true);
    else if (event.key === "Enter" && event.target.tagName === "TR")
      options.open?.(rows[i]);
    else
      return;
    event.preventDefault();
    event.stopPropagation();
  });
  node.addEventListener("scroll", () => draw(false), { passive: true });
  new ResizeObserver(() => draw(false)).observe(node);

  return {
    node,
    show(newColumns, newRows, newOrder = "") {
      columns = newColumns;
      order = newOrder;
      rows = order ? sorted(newRows, columns, order) : newRows;
      if (chosen !== null && !rows.some(row => options.key(row) === chosen))
        chosen = null;
      table.setAttribute("aria-rowcount", String(rows.length + 1));
      drawHead();
      draw(true);
    },
    selected: () => rows.find(row => options.key(row) === chosen) ?? null,
    select(key) {
      const i = rows.findIndex(row => options.key(row) === key);
      if (i >= 0)
        choose(i, false);
    },
    rows: () => rows,
    focus() {
      body.querySelector("tr[tabindex='0']")?.focus();
    },
  };
}

/**
 * A table of few rows that are all elements.
 * @param {string} caption
 * @param {Array<[string, string, boolean=]>} titles each with what explains it, and
 *   whether it is a number
 * @param {Array<Array<Node|string>>} rows
 */
export function flatTable(caption, titles, rows) {
  const props = i => ({ "data-what": titles[i][1], class: titles[i][2] ? "r" : null });
  return el("table", { class: "flat", "aria-label": caption }, el("thead", {}, el("tr", {},
    titles.map(([title], i) => el("th", { scope: "col", ...props(i) }, title)))),
  el("tbody", {}, rows.map(row => el("tr", {}, row.map((cell, i) => el("td", props(i), cell))))));
}
