// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * why_model.js - puts `calc` and `list` of one procedure together, by offset: blocks,
 * instructions with their lines, the reasons why they waited. Pure functions.
 */

/** The six tints of reasons that page, pictures and terminal share. */
const TINTS = { dcache: "cache", icache: "icache", front_end: "icache", mispredict: "branch",
  dtlb: "tlb", itlb: "tlb", store: "store", atomic: "store" };

export const tintOf = reason => TINTS[reason] ?? "unit";

const REASONS = { icache: "I-cache miss", itlb: "ITLB miss", dcache: "D-cache miss",
  dtlb: "DTLB miss", store: "store buffer", atomic: "atomic or fence",
  mispredict: "branch mispredict", divide: "divider busy", unit: "other unit busy",
  chain: "dependency chain", unexplained: "unexplained", front_end: "front end",
  dependency: "dependency", function_unit: "functional unit", gain: "faster than best case",
  frequency: "frequency too low" };

export const reasonText = reason => REASONS[reason] ?? reason;

const LEAST = 0.05; // cycles; shorter stalls have no bubble

/** The likeliest reasons of a stall, each once, in their order. */
export const reasonsOf = stall => [...new Set(stall.culprits.map(c => c.reason))];

/**
 * @typedef {Object} Row
 * @property {"block"|"bubble"|"insn"|"folded"} kind
 * @property {string} key
 * a block has block; a bubble stall and insn; an instruction insn; folded the number nr
 */

function insnOf(insn, line) {
  return { ...insn, address: line?.address ?? insn.offset, file: line?.file ?? null,
    line: line?.line ?? null, percent: line?.percent ?? null, taken: line?.taken,
    not_taken: line?.not_taken };
}

/** Blocks without samples, where a procedure is long, are one row. */
function isCold(block, insns) {
  return insns.every(i => !i.blamed_samples && Object.values(i.samples).every(n => !n)) &&
    block.instructions.length > 0;
}

/**
 * @param {Object|null} calc of `calc --all`
 * @param {Object} list of `list --all`
 * @param {boolean} fold cold blocks
 * @returns {Row[]}
 */
export function makeRows(calc, list, fold) {
  const lines = new Map(list.instructions.map(i => [i.offset, i]));
  if (!calc?.blocks.length)
    return list.instructions.map(i => ({ kind: "insn", key: i.offset,
      insn: { ...insnOf(i, i), blamed_samples: null, stalls: [] } }));
  const rows = [];
  for (const block of calc.blocks) {
    const insns = block.instructions.map(i => insnOf(i, lines.get(i.offset)));
    if (fold && isCold(block, insns)) {
      const last = rows[rows.length - 1];
      if (last?.kind === "folded")
        last.nr += insns.length;
      else
        rows.push({ kind: "folded", key: `f${block.start}`, nr: insns.length });
      continue;
    }
    rows.push({ kind: "block", key: `b${block.start}`, block });
    for (const insn of insns) {
      insn.stalls.forEach((stall, i) => {
        if (stall.culprits.length && stall.cycles >= LEAST)
          rows.push({ kind: "bubble", key: `s${insn.offset}.${i}`, stall, insn });
      });
      rows.push({ kind: "insn", key: insn.offset, insn });
    }
  }
  return rows;
}

/**
 * Arrows from culprits to what waits for them: numbers of rows.
 * @param {Row[]} rows
 */
export function makeArrows(rows) {
  const at = new Map(rows.map((row, i) => [row.kind === "insn" ? row.insn.offset : row.key, i]));
  return rows.flatMap((row, to) => (row.kind === "bubble" ? row.stall.culprits
    .filter(c => c.offset !== null && at.has(c.offset))
    .map(c => ({ from: at.get(c.offset), to, reason: c.reason })) : []));
}

/** Parts of the cycle stack, greatest first: [{name, samples, least, most, dynamic}]. */
export function cycleStack(summary) {
  const parts = [{ name: "execution", text: "executing", samples: summary.execution ?? 0,
    tint: null }];
  for (const kind of ["dynamic", "static"]) {
    for (const [name, part] of Object.entries(summary[kind] ?? {})) {
      const value = typeof part === "object" ? part : { samples: part };
      if (Math.abs(value.samples) > 0 || value.most > 0)
        parts.push({ name, text: kind === "static" ? `always: ${reasonText(name)}` : reasonText(name),
          tint: tintOf(name), ...value });
    }
  }
  return parts.sort((a, b) => b.samples - a.samples);
}

/** Which source lines an instruction's rows belong to: file → lines with their rows. */
export function linesOf(source) {
  const files = new Map();
  if (!(source.lines ?? []).some(line => line.line))
    return files;
  for (const line of source.lines ?? []) {
    if (!files.has(line.file))
      files.set(line.file, []);
    files.get(line.file).push(line);
  }
  return files;
}
