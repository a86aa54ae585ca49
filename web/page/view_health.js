// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * view_health.js - whether the profiler is well: cost beside the budget, losses, gaps,
 * what is unknown and why, the database. All figures are those of `cpi status`; the course
 * of cpid's own time is `prof`'s.
 */
import { el, svg, plain, put } from "./dom.js";
import { figure, digits, percent, count, bytes, duration, span, clock } from "./format.js";
import { createLoader, notice } from "./loader.js";
import { shownEpochs } from "./state.js";
import { findGaps } from "./timedata.js";
import { bar } from "./spark.js";

const REASONS = {
  no_process: "the process ended before it was seen", no_mapping: "no mapping is known there",
  map_gap: "the mappings were not known at that time", ambiguous: "several images were there in the interval",
  anonymous: "code that a program made at run time, without a name", ring_lost: "the kernel's buffer was full",
  not_delivered: "the kernel took no sample: interrupts were off, or it was throttled",
};

const COLUMNS = ["samples", "received", "stored", "undelivered"];

const section = (title, id, ...children) => el("section", { class: "card", "data-what": id },
  el("h2", {}, title), children);

const list = (label, rows) => el("table", { "aria-label": label }, el("tbody", {}, rows.filter(Boolean)));

const row = (id, name, value, shown, unit = "", note = "") => (value === undefined || value === null ? null :
  el("tr", { "data-what": id }, el("td", {}, name), el("td", { class: "r" }, figure(value, shown, unit)),
    el("td", { class: "quiet" }, note)));

/** Cost as a bar, the budget as a mark on it. */
function costBar(cost, budget) {
  const most = Math.max(cost, budget, 1e-9) * 1.2;
  return svg("svg", { class: "cost picture", width: 240, height: 20, role: "img", "aria-label":
    `cost ${cost} % of all CPUs, budget ${budget} %` },
  svg("rect", { class: cost > budget ? "over" : "within", width: cost / most * 240, height: 12, y: 4 }),
  svg("line", { class: "mark", x1: budget / most * 240, x2: budget / most * 240, y1: 0, y2: 20 }));
}

function costPart(d) {
  if (!d)
    return section("Cost", "cost", el("p", {}, "No cpid answers here: the figures are those of the database. ",
      "Start it with systemctl start cpid, or name its socket in CPI_SOCKET."));
  const measured = d.cost_percent !== undefined; // not in cpid's first seconds
  return section("Cost", "cost", measured ? costBar(d.cost_percent, d.budget_percent) :
    el("p", {}, "Not measured yet."), list("Cost", [
    row("cost", "all of it", d.cost_percent, digits(d.cost_percent), "%", "% of all CPUs' time"),
    row("budget", "the budget", d.budget_percent, digits(d.budget_percent), "%", !measured ? "" :
      d.cost_percent > d.budget_percent ? "exceeded: cpid lowers its rate at the next check" : "kept"),
    row("interrupts", "interrupts", d.cost_samples_percent, digits(d.cost_samples_percent), "%", "% taking samples"),
    row("daemon", "the daemon", d.cost_daemon_percent, digits(d.cost_daemon_percent), "%", "% its own processes"),
    row("rate", "rate", d.rate_hz, digits(d.rate_hz), "Hz", "random samples a second and CPU"),
    row("cputime", "CPU time", d.cpu_s, digits(d.cpu_s), "s", `s in ${duration(1000 * d.uptime_s)}`),
    row("memory", "memory", d.rss_bytes, bytes(d.rss_bytes), "bytes", "resident"),
  ]));
}

/** cpid's own time over the range, as prof has it. */
function coursePart(prof, cpus, budget) {
  const own = prof?.rows.find(r => r.comm === "cpid");
  if (!own?.over_time)
    return null;
  const most = Math.max(1e-9, ...own.over_time.filter(v => v !== null), budget ? budget / 100 * cpus : 0);
  const wide = 480;
  const step = wide / own.over_time.length;
  return section("Cost over time", "cost", svg("svg", { class: "own picture", width: wide, height: 64,
    viewBox: `0 0 ${wide} 64`, role: "img", "aria-label": "CPU time of cpid over the range" },
  own.over_time.map((v, i) => (v === null ? null : svg("rect", { x: i * step, width: Math.max(1, step - 1),
    y: 60 - v / most * 56, height: Math.max(0.5, v / most * 56) }, svg("title", {},
    `${span(Date.parse(prof.intervals[i].from), Date.parse(prof.intervals[i].to))}: ${digits(v)} CPUs`)))),
  budget ? svg("line", { class: "mark", x1: 0, x2: wide, y1: 60 - budget / 100 * cpus / most * 56,
    y2: 60 - budget / 100 * cpus / most * 56 }) : null),
  el("p", { class: "quiet" }, `cpid's own time, at most ${digits(Math.max(...own.over_time.filter(v => v !== null)))} CPUs`,
    budget ? "; the line is the budget" : ""));
}

