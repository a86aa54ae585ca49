# SPDX-License-Identifier: GPL-2.0-or-later
"""unit_link - builds unit tests with another object of one source; for mutate and coverage

The commands are those of `make -n`: the source is compiled from another folder, and its
object is linked before the libraries, whose own one is then not used. If the source is a
header, the object of the unit test itself is replaced.
"""

import os
import re
import resource
import subprocess
import sys
import time

import session

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Each module's sources, and the unit tests that judge them.
MODULES = {
    "table": (["kmod/table.h"], ["check_table"]),
    "seal": (["kmod/seal.h"], ["check_seal"]),
    "flip": (["daemon/collect/bpf_table.c"], ["check_bpf_nodes", "check_bpf_table"]),
    "flow": (["analysis/freq/flow.c", "analysis/freq/flow_repair.c"], ["check_chain", "check_flow_doors", "check_flow_repair"]),
    "codecs": (["db/profile/codec.c", "db/profile/codec_records.c"], ["check_codec", "check_records"]),
    "attribution": (["daemon/attribute/attribute.c", "daemon/attribute/attribute_later.c",
                     "daemon/attribute/attribute_outcome.c",
                     "daemon/attribute/attribute_branches.c",
                     "daemon/attribute/attribute_stack.c"],
                    ["check_attribute", "check_attribute_stack"]),
    "procmap": (["daemon/procmap/procmap.c", "daemon/procmap/procmap_lookup.c",
                 "daemon/procmap/procmap_owners.c"],
                ["check_procmap"]),
    "store": (["db/store/store.c", "db/store/flush_samples.c", "db/store/flush_merge.c",
               "db/store/flush_sets.c"],
              ["check_db_calls", "check_store", "check_stacks", "check_window_rows", "check_retain_clock",
               "check_query"]),
    "rollup": (["db/retain/rollup.c", "db/retain/rollup_begin.c", "db/retain/rollup_day.c",
                "db/retain/rollup_finish.c", "db/retain/rollup_flushes.c",
                "db/retain/rollup_group.c", "db/retain/rollup_spread.c"],
               ["check_db_calls", "check_rollup", "check_stacks", "check_window_rows", "check_retain",
                "check_kept_sums"]),
    "blame": (["analysis/blame/blame.c", "analysis/blame/blame_address.c",
               "analysis/blame/blame_branch.c", "analysis/blame/blame_case.c",
               "analysis/blame/blame_fetch.c", "analysis/blame/blame_path.c",
               "analysis/blame/blame_units.c"],
              ["check_blame", "check_address", "check_summary"]),
}


def make_units(build, name):
    """Makes the unit tests of a module."""
    made = subprocess.run(["make", "-C", build] + ["t/unit/" + u for u in MODULES[name][1]],
                          capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit("%s: make: %s" % (name, made.stderr[-2000:]))


def limits():
    """A mutant may compute, allocate or write without end."""
    resource.setrlimit(resource.RLIMIT_CPU, (900, 900))
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 28, 1 << 28))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Test:
    """How to build and run one unit test with another object of one source."""

    def __init__(self, build, file, unit, flags=""):
        program = "t/unit/" + unit
        plan = subprocess.run(
            ["make", "-n", "V=1", "-W", self.name_of(build, file), program], cwd=build,
            capture_output=True, text=True, check=True).stdout.replace("\\\n", " ")
        self.build, self.program, self.why = build, program, ""
        name = file if file.endswith(".c") else program + ".c"
        compiles = [l for l in plan.splitlines() if re.search(r" -c .*%s\b" % re.escape(name), l)]
        links = [l for l in plan.splitlines() if " -o %s " % program in l and " -c " not in l]
        if not compiles or not links:
            sys.exit("unit_link: %s: make -n does not build it from %s" % (program, file))
        self.header = not file.endswith(".c")
        compile_words = re.split(r"\s*&&", compiles[-1])[0].split("`;")[-1]
        compile_words = re.sub(r"`[^`]*`", "", compile_words)
        compile_words = re.sub(r"-M[TF] \S+|-MD|-MP|\s-g\b|-Werror\b|ccache ", " ", compile_words)
        self.compile = re.sub(r"-o \S+", "-w %s -o {object}" % flags, compile_words)
        self.compile = re.sub(r"\S*%s(?=\s|$)" % re.escape(name),
                              (ROOT if self.header else "{root}") + "/" + name, self.compile)
        if self.header:
            self.compile = self.compile.replace(" -I", " -I{root} -I", 1)
        link = links[-1].replace("ccache ", "")
        link = link.replace(" -o %s " % program, " -o {exe} ", 1)
        own = re.search(r"\S*%s\S*\.o" % re.escape(unit), link).group()
        self.link = link.replace(own, "{object}" if self.header else own + " {object}", 1)

    @staticmethod
    def name_of(build, file):
        """The file's path as the build's make knows it."""
        with open(os.path.join(build, "Makefile"), encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("srcdir = "):
                    return os.path.join(line.split()[2], file)
        sys.exit("unit_link: %s: no Makefile of configure" % build)

    def make(self, root, mutant_file, content):
        """Compiles. Returns the object's bytes, or None."""
        path = os.path.join(root, mutant_file)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
        obj = os.path.join(root, "mutant.o")
        done = subprocess.run(self.compile.format(root=root, object=obj), shell=True,
                              cwd=self.build, capture_output=True, check=False)
        if done.returncode:
            self.why = done.stderr.decode(errors="replace")
            return None
        with open(obj, "rb") as data:
            return data.read()

    def run(self, root, limit_s):
        """Links and runs it: seconds if it passed, else None. A skipped test has not passed."""
        exe = os.path.join(root, os.path.basename(self.program))
        said = os.path.join(root, "said")
        obj = os.path.join(root, "mutant.o")
        done = subprocess.run(self.link.format(root=root, object=obj, exe=exe), shell=True,
                              cwd=self.build, capture_output=True, check=False)
        if done.returncode:
            sys.exit("unit_link: %s: %s" % (self.program, done.stderr.decode(errors="replace")))
        began = time.monotonic()
        with open(said, "wb") as out:
            status = session.run(
                [exe], limit_s, cwd=self.build, stdout=out, stderr=subprocess.DEVNULL,
                preexec_fn=limits, env=dict(
                    os.environ, srcdir=ROOT, CK_DEFAULT_TIMEOUT=str(max(4, int(limit_s / 2)))))
        seconds = time.monotonic() - began
        with open(said, "rb") as text:
            is_skipped = text.read(64).startswith(b"1..0 # SKIP")
        return seconds if status == 0 and not is_skipped else None
