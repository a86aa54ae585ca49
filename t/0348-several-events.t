#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A recording of several events: instructions tell how often code ran, and where other
# events say that these are biased, frequencies are corrected, and it is said.
. "$srcdir/t/tap.sh"
command -v python3 >/dev/null || skip_all 'no python3 to make recordings'
command -v objdump >/dev/null || skip_all 'no objdump to find instructions with'
command -v cc >/dev/null || skip_all 'no compiler for the loop'
[ "$(uname -m)" = x86_64 ] || skip_all 'the loop is x86-64 code'
plan 19

# Each round runs the head, one of two ways, and the tail; three in four go the first way.
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

# 400,000 rounds. Time waits at the first way in all of them.
#   drawn   that way has twice the samples of instructions that it should have
#   over    ... and that many mispredictions
#   faint   ... or hardly any
#   hidden  it has a third of the samples that it should have
#   under   ... and memory was counted, and does not explain its time
cat >make.py <<'END'
import sys
from perfdata_target import Event, recording
code = [int(line, 16) for line in open("code")]
HEAD, FIRST, SECOND, TAIL = range(1, 6), range(6, 10), range(10, 12), range(12, 14)
CYCLES, INSTRUCTIONS, BRANCHES, MEMORY = range(4)
EVENTS = [Event(0, 0, 1000, 0, 0), Event(0, 1, 1000, 0, 0), Event(0, 5, 1000, 0, 0),
          Event(0, 3, 1000, 0, 0)]
def spread(event, **parts):
    return [{"event": event, "pc": code[i]} for part, n in parts.items()
            for i in globals()[part] for _ in range(n)]
TIME = spread(CYCLES, HEAD=400, FIRST=1500, SECOND=100, TAIL=400)
def retired(first):
    return TIME + spread(INSTRUCTIONS, HEAD=400, FIRST=first, SECOND=100, TAIL=400)
KINDS = {
    "time": TIME,
    "few": TIME + spread(INSTRUCTIONS, HEAD=4),
    "plain": retired(300),
    "drawn": retired(600),
    "over": retired(600) + spread(BRANCHES, FIRST=180),
    "faint": retired(600) + spread(BRANCHES, FIRST=9),
    "hidden": retired(100),
    "under": retired(100) + spread(MEMORY, SECOND=1),
}
for name, samples in KINDS.items():
    open(name + ".data", "wb").write(recording(sys.argv[1], EVENTS, samples))
END
PYTHONPATH=$srcdir/t PYTHONDONTWRITEBYTECODE=1 python3 make.py "$tmp/ways" || bail 'no recordings'

# How often the first way ran for 100 heads, rounds in thousands, what is said of them.
cat >ratio.py <<'END'
import json, sys
code = [int(line, 16) for line in open("code")]
got = json.load(sys.stdin)
at = {int(b["start"], 16): b for b in got["blocks"]}
blocks = [at[code[i]] for i in (1, 6, 10, 12)]
print(round(100 * blocks[1]["frequency"] / blocks[0]["frequency"]),
      round(blocks[0]["frequency"] / 1000), got.get("frequency_source"),
      *(b.get("sampled") for b in blocks))
END
for name in time few plain drawn over faint hidden under; do
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

is "$(said time)" 'None None None None None' 'without instructions nothing is said'
is "$(cat few)" "$(cat time)" 'nor with too few of them'
is "$(said plain)" 'instructions as_is as_is as_is as_is' 'else it is said where they are from'
between "$(ways plain)" 73 77 'and they tell how often the first way was gone'
between "$(cut -d' ' -f2 plain)" 390 410 'and how many rounds there were'
is "$(said drawn)" 'instructions as_is as_is as_is as_is' 'time alone is no evidence of a bias'
is "$(said over)" 'instructions as_is over as_is as_is' 'mispredictions are'
between "$(ways over)" 50 $(($(ways drawn) - 1)) 'and less often it was gone'
is "$(said faint)" "$(said drawn)" 'but not a few of them'
is "$(said hidden)" 'instructions as_is as_is as_is as_is' 'where memory was not counted it may be that'
is "$(said under)" 'instructions as_is under as_is as_is' 'else it is the shadow of something'
between "$(ways under)" $(($(ways hidden) + 1)) 100 'and more often it was gone'

like "$(cpi calc --db over.db ways)" '^Frequencies are estimated from samples of instructions' \
	'calc says so in words'
like "$(cpi calc --db over.db ways)" 'other events: 1 blocks were sampled too often, 0 ' \
	'and what was corrected'
like "$(cpi list --db under.db ways)" 'other events: 0 blocks were sampled too often, 1 ' \
	'as does list'
unlike "$(cpi list --db plain.db ways)" 'Corrected by' 'where something was'
like "$(cpi list --db plain.db --format=json ways)" '"frequency_source": *"instructions"' \
	'in JSON, too'
like "$(cpi cfg --db plain.db --format=dot ways)" 'from samples of instructions' 'and a picture'
like "$(cpi export --db over.db --image=ways --check 2>/dev/null)" \
	'^functions estimated from samples of instructions: 1; .* correct 1 ' \
	'and the check of what is exported'
