#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-capture reads files with any content, in a sandbox. Neither it nor the collector dies,
# hangs, or stores a part of a capture.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need od dd objcopy prlimit setpriv
plan 48

# Other users run these, so they must not be below a folder that only root may enter.
chmod 711 .
mkdir own
cp "$builddir/t/capture_peer" "$builddir/helpers/cpi-capture" own
chmod 755 own own/*
peer_capture=$PWD/own/capture_peer

# ask FILE [AS]: the answer about some of its code, with the identity of the file AS.
ask()
{
	"$peer_capture" ask "$1" "${2:-$1}" 0x1000 0x9000 0x40 2>&1
}

# The sandbox
is "$("$peer_capture" sandbox | cat)" \
	'open Operation not permitted
socket Operation not permitted
fork Operation not permitted
exec Operation not permitted
kill Operation not permitted
unlink Operation not permitted
write works' 'a worker in the sandbox can only write its reply'
"$peer_capture" stuck "$PWD/own/cpi-capture" 0x400000 0x800000 0x200 >stuck
like "$(cat stuck)" '^Seccomp:[[:space:]]*2' 'system calls of a worker are filtered'
like "$(cat stuck)" '^NoNewPrivs:[[:space:]]*1' 'a worker cannot gain privileges'
is "$(grep '^Cap' stuck | grep -cv '0000000000000000')" 0 'a worker has no capabilities'
unlike "$(cat stuck)" '^Uid:[[:space:]]*0[[:space:]]' 'a worker is not root'
like "$(tail -n 1 stuck)" 'procedures [1-9].*data some' \
	'after a hanging worker was killed the next one answers'

# Files
cp "$programs/burn_a" good
like "$(ask good)" 'procedures [1-9].*data some' 'the code of a program is captured'
# Of a small program all procedures are: those that have samples are not counted twice.
# Its code has the same offsets in the file and in memory.
cp "$programs/operands" small
low=$(nm small | awk '$2 == "T" || $2 == "t" { print "0x" $1 }' | sort | sed -n 3p)
high=$(nm small | awk '$3 == "main" { print "0x" $1 }')
is "$("$peer_capture" ask small small "$low" $((high + 1)) $((high - low)))" \
	"$("$peer_capture" ask small small "$high" $((high + 1)) 1)" \
	'two procedures with samples make no more procedures than one'
like "$(prlimit --cpu=15 "$peer_capture" ask good good 0x1000 0x9000 0x40 2>&1)" \
	'procedures [1-9].*data some' 'a program is captured under a short limit of CPU time'
# Three processes are too few for the one that opens the files a worker asks for.
objcopy --only-keep-debug good bare.debug
objcopy --strip-all --add-gnu-debuglink=bare.debug good bare
like "$(timeout 300 setpriv --reuid=64111 --regid=64111 --clear-groups \
	--inh-caps=+dac_read_search --ambient-caps=+dac_read_search prlimit --nproc=3:3 \
	"$peer_capture" ask "$PWD/bare" bare 0x1000 0x9000 0x40 2>&1)" \
	'procedures .*data some' 'a program is captured if its debug file cannot be opened'
cp good other && printf x >>other
is "$(ask other good)" 'error: not the file that was profiled' 'a different file is refused'
cp good changed
touch -r good changed
byte=$(($(readelf -lW good | awk '$1 == "LOAD" && / R E / { print $2; exit }') + 64))
printf '\314' | dd of=changed bs=1 seek=$byte conv=notrunc 2>dd.err
touch -r good changed
is "$(ask changed good)" 'error: not the file that was profiled' \
	'a file with changed code, of the same size and time, is refused'
mkfifo fifo
like "$(ask fifo good)" '^error: ' 'a FIFO is refused'
ask /dev/zero good >zero 2>&1
like "$(cat zero)" '^error: ' 'an endless file is refused'
: >empty
like "$(ask empty)" '^error: ' 'an empty file is an error'
for size in 1 16 64 120 1000 5000; do
	head -c $size good >cut
	ask cut
done >cuts 2>&1
is "$(grep -c . cuts)" 6 'each cut file gives an answer'
like "$(cat cuts)" '^error: ' 'some cut files are errors'
n=0
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	cp good damaged
	awk -v seed=$seed -v size="$(stat -c %s good)" 'BEGIN {
		srand(seed)
		for (i = 0; i < 40; i++)
			printf "%d %03o\n", int(rand() * (i % 2 ? 1024 : size)), int(rand() * 256)
	}' >damage
	while read -r at value; do
		printf "\\$value" | dd of=damaged bs=1 seek="$at" conv=notrunc 2>dd.err
	done <damage
	# A worker that died would be reported as a missing child.
	ask damaged >answer
	grep -q 'No child' answer && note "seed $seed: $(cat answer)" || n=$((n + 1))
done
is $n 12 'no damaged file kills the worker'
rm fifo

# Split debug information: the worker asks for one file per compilation unit.
split=
for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
	echo "int f_$i(int x) { return x * ${i#0} + 1; }" >"s_$i.c"
	echo "int f_$i(int x);"
	split="$split s_$i.c"
done >split.h
{
	echo '#include "split.h"'
	echo 'int main(int n, char **v) { return (long)v +'
	sed -n 's/^int \(f_..\).*/	\1(n) +/p' split.h
	echo '0; }'
} >split.c
if ${CC:-cc} -g -gsplit-dwarf -Wl,--build-id -o split split.c $split 2>cc.err &&
	[ "$(find . -name '*s_*.dwo' | wc -l)" -eq 20 ]; then
	like "$(ask split)" 'procedures [1-9].*data some' \
		'a program with its debug information in 21 files'
