# SPDX-License-Identifier: GPL-2.0-or-later
"""What the programs work on: of each two inputs that have little in common."""

import json
import math
import os
import random
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.append(os.path.dirname(HERE))
import loads  # pylint: disable=wrong-import-position

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
TRAIN_M4 = """
define(`fib', `ifelse($1, 0, 0, $1, 1, 1, `eval(fib(decr($1)) + fib(decr(decr($1))))')')
fib(19)
define(`loop', `ifelse($1, 0,, `x$1 loop(decr($1))')')
loop(400)
"""
TIME_M4 = """
define(`forloop', `pushdef(`$1', `$2')_forloop($@)popdef(`$1')')
define(`_forloop', `$4`'ifelse($1, `$3',, `define(`$1', incr($1))$0($@)')')
forloop(`i', 1, 3000, `translit(substr(`abcdefghijklmnopqrstuvwxyz', eval(i % 20), 5), `a-m',
`A-M') patsubst(`foo i bar', `o', `0') format(`%08d', i) len(index(`hello', `l'))
')
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


def train_json(rows):
    return json.dumps([{"id": i, "name": f"n{i}", "tags": ["a", f"b{i % 7}"], "v": i * 1.5}
                       for i in range(rows)])


def time_json(rows):
    """Nested as chance has it."""
    rng = random.Random(3)

    def any_value(depth):
        kind, size = rng.random() if depth else 0, rng.randrange(1, 6)
        if kind < 0.3:
            return rng.choice([rng.randrange(10**6), rng.random() * 1000, None, True,
                               f"s{rng.randrange(9999)} \u00e9"])
        if kind < 0.6:
            return [any_value(depth - 1) for _ in range(size)]
        return {f"k{rng.randrange(40)}": any_value(depth - 1) for _ in range(size)}
    return json.dumps([any_value(6) for _ in range(rows)], ensure_ascii=False, indent=1)


def wav(seconds, seed):
    """Tones that fade, in noise; 44,100 stereo samples a second."""
    rng, sound, phase, noise = random.Random(seed), bytearray(), 0, 0
    for i in range(seconds * 44100):
        if i % 5000 == 0:
            tone = rng.choice([220, 330, 440, 660, 880, 1500])
            loud = rng.randrange(2000, 12000)
        phase += tone / 44100
        noise = 0.7 * noise + 0.3 * rng.randrange(-1500, 1500)
        left = int(loud * math.sin(2 * math.pi * phase) * (1 - i % 5000 / 6000) + noise)
        sound += struct.pack("<hh", left, int(left * 0.8 + noise / 2))
    return (b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 1, 2, 44100, 4 * 44100, 4, 16) +
            b"data" + struct.pack("<I", len(sound)) + sound)


def clauses(variables, each, seed):
    """Of three variables, so many for each of them."""
    rng, nr = random.Random(seed), int(variables * each)
    return f"p cnf {variables} {nr}\n" + "".join(
        " ".join(str(v * rng.choice([1, -1])) for v in rng.sample(range(1, variables + 1), 3)) +
        " 0\n" for _ in range(nr))


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
        "train.json": train_json(20000), "time.json": time_json(4000),
        "train.wav": wav(12, 1), "time.wav": wav(60, 2), "count.wav": wav(3, 5),
        "train.cnf": clauses(170, 4.26, 1), "time.cnf": clauses(250, 4.26, 4),
        "count.cnf": clauses(150, 4.2, 9), "train.m4": TRAIN_M4, "time.m4": TIME_M4,
    }
    for name, content in files.items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    with open(done, "w", encoding="ascii"):
        pass
