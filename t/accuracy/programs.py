# SPDX-License-Identifier: GPL-2.0-or-later
"""What is run to see how close frequencies are, and on what.

Estimates were tuned on the first set; nothing was chosen by the second one's results. The
third, UNSEEN (unseen.py), was chosen after all constants.
"""

import collections
import os
import random
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
# pylint: disable=wrong-import-position
import loads
import unseen

# The words of a command may be CORPUS, a file of several megabytes, SOURCE, one of C, and
# STYLE, a stylesheet.
Program = collections.namedtuple("Program", "command text")


def find_cc1():
    if not shutil.which("gcc"):
        return "cc1"
    return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                          check=False).stdout.strip()


PERL = r"""
while (<>) { last if $. > 30000; for my $w (split /\W+/) { $h{lc $w}++ if length $w > 2 }
  $n++ while /(\w+)\s*=\s*(\w+)/g; s/[aeiou]+/_/g; $n += length }
print "$n ", join(" ", (sort { $h{$b} <=> $h{$a} || $a cmp $b } keys %h)[0 .. 5]), "\n";
"""
BC = "scale=300; 4*a(1); e(1); l(2)\n"

TUNING = {
    "gzip": Program(["gzip", "-6c", "CORPUS"], ""),
    "bzip2": Program(["bzip2", "-c", "CORPUS"], ""),
    "xz": Program(["xz", "-T1", "-2c", "CORPUS"], ""),
    "zstd": Program(["zstd", "-q", "--single-thread", "-9", "-c", "CORPUS"], ""),
    "lua": Program(["lua5.4", "-"], loads.lua(60000, 20000, 27)),
    "sqlite": Program(["sqlite3", ":memory:"], loads.sql(60000)),
    "perl": Program(["perl", "-e", PERL, "CORPUS"], ""),
    "bc": Program(["bc", "-lq"], BC),
}

PYTHON = r"""
import collections, json, random
random.seed(7)
rows = [{"id": i, "name": "n%d" % (i * 7919 % 1009), "x": random.random()} for i in range(9000)]
back = json.loads(json.dumps(rows))
groups = collections.defaultdict(list)
for row in back:
    groups[row["name"]].append(row["x"])
best = sorted(((sum(v) / len(v), k) for k, v in groups.items()), reverse=True)[:5]
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
    def add(self, key):
        side = "left" if key < self.key else "right"
        child = getattr(self, side)
        if child: child.add(key)
        else: setattr(self, side, Node(key))
root = Node(0.5)
for row in rows[:4000]: root.add(row["x"])
sieve = bytearray([1]) * 60000
for i in range(2, 245):
    if sieve[i]: sieve[i * i::i] = bytes(len(range(i * i, 60000, i)))
print(best, sum(sieve), sum(int(c) for c in str(3 ** 4000)))
"""
JQ = ("[range(24000) | {a: ., b: (. * 7919 % 1009 | tostring)}] | group_by(.b) "
      "| map({k: .[0].b, n: length, s: (map(.a) | add)}) | sort_by(.s) | .[:5]")
TCL = r"""
proc fib n { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }
set words {}; set seed 42
for {set i 0} {$i < 20000} {incr i} {
  set seed [expr {($seed * 1103515245 + 12345) & 0x7fffffff}]
  lappend words w[expr {$seed % 5000}]
}
foreach w [lsort $words] { incr count($w) }
set text [join $words " "]
puts "[fib 20] [array size count] [regsub -all {w(\d)} $text {\1x} out] [string length $out]"
"""
M4 = r"""
define(`for', `ifelse(eval($2 <= $3), 1, `pushdef(`$1', $2)$4`'popdef(`$1')for(`$1', incr($2), $3, `$4')')')
define(`fib', `ifelse(eval($1 < 2), 1, $1, `eval(fib(decr($1)) + fib(eval($1 - 2)))')')
for(`i', 1, 1500, `define(`v'i, translit(`abc'i, `a-c0-9', `0-9a-c'))v`'i len(patsubst(v`'i, `[0-5]', `xy'))
')
fib(22)
"""
SED = r"s/([a-z]+)_([a-z]+)\(/\2_\1(/g;/(.)\1.*\1\1/p;y/abc/xyz/;s/[0-9]+|->/#/g;$="
XML = "<r>" + "".join(f'<e id="{i}" k="v{i * 7919 % 1009}"><n>text &amp; {i}</n><m/></e>\n'
                      for i in range(30000)) + "</r>\n"
DOT = "digraph g {" + "".join(f"n{i} -> n{i * 7 % 160}; n{i} -> n{i * i % 160};"
                              for i in range(160)) + "}\n"

GAWK = r"""
BEGIN { FS = "[^A-Za-z_0-9]+" }
{ for (i = 1; i <= NF; i++) if (length($i) > 3) seen[$i]++
  $0 = gensub(/([a-z]+)_([a-z]+)/, "\\2 \\1", "g"); bytes += length($0)
  if (match($0, /0x[0-9a-f]+/)) sum += strtonum(substr($0, RSTART, RLENGTH)) }
END { n = asorti(seen, order)
  for (i = 1; i <= n; i += 500) printf "%s %d\n", toupper(order[i]), seen[order[i]]
  print n, bytes, sum % 65521 }
"""
RUBY = r"""
seed = 42
text = (1..80000).map { seed = (seed * 1103515245 + 12345) & 0x7fffffff; "w#{seed % 5000}" }
words = Hash.new(0)
text.each { |w| words[w] += 1 }
Point = Struct.new(:x, :y) { def norm = Math.sqrt(x * x + y * y) }
far = (1..60000).map { |i| Point.new(i % 97, i * 31 % 89) }.sort_by(&:norm).last(3)
def fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
puts words.size, far.inspect, fib(24), (3**4000).to_s.count("7")
puts text.join(" ").gsub(/w(\d)/) { $1 * 2 }.size
"""
HTML = ("<!DOCTYPE html>\n<html><head><title>rows</title></head><body><table>\n"
        + "".join(f'<tr><td>{i}</td><td><b>n{i * 7919 % 1009}</b> &amp; '
                  f'<a href="r{i}.html">row <i>{i}</i></a></td></tr>\n' for i in range(30000))
        + "</table></body></html>\n")

