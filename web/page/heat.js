// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * heat.js - the heat map of a range: a field for each interval, rows of equal length one
 * below the other, so that what comes each day or each hour stands in a column. It picks
 * A and B as the time line does.
 */
import { el, svg, put, vars } from "./dom.js";
import { clock, digits, span, spec } from "./format.js";
import { filterOptions } from "./filters.js";

const ROWS = 7; // at most; they fit without scrolling
const LENGTHS = [60, 300, 600, 1800, 3600, 7200, 21600, 86400, 604800, 2592000].map(s => s * 1000);
const HIGH = 15;
const LEFT = 88;

/** Rows of a round length between from and to: [{from, to}]. */
export function heatRows(from, to) {
  const length = LENGTHS.find(l => (to - from) / l <= ROWS) ?? LENGTHS[LENGTHS.length - 1];
  const rows = [];
  for (let t = Math.floor(from / length) * length; t < to && rows.length < 24; t += length)
    rows.push({ from: t, to: t + length });
  return rows;
}

/** The courses of all rows, asked one after the other: one analysis at a time. */
export async function loadHeat(api, state, line, signal) {
  const rows = [];
  for (const row of heatRows(line.from, line.to)) {
    const epoch = `${spec(row.from)}..${spec(row.to)}`;
    let fields = [];
    if (line.epochs.some(e => Date.parse(e.from) < row.to && Date.parse(e.to) > row.from)) {
      const report = await api.json("prof", { epoch, by: "image", "over-time": true,
        ...filterOptions(state.filters) }, signal);
      fields = report.intervals.map((interval, i) => {
        const known = report.rows.map(r => r.over_time[i]).filter(v => v !== null);
        return { from: Date.parse(interval.from), to: Date.parse(interval.to),
          value: known.length ? known.reduce((a, b) => a + b, 0) : null };
      });
    }
    rows.push({ ...row, fields });
  }
  return rows;
}

/**
 * @param {Element} root
 * @param {function("a"|"b", {from: number, to: number}): void} pick
 */
export function drawHeat(root, rows, pick, say) {
  const wide = Math.max(280, root.clientWidth);
  const inner = wide - LEFT - 12;
  const most = Math.max(1e-9, ...rows.flatMap(r => r.fields.map(f => f.value ?? 0)));
  const long = rows[0] ? rows[0].to - rows[0].from >= 86400e3 : false;
  const fieldNode = (row, i, f) => vars(svg("rect", {
    class: f.value === null ? "gap" : "field",
    x: (LEFT + (f.from - row.from) / (row.to - row.from) * inner).toFixed(1),
    y: i * HIGH, height: HIGH - 1,
    width: Math.max(1, (f.to - f.from) / (row.to - row.from) * inner - 0.5).toFixed(1),
    tabindex: -1, role: "button", "data-row": i,
    "aria-label": `${span(f.from, f.to)}: ${f.value === null ? "no epoch" : digits(f.value) + " CPUs"}`,
    pointerover: () => say(`${span(f.from, f.to)}: ${f.value === null ? "no epoch" :
      digits(f.value) + " CPUs"}`),
    click: event => pick(event.shiftKey ? "b" : "a", f),
    focus: () => say(`${span(f.from, f.to)}: ${f.value === null ? "no epoch" : digits(f.value) + " CPUs"}`),
  }), { "--heat": `${(100 * Math.sqrt((f.value ?? 0) / most)).toFixed(0)}%` });
  const picture = svg("svg", { class: "heatmap", width: wide, height: rows.length * HIGH,
    role: "group", "aria-label": "Heat map; arrows move, a and b pick", keydown: move },
  rows.map((row, i) => [
    svg("text", { x: LEFT - 6, y: i * HIGH + 10, "text-anchor": "end" },
      clock(row.from, { day: true }).slice(0, long ? -6 : undefined)),
    row.fields.map(f => fieldNode(row, i, f))]));
  put(root, el("div", { class: "heatbox" }, picture));
  picture.querySelector("[role=button]")?.setAttribute("tabindex", "0");

  function move(event) {
    const fields = [...picture.querySelectorAll("[role=button]")];
    const at = fields.indexOf(document.activeElement);
    if (at < 0)
      return;
    const row = rows[Number(fields[at].dataset.row)];
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row.fields.length,
      ArrowDown: row.fields.length }[event.key];
    if (step) {
      const next = fields[Math.min(fields.length - 1, Math.max(0, at + step))];
      fields[at].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else if (["a", "b", "Enter"].includes(event.key)) {
      pick(event.key === "b" ? "b" : "a", rows.flatMap(r => r.fields)[at]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
