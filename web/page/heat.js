// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * heat.js - the heat map of a range: a field for each interval, rows of an hour (minutes),
 * a minute (seconds) or another round length one below the other, so that what comes each
 * hour or each day stands in a column. It picks A and B as the time line does.
 */
import { el, svg, put, vars } from "./dom.js";
import { clock, digits, figure, span } from "./format.js";
import { filterOptions } from "./filters.js";
import { flatTable } from "./table.js";
import { MAX_EPOCHS, nrEpochs } from "./timedata.js";

const ROWS = 24; // at most
/** Seconds of [row, field]: second by minute, minute by hour, …; the first that fits. */
const SCALES = [[60, 1], [600, 10], [3600, 60], [21600, 360], [86400, 1800], [604800, 10800],
  [2592000, 43200], [31536000, 604800]];
const LEFT = 88;
const AXIS = 16; // above the rows

/**
 * Rows and fields for a range: its own length decides on the rows, and a field is not
 * shorter than the shortest of several epochs, which have no finer times.
 */
export function heatScale(line) {
  const lengths = line.epochs.flatMap(e => Array(nrEpochs(e)).fill(
    (Date.parse(e.to) - Date.parse(e.from)) / nrEpochs(e))).filter(l => l > 0).sort((a, b) => a - b);
  const least = Math.min(lengths[lengths.length >> 4] ?? 1000, (line.to - line.from) / 4);
  const fits = SCALES.filter(([row]) => (line.to - line.from) / (1000 * row) <= ROWS);
  const [row, field] = fits.find(([, f]) => 1000 * f >= 0.95 * least) ?? fits[fits.length - 1] ??
    SCALES[SCALES.length - 1];
  return { row: 1000 * row, field: 1000 * field };
}

/** The CPU time of all rows in each interval, and the rows of the picture. */
export async function loadHeat(api, state, line, signal) {
  const scale = heatScale(line);
  const report = await api.json("prof", { epoch: state.range, by: "host", "over-time": true,
    interval: `${scale.field / 1000}s`, "max-epochs": MAX_EPOCHS, ...filterOptions(state.filters) }, signal);
  const rows = new Map();
  report.intervals.forEach((interval, i) => {
    const from = Date.parse(interval.from);
    const start = Math.floor(from / scale.row) * scale.row;
    if (!rows.has(start))
      rows.set(start, { from: start, to: start + scale.row, fields: [] });
    const known = report.rows.map(r => r.over_time[i]).filter(v => v !== null);
    rows.get(start).fields.push({ from, to: Date.parse(interval.to),
      value: known.length ? known.reduce((a, b) => a + b, 0) : null });
  });
  return [...rows.values()];
}

/** Where the columns of a row are, for the axis: [[part of the row, text]]. */
function columns(length) {
  const [count, text] = length === 60e3 ? [6, i => `${10 * i} s`] : length <= 3600e3 ?
    [6, i => `:${String(Math.round(length / 60e3 / 6 * i)).padStart(2, "0")}`] :
    length === 604800e3 ? [7, i => `day ${i + 1}`] : length <= 86400e3 ?
      [6, i => `+${length / 3600e3 / 6 * i} h`] : [6, i => `+${Math.round(length / 86400e3 / 6 * i)} d`];
  return Array.from({ length: count }, (_, i) => [i / count, text(i)]);
}

/** The heat map as a table: the rows of the picture, a column for each field. */
export function heatTable(rows) {
  const starts = [...new Set(rows.flatMap(r => r.fields.map(f => f.from - r.from)))].sort((a, b) => a - b);
  const title = ms => (ms < 3600e3 ? `+${ms % 60e3 ? `${ms / 1000} s` : `${ms / 60e3} min`}` :
    `+${Number((ms / 3600e3).toPrecision(3))} h`);
  return el("div", { class: "scroll timetable", tabindex: 0, role: "region", "aria-label": "Heat map as a table" },
    flatTable("Heat map: CPUs in use", [["from (UTC)", "heat"], ...starts.map(s => [title(s), "heat", true])],
      rows.map(row => {
        const at = new Map(row.fields.map(f => [f.from - row.from, f]));
        return [clock(row.from, { day: true, seconds: row.to - row.from < 3600e3 }), ...starts.map(s => (!at.has(s) ? "" :
          figure(at.get(s).value, at.get(s).value === null ? "no epoch" : digits(at.get(s).value), "CPUs")))];
      })));
}

