# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that compilers are to make faster, and what they work on.

Sources are Debian's, fetched by apt-get; nothing of the system is changed. Each program
has two inputs that have little in common: it is trained on one and timed on the other.
"""

import collections
import glob
import os
import platform
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import loads  # pylint: disable=wrong-import-position

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
}

SMALL = Program(None, "", "small.c", "", "", command("{exe} 1 12"), command("{exe} 2 12"),
                command("{exe} 2 12"))

TIME_LUA = """
local n, Vec = tonumber(arg[1]), {}
Vec.__index = Vec
Vec.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Vec) end
function Vec:dot(o) return self.x * o.x + self.y * o.y end
local function queens(size, row, cols, d1, d2)
  if row > size then return 1 end
  local found = 0
  for c = 1, size do
    if not cols[c] and not d1[row + c] and not d2[row - c + size] then
      cols[c], d1[row + c], d2[row - c + size] = true, true, true
      found = found + queens(size, row + 1, cols, d1, d2)
      cols[c], d1[row + c], d2[row - c + size] = nil, nil, nil
    end
  end
  return found
end
local sum, out = setmetatable({ x = 0, y = 0 }, Vec), {}
for round = 1, n do
  for i = 1, 12000 do sum = sum + setmetatable({ x = i % 7, y = 1 }, Vec) end
  out[#out + 1] = queens(6, 1, {}, {}, {}) + sum:dot(sum)
  local s = {}
  for i = 1, 3000 do s[#s + 1] = tostring(i * 7919 % 1009):upper() .. "_" .. i end
  local joined = table.concat(s, " ")
  out[#out + 1] = #joined:gsub("(%d+)_(%d+)", "%2-%1") + select(2, joined:gsub("9", "nine"))
  local co = coroutine.wrap(function() for i = 1, 6000 do coroutine.yield(i) end end)
  for i = 1, 6000 do out[1] = out[1] + co() end
end
print(out[1], #out)
"""
TIME_SQL = """
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, town INTEGER, born REAL);
CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE visit(who INTEGER, town INTEGER, day INTEGER, PRIMARY KEY(who, day)) WITHOUT ROWID;
CREATE TRIGGER moved AFTER UPDATE OF town ON person BEGIN
  INSERT OR IGNORE INTO visit VALUES (new.id, new.town, new.id % 365); END;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 500)
INSERT INTO town SELECT i, 'town ' || (i * 17 % 997) FROM c;
BEGIN;
"""
TRAIN_JS = """
var words = {}, text = [], i;
for (i = 0; i < 60000; ++i) text.push("w" + (i * 7919 % 1009));
text.sort();
text.join(" ").replace(/w(\\d)(\\d*)/g, function (all, a) { words[a] = (words[a] || 0) + 1; return a; });
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
print(fib(23), JSON.stringify(words));
"""
TIME_JS = """
function Body(x, v) { this.x = x; this.v = v; }
Body.prototype.step = function (dt) { this.x += this.v * dt; this.v -= this.x * dt; };
function sieve(n) {
  var composite = [], count = 0;
  for (var i = 2; i < n; ++i) {
    if (composite[i]) continue;
    ++count;
    for (var k = i * 2; k < n; k += i) composite[k] = true;
  }
  return count;
}
var rounds = Number(scriptArgs[0]), total = 0;
for (var r = 0; r < rounds; ++r) {
  var bodies = [];
  for (var i = 0; i < 40; ++i) bodies.push(new Body(i, -i));
  for (var t = 0; t < 120; ++t) bodies.forEach(function (b) { b.step(0.01); });
  total += sieve(3000);
  var made = JSON.stringify(bodies), back = JSON.parse(made);
  total += back.length + made.split(",").length;
  try { null.x; } catch (e) { total += String(e).length; }
  for (var s = "", c = 0; c < 900; ++c) s += String.fromCharCode(97 + (c * 7) % 26);
  total += s.indexOf("zg") + s.toUpperCase().charCodeAt(5);
}
print(total);
"""
TIME_AWK = """
function fact(k) { return k < 2 ? 1 : k * fact(k - 1) }
NF > 2 { sum += NR * length($2); key = substr($1, 1, 3) "," NF; seen[key] = seen[key] + 1
  if ($1 ~ /^<e/) { sub(/id="/, "", $2); total += $2 + 0 } else line = toupper($0) sprintf("%05d", NR) }
NR % 50 == 0 { f += fact(NR % 12); last = last < line ? line : last }
END { for (k in seen) n++; print n, sum, total, f, length(last) }
"""


def time_sql(rows):
    rng = random.Random(11)
    lines = [TIME_SQL]
    for i in range(rows):
        lines.append(f"INSERT INTO person VALUES ({i}, '{rng.choice('ABCDE')}{i}', "
                     f"{rng.randrange(500)}, {rng.uniform(1900, 2020):.3f});")
        if i % 4 == 0:
            lines.append(f"UPDATE person SET town = {rng.randrange(500)} "
                         f"WHERE id = {rng.randrange(i + 1)};")
        if i % 97 == 0:
            lines.append("SELECT t.name, count(*), avg(born) FROM person p JOIN town t "
                         f"ON t.id = p.town WHERE t.id BETWEEN {i % 400} AND {i % 400 + 9} "
                         "GROUP BY 1 ORDER BY 3;")
    lines.append("COMMIT; SELECT count(*), max(day) FROM visit;")
    return "\n".join(lines) + "\n"


def train_xml(rows):
    return ("<r>" + "".join(f"<e><n>text &amp; {i}</n><m/></e>\n" for i in range(rows)) + "</r>\n")


def time_xml(rows):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE r [<!ENTITY who "someone">]>\n'
            '<r xmlns:a="urn:a" xmlns:b="urn:b">' +
            "".join(f'<a:e id="{i}" b:k="v{i * 7919 % 1009}" name=\'Zo\u00eb\'>&who; '
                    f"<![CDATA[<{i}>]]><!-- {i} --><a:n>\u00fcber</a:n></a:e>\n"
                    for i in range(rows)) + "</r>\n")


def time_markdown(parts):
    return "".join(f"# Part {i} #\n\n* one *thing* and **another_{i}**\n  * `below` <b>it</b>\n"
                   f"  * [to](http://here/{i} 'a title') and [back][r{i}]\n\n> quoted \\* text &amp; "
                   f"so on  \n> - 1\n\n    code {i}\n\n```c\nint x = {i};\n```\n\n"
                   f"[r{i}]: <http://there> \"t\"\n\n![i](x.png) ***deep** er* <!-- c -->\n\n---\n"
                   for i in range(parts))


def tree_text(most):
    """Text and code of this tree."""
    parts = []
    for folder, dirs, files in sorted(os.walk(TOP)):
        dirs[:] = [d for d in dirs if not d.startswith((".", "build"))]
        for name in sorted(files):
            if name.endswith((".c", ".h", ".md", ".1", ".5")):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    parts.append(file.read())
    return "".join(parts).encode()[:most]


def make_inputs(folder):
    """All files that the commands name."""
    done = os.path.join(folder, "done")
    if os.path.exists(done):
        return
    os.makedirs(folder, exist_ok=True)
    with open("/usr/bin/python3", "rb") as file:
        binary = file.read(2_000_000)
    xml = time_xml(9000).encode()
    other = binary + xml
    files = {
        "train.lua": loads.lua(40000, 15000, 25), "time.lua": TIME_LUA, "train.js": TRAIN_JS, "time.js": TIME_JS,
        "train.awk": loads.AWK, "time.awk": TIME_AWK, "train.sql": loads.sql(25000),
        "time.sql": time_sql(25000), "count.sql": time_sql(5000),
        "train.xml": train_xml(60000), "time.xml": xml.decode(),
        "train.txt": tree_text(1_500_000), "time.bin": other * 2,
        "count.bin": binary[:300_000] + xml[:200_000], "few.bin": binary[400_000:480_000],
        "part.txt": tree_text(150_000), "time.md": time_markdown(1500),
        "time.txt": xml * 4, "count.txt": xml[:400_000],
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    with open(done, "w", encoding="ascii"):
        pass


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