else
	skip 1 'the compiler here splits no debug information'
fi

# Debug files are read with the rights of the program's owner.
if [ "$(id -u)" -eq 0 ] && [ "$(awk '/^CapEff/ { print $2 }' /proc/self/status)" != 0 ]; then
	mkdir private
	cp bare bare.debug private
	# named OWNER DIRECTORY-MODE FILE-MODE: whether a name of bare.debug is found
	named()
	{
		chown 64111:64111 private private/*
		chown "$1" private/bare
		chmod "$2" private
		chmod "$3" private/bare.debug
		"$peer_capture" ask "$PWD/private/bare" private/bare 0x1000 0x9000 0x40 burn_a 2>&1 |
			sed 's/.*burn_a //'
	}
	is "$(named 64222:64222 755 644)" there 'a debug file that everybody may read is read'
	is "$(named 64222:64222 755 600)" 'not there' "another user's private debug file is not read"
	is "$(named 64222:64222 700 644)" 'not there' "a debug file in another user's private folder is not read"
	is "$(named 64111:64111 700 600)" there "the owner's private debug file is read"
	chmod 757 private/bare
	is "$(named 64111:64111 700 600)" 'not there' \
		"the owner's private debug file is not read for a program that others may write"
	rm -r private
else
	skip 5 'only root can make files of several users'
fi

# With cpid
collect_start -F 1000 --sweep 200ms --capture 16M
for server in $(cat "/proc/$cpid_pid/task/$cpid_pid/children"); do
	[ "$(cat "/proc/$server/comm")" != cpi-capture ] || break
done
is "$(cat "/proc/$server/comm")" cpi-capture 'cpid starts cpi-capture'
is_root() { grep -q '^Uid:[[:space:]]*0[[:space:]]' "/proc/$server/status"; }
is_nobody() { ! is_root && grep -q '^CapEff:[[:space:]]*0*$' "/proc/$server/status"; }
await is_nobody # it drops its privileges before it reads anything
is_root
is $? 1 'cpi-capture is not root'
is "$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$server/status" |
	grep -vE '^0000000000000000$')" '' 'cpi-capture has no capabilities'
is "$(awk '{ print $19 }' "/proc/$server/stat")" 19 'cpi-capture has the lowest priority'
run 'a program runs' "$PWD/good" 700
await has_captured 1 "$PWD/good"
ok $? 'the code of the program is captured'
set -- $(awk '/^(Uid|Gid):/ { print $2 }' "/proc/$server/status")
allowed=$(awk '/^Max processes/ { print $3 }' "/proc/$server/limits")
may_start()
{
	setpriv --reuid="$uid" --regid="$gid" --clear-groups prlimit --pid "$server" \
		--nproc="$1":
}
uid=$1 gid=$2
may_start 0
cp "$programs/burn_c" third
run 'a program runs while no worker can be started' "$PWD/third" 700
short() { grep -c ": cpi-capture cannot start a worker: " t.log; }
await short >/dev/null
is "$(short)" 1 'the log says only once that no worker can be started'
bound "$(cpid_field captures_failed)" '>' 0 'failed captures are counted'
has_captured 1 "$PWD/third"
is $? 1 'a failed capture stores nothing'
may_start "$allowed"
run 'the program runs again when workers can be started' "$PWD/third" 700
cpid_ask flush >out
await has_captured 1 "$PWD/third"
ok $? 'the program is captured when workers can be started'
# Workers that are killed give no answer, like one that is too slow. One that is faster than
# kill captures its image.
nr_tried()
{
	echo $(($(cpid_field captures) + $(cpid_field captures_failed)))
}
kill_workers()
{
	while :; do
		workers= # the file does not end in a newline, which read reports
		read -r workers <"/proc/$server/task/$server/children"
		# shellcheck disable=SC2086 # several workers are several words
		[ -z "$workers" ] || kill -KILL $workers 2>/dev/null
	done
}
for n in 1 2 3 4 5; do
	silent=$PWD/silent_$n
	cp "$programs/burn_c" "$silent"
	kill -STOP "$server"
	"$silent" 700 >/dev/null
	cpid_ask flush >out
	tried=$(($(nr_tried) + $(cpid_field captures_waiting)))
	kill_workers &
	killer=$!
	tap_pids="$tap_pids $killer"
	kill -CONT "$server"
	until [ "$(nr_tried)" -ge $tried ]; do
		:
	done
	kill $killer
	has_captured 1 "$silent" || break
done
has_captured 1 "$silent"
is $? 1 'a worker was killed, and nothing is stored'
within 600 has_captured 1 "$silent" # after the images that were not tried
ok $? 'the program is captured later by another worker, although it runs no more'
kill -KILL "$server"
cp "$programs/burn_b" second
run 'a program runs after cpi-capture was killed' "$PWD/second" 700
cpid_ask flush >out
is $? 0 'cpid flushes after cpi-capture was killed'
is_stopped() { [ "$(cpid_field capture)" = stopped ]; }
await is_stopped
ok $? 'the status says that captures have stopped'
collect_stop
is "$(sql 'SELECT count(*) FROM capture WHERE length(covers) = 0 OR length(data) = 0')" 0 \
	'no stored capture is incomplete'
has_captured 1 "$PWD/second"
is $? 1 'a program that ran after the kill has no capture'
try 'every profile decodes' cpi cat --db "$db" --check

# Damaged captures
cp "$db" damaged.db
rm good
sqlite3 damaged.db "UPDATE capture SET data = substr(data, 1, length(data) / 2)" 2>err
cpi prof --db damaged.db --image '*/good' >out 2>err
is $? 0 'a database with damaged captures can be read'
like "$(cat err)" 'good: ' 'the report names the damaged capture'
is "$(cpi prof --db "$db" --image '*/good' --format=csv 2>err | sed -n 2p | cut -d, -f5)" \
	burn_a 'a complete capture has the name of the procedure'
