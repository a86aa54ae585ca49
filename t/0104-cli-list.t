#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi list on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 36

list()
{
	cpi list --epoch full "$@" 2>err
}

# Columns: samples, percent, samples and percent of page-faults, frequency, CPI,
# taken, not taken, offset, address, text, file, line.
list --format=csv --asm target_hot >hot.csv
is "$?" 0 "a procedure by its name"
is "$(head -n 1 hot.csv)" \
	"samples:cpu-clock,percent,samples:page-faults,percent:page-faults,frequency,cpi,taken,not_taken,offset,address,text,file,line" \
	"the titles of CSV"
is "$(awk -F, 'NR > 1 { n += $1; t += $7; u += $8 } END { print n, t, u }' hot.csv)" \
	"600 30 10" "the samples add up, and the outcomes"
is "$(sed -n 2p hot.csv | cut -d, -f1,2)" "560,93.33" "the first instruction's samples"

# A sample inside an instruction is the instruction's.
is "$(awk -F, 'NR > 1 && $1 == 40 { print $2 }' hot.csv)" "6.67" "another one's samples"

list target_hot >text
like "$(cat text)" "^Procedure target_hot in $target" "text says where it is"
like "$(cat text)" "taken  not taken  *address  instruction" "there are outcomes to show"
list --event page-faults target_cold >cold
unlike "$(cat cold)" "taken" "where there are none, there is no column"
like "$(cat cold)" "^ *12  *100.00%  *0x" "the samples of the other event"
case $(uname -m) in
x86_64 | aarch64)
	list --asm target_cold >cold
	like "$(cat cold)" "<target_hot>" "a call's target has its name"
	list --asm target_hot >text
	like "$(cat text)" "<target_hot+0x[0-9a-f]*>" "so has a jump's"
	;;
*)
	skip 2 "no decoder for $(uname -m)"
	;;
esac

list --color=always --asm target_hot >color
like "$(cat color)" "$(printf '\033')\[1;31m *560 " "hot lines are coloured"
list --color=auto --asm target_hot >color
unlike "$(cat color)" "$(printf '\033')" "in a file, they are not"

# Source, where the target was built with debug information.
source_file=$(cut -d, -f 12 hot.csv | grep 'target\.c$' | head -n 1)
if [ -n "$source_file" ] && [ -r "$source_file" ]; then
	list target_hot >text
	like "$(cat text)" "^target.c:[0-9]*  *for (unsigned int i" "source between assembly"
	list --source target_hot >text
	like "$(cat text)" "^$source_file\$" "source alone names its file"
	like "$(cat text)" "100.00% .*  for (unsigned int i" "and has its samples"
	list --source --format=csv target_hot >source.csv
	is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' source.csv)" 600 \
		"which add up"
else
	skip 4 "the target has no debug information"
fi

# What has no code, no symbol, or no file.
list do_syscall_64 >text
like "$(cat text)" "^Only the sampled offsets: the kernel's code was not captured" \
	"the kernel, of which no code is known"
is "$(list --format=csv do_syscall_64 | cut -d, -f1,9,11 | tail -n 2)" \
	"$(printf '50,0x1010,\n5,0x1080,')" "its sampled offsets"
list --format=csv '[unknown procedure]' --image /nonexistent/app >text
is "$(cut -d, -f1,2,9 text | tail -n 1)" "20,100.00,0x500" \
	"an image that is gone: its sampled offsets"
list '[unknown procedure]' --image app >text
like "$(cat text)" "^Only the sampled offsets: No such file" "with the reason"
list '[unknown procedure]' >text
like "$(cat err)" "in several places" "a name in several images"
like "$(cat err)" "also: .*kernel" "the others are named"
is "$(list --format=csv "$target:target_cold" | awk -F, '{ n += $1 } END { print n }')" \
	300 "IMAGE:NAME"
offset=$(sed -n 2p hot.csv | cut -d, -f9)
is "$(list --format=csv "$offset" --image target | cut -d, -f1 | sed -n 2p)" 560 \
	"0xOFFSET in an image"
is "$(list --format=csv 0x9000 --image '[kernel]' | sed 's/,.*//' | tail -n 1)" 5 \
	"0xOFFSET where no symbol is"
list --format=csv --image target main >text
is "$?" 0 "a procedure without samples"
is "$(awk -F, 'NR > 1 { n += $1 + $3 } END { print n }' text)" 0 "has none"

# The binary is no longer what was profiled.
mv target target.real
mkfifo target
timeout 20 cpi prof --epoch full >text 2>err
is "$?" 0 "a FIFO in the binary's place stops nothing"
like "$(cat err)" "$target: not a regular file" "and is named"
like "$(cat text)" "908  .*unknown procedure.*$target" "its samples are still there"
rm target
ln -s target.real target
cpi prof --epoch full >text 2>err
like "$(cat err)" "$target: a symbolic link" "so is a symbolic link"
rm target
head -c 5000 target.real >target
cpi prof --epoch full >text 2>err
like "$(cat err)" "$target: not the file that was profiled" "and another file"
rm target
mv target.real target

if command -v python3 >/dev/null; then
	list --format=json target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(list(r))
print(sum(i["samples"]["cpu-clock"] for i in r["instructions"]), r["total"],
      r["procedure"], r["build_id"], r["no_code"])
print(list(r["instructions"][0]))' >json
	is "$(cat json)" "$(cat <<'END'
['epochs', 'streams', 'procedure', 'image', 'build_id', 'attribution', 'total', 'no_code', 'instructions']
600 {'cpu-clock': 600, 'page-faults': 0} target_hot None None
['offset', 'address', 'text', 'samples', 'percent', 'frequency', 'cpi', 'taken', 'not_taken', 'file', 'line']
END
)" "JSON"
	list --format=json --source target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sum(i["samples:cpu-clock"] for i in r["lines"]))' >json
	is "$(cat json)" 600 "JSON of source lines"
	list --format=json do_syscall_64 | python3 -c '
import json, sys
print(json.load(sys.stdin)["instructions"][0]["text"])' >json
	is "$(cat json)" None "JSON without code"
else
	skip 3 "no python3 to read JSON with"
fi
