// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * explain.js - one sentence for each figure: what it is and how it was found. It stands at
 * the foot of the page while the pointer or the focus is on the figure; `i` lists those of
 * the view.
 */
import { byId, el, put } from "./dom.js";

/** What data-what says → [title, sentence]. */
export const WORDS = {
  host: ["machine", "The machine whose samples these are."],
  hostmap: ["map of machines", "A field for each machine, the greatest first: the darker, the greater. Arrows move, Enter shows the machine alone; the table below has the same."],
  busy: ["busy", "CPUs that were busy on average, without idle, as cpi fleet top has it: of the times shown, or of the newest day if epochs are chosen in another way."],
  cpus: ["CPUs", "CPUs of the machine."],
  lost: ["lost", "Lost samples as a part of the machine's samples."],
  flushes_dropped: ["dropped", "Flushes that the machine removed before they could be sent."],
  lag_s: ["age", "How long ago the machine's newest epoch in the store ended."],
  fleetcpi: ["CPI", "Cycles per instruction of all code without idle: the 95 % interval of the sampling error. –: not known, because the machine sampled no cycles and instructions, or fewer than 10 of either."],
  money: ["cost", "CPU-hours × the price: of the times shown, or of the newest day."],
  price: ["price", "What an hour of one CPU costs, in any currency; the machines then have their cost."],
  rejected_rows: ["rejected", "Rows that cpi fleet roll rejected."],
  range: ["epochs", "Which epochs the page shows, as --epoch takes them: recent, all, today, -15m, 12, a label, 2026-11-20T10:15..2026-11-20T10:20 (UTC)."],
  shown: ["shown", "Beginning and end of the epochs that were read; counts are kept by epoch, so it may be more than was asked for."],
  live: ["live", "The range ends now: the figures follow every few seconds. Press l to hold them."],
  undo: ["undo", "Takes back the last filter (u)."],
  box: ["box", "A procedure of a call stack, as wide as its samples; above or below it is what it calls. Its share is of the stacks' samples, self what ended there."],
  graph: ["graph", "Blocks of the procedure, and edges as wide as they are frequent: dotted, dashed or solid by confidence; blue if a jump is taken. t shows them as a table."],
  insns: ["instructions", "How many instructions the block has."],
  blockshare: ["share of the procedure", "The block's samples as a part of the procedure's."],
  taken: ["taken", "Samples at the conditional jump that were about to take it, or not."],
  areas: ["areas", "What the areas of the time line are. Time per second of the epochs: 1.5 is one and a half CPUs."],
  brush: ["brush", "A is the time that all views show, B the other side of a comparison. Drag for A, shift and drag for B; a and b take the epochs shown."],
  heat: ["heat map", "One field for each interval of the range: the darker, the busier. It picks A as well."],
  filter: ["filter", "only narrows what is read, so shares are of what is left; without and focus choose among the rows, and shares stay those of the whole. from: call stacks begin with the outermost frame that matches."],
  share: ["share", "The row's time divided by the time of all rows but idle. The interval at the right is the error of sampling: ±1.96 standard deviations of a count."],
  time: ["time", "Samples × the mean time between two samples of their stream."],
  samples: ["samples", "How many samples were taken there; lost ones are not in it."],
  overtime: ["over time", "The row's time in at most 48 equal intervals of the range; the highest bar is the row's greatest. A gap is an interval without an epoch."],
  cpi: ["CPI", "Cycles per instruction: the 90 % interval of the estimate from samples and executions; ≥: at least so many, where the upper end is not known. The title has the best case and the likeliest value."],
  procedure: ["procedure", "The procedure's name, demangled; NAME+0x1234 is code of a stripped program, named by its offset."],
  image: ["image", "The program, library or kernel that the code is in."],
  context: ["context", "What the process belongs to: command, container, unit or label."],
  truth: ["whole", "What the selection has: CPU time of all rows, what was idle, lost and unknown, and how exact a share of 1 % is."],
  unknown: ["unknown", "Samples whose image is not known, by reason; they are in no row."],
  losses: ["lost", "Samples that the kernel reported and nobody could store, by reason."],
  matched: ["matches", "The share of all rows that match the search, each counted once."],
  stacks: ["stacks", "Call stacks are sampled by a stream of their own; shares are of its samples but those of idle CPUs."],
  self: ["self", "Of stacks that end there: what the procedure took itself."],
  total: ["total", "Of stacks that go through the procedure; a recursion counts once."],
  executions: ["executions", "How often the block ran: the interval that holds the truth in 90 % of the cases, drawn on a line of four decades. unknown: nothing bounds it. Blocks of one procedure compare better than the absolute number."],
  blamed: ["blamed", "Samples moved to the instruction that most likely caused the delay: with a timer, a sample names the one after it."],
  culprit: ["culprit", "A reason that could not be ruled out. It was not measured."],
  address: ["address", "Address in the image, as a disassembly has it."],
  best: ["best case", "Cycles per instruction that the machine's model allows when nothing has to wait."],
  actual: ["actual", "Cycles estimated from samples and executions: the 90 % interval, or what it takes at least."],
  confidence: ["confidence", "How far the estimate of executions can be trusted: shape is how blocks compare, scale is the absolute number."],
  cyclestack: ["cycle stack", "Where the procedure's samples went: executing, or waiting for a reason, from the least that is certain to the most that is possible."],
  change: ["change", "By how much B differs from A relative to the other rows; the line is the 95 % interval."],
  verdict: ["verdict", "significant: the interval leaves out 0 and the test holds at the accepted rate of false finds. not: it does not. too few: it could not be tested."],
  q: ["q", "The smallest rate of false finds at which this row would be one."],
  calls: ["calls ratio", "Calls of it in B over those in A, from windows around its calls. Near 1 with a change: each call became slower."],
  range2: ["range", "The greatest epoch less the least, as a part of the sum; after DCPI's dcpistats."],
  spread: ["spread", "The line goes from the least epoch to the greatest; the dot is the mean, the box one standard deviation to each side, an orange dot an epoch beyond two: a click opens it. The bars below are intervals of the selected row."],
  least: ["least", "The row's value in the epoch where it is least."],
  most: ["greatest", "The row's value in the epoch where it is greatest."],
  low: ["low end", "The low end of the 95 % interval of the change."],
  high: ["high end", "The high end of the 95 % interval of the change."],
  exceeds: ["exceeds", "beyond counting: epochs differ by more than the counting of samples explains. beyond other rows: by more than rows in general."],
  cost: ["cost", "CPU time of cpid itself and of the interrupts, as a part of all CPUs' time; the budget is what it may take."],
  loss: ["loss", "Samples counted under the name of the reason why they could not be stored."],
  size: ["size", "The database's file, and how long the disk has room at the present rate."],
  budget: ["budget", "How much of all CPUs' time cpid may take (--budget). It lowers its rate before it exceeds that."],
  interrupts: ["interrupts", "Time in interrupts that take samples: their number × the time that cpid measured for one."],
  daemon: ["daemon", "CPU time of cpid and its helpers as a part of all CPUs' time."],
  rate: ["rate", "Samples a second on each CPU; the times between them are random."],
  cputime: ["CPU time", "CPU time of cpid since it was started."],
  memory: ["memory", "Resident memory of cpid."],
  received: ["received", "Samples that the kernel handed over. received = stored + lost + what is still in memory."],
  stored: ["stored", "Samples that are in the database."],
  undelivered: ["not delivered", "Samples that should have been taken by the time that passed, less those received: CPUs asleep, interrupts off, throttling."],
  gap: ["gap", "A second or more between two epochs of a machine that no epoch covers: cpid did not run."],
  file: ["file", "Bytes of the database's file."],
  wal: ["write-ahead log", "Bytes that are not yet in the file itself; SQLite keeps them beside it."],
  captured: ["names and code", "Symbols and code of sampled programs, kept so that reports work when the files are gone."],
  limit: ["limit", "The size at which the oldest epochs are removed (--retain)."],
  growth: ["growth", "The file's bytes divided by the days since its first epoch."],
  full: ["full in", "(limit − file) / growth: when epochs begin to be removed, if none is rolled up."],
  version: ["versions", "Of cpid, its collector, and the kernels that the epochs come from."],
  health: ["health", "What cpi status --all says under this name; cpi-status(1) explains it."],
  epochs: ["epochs", "How many epochs have the row, or a side has."],
  mean: ["mean", "The mean of the row's values over all epochs, in the unit above."],
  deviation: ["deviation", "The standard deviation of the row's values from epoch to epoch."],
  sum: ["sum", "The row's part of the sum of all rows."],
  path: ["path", "How often windows took this way through the procedure: a share with its 90 % interval, by lines or addresses of blocks."],
  values: ["values", "Which values operands, targets of jumps and numbers of iterations had in windows: shares with their 90 % intervals. cpi values lists more."],
  delta: ["change", "Milliseconds of B less those of A, for each second."],
};

/** The attribute of an element that explains itself. */
export const what = id => ({ "data-what": id });

/** Shows the sentence of what the pointer or the focus is on. */
export function bindExplain() {
  const foot = byId("what");
  let last = null;

  function say(target) {
    const id = target.closest?.("[data-what]")?.dataset.what ?? null;
    if (id === last)
      return;
    last = id;
    foot.textContent = WORDS[id] ? `${WORDS[id][0]}: ${WORDS[id][1]}` : "";
  }
  document.addEventListener("pointerover", event => say(event.target));
  document.addEventListener("focusin", event => say(event.target));
}

/** Opens the list of the figures that stand on the page now. */
export function showMeaning() {
  const ids = [...new Set([...document.querySelectorAll("[data-what]")]
    .filter(node => node.offsetParent !== null).map(node => node.dataset.what))];
  put(byId("meaning-list"), ids.filter(id => WORDS[id]).map(id =>
    [el("dt", {}, WORDS[id][0]), el("dd", {}, WORDS[id][1])]));
  byId("meaning").showModal();
}
