# SPDX-License-Identifier: GPL-2.0-or-later
"""What a program did: exact counts, and samples and windows of other runs of it."""

import collections
import csv
import io
import os
import re
import shutil
import subprocess

from programs import HELD_OUT, TOP, TUNING, UNSEEN, make_corpus, make_source, make_style

ALL = {**TUNING, **HELD_OUT, **UNSEEN}
# callgrind has no AVX-512 and no RTM, by which the C library chooses its functions, and
# counts each round of a rep instruction.
PLAIN_CPU = "glibc.cpu.hwcaps=" + ",".join(
    "-" + name for name in ("AVX512F AVX512VL AVX512BW AVX512DQ AVX512CD RTM "
                            "Prefer_No_VZEROUPPER ERMS FSRM").split())
# guile translates to machine code while it runs, which no file has.
ENVIRONMENT = dict(os.environ, GLIBC_TUNABLES=PLAIN_CPU, GUILE_JIT_THRESHOLD="-1")
MOST_SECONDS = 1000
# Two at a time: where others want the CPUs, too, it is of more use than one for longer.
LOOP = ('end=$(($(date +%s) + $1)); input=$2; shift 2; while [ $(date +%s) -lt $end ]; '
        'do "$@" <"$input" >/dev/null & "$@" <"$input" >/dev/null; wait; done')


class Failure(Exception):
    """What went wrong, for the person at the terminal."""


def run_quietly(command, text, **more):
    done = subprocess.run(command, input=text, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          env=ENVIRONMENT, **more)
    if done.returncode:
        raise Failure(f"{command[0]}: exit {done.returncode}: {done.stderr.strip()[-500:]}")


class Collection:
    """Of one program, in a folder."""

    def __init__(self, name, folder, options):
        program = ALL[name]
        self.name, self.options = name, options
        self.places = {"CORPUS": os.path.join(folder, "corpus"),
                       "SOURCE": os.path.join(folder, "source.i"),
                       "STYLE": os.path.join(folder, "style.xsl")}
        self.command = [self.places.get(word, word) for word in program.command]
        self.text = program.text
        # Others run the same programs meanwhile: a name of its own tells this one apart.
        self.link = os.path.join(folder, "measured-" + name)
        self.comm = os.path.basename(self.link)[:15]
        self.counts = os.path.join(folder, name + ".callgrind")
        self.samples = os.path.join(folder, name + (".steps" if options.steps else "") + ".csv")
        self.database = self.samples + ".db"

    def is_taken(self):
        return all(os.path.exists(path) for path in
                   (self.counts, self.samples, *self.places.values()))

    def take(self):
        """What is not there yet."""
        if not os.path.lexists(self.link):
            os.symlink(shutil.which(self.command[0]), self.link)
        if not os.path.exists(self.places["CORPUS"]):
            make_corpus(self.places["CORPUS"], 500_000 if self.options.short else 3_000_000)
        if not os.path.exists(self.places["SOURCE"]):
            make_source(self.places["SOURCE"], self.options.tools)
        if not os.path.exists(self.places["STYLE"]):
            make_style(self.places["STYLE"])
        if not os.path.exists(self.counts):
            self.count_exactly()
        if not os.path.exists(self.samples):
            self.record_enough()
            with open(self.samples + ".part", "w") as file:
                file.write(self.cat())
            os.rename(self.samples + ".part", self.samples)

    def count_exactly(self):
        run_quietly(["valgrind", "--tool=callgrind", "--dump-instr=yes",
                     "--collect-jumps=yes", "--compress-strings=no", "--compress-pos=no",
                     "--skip-plt=no", "--callgrind-out-file=" + self.counts + ".part",
                     *self.command], self.text)
        os.rename(self.counts + ".part", self.counts)

    def record_enough(self):
        """In as few epochs as it goes."""
        seconds = taken = 5 if self.options.short else self.options.seconds
        self.record(seconds)
        if self.options.steps:
            self.step()
            return
        wanted = 0 if self.options.short else self.options.nr_windows
        while (nr := self.nr_windows()) < wanted and taken < MOST_SECONDS:
            seconds = min(max(20, int(1.2 * taken * (wanted / max(nr, 1) - 1))), 200)
            self.record(seconds)
            taken += seconds

    def record(self, seconds):
        """The program again and again, for that long: one epoch more."""
        with open(self.database + ".stdin", "w") as file:
            file.write(self.text)
        options = (["--windows=off"] if self.options.steps else [])
        run_quietly([os.path.join(self.options.tools, "tools/cpi"), "record", "--by=comm",
                     "-F", str(self.options.freq), "-e", "cpu-clock", "-o", self.database,
                     *options, "--", "sh", "-c", LOOP, "sh", str(seconds),
                     self.database + ".stdin", self.link, *self.command[1:]], "")

    def step(self):
        """Windows of what the samples were taken of, by single-stepping."""
        with open(self.database + ".stdin") as file:
            subprocess.run([os.path.join(self.options.tools, "t/accuracy/steps"),
                            self.database, "1000", "100", str(self.options.nr_windows),
                            "90", self.link, *self.command[1:]],
                           stdin=file, stdout=subprocess.DEVNULL, check=True,
                           env=ENVIRONMENT)

    def cat(self, *what):
        """What the database has of the program alone."""
        return subprocess.run([os.path.join(self.options.tools, "tools/cpi"), "cat", "--db",
                               self.database, "--epoch", "all", "--comm", self.comm,
                               "--format=csv", *what],
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    def nr_windows(self):
        return Ends(self.cat("--windows")).nr


def read_end_names():
    with open(os.path.join(TOP, "abi/window.h")) as file:
        return re.findall(r'\bX\(\w+, "(\w+)"\)', file.read())


class Ends:
    """How far windows reach, and why not farther."""

    def __init__(self, text):
        names = read_end_names()
        self.nr = self.instructions = 0
        self.reasons = collections.Counter()
        for row in csv.DictReader(io.StringIO(text)):
            n = int(row["n"])
            self.nr += n
            self.instructions += n * int(row["instructions"])
            if row["reason"] != "0":
                self.reasons[names[int(row["reason"])]] += n

    def reach(self):
        return self.instructions / self.nr if self.nr else 0

    def common(self, most=3):
        """The most common ones but for length, in percent."""
        return ", ".join(f"{name} {100 * n / self.nr:.0f}"
                         for name, n in self.reasons.most_common(most) if n * 200 >= self.nr)
