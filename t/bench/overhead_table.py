# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes overhead's tables of its runs."""

import collections
import math
import statistics

DAY_S = 86400


def interval(values):
    """The median's 95 % interval by order statistics; with fewer than 6, all there is."""
    values = sorted(values)
    nr = len(values)
    below, cut = 0, 0
    while cut < nr // 2:
        below += math.comb(nr, cut) / 2 ** nr  # so many or fewer are below the median
        if below > 0.025:
            break
        cut += 1
    cut = max(cut, 1)
    return values[cut - 1], values[-cut]


def reader_percent(run):
    return 100 * (run["cpu_s"] - run["start_s"]) / run["elapsed_s"]


def mib_per_day(run):
    return (run["written_kib"] - run["start_kib"]) / 1024 * DAY_S / run["elapsed_s"]


def samples_per_entry(run):
    return run["samples"] / run["entries"]


def samples_hz(run):
    return run["samples"] / run["sampled_s"] / run["cpus"]


def figure(name):
    return lambda run: run[name]


# value: of one run. windows: "rounds", "long", or "longest" of what there is.
Column = collections.namedtuple("Column", "title form value windows summary",
                                defaults=("longest", statistics.median))

# Reading and storing come in bursts, which seconds do not tell the rate of.
COLUMNS = [
    Column("stolen %", "{:.2f}", lambda run: 100 * run["stolen"], "rounds"),
    Column("reader CPU %", "{:.2f}", reader_percent, "long"),
    Column("MiB/day", "{:.0f}", mib_per_day, "long"),
    Column("RSS MiB", "{:.1f}", figure("window_rss_mib")),
    Column("samples/s", "{:.0f}", samples_hz),
    Column("lost", "{:.0f}", figure("lost"), summary=sum),
    Column("per entry", "{:.1f}", samples_per_entry),
    Column("unknown %", "{:.2f}", figure("unknown_percent")),
]
# Of the machine: what is shown is above the base's.
WAKE_UPS = [
    Column("interrupts/s", "{:+.0f}", lambda run: run["interrupts"] / run["elapsed_s"]),
    Column("switches/s", "{:+.0f}", lambda run: run["switches"] / run["elapsed_s"]),
]


def values_of(runs, value):
    found = []
    for run in runs:
        try:
            found.append(value(run))
        except (KeyError, ZeroDivisionError):
            pass  # does not tell
    return found


def above_base(runs, base, value):
    """Of each round, how much more value is than in the same round's base, in percent."""
    alone = collections.defaultdict(list)
    for run in base:
        alone[run["round"]] += values_of([run], value)
    return [100 * (value(run) / statistics.mean(alone[run["round"]]) - 1)
            for run in runs if alone[run["round"]] and values_of([run], value)]


# title, and what it takes to do one unit of the work
SLOWDOWNS = [
    ("slowdown %", lambda run: 1 / run["rate"]),
    ("of CPU time %", lambda run: run["work_cpu_s"] / run["rate"] / run["elapsed_s"]),
]


def show_interval(values):
    if not values:
        return "-"
    low, high = interval(values)
    return f"{statistics.median(values):.2f} [{low:.2f}, {high:.2f}]"


def show(column, values):
    return column.form.format(column.summary(values)) if values else "-"


def windows_of(runs, windows):
    longest = max(run["seconds"] for run in runs)
    return [run for run in runs
            if (run["seconds"] == longest if windows == "longest"
                else bool(run.get("long")) == (windows == "long"))]


def is_idle(runs):
    return not any("rate" in run for run in runs)


def cells_of(runs, base):
    """One contestant's row."""
    in_rounds = windows_of(runs, "rounds")
    cells = [show_interval(above_base(in_rounds, base, value))
             for _, value in SLOWDOWNS if not is_idle(base)]
    for column in WAKE_UPS if is_idle(base) else []:
        alone = statistics.median(values_of(base, column.value))
        cells.append(show(column, [v - alone for v in values_of(in_rounds, column.value)]))
    for column in COLUMNS:
        cells.append(show(column, values_of(windows_of(runs, column.windows),
                                            column.value)))
    return cells


def rows_of_streams(runs, nr_titles):
    """Of who samples several events, how often each."""
    events = {event for run in runs for event in run.get("streams", {})}
    rows = []
    for event in sorted(events) if len(events) > 1 else []:
        hz = [run.get("streams", {}).get(event, 0) / run["sampled_s"] / run["cpus"]
              for run in windows_of(runs, "longest")]
        rows.append(["  " + event] + ["-"] * nr_titles
                    + [show(column, hz) if column.title == "samples/s" else "-"
                       for column in COLUMNS])
    return rows


def print_aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        first, *others = (f"{cell:<{width}}" if not at else f"{cell:>{width}}"
                          for at, (cell, width) in enumerate(zip(row, widths)))
        print("  ".join([first, *others]).rstrip())


def without_empty_columns(rows):
    """Leaves out what nobody tells."""
    keep = [at for at in range(len(rows[0]))
            if not at or any(row[at] != "-" for row in rows[1:])]
    return [[row[at] for at in keep] for row in rows]


def print_workload(workload, hz, runs, order):
    by_name = collections.defaultdict(list)
    for run in runs:
        by_name[run["contestant"]].append(run)
    base = by_name["base"]
    if not base:
        return
    titles = ([column.title for column in WAKE_UPS] if is_idle(base)
              else [title for title, _ in SLOWDOWNS])
    rows = [[""] + titles + [column.title for column in COLUMNS]]
    for name in order:
        if by_name[name]:
            rows.append([name] + cells_of(by_name[name], base))
            rows += rows_of_streams(by_name[name], len(titles))
    short = sorted({run["seconds"] for run in base})
    most = max(run["seconds"] for run in runs)
    print(f"\n{workload}, {hz} Hz: {len({run['round'] for run in base})} rounds "
          f"of {' and '.join(map(str, short))} s"
          + (f"; what is right of slowdowns is of {most} s" if most not in short else ""))
    print_aligned(without_empty_columns(rows))


def print_handler(rows):
    """What BPF programs take per sample."""
    for workload in dict.fromkeys(row["workload"] for row in rows):
        chosen = [row for row in rows if row["workload"] == workload]
        print(f"\n{workload}, {chosen[0]['hz']} Hz: ns per run of a BPF program, of "
              f"{chosen[0]['windows']} windows")
        lines = [["", "ns", "least", "greatest", "samples/entry"]]
        for row in chosen:
            lines.append([row["program"]] + [str(row[key]) for key in
                                             ("ns", "least", "greatest")]
                         + [f"{row['per_entry']:.1f}" if row["per_entry"] else "-"])
        print_aligned(lines)


def print_tables(data, workloads, contestants):
    machine = data["machine"]
    print(f"{machine['cpus']} CPUs, {machine['model']}, Linux {machine['kernel']}, "
          f"{machine['date']}; medians, of slowdowns with 95 % intervals (fewer than "
          "6 rounds: least and greatest)")
    groups = collections.defaultdict(list)
    for run in data["runs"]:
        groups[run["workload"], run["hz"]].append(run)
    for workload, hz in sorted(groups, key=lambda key: (workloads.index(key[0]), key[1])):
        print_workload(workload, hz, groups[workload, hz], contestants)
    print_handler(data["handler"])
    if data["refused"]:
        print("\nnot here:")
    for name, reason in data["refused"].items():
        print(f"  {name}: {reason}")
