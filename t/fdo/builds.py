# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs, built with and without the compilers' feedback, and profiles of them.

All that is made lies in a folder of the program and the compiler, and is made once.
"""

import glob
import os
import random
import re
import shlex
import shutil
import sqlite3
import subprocess

from inputs import HERE
from programs import expand_sources

# callgrind has no AVX-512, and counts each round of a rep instruction.
PLAIN_CPU = "glibc.cpu.hwcaps=" + ",".join(
    "-" + name for name in "AVX512F AVX512VL AVX512BW AVX512DQ AVX512CD ERMS FSRM".split())
CALLGRIND = ["valgrind", "--tool=callgrind", "--compress-strings=no", "--compress-pos=no",
             "--skip-plt=no"]
RATE_HZ = 4000
# GCC 12 divides by zero in the one that -fauto-profile gives it; this is that of -O2.
GCC_VECTORISER = "-fvect-cost-model=very-cheap"


class Failure(Exception):
    """What went wrong, for the person at the terminal."""


# What a compiler wants: its options for samples, and cpi's name for their form.
class Compiler:
    def __init__(self, path):
        self.path = path
        self.is_clang = "clang" in os.path.basename(path)
        self.name = os.path.basename(path)
        self.sampled = ["-g"] + (["-fdebug-info-for-profiling"] if self.is_clang else [])
        self.form = "llvm-sample" if self.is_clang else "gcov"

    def use_samples(self, profile):
        if self.is_clang:
            return [*self.sampled, "-fprofile-sample-use=" + profile]
        return [*self.sampled, "-fauto-profile=" + profile, GCC_VECTORISER]

    def profdata(self):
        return self.path.replace("clang", "llvm-profdata")


def run(words, **more):
    done = subprocess.run(words, stdout=more.pop("stdout", subprocess.DEVNULL),
                          stdin=more.pop("stdin", subprocess.DEVNULL), stderr=subprocess.PIPE,
                          text=True, errors="replace", check=False, **more)
    if done.returncode:
        raise Failure(f"{words[0]}: exit {done.returncode}: {done.stderr.strip()[-600:]}")
    return done.stderr


def together(jobs):
    """Compilations, two at a time."""
    running = []
    for words, folder in jobs + [(None, None)] * 2:
        if len(running) == 2 or words is None and running:
            process = running.pop(0)
            _, error = process.communicate()
            if process.returncode:
                for other in running:
                    other.kill()
                    other.communicate()
                raise Failure(f"{process.args[0]}: {error.strip()[-600:]}")
        if words:
            running.append(subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL,
                                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                            text=True, errors="replace"))


def newer(a, b):
    return os.path.getmtime(a) > os.path.getmtime(b)


# Kinds of recording, and what 'cpi record' is told where it has windows at all.
RECORDED = {"outcomes": "--windows=off", "windows": "--windows=100"}
LOOP = """load() {
	end=$(($(date +%s) + SECONDS)); cd "$1"; input=$2; shift 2
	while [ $(date +%s) -lt $end ]; do "$@" <"$input" >/dev/null || return; done
}
"""


def record(builds, kind, which):
    """The training loads of those that have no such profile yet, each for a while, in
    one epoch: a profiler sees all of a machine."""
    marks = {build: build.path(f"{kind}-{which}.recorded") for build in builds}
    wanted = [build for build in builds if not os.path.exists(marks[build])]
    if not wanted:
        return
    options, script = wanted[0].options, wanted[0].path("load.sh")
    with open(script, "w", encoding="utf-8") as file:
        file.write(LOOP.replace("SECONDS", str(options.seconds)))
        for build in wanted:
            command = getattr(build.program, which)
            file.write(shlex.join(["load", build.scratch, build.stdin_path(command),
                                   *build.words(command, build.ordinary())]) + "\n")
    run([os.path.join(options.tools, "tools/cpi"), "record", "-F", str(RATE_HZ), "-e",
         "cpu-clock", "-o", wanted[0].shared(kind, which),
         *([RECORDED[kind]] if options.has_windows else []), "--", "sh", script])
    for build in wanted:
        with open(marks[build], "w", encoding="ascii"):
            pass


class Build:
    """One program and one compiler."""

    def __init__(self, name, program, options, sources, compiler):
        self.name, self.program, self.options = name, program, options
        self.sources, self.compiler = sources, compiler
        self.folder = os.path.join(options.keep, compiler.name, name)
        self.inputs = os.path.join(options.keep, "inputs")
        self.scratch = os.path.join(self.folder, "scratch")
        os.makedirs(self.scratch, exist_ok=True)
        self.source = sources.get(program.package) if program.package else HERE
        self.prepare()
        self.files = expand_sources(program, self.source)

    def prepare(self):
        done = os.path.join(self.options.keep, "prepared_" + self.name)
        if self.program.prepare and not os.path.exists(done):
            run(["sh", "-c", self.program.prepare], cwd=self.source)
            with open(done, "w", encoding="ascii"):
                pass

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def words(self, command, exe):
        places = {"exe": exe, "inputs": self.inputs}
        found = []
        for word in command.words:
            word = re.sub(r"\{source_([^}]+)\}", lambda m: self.sources.get(m[1]), word)
            word = word.format(**places)
            found += sorted(glob.glob(word)) if "*" in word else [word]
        return found

    def stdin_path(self, command):
        return os.path.join(self.inputs, command.input) if command.input else os.devnull

    def stdin(self, command):
        return open(self.stdin_path(command), "rb")

    def execute(self, command, exe, **more):
        with self.stdin(command) as text:
            return run(self.words(command, exe), stdin=text, cwd=self.scratch, **more)

    def objects(self, kind, flags):
        """Compiles all files into a folder; the objects."""
        out, jobs, objects = self.path(kind + ".o"), [], []
        os.makedirs(out, exist_ok=True)
        for i, file in enumerate(self.files):
            objects.append(os.path.join(out, f"{i:02d}.o"))
            jobs.append(([self.compiler.path, "-O2", "-w", *self.program.flags.split(), *flags,
                          "-c", file, "-o", objects[-1]], self.source))
        together(jobs)
        return objects

    def link(self, objects, exe, flags, layout):
        """Layout 0 is that of the list; others have another order and begin elsewhere."""
        objects = list(objects)
        if layout:
            rng = random.Random(layout)
            rng.shuffle(objects)
            pad = self.path(f"pad{layout}.s")
            with open(pad, "w", encoding="ascii") as file:
                file.write(f'.text\n.skip {16 * rng.randrange(1, 256)}\n'
                           '.section .note.GNU-stack,"",@progbits\n')
            objects.insert(0, pad)
        run([self.compiler.path, "-O2", *flags, *objects, *self.program.libs.split(), "-o",
             exe + ".part"], cwd=self.source)
        os.rename(exe + ".part", exe)

    def executables(self, kind, flags, link_flags=()):
        """By layout; flags is a function, for what is not made when all is there."""
        exes = [self.path(f"{kind}.{i}") for i in range(self.options.layouts)]
        if not all(os.path.exists(exe) for exe in exes):
            objects = self.objects(kind, flags())
            for layout, exe in enumerate(exes):
                self.link(objects, exe, link_flags, layout)
        return exes

    def kept(self, kind):
        """Executables that were built before, by layout."""
        return sorted(glob.glob(self.path(kind + ".[0-9]")))

    # What is built.

    def base(self):
        return self.executables("base", lambda: [])

    def instrumented(self, which):
        """Front-end instrumentation, run with the training command."""
        kind = "instr-" + which

        def flags():
            where = self.path(kind + ".raw")
            shutil.rmtree(where, ignore_errors=True)
            shutil.rmtree(self.path(kind + ".o"), ignore_errors=True)
            generate = "-fprofile-generate" + ("=" + where if self.compiler.is_clang else "")
            if self.compiler.is_clang:
                generate = "-fprofile-instr-generate=" + where + "/%p.profraw"
            exe = self.path(kind + ".gen")
            self.link(self.objects(kind, [generate]), exe, [generate], 0)
            self.execute(getattr(self.program, which), exe)
            if not self.compiler.is_clang:
                return ["-fprofile-use", "-Wno-missing-profile"]
            run([self.compiler.profdata(), "merge", "-o", where + "/merged",
                 *glob.glob(where + "/*.profraw")])
            return ["-fprofile-instr-use=" + where + "/merged"]
        return self.executables(kind, flags)

    def sampled(self, which, source):
        """With the profile of a database that source, a method, makes."""
        kind = f"{source}-{which}"

        def flags():
            profile = self.path(kind + ".profile")
            self.export(getattr(self, source + "_database")(which), profile)
            return self.compiler.use_samples(profile)
        return self.executables(kind, flags)

    def ordinary(self):
        """What is profiled: optimised as ever, with debug information."""
        exe = self.path("ordinary")
        if not os.path.exists(exe):
            self.link(self.objects("ordinary", self.compiler.sampled), exe, [], 0)
        return exe

    # Profiles.

    def cpi(self, *words, **more):
        return run([os.path.join(self.options.tools, "tools/cpi"), *words], **more)

    def export(self, database, out):
        said = self.cpi("export", "--db", database, "--epoch=all", "--image", self.ordinary(),
                        "--format=" + self.compiler.form, "-o", out)
        with open(out + ".log", "w", encoding="utf-8") as file:
            file.write(said)

    def callgrind(self, command, exe, out, *more):
        """Of a copy without debug information: valgrind does not know all of DWARF 5."""
        plain = exe + ".plain"
        run(["objcopy", "--strip-debug", exe, plain])
        with self.stdin(command) as text:
            run([*CALLGRIND, *more, "--callgrind-out-file=" + out + ".part",
                 *self.words(command, plain)], stdin=text, cwd=self.scratch,
                env=dict(os.environ, GLIBC_TUNABLES=PLAIN_CPU))
        os.rename(out + ".part", out)
        return plain

    def exact_database(self, which):
        database, counts = self.path(f"exact-{which}.db"), self.path(which + ".callgrind")
        exe = self.ordinary()
        if os.path.exists(database):
            return database
        if not os.path.exists(counts):
            self.callgrind(getattr(self.program, which), exe, counts, "--dump-instr=yes",
                           "--collect-jumps=yes")
        with open(counts, "rb") as text:
            run([os.path.join(self.options.tools, "t/fdo/exact"), exe, exe + ".plain",
                 database + ".part"], stdin=text)
        os.rename(database + ".part", database)
        return database

    def shared(self, kind, which):
        """A database of all programs that were recorded together."""
        return os.path.join(os.path.dirname(self.folder), f"{kind}-{which}.db")

    def outcomes_database(self, which):
        """Samples of time, and with them which way conditional jumps went."""
        return self.shared("outcomes", which)

    def time_database(self, which):
        """The same samples, without that."""
        database, whole = self.shared("time", which), self.outcomes_database(which)
        if not os.path.exists(database) or newer(whole, database):
            source, copy = sqlite3.connect(whole), sqlite3.connect(database + ".part")
            source.backup(copy)
            copy.execute("DELETE FROM profile WHERE kind = 1")
            copy.commit()
            source.close()
            copy.close()
            os.rename(database + ".part", database)
        return database

    def windows_database(self, which):
        """With the branches that were decoded from where a sample stood on."""
        return self.shared("windows", which)

    def instructions(self, exe):
        """How many the command for counting takes, all libraries included."""
        kept = exe + ".count"
        if not os.path.exists(kept):
            self.callgrind(self.program.count, exe, kept + ".callgrind")
            with open(kept + ".callgrind", errors="replace", encoding="utf-8") as file:
                total = next(line.split()[1] for line in file
                             if line.startswith(("summary:", "totals:")))
            os.unlink(kept + ".callgrind")
            with open(kept, "w", encoding="ascii") as file:
                file.write(total)
        with open(kept, encoding="ascii") as file:
            return int(file.read())
