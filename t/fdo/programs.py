# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that compilers are to make faster.

Sources are Debian's, fetched by apt-get; nothing of the system is changed. Each program
is trained on one input (inputs.py) and timed on another.
"""

import collections
import glob
import os
import platform
import shutil
import subprocess

# package: Debian's source package, or None for what is in this folder. prepare: shell
# commands in the source folder. sources: patterns; "!" ahead of one takes away. In
# commands {exe}, {inputs} and {source_PACKAGE} stand for places; input is a file there
# that is the standard input. count is run like time, where each instruction is counted.
Program = collections.namedtuple("Program", "package prepare sources flags libs train time count")
Command = collections.namedtuple("Command", "words input")


class NoSource(Exception):
    """Why there is none, for the person at the terminal."""


def command(words, stdin=None):
    return Command(words.split(), stdin)


def repeated(pattern, times):
    return " ".join([pattern] * times)


LUA = "src/*.c !src/luac.c"
LUA_PREPARE = "echo '#define DEB_HOST_MULTIARCH \"none\"' >src/lua5.4-deb-multiarch.h"
SQLITE_FLAGS = ("-DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -DHAVE_USLEEP "
                "-DSQLITE_DEFAULT_MEMSTATUS=0")
EXPAT_FLAGS = "-Iexpat -Iexpat/lib -Iexpat/xmlwf -DXML_POOR_ENTROPY"
EXPAT = ("mkdir -p expat && { [ -d expat/lib ] || cp -r lib xmlwf expat/; } && "
         "printf '%s\\n' '#define BYTEORDER 1234' '#define XML_NS 1' '#define XML_DTD 1' "
         "'#define XML_CONTEXT_BYTES 1024' '#define HAVE_UNISTD_H 1' "
         "'#define HAVE_FCNTL_H 1' '#define HAVE_MMAP 1' >expat/expat_config.h")
CMARK = ("touch src/cmark_export.h && printf '%s\\n' '#include <stdbool.h>' "
         "'#define HAVE___BUILTIN_EXPECT' '#define CMARK_ATTRIBUTE(x) __attribute__(x)' "
         "'#define CMARK_INLINE inline' '#define CMARK_EXPORT' >src/config.h && "
         "printf '%s\\n' '#define CMARK_VERSION 1' '#define CMARK_VERSION_STRING \"1\"' "
         ">src/cmark_version.h && sed -i 's/#include <cmark_export.h>/#include \"config.h\"/' "
         "src/cmark.h")
TCC = ("{exe} -B{source_tcc} -I{source_tcc} -I/usr/include/"
       f"{platform.machine()}-linux-gnu -c")
TCC_SOURCES = "{source_lua5.4}/src/l*.c {source_tcc}/tccgen.c {source_tcc}/tccpp.c"
JQ = ("sed 's/[\\\\\"]/\\\\&/g; s/.*/\"&\\\\n\"/' src/builtin.jq >src/builtin.inc && "
      "echo '#define JQ_VERSION \"1.6\"' >src/version.h")
JQ_FLAGS = ("-I. -D_GNU_SOURCE -DIEEE_8087 -DHAVE_MEMMEM -DHAVE_ALLOCA_H -DHAVE_ISATTY "
            "-DHAVE_STRPTIME -DHAVE_TIMEGM -DHAVE_GMTIME_R -DHAVE_GMTIME -DHAVE_MKTIME")
JQ_QUESTION = "{exe} [..|numbers]|add,([..|strings]|unique|length) {inputs}"
PCRE2 = ("cp src/config.h.generic src/config.h && cp src/pcre2.h.generic src/pcre2.h && "
         "cp src/pcre2_chartables.c.dist src/pcre2_chartables.c")
PCRE2_SOURCES = ("src/pcre2_[a-z]*.c !src/pcre2_jit_*test.c !src/pcre2_jit_match.c "
                 "!src/pcre2_jit_misc.c !src/pcre2_printint.c !src/pcre2_dftables.c "
                 "!src/pcre2_ucptables.c !src/pcre2_fuzzsupport.c src/pcre2grep.c")
PCRE2_SEARCH = r'{exe} -c (?i)<(\w:?\w)\b[^>]+id="(\d+)"|&who;.+?(?<=n)> {inputs}'
XZ_FLAGS = "-DHAVE_CONFIG_H -DLOCALEDIR=0 -I. " + " ".join(
    "-Isrc/liblzma/" + part for part in
    "api common check lz rangecoder lzma delta simple".split()) + " -Isrc/common"
XZ_SOURCES = ("src/common/tuklib*.c src/xz/*.c src/liblzma/*/*.c !src/liblzma/*/*_tablegen.c "
              "!src/liblzma/check/*_small.c")
LAME = ("./configure -q --disable-decoder >/dev/null 2>&1 && "
        "sed -i '/HAVE_XMMINTRIN_H/d; /HAVE_TERMCAP/d' config.h")
LAME_SOURCES = " ".join(["libmp3lame/*.c"] + [
    f"frontend/{part}.c" for part in
    "lame_main main parse get_audio brhist console lametime timestatus".split()])
FLAC_SOURCES = ("src/libFLAC/*.c src/flac/*.c !src/flac/iffscan.c src/share/grabbag/*.c "
                "src/share/getopt/*.c src/share/replaygain_*/*.c src/share/utf8/*.c "
                "!src/share/utf8/*_test.c !src/share/utf8/make*.c !src/libFLAC/ogg_*.c")
# Its exit status is the answer.
MINISAT = ("sed -i 's/exit(20)/exit(0)/; s/exit(ret == [^;]*/exit(0)/; "
           "s/return (ret == [^;]*/return 0/' minisat/simp/Main.cc")

PROGRAMS = {
    "lua": Program("lua5.4", LUA_PREPARE, LUA, "-DLUA_COMPAT_5_3 -DLUA_USE_POSIX", "-lm",
                   command("{exe} {inputs}/train.lua"), command("{exe} {inputs}/time.lua 40"),
                   command("{exe} {inputs}/time.lua 3")),
    "sqlite": Program("sqlite3", "./configure -q --disable-tcl >/dev/null && "
                      "make -s sqlite3.c shell.c >/dev/null",
                      "sqlite3.c shell.c", SQLITE_FLAGS, "-lm",
                      command("{exe} :memory:", "train.sql"),
                      command("{exe} :memory:", "time.sql"),
                      command("{exe} :memory:", "count.sql")),
    "tcc": Program("tcc", "./configure --cc=gcc >/dev/null && make -s tccdefs_.h >/dev/null "
                   "2>&1 || :", "tcc.c", "-DONE_SOURCE=1 -I.", "-lm -ldl -lpthread",
                   command(TCC + " {source_zlib}/deflate.c {source_zlib}/inflate.c "
                           "{source_zlib}/trees.c {source_zlib}/gz*.c"),
                   command(TCC + " -DONE_SOURCE=0 " +
                           repeated(TCC_SOURCES, 8)),
                   command(TCC + " -DONE_SOURCE=0 " + TCC_SOURCES)),
    "mujs": Program("mujs", "", "one.c main.c", "", "-lm",
                    command("{exe} {inputs}/train.js"), command("{exe} {inputs}/time.js 80"),
                    command("{exe} {inputs}/time.js 10")),
    "expat": Program("expat", EXPAT,
                     "expat/lib/xmlparse.c expat/lib/xmlrole.c expat/lib/xmltok.c "
                     "expat/xmlwf/codepage.c expat/xmlwf/xmlfile.c expat/xmlwf/xmlwf.c "
                     "expat/xmlwf/unixfilemap.c", EXPAT_FLAGS, "",
                     command("{exe} {inputs}/train.xml"),
                     command("{exe} -n " + repeated("{inputs}/time.xml", 60)),
                     command("{exe} -n " + repeated("{inputs}/time.xml", 8))),
    "bzip2": Program("bzip2", "", "blocksort.c bzip2.c bzlib.c compress.c crctable.c "
                     "decompress.c huffman.c randtable.c", "-D_FILE_OFFSET_BITS=64", "",
                     command("{exe} -c", "train.txt"), command("{exe} -c", "time.bin"),
                     command("{exe} -c", "count.bin")),
    "lz4": Program("lz4", "", "lib/*.c programs/*.c", "-Ilib -DXXH_NAMESPACE=LZ4_", "-lpthread",
                   command("{exe} -9 -q -c {inputs}/train.txt"),
                   command("{exe} -9 -q -c {inputs}/time.bin"),
                   command("{exe} -9 -q -c {inputs}/count.bin")),
    "brotli": Program("brotli", "", "c/common/*.c c/dec/*.c c/enc/*.c c/tools/*.c",
                      "-Ic/include", "-lm",
                      command("{exe} -q 5 -w 18 -c {inputs}/train.txt"),
                      command("{exe} -q 5 -w 18 -c {inputs}/time.bin"),
                      command("{exe} -q 5 -w 18 -c {inputs}/count.bin")),
    "zlib": Program("zlib", "", "*.c test/minigzip.c", "-I. -DHAVE_UNISTD_H", "",
                    command("{exe} -6", "train.txt"), command("{exe} -6", "time.bin"),
                    command("{exe} -6", "count.bin")),
    "mawk": Program("mawk", "./configure -q >/dev/null && make -s >/dev/null 2>&1",
                    "*.c !makescan.c !rexp*.c !regexp_system.c !trace.c !fpe_check.c",
                    "-I. -DHAVE_CONFIG_H -DRETSIGTYPE=void -DLOCAL_REGEXP", "-lm",
                    command("{exe} -f {inputs}/train.awk {inputs}/train.txt"),
                    command("{exe} -f {inputs}/time.awk {inputs}/time.txt"),
                    command("{exe} -f {inputs}/time.awk {inputs}/count.txt")),
    "cmark": Program("cmark", CMARK, "src/*.c", "-Isrc", "",
                     command("{exe} {inputs}/train.txt"),
                     command("{exe} " + repeated("{inputs}/time.md", 20)),
                     command("{exe} {inputs}/time.md")),
    "zopfli": Program("zopfli", "", "src/zopfli/*.c", "", "-lm",
                      command("{exe} --i3 -c {inputs}/part.txt"),
                      command("{exe} --i2 -c {inputs}/count.bin"),
                      command("{exe} --i1 -c {inputs}/few.bin")),
    "lzip": Program("lzip", "", "*.cc", "-DPROGVERSION='\"1\"'", "-lstdc++",
                    command("{exe} -6 -c {inputs}/part.txt"),
                    command("{exe} -6 -c {inputs}/time.bin"),
                    command("{exe} -6 -c {inputs}/few.bin")),
    "jq": Program("jq", JQ, "src/*.c !src/inject_errors.c", JQ_FLAGS, "-lm -lpthread",
                  command("{exe} [.[]|select(.id%3==0)|.name+(.v|tostring)]|length "
                          "{inputs}/train.json"),
                  command(JQ_QUESTION + "/time.json"), command(JQ_QUESTION + "/train.json")),
    "pcre2": Program("pcre2", PCRE2, PCRE2_SOURCES,
                     "-DHAVE_CONFIG_H -DPCRE2_CODE_UNIT_WIDTH=8 -DSUPPORT_PCRE2_8 "
                     "-DSUPPORT_UNICODE -DHAVE_STRERROR -DHAVE_MEMMOVE -Isrc", "",
                     command(r"{exe} -c (static|int)\s+\w+\((void|[a-z])|return|\b[A-Z]{{3,}}\b "
                             "{inputs}/train.txt"),
                     command(PCRE2_SEARCH + "/time.txt" + " {inputs}/time.txt" * 7),
                     command(PCRE2_SEARCH + "/count.txt")),
    "xz": Program("xz-utils", "./configure -q --disable-shared --disable-nls >/dev/null",
                  XZ_SOURCES, XZ_FLAGS, "-lpthread",
                  command("{exe} -T1 -3 -c {inputs}/train.txt"),
                  command("{exe} -T1 -4 -c {inputs}/time.bin"),
                  command("{exe} -T1 -4 -c {inputs}/count.bin")),
    "zstd": Program("libzstd", "", "lib/*/*.c !lib/legacy/*.c !lib/deprecated/*.c programs/*.c",
                    "-Ilib -DZSTD_DISABLE_ASM -DXXH_NAMESPACE=ZSTD_", "-lpthread",
                    command("{exe} -7 -q -c --single-thread {inputs}/train.txt"),
                    command("{exe} -7 -q -c --single-thread " + repeated("{inputs}/time.bin", 5)),
                    command("{exe} -7 -q -c --single-thread {inputs}/count.bin")),
    "lame": Program("lame", LAME, LAME_SOURCES, "-DHAVE_CONFIG_H -I. -Iinclude -Ilibmp3lame",
                    "-lm", command("{exe} --quiet -b 128 {inputs}/train.wav -"),
                    command("{exe} --quiet -V 3 {inputs}/time.wav -"),
                    command("{exe} --quiet -V 3 {inputs}/count.wav -")),
    "flac": Program("flac", "./configure -q --disable-ogg >/dev/null 2>&1", FLAC_SOURCES,
                    "-DHAVE_CONFIG_H -DFLAC__NO_DLL -I. -Iinclude -Isrc/libFLAC/include", "-lm",
                    command("{exe} -s -5 -c {inputs}/train.wav"),
                    command("{exe} -s -8 -c {inputs}/time.wav"),
                    command("{exe} -s -8 -c {inputs}/count.wav")),
    "m4": Program("m4", "./configure -q >/dev/null && make -s -C lib >/dev/null 2>&1", "src/*.c",
                  "-DHAVE_CONFIG_H -I. -Isrc -Ilib", "lib/libm4.a",
                  command("{exe} {inputs}/train.m4"),
                  command("{exe} " + repeated("{inputs}/time.m4", 20)),
                  command("{exe} {inputs}/time.m4")),
    "minisat": Program("minisat2", MINISAT, "minisat/core/Solver.cc minisat/simp/*.cc "
                       "minisat/utils/*.cc", "-I. -D__STDC_LIMIT_MACROS "
                       "-D__STDC_FORMAT_MACROS -fpermissive -std=gnu++98", "-lz -lstdc++",
                       command("{exe} -verb=0 {inputs}/train.cnf"),
                       command("{exe} -verb=0 {inputs}/time.cnf"),
                       command("{exe} -verb=0 {inputs}/count.cnf")),
}

SMALL = Program(None, "", "small.c", "", "", command("{exe} 1 12"), command("{exe} 2 12"),
                command("{exe} 2 12"))

class Sources:
    """Debian's, below a folder; lists of packages are kept apart from the system's."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        os.makedirs(os.path.join(self.folder, "lists", "partial"), exist_ok=True)

    def apt(self, *words):
        with open("/etc/os-release", encoding="utf-8") as file:
            names = dict(line.strip().split("=", 1) for line in file if "=" in line)
        listed = os.path.join(self.folder, "sources.list")
        with open(listed, "w", encoding="ascii") as file:
            file.write("deb-src http://deb.debian.org/debian "
                       f"{names['VERSION_CODENAME']} main\n")
        done = subprocess.run(
            ["apt-get", "-q", "-o", "Dir::Etc::SourceList=" + listed,
             "-o", "Dir::Etc::SourceParts=" + os.path.join(self.folder, "none"),
             "-o", "Dir::State::Lists=" + os.path.join(self.folder, "lists"),
             "-o", "Dir::Cache=" + self.folder, "-o", "APT::Sandbox::User=root", *words],
            cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False)
        if done.returncode:
            raise NoSource(f"apt-get {' '.join(words)}: {done.stderr.strip()[-300:]}")

    def get(self, package):
        """The package's folder, fetched and unpacked if need be."""
        place = os.path.join(self.folder, "source_" + package)
        if os.path.isdir(place):
            return place
        if not glob.glob(os.path.join(self.folder, "lists", "*_source_Sources*")):
            self.apt("update")
        part = place + ".part"
        shutil.rmtree(part, ignore_errors=True)
        before = set(os.listdir(self.folder))
        self.apt("source", package)
        new = [n for n in set(os.listdir(self.folder)) - before
               if os.path.isdir(os.path.join(self.folder, n))]
        if len(new) != 1:
            raise NoSource(f"{package}: apt-get source left {new}")
        os.rename(os.path.join(self.folder, new[0]), place)
        return place


def expand_sources(program, folder):
    """The files to compile, relative to the folder."""
    chosen = []
    for pattern in program.sources.split():
        found = sorted(glob.glob(pattern.lstrip("!"), root_dir=folder))
        if pattern.startswith("!"):
            chosen = [f for f in chosen if f not in found]
        else:
            chosen += [f for f in found if f not in chosen]
    if not chosen:
        raise NoSource(f"{folder}: no files {program.sources}")
    return chosen
