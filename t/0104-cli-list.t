#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi list on a database whose every count is known (t/mkdb.c).
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

plan 52

list()
{
	cpi list --epoch full "$@" 2>err
}

# Columns: samples, percent, samples and percent of page-faults, frequency, CPI,
# taken, not taken, offset, address, text, file, line.
list --format=csv --asm target_hot >hot.csv
is "$?" 0 "cpi list finds a procedure by its name"
is "$(head -n 1 hot.csv)" \
	"samples:cpu-clock,percent,samples:page-faults,percent:page-faults,frequency,cpi,taken,not_taken,offset,address,text,file,line,frequency_low,frequency_high,cpi_low,cpi_high,blamed_samples,faster_than_best,time_percent" \
	"the column titles of CSV"
is "$(awk -F, 'NR > 1 { n += $1; t += $7; u += $8 } END { print n, t, u }' hot.csv)" \
	"600 30 10" "samples and branch outcomes of the instructions add up"
is "$(sed -n 2p hot.csv | cut -d, -f1,2)" "560,93.33" "the first instruction has its samples"

# A sample inside an instruction is the instruction's.
is "$(awk -F, 'NR > 1 && $1 == 40 { print $2 }' hot.csv)" "6.67" \
	"a sample inside an instruction counts for that instruction"

list target_hot >text
like "$(cat text)" "^Procedure target_hot in $target" "the text names the procedure and its image"
like "$(cat text)" "taken  not taken  *address  instruction" \
	"a listing with branch outcomes has columns for them"
list --event page-faults target_cold >cold
unlike "$(cat cold)" "taken" "a listing without branch outcomes has no columns for them"
like "$(cat cold)" "^ *12  *100.00%  *0x" "--event lists the samples of that event"
case $(uname -m) in
x86_64 | aarch64)
	list --asm target_cold >cold
	like "$(cat cold)" "<target_hot>" "the target of a call is shown by name"
	list --asm target_hot >text
	like "$(cat text)" "<target_hot+0x[0-9a-f]*>" "the target of a jump is shown by name"
	;;
*)
	skip 2 "no decoder for $(uname -m)"
	;;
esac

list --color=always --asm target_hot >color
like "$(cat color)" "$(printf '\033')\[1;31m *560 " "--color=always colours hot lines"
list --color=auto --asm target_hot >color
unlike "$(cat color)" "$(printf '\033')" "--color=auto does not colour a file"

# Source, where the target was built with debug information.
source_file=$(cut -d, -f 12 hot.csv | grep 'target\.c$' | head -n 1)
if ! target_has_lines; then
	skip 4 "the target has no debug information"
elif [ -n "$source_file" ] && [ ! -r "$source_file" ]; then
	skip 4 "$source_file cannot be read"
else
	list target_hot >text
	like "$(cat text)" "^target.c:[0-9]*  *for (unsigned int i" \
		"a source line stands before its instructions"
	list --source target_hot >text
	like "$(cat text)" "^$source_file\$" "--source names the file"
	like "$(cat text)" "100.00% .*  for (unsigned int i" \
		"--source shows each line with its samples"
	list --source --format=csv target_hot >source.csv
	is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' source.csv)" 600 \
		"the samples of source lines add up"
fi

# A procedure of 400 instructions, of which the first two have samples.
cat >long.c <<'END'
unsigned int target_cold(void);
__asm__(".globl target_hot\n.type target_hot, %function\ntarget_hot:\n"
	".rept 400\nnop\n.endr\nret\n.size target_hot, . - target_hot");