/**
 * @param {Element} root
 * @param {function("a"|"b", {from: number, to: number}): void} pick
 */
export function drawHeat(root, rows, pick, say) {
  const wide = Math.max(280, root.clientWidth);
  const inner = wide - LEFT - 12;
  const high = Math.max(4, Math.min(24, Math.floor((root.clientHeight - AXIS) / (rows.length || 1))));
  const length = rows[0] ? rows[0].to - rows[0].from : 1;
  const most = Math.max(1e-9, ...rows.flatMap(r => r.fields.map(f => f.value ?? 0)));
  const words = f => `${span(f.from, f.to)}: ${f.value === null ? "no epoch" : digits(f.value) + " CPUs"}`;
  const fieldNode = (row, i, f) => vars(svg("rect", {
    class: f.value === null ? "gap" : "field",
    x: (LEFT + (f.from - row.from) / length * inner).toFixed(1),
    y: AXIS + i * high, height: high - (high > 6 ? 1 : 0.5),
    width: Math.max(1, (f.to - f.from) / length * inner - 0.5).toFixed(1),
    tabindex: -1, role: "button", "data-row": i, "data-value": f.value ?? "", "aria-label": words(f),
    pointerover: () => say(words(f)),
    click: event => pick(event.shiftKey ? "b" : "a", f),
    focus: () => say(words(f)),
  }), { "--heat": `${(100 * Math.sqrt((f.value ?? 0) / most)).toFixed(0)}%` });
  const label = (row, i) => {
    const day = clock(row.from, { day: true }).slice(0, -6);
    const former = i && clock(rows[i - 1].from, { day: true }).slice(0, -6) === day;
    const text = length >= 86400e3 ? day : former ? clock(row.from) : `${day} ${clock(row.from)}`;
    return high >= 10 || i % Math.ceil(10 / high) === 0 ? svg("text", { x: LEFT - 6,
      y: AXIS + i * high + Math.max(Math.min(10, high), high / 2 + 4), "text-anchor": "end" }, text) : null;
  };
  const picture = svg("svg", { class: "heatmap", width: wide, height: AXIS + rows.length * high,
    viewBox: `0 0 ${wide} ${AXIS + rows.length * high}`, role: "group", "data-what": "heat",
    "aria-label": "Heat map; arrows move, a and b pick", keydown: move },
  columns(length).map(([at, text]) => svg("text", { x: LEFT + at * inner, y: 11 }, text)),
  rows.map((row, i) => [label(row, i), row.fields.map(f => fieldNode(row, i, f))]));
  put(root, el("div", { class: "heatbox" }, picture));
  picture.querySelector("[role=button]")?.setAttribute("tabindex", "0");

  function move(event) {
    const fields = [...picture.querySelectorAll("[role=button]")];
    const list = rows.flatMap(r => r.fields);
    const at = fields.indexOf(document.activeElement);
    if (at < 0)
      return;
    const beside = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const other = { ArrowUp: -length, ArrowDown: length }[event.key];
    if (beside || other) {
      const to = beside ? at + beside : list.findIndex(f => f.from >= list[at].from + other);
      const next = fields[Math.min(fields.length - 1, Math.max(0, to < 0 ? fields.length - 1 : to))];
      fields[at].setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else if (["a", "b", "Enter"].includes(event.key)) {
      pick(event.key === "b" ? "b" : "a", list[at]);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