function samplesPart(d, db) {
  const events = Object.keys(d ?? {}).filter(k => k.startsWith("event.")).map(k => d[k]);
  return section("Samples", "health", d ? el("table", { "aria-label": "Samples by event" },
    el("thead", {}, el("tr", {}, ["event", "received", "stored", "not delivered"].map((t, i) =>
      el("th", { scope: "col", class: i ? "r" : null, "data-what": COLUMNS[i] }, t)))),
    el("tbody", {}, events.map(e => el("tr", {}, el("td", {}, plain(e)), ["received", "stored", "not_delivered"].map((k, i) =>
      el("td", { class: "r", "data-what": COLUMNS[i + 1] }, figure(d[`${k}.${e}`], count(d[`${k}.${e}`])))))),
    d.stacks_received ? el("tr", {}, el("td", {}, "call stacks"), ["received", "stored", "lost"].map(k =>
      el("td", { class: "r" }, figure(d[`stacks_${k}`], count(d[`stacks_${k}`]))))) : null,
    d.windows_received ? el("tr", {}, el("td", {}, "windows"), ["windows_received", "windows_stored"].map(k =>
      el("td", { class: "r" }, figure(d[k], count(d[k]))))) : null)) : list("Last flush", [
    row("received", "received", db.last_flush_received, count(db.last_flush_received)),
    row("stored", "stored", db.last_flush_stored, count(db.last_flush_stored)),
    row("losses", "lost", db.last_flush_lost, count(db.last_flush_lost)),
    row("unknown", "unknown", db.last_flush_unknown, count(db.last_flush_unknown))]));
}

function reasonRows(counts) {
  const all = counts.reduce((a, c) => a + c[1], 0);
  return counts.map(([reason, n]) => el("tr", {}, el("td", {}, el("code", {}, plain(reason))),
    el("td", { class: "r" }, bar(n / all, ""), figure(n, count(n), "samples")),
    el("td", { class: "quiet" }, REASONS[reason] ?? "")));
}

function lossPart(prof) {
  const lost = Object.entries(prof?.losses ?? {}).sort((p, q) => q[1] - p[1]);
  const unknown = Object.entries(prof?.unknown ?? {}).sort((p, q) => q[1] - p[1]);
  return [section("Lost in these epochs", "losses", lost.length ? list("Losses", reasonRows(lost)) :
    el("p", {}, "None.")),
  section("Unknown, and why", "unknown", unknown.length ? list("Unknown", reasonRows(unknown)) :
    el("p", {}, "None."))];
}

/** When machines were started between two of these epochs, in ms. */
function restarts(epochs) {
  const boots = new Map(); // host → boot of its last epoch
  return [...epochs].sort((a, b) => Date.parse(a.from) - Date.parse(b.from)).filter(e => {
    const former = boots.get(e.host);
    boots.set(e.host, e.boot_id);
    return former !== undefined && former !== e.boot_id;
  }).map(e => Date.parse(e.from));
}

function restartText(times) {
  if (!times.length)
    return "no machine was restarted.";
  const last = clock(times[times.length - 1], { day: true });
  return times.length === 1 ? `a machine was restarted before ${last}.` :
    `machines were restarted ${times.length} times, last before ${last}.`;
}

function gapsPart(epochs) {
  const gaps = findGaps(epochs);
  return section("Gaps", "gap", el("p", {}, `${epochs.length} ${epochs.length === 1 ? "epoch" : "epochs"}; `,
    restartText(restarts(epochs))), gaps.length ? list("Gaps", gaps.slice(-20).reverse()
    .map(g => el("tr", {}, el("td", {}, span(g.from, g.to)), el("td", { class: "r" }, figure((g.to - g.from) / 1000,
      duration(g.to - g.from), "s"))))) : el("p", {}, "No gap of a second or more."));
}