unsigned int target_cold(void) { return 1; }
int main(void) { return 0; }
END
if ${CC:-cc} -g0 -o long long.c 2>err && "$builddir/t/mkdb" long.db "$tmp/long"; then
	long() { cpi "$@" --db long.db --epoch full 2>err; }
	long list target_hot >text
	is "$(grep -c '  nop' text)" 6 "a long listing has the hottest row and five around it"
	like "$(cat text)" '^\.\.\. 395 instructions left out, 0\.0 % (--all shows them)$' \
		"a long listing says how much is left out"
	is "$(long list target_hot --all | grep -c '  nop')" 400 "--all lists all of a long procedure"
	is "$(long list target_hot --format=csv | wc -l | tr -d ' ')" 402 "CSV has all of a long procedure"
	is "$(long calc target_hot --format=csv | wc -l | tr -d ' ')" 402 \
		"cpi calc writes all of a long procedure as CSV"
	is "$(long calc target_hot | grep -c '  nop')" 400 "cpi calc does not cut a block"
	is "$(long list target_cold | grep -c 'left out')" 0 "a short listing is whole"
else
	skip 7 "no compiler: $(head -n 1 err)"
fi

# A source file that is missing, and one that is there and cannot be read.
mkdir src
cp long.c src/sourced.c
if ${CC:-cc} -g -o sourced src/sourced.c 2>err && "$builddir/t/mkdb" sourced.db "$tmp/sourced"; then
	sourced() { cpi list target_cold --all --db sourced.db --epoch full >text 2>err; }
	sourced
	like "$(cat text)" 'unsigned int target_cold' 'the lines of a source file are shown'
	rm src/sourced.c
	sourced
	unlike "$(cat err)" 'sourced\.c' 'a source file that is missing is not a fault'
	mkdir src/sourced.c
	sourced
	like "$(cat err)" 'source: .*/sourced\.c: not a regular file: its lines are not shown' \
		'a source file that cannot be read is told of'
else
	skip 3 "no compiler: $(head -n 1 err)"
fi

# What has no code, no symbol, or no file.
list do_syscall_64 >text
like "$(cat text)" "^Only offsets with samples, without code: the kernel's code was not captured" \
	"the listing of a kernel procedure says that the code is missing"
is "$(list --format=csv do_syscall_64 | cut -d, -f1,9,11 | tail -n 2)" \
	"$(printf '50,0x1010,\n5,0x1080,')" \
		"a procedure without code is listed by its sampled offsets"
list --format=csv '[unknown procedure]' --image /nonexistent/app >text
is "$(cut -d, -f1,2,9 text | tail -n 1)" "20,100.00,0x500" \
	"an image whose file is gone is listed by its sampled offsets"
list '[unknown procedure]' --image app >text
like "$(cat text)" "^Only offsets with samples, without code: No such file" \
	"the listing says why the file could not be read"
# Where ticks were compared with random samples, only images with samples in the name are searched.
printf '%s\n' 'a 60 10000 /one:both=100,50 /one:first=200,100 /two:second=100,50 /two:both=0,0' |
	"$builddir/t/runsdb" both.db || bail 'no database of runs'
is "$(cpi list --db both.db --epoch all both 2>&1 | grep -c 'in /one,')" 1 \
	"a procedure is found where it has samples"
is "$(cpi list --db both.db --epoch all two:both 2>&1 | grep -c 'in /two,')" 1 \
	"a procedure of a named image is found without samples, too"
list '[unknown procedure]' >text
like "$(cat err)" "in several places" "a name that several images have is reported"
like "$(cat err)" "also: .*kernel" "the other images of that name are listed"
is "$(list --format=csv "$target:target_cold" | awk -F, '{ n += $1 } END { print n }')" \
	300 "IMAGE:NAME names a procedure of that image"
is "$(list --format=csv --image target "$target:target_cold" | awk -F, '{ n += $1 } END { print n }')" \
	300 "IMAGE:NAME names a procedure with --image, too"
offset=$(sed -n 2p hot.csv | cut -d, -f9)
is "$(list --format=csv "$offset" --image target | cut -d, -f1 | sed -n 2p)" 560 \
	"cpi list 0xOFFSET --image finds the procedure at the offset"
