# SPDX-License-Identifier: GPL-2.0-or-later
"""What interpreters are given to do, in the sizes that are wanted."""


def lua(numbers, words, fibonacci):
    return f"""
local seed, t, words = 42, {{}}, {{}}
local function rnd() seed = (seed * 1103515245 + 12345) % 2147483648 return seed end
for i = 1, {numbers} do t[i] = rnd() % 100000 end
table.sort(t, function(a, b) return a < b end)
for i = 1, {words} do words[#words + 1] = string.format("%d:%s", i, ("x"):rep(i % 7)) end
for w in table.concat(words, ","):gmatch("%d+:x+") do words[w] = (words[w] or 0) + 1 end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib({fibonacci}), #words)
"""


def sql(rows):
    return f"""
CREATE TABLE a(id INTEGER PRIMARY KEY, k INTEGER, s TEXT);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < {rows})
INSERT INTO a SELECT i, (i * 7919) % 10007, printf('%d-%s', i, hex(i * 104729)) FROM c;
CREATE INDEX ak ON a(k);
SELECT k % 100, count(*), max(s) FROM a GROUP BY 1 ORDER BY 2 DESC LIMIT 5;
SELECT count(*) FROM a x JOIN a y ON x.k = y.k AND x.id < y.id;
UPDATE a SET s = s || 'z' WHERE id % 3 = 0;
SELECT count(*), sum(length(s)) FROM a WHERE s LIKE '%A1%';
"""


AWK = r"""
{ n = split($0, w, /[^A-Za-z_]+/); for (i = 1; i <= n; i++) count[w[i]]++
  gsub(/[0-9]+/, "#"); bytes += length($0); if (match($0, /[a-z]+_[a-z]+/)) hits += RSTART }
END { for (x in count) if (count[x] > most) most = count[x]; print most, bytes, hits }
"""
