#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Frequencies are estimated from samples of instructions if a recording has them.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v objdump >/dev/null || skip_all 'no objdump to find instructions with'
command -v cc >/dev/null || skip_all 'no compiler for the loop'
[ "$(uname -m)" = x86_64 ] || skip_all 'the loop is x86-64 code'
plan 11

# Each round runs the head, one of two ways, and the tail. Three in four take the first
# way.
cat >ways.c <<'END'
__asm__(".text\n.globl ways\n.type ways, @function\n"
	"ways:\n\txor %eax, %eax\n"
	"1:\tadd %rdi, %rax\n\timul $5, %rdi\n\tadd $3, %rdi\n\ttest $3, %dil\n\tje 2f\n"
	"\tadd $1, %rax\n\tshl $1, %rax\n\txor %rsi, %rax\n\tjmp 3f\n"
	"2:\tadd $7, %rax\n\tshr $1, %rax\n"
	"3:\tsub $1, %rsi\n\tjne 1b\n\tret\n"
	".size ways, . - ways\n");
int main(void)
{
	return 0;
}
END
cc -g -o ways ways.c 2>err || bail "$(cat err)"
objdump -d --disassemble=ways ways | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' >code

# 400,000 rounds. Most of the time is spent waiting at the first way.
cat >make.py <<'END'
import sys
from perfdata_target import Event, recording
code = [int(line, 16) for line in open("code")]
HEAD, FIRST, SECOND, TAIL = range(1, 6), range(6, 10), range(10, 12), range(12, 14)
CYCLES, INSTRUCTIONS, BRANCHES = range(3)
EVENTS = [Event(0, 0, 1000, 0, 0), Event(0, 1, 1000, 0, 0), Event(0, 5, 1000, 0, 0)]
def spread(event, **parts):
    return [{"event": event, "pc": code[i]} for part, n in parts.items()
            for i in globals()[part] for _ in range(n)]
TIME = spread(CYCLES, HEAD=400, FIRST=1500, SECOND=100, TAIL=400)
RETIRED = TIME + spread(INSTRUCTIONS, HEAD=400, FIRST=300, SECOND=100, TAIL=400)
KINDS = {
    "time": TIME,
    "few": TIME + spread(INSTRUCTIONS, HEAD=4),
    "plain": RETIRED,
    "missed": RETIRED + spread(BRANCHES, FIRST=180),
}
for name, samples in KINDS.items():
    open(name + ".data", "wb").write(recording(sys.argv[1], EVENTS, samples))
END
PYTHONPATH=$srcdir/t PYTHONDONTWRITEBYTECODE=1 python3 make.py "$tmp/ways" || bail 'no recordings'

# Of 100 heads, how many take the first way; rounds in thousands; the frequency's source.
cat >ratio.py <<'END'
import json, sys
code = [int(line, 16) for line in open("code")]
got = json.load(sys.stdin)
at = {int(b["start"], 16): b for b in got["blocks"]}
blocks = [at[code[i]] for i in (1, 6, 10, 12)]
print(round(100 * blocks[1]["frequency"] / blocks[0]["frequency"]),
      round(blocks[0]["frequency"] / 1000), got.get("frequency_source"))
END
for name in time few plain missed; do
	cpi import -o $name.db $name.data >out 2>&1 || bail "$(cat out)"
	cpi calc --db $name.db --format=json ways 2>err | python3 ratio.py >$name ||
		bail "$name: $(cat err)"
	echo "# $name: $(cat $name)"
done

# between VALUE LEAST MOST NAME
between()
{
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ]
	ok $? "$4"
}
ways()
{
	cut -d' ' -f1 "$1"
}
said()
{
	cut -d' ' -f3- "$1"
}

is "$(said time)" 'None' 'without samples of instructions no source is named'
is "$(cat few)" "$(cat time)" 'with too few samples of instructions frequencies are the same as without'
is "$(said plain)" 'instructions' 'with samples of instructions these are the source'
between "$(ways plain)" 73 77 'three of four rounds take the first way'
between "$(cut -d' ' -f2 plain)" 390 410 'there are 400,000 rounds'
is "$(cat missed)" "$(cat plain)" 'samples of branches do not change frequencies'

for command in calc list; do
	like "$(cpi $command --db plain.db ways)" \
		'^Frequencies are estimated from samples of instructions' "the text of cpi $command names the source"
done
like "$(cpi list --db plain.db --format=json ways)" '"frequency_source": *"instructions"' \
	'the JSON of cpi list names the source'
like "$(cpi cfg --db plain.db --format=dot ways)" 'from samples of instructions' 'the graph of cpi cfg names the source'
like "$(cpi export --db plain.db --image=ways --check 2>/dev/null)" \
	'^functions estimated from samples of instructions: 1$' \
	'cpi export --check names the source'