is "$(list --format=csv 0x9000 --image '[kernel]' | sed 's/,.*//' | tail -n 1)" 5 \
	"cpi list 0xOFFSET finds samples at an offset without a symbol"
list --format=csv --image target main >text
is "$?" 0 "a procedure without samples is listed"
is "$(awk -F, 'NR > 1 { n += $1 + $3 } END { print n }' text)" 0 \
	"a procedure without samples has no samples"

# The binary is no longer what was profiled.
mv target target.real
mkfifo target
timeout 300 cpi prof -v --epoch full >text 2>err
is "$?" 0 "cpi prof does not hang if a FIFO is in the binary's place"
like "$(cat err)" "$target: not a regular file" \
	"the warning says that the binary is no regular file"
like "$(cat text)" "908[.]0  .*unknown procedure.*$target" \
	"the samples of a replaced binary are still listed"
rm target
ln -s target.real target
cpi prof -v --epoch full >text 2>err
like "$(cat err)" "$target: a symbolic link" "the warning says that the binary is a symbolic link"
rm target
head -c 5000 target.real >target
cpi prof -v --epoch full >text 2>err
like "$(cat err)" "$target: not the file that was profiled" \
	"the warning says that the binary is another file"
rm target
mv target.real target

# The analysis reads the code first, and the listing reads it again.
at=$(printf '%d' "$(sed -n 2p hot.csv | cut -d, -f9)")
if ! strace -o probe -e inject=getppid:error=EPERM true 2>/dev/null; then
	skip 3 'nothing can be traced here'
else
	list --asm target_hot >whole.txt # which keeps the symbols
	# Sanitizers cannot look for leaks in a program that is traced.
	leaks="ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-}"
	env "$leaks" strace -f -qq -o trace -P "$target" -e trace=pread64 cpi list --epoch full target_hot >text
	first=$(awk -v end=", $at)" 'index($0, end) { print NR; exit }' trace)
	[ -n "$first" ] || bail 'no read of the code was traced'
	unread()
	{
		env "$leaks" strace -f -qq -o trace -P "$target" \
			-e inject="pread64:error=EIO:when=$first" cpi list --epoch full "$@" target_hot 2>err
	}
	unread --asm >text
	is "$?,$(grep -c '  ret' text)" "0,$(grep -c '  ret' whole.txt)" \
		'code that the analysis cannot read is still listed'
	like "$(cat text)" '^Not analysed, so without "blamed", frequency and CPI: Input/output error\.$' \
		'a line says why columns of the analysis are missing'
	unread --format=json >text
	like "$(cat text)" '"not_analysed": *"Input/output error"' 'JSON says it too'
fi

if command -v python3 >/dev/null; then
	list --format=json target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(list(r))
print(sum(i["samples"]["cpu-clock"] for i in r["instructions"]), r["total"],
      r["procedure"], r["build_id"], r["no_code"])
print(list(r["instructions"][0]))' >json
	is "$(cat json)" "$(cat <<'END'
['epochs', 'marks', 'streams', 'procedure', 'image', 'build_id', 'attribution', 'total', 'no_code', 'not_analysed', 'instructions']
600 {'cpu-clock': 600, 'page-faults': 0} target_hot None None
['offset', 'address', 'text', 'samples', 'percent', 'frequency', 'cpi', 'frequency_interval', 'cpi_interval', 'taken', 'not_taken', 'file', 'line', 'blamed_samples', 'faster_than_best', 'time_percent']
END
)" "cpi list writes JSON"
	list --format=json --source target_hot | python3 -c '
import json, sys
r = json.load(sys.stdin)
print(sum(i["samples:cpu-clock"] for i in r["lines"]))' >json
	is "$(cat json)" 600 "JSON: the samples of source lines add up"
	list --format=json do_syscall_64 | python3 -c '
import json, sys
print(json.load(sys.stdin)["instructions"][0]["text"])' >json
	is "$(cat json)" None "JSON: an instruction without code has no text"
else
	skip 3 "no python3 to read JSON with"
fi