PHP = r"""<?php
$seed = 42; $words = [];
for ($i = 0; $i < 60000; $i++) {
  $seed = ($seed * 1103515245 + 12345) & 0x7fffffff; $words[] = "w" . $seed % 5000; }
$count = array_count_values($words); arsort($count);
class Node { public $left, $right; function __construct(public $key) {}
  function add($key) { $side = $key < $this->key ? "left" : "right";
    if ($this->$side) $this->$side->add($key); else $this->$side = new Node($key); } }
$root = new Node(2500);
foreach (array_slice($words, 0, 20000) as $w) $root->add((int)substr($w, 1));
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
$text = preg_replace_callback('/w(\d)(\d*)/', fn($m) => $m[2] . $m[1], implode(" ", $words));
echo fib(23), " ", count($count), " ", md5($text), " ", strlen(json_encode($count)), "\n";
"""
XSLT = r"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:key name="k" match="e" use="@k"/>
<xsl:template match="/r"><table><xsl:for-each select="e[count(key('k', @k)) &gt; 2]">
<xsl:sort select="@k"/><xsl:sort select="@id" data-type="number" order="descending"/>
<tr class="{position() mod 7}"><xsl:apply-templates/><td><xsl:value-of
select="concat(translate(@k, 'v0123', 'w9876'), '-', string-length(n))"/></td></tr>
</xsl:for-each></table></xsl:template>
<xsl:template match="n"><b><xsl:value-of select="normalize-space(.)"/></b></xsl:template>
</xsl:stylesheet>
"""


def make_lp(rows, columns):
    """A linear program, as glpsol reads it."""
    draw = random.Random(7)
    cost = " + ".join(f"{draw.randrange(20, 60)} x{k}" for k in range(columns))
    lines = [" + ".join(f"{draw.randrange(1, 98)} x{k}" for k in range(columns)
                        if draw.random() < 0.3) + f" >= {draw.randrange(500, 3000)}"
             for _ in range(rows)]
    return f"Minimize\n o: {cost}\nSubject To\n" + "".join(
        f" c{i}: {line}\n" for i, line in enumerate(lines)) + "End\n"


ROFF = ".ll 60n\n" + "".join(
    f".sp\n.ti +2n\nParagraph {i} of \\fBmany\\fP has words w{i * 7919 % 1009} that are filled,"
    f" adjusted and \\fIhyphenated\\fP; extraordinarily {'uncharacteristically ' * (i % 4)}.\n"
    for i in range(6000))

HELD_OUT = {
    "python": Program(["/usr/bin/python3", "-"], PYTHON),
    "cc1": Program([find_cc1(), "-quiet", "-O2", "-fpreprocessed", "SOURCE", "-o", "-"], ""),
    "mawk": Program(["mawk", loads.AWK, "CORPUS"], ""),
    "jq": Program(["jq", "-n", JQ], ""),
    "tcl": Program(["tclsh"], TCL),
    "m4": Program(["m4"], M4),
    "xmllint": Program(["xmllint", "--format", "-"], XML),
    "sed": Program(["sed", "-nE", SED, "SOURCE"], ""),
    "sort": Program(["sort", "CORPUS"], ""),
    "lz4": Program(["lz4", "-9", "-c", "CORPUS"], ""),
    "dot": Program(["dot", "-Kdot", "-Tplain"], DOT),
    "gawk": Program(["gawk", GAWK, "CORPUS"], ""),
    "brotli": Program(["brotli", "-q", "6", "-c", "CORPUS"], ""),
    "tidy": Program(["tidy", "-q"], HTML),
    "ruby": Program(["ruby", "-"], RUBY),
    "php": Program(["php"], PHP),
    "xsltproc": Program(["xsltproc", "STYLE", "-"], XML),
    "glpsol": Program(["glpsol", "--lp", "/dev/stdin"], make_lp(300, 400)),
    "troff": Program(["troff", "-Tascii"], ROFF),
}

UNSEEN = {name: Program(command, text) for name, (command, text) in unseen.PROGRAMS.items()}


def make_corpus(path, most):
    """Text and code: the sources of this tree, and at most so much of a library."""
    with open(path, "wb") as out:
        for folder, _, files in sorted(os.walk(TOP)):
            for name in sorted(files):
                if name.endswith((".c", ".h", ".md", ".txt", ".t")):
                    with open(os.path.join(folder, name), "rb") as file:
                        out.write(file.read())
        with open("/usr/bin/python3", "rb") as file:
            out.write(file.read(most))


def make_style(path):
    with open(path, "w") as out:
        out.write(XSLT)


def make_source(path, tools):
    """A C file of this tree, preprocessed."""
    subprocess.run(["gcc", "-E", "-P", "-I" + TOP, "-I" + tools, "-o", path,
                    os.path.join(TOP, "analysis/freq/flow_repair.c")], check=True)
