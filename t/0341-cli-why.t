#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program is recorded, and every command explains why it is slow. The answers must agree
# with each other and with the profile.
. "$srcdir/t/tap.sh"

need_record
. "$srcdir/t/runs.sh"
command -v python3 >/dev/null || skip_all "no python3 to read JSON with"

plan 20

# A loop of divisions, each of which waits for the one before, and a cheap loop.
cat >slow.c <<'END'
#include <stdio.h>

__attribute__((noinline)) unsigned long divide(unsigned long n, unsigned long by)
{
	unsigned long x = ~0UL;

	for (unsigned long i = 0; i < n; i++)
		x = x / by + 0xfedcba9876543210UL;
	return x;
}

__attribute__((noinline)) unsigned long count(unsigned long n)
{
	unsigned long x = 0;

	for (unsigned long i = 0; i < n; i++)
		x = (x ^ i) + 3;
	return x;
}

int main(void)
{
	printf("%lu\n", divide(30000000, 3) + count(200000000));
	return 0;
}
END
${CC:-cc} -O1 -g -o slow slow.c || bail "no compiler"

cpi record -F 1000 -o why.db -- ./slow >out 2>err
is "$?" 0 "a program is recorded"
CPI_DB=why.db
export CPI_DB

cat >check.py <<'END'
"""Sums of every report, beside the profile's."""
import csv, json, subprocess

def run(*args):
    return subprocess.run(["cpi", *args], stdout=subprocess.PIPE, check=True).stdout.decode()

def report(*args):
    return json.loads(run(*args, "--format=json"))

prof = report("prof", "--image", "slow", "--event", event)
rows = {r["procedure"]: r["samples"][event] for r in prof["rows"]}
END
event=$(cpi prof --format=json 2>/dev/null | python3 -c '
import json, sys
print(json.load(sys.stdin)["streams"][0]["event"])')
[ -n "$event" ] || bail "no event"

py()
{
	{
		echo "event = '$event'"
		cat check.py
		echo "$1"
	} >now.py
	python3 now.py
}

is "$(py 'print(rows["divide"] > 50 and rows["count"] > 50)')" True "both loops have samples"

for p in divide count; do
	is "$(py "
r = report('calc', '--event', event, '$p')
insns = [i for b in r['blocks'] for i in b['instructions']]
print(sum(i['samples'][event] for i in insns) == rows['$p'],
      abs(sum(i['blamed_samples'] for i in insns) - rows['$p']) < 1,
      r['summary']['samples'] == rows['$p'])")" "True True True" \
		"the samples of $p are in its blocks"
	is "$(py "
r = report('calc', '--event', event, '$p')
s = r['summary']
cycles = sum(i['frequency'] * i['cpi'] for b in r['blocks'] for i in b['instructions']
             if i['cpi'] is not None)
print(abs(cycles / s['period_cycles'] - s['tallied']) <= 0.01 * s['samples'])")" True \
		"frequency times CPI is the time of $p"
	is "$(py "
r = report('calc', '--event', event, '$p')
rows = list(csv.DictReader(
    run('calc', '--event', event, '--format=csv', '$p').splitlines()))
insns = [i for b in r['blocks'] for i in b['instructions']]
print(len(rows) == len(insns),
      all(a['cpi'] == ('' if b['cpi'] is None else '%.3f' % b['cpi'])
          for a, b in zip(rows, insns)))")" "True True" "the CSV of calc $p agrees with its JSON"
done

# The loop of divide waits for the divider.
is "$(py "
r = report('calc', '--event', event, 'divide')
b = max(r['blocks'], key=lambda b: sum(i['blamed_samples'] for i in b['instructions']))
print(any(i['text'].split()[0] in ('div', 'udiv') for i in b['instructions']),
      'divide' in {c['reason'] for i in b['instructions'] for s in i['stalls']
                   for c in s['culprits']})")" "True True" \
	"the hot block is the one that divides, and waits for the divider"
is "$(py "
r = report('calc', '--event', event, 'count')
b = max(r['blocks'], key=lambda b: sum(i['blamed_samples'] for i in b['instructions']))
print(b['frequency'] > 1e6)")" True "the frequency of a loop that ran 200 million times is above a million"

# The sum.
is "$(py "
s = report('sum', '--event', event, '--image', 'slow')['summary']
whole = (sum(x['samples'] for k in ('dynamic', 'static') for x in s[k].values()) +
         s['execution'] + s['error'])
print(abs(whole - s['tallied']) < 1,
      abs(s['tallied'] + sum(s['not_tallied'].values()) - s['samples']) < 1,
      s['samples'] == sum(rows.values()))")" "True True True" "the parts of cpi sum add up to the samples of the image"
is "$(py "
s = report('sum', '--event', event)['summary']
prof = report('prof', '--event', event)
print(abs(s['samples'] - sum(r['samples'][event] for r in prof['rows'])
          - sum(prof['unknown'].values())) < 1)")" True "cpi sum of the whole system has the samples of cpi prof"
cpi sum --event "$event" --image slow >text
is "$(awk '/Subtotal|Execution|sampling/ { sub("%", "", $NF); n += $NF }
	END { print (n > 99.7 && n < 100.3) }' text)" 1 "the percentages of cpi sum add up to a hundred"
is "$(py "
s = report('sum', '--event', event, '--image', 'slow')['summary']
text = float('$(awk '/^\*\*\* Execution/ { print $NF }' text)'.rstrip('%'))
# Each is rounded: the text to a tenth of a percent, the samples to a thousandth.
print(abs(text - 100 * s['execution'] / s['tallied']) < 0.0501 + 0.1 / s['tallied'])")" \
	True "the text of cpi sum agrees with its JSON"

# The worst places.
is "$(py "
r = report('hot', '--event', event, '--image', 'slow', '--limit', '1')
print(len(r['instructions']), r['instructions'][0]['procedure'] in ('divide', 'count'))")" \
	"1 True" "the hottest instruction is in a loop"
is "$(py "
r = report('stalls', '--event', event, '--image', 'slow')['stalls']
hot = report('sum', '--event', event, '--image', 'slow')['summary']
print(all(a['samples'] >= b['samples'] for a, b in zip(r, r[1:])),
      sum(a['samples'] for a in r) <= 1.01 * hot['samples'])")" "True True" \
	"stalls are sorted, and their samples are no more than those of the image"

# Listings and graphs.
is "$(py "
r = report('list', '--event', event, 'count')
calc = {i['offset']: i for b in report('calc', '--event', event, 'count')['blocks']
        for i in b['instructions']}
print(all(i['frequency'] == calc[i['offset']]['frequency'] and
          i['cpi'] == calc[i['offset']]['cpi']
          for i in r['instructions'] if i['offset'] in calc))")" True \
	"list has the frequency and CPI of calc"
like "$(cpi list --event "$event" --asm count)" "frequency  *CPI " "list has columns for frequency and CPI"
like "$(cpi cfg --event "$event" count)" ' -> .*penwidth=6\.00, label="' \
	"the busiest edge is the widest"
is "$(cpi calc --all --event "$event" --image slow --format=json | py "
import sys
names = [json.loads(line)['procedure'] for line in sys.stdin]
print(len(names) == len(set(names)), {'divide', 'count'} <= set(names))")" "True True" \
	"calc --all has each procedure exactly once"