/** Bytes a day since the first epoch, where it is long enough to say. */
function growth(db, epochs) {
  const from = Math.min(...epochs.map(e => Date.parse(e.from)));
  const to = Math.max(...epochs.map(e => Date.parse(e.to)));
  return to - from > 3600e3 ? db.file_bytes / ((to - from) / 86400e3) : null;
}

function sizePart(db, d, epochs) {
  const daily = epochs.length ? growth(db, epochs) : null;
  const limit = d?.retain_bytes_limit;
  const left = daily && limit ? (limit - db.file_bytes) / daily : null;
  return section("Database", "size", el("p", { class: "mono path" }, plain(db.path)), list("Database", [
    row("file", "file", db.file_bytes, bytes(db.file_bytes), "bytes"),
    row("wal", "write-ahead log", db.wal_bytes, bytes(db.wal_bytes), "bytes"),
    row("captured", "names and code", db.captured_bytes, bytes(db.captured_bytes), "bytes", "of sampled programs"),
    limit ? row("limit", "limit", limit, bytes(limit), "bytes", "then the oldest epochs go (--retain)") : null,
    daily ? row("growth", "growth", daily, bytes(daily), "bytes", "a day on average") : null,
    left !== null ? row("full", "full in", left, left > 0 ? duration(left * 86400e3) : "now", "days",
      "at this rate, if nothing is rolled up") : null]));
}

function versionPart(d, epochs) {
  const kernels = [...new Set(epochs.map(e => e.release).filter(Boolean))];
  return section("Versions", "version", list("Versions", [
    d ? row("version", "cpid", d.version, plain(d.version)) : null,
    d ? row("version", "collector", d.collector, plain(d.collector)) : null,
    ...kernels.slice(0, 8).map(k => row("version", "kernel", k, plain(k)))]));
}

/** All members of a part, as the command says them. */
const rawPart = (title, part) => (part ? section(title, "health", list(title, Object.entries(part).map(([name, value]) =>
  el("tr", {}, el("td", {}, el("code", {}, plain(name))), el("td", { class: "r n", "data-name": name,
    "data-value": value }, plain(value)))))) : null);

export function create(ctx) {
  const { store, api } = ctx;
  const place = el("div", { class: "cards scroll", tabindex: 0, role: "region", "aria-label": "Health" });
  const node = el("section", { class: "view", "aria-label": "Health" }, place);
  const loader = createLoader(place);
  let data = null;

  const or = (promise, otherwise) => promise.catch(error => {
    if (error.name === "AbortError")
      throw error;
    return otherwise;
  });

  function draw(state) {
    if (!data)
      return;
    const { status, epochs, prof } = data;
    if (!status.database) {
      put(place, notice("There is no database.", "Start cpid, or record a command with cpi record."));
      return;
    }
    const d = status.daemon;
    const top = place.scrollTop;
    put(place, state.table ? [rawPart("daemon", d), rawPart("database", status.database)] : [
      costPart(d), coursePart(prof, d?.cpus ?? 1, d?.budget_percent), samplesPart(d, status.database),
      lossPart(prof), gapsPart(epochs), sizePart(status.database, d, epochs), versionPart(d, epochs)]);
    place.scrollTop = top;
  }

  return {
    node,
    update(state) {
      loader.run(async signal => {
        const [status, epochs, prof] = await Promise.all([api.json("status", {}, signal),
          or(api.json("epochs", {}, signal), { epochs: [] }),
          or(api.json("prof", { epoch: shownEpochs(state), by: "comm", "over-time": true }, signal), null)]);
        return { status, epochs: epochs.epochs, prof };
      }, answer => {
        data = answer;
        draw(store.get());
      });
    },
    draw,
    keys: () => [{ key: "y", text: "copy as text", run: async () => ctx.copy(await api.text("status",
      { format: "text", all: true })) }],
    focus: () => place.focus(),
    saves: () => ["json", "csv", "prometheus"].map(format => ({ name: `status as ${format}`, report: "status",
      options: { format } })),
    stop: () => loader.stop(),
  };
}
