#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-capture reads files that may be anything, and is shut in while it does: neither it
# nor the collector dies, hangs, or keeps half of something.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need od dd objcopy prlimit setpriv
peer_capture=$builddir/t/capture_peer
plan 40

# ask FILE [AS]: what comes back for some of its code.
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
write works' 'a worker can open, start and harm nothing'
"$peer_capture" stuck "$builddir/tools/cpi-capture" 0x400000 0x800000 0x200 >stuck
like "$(cat stuck)" '^Seccomp:[[:space:]]*2' 'the kernel says that calls are filtered'
like "$(cat stuck)" '^NoNewPrivs:[[:space:]]*1' 'that there will be no privileges'
is "$(grep '^Cap' stuck | grep -cv '0000000000000000')" 0 'that there are no capabilities'
unlike "$(cat stuck)" '^Uid:[[:space:]]*0[[:space:]]' 'and that it is not root'
like "$(tail -n 1 stuck)" 'procedures some.*data some' \
	'a worker that hung and was killed: the next one answers'

# Files
cp "$programs/burn_a" good
like "$(ask good)" 'procedures some.*data some' 'a program is captured'
like "$(prlimit --cpu=15 "$peer_capture" ask good good 0x1000 0x9000 0x40 2>&1)" \
	'procedures some.*data some' 'also where less time is allowed than it would take'
# Three processes: nobody opens the files that the worker asks for.
objcopy --only-keep-debug good bare.debug
objcopy --strip-all --add-gnu-debuglink=bare.debug good bare
like "$(timeout 60 setpriv --reuid=64111 --regid=64111 --clear-groups \
	--inh-caps=+dac_read_search --ambient-caps=+dac_read_search prlimit --nproc=3:3 \
	"$peer_capture" ask "$PWD/bare" bare 0x1000 0x9000 0x40 2>&1)" \
	'procedures .*data some' 'and where the server cannot open what is asked for'
cp good other && printf x >>other
is "$(ask other good)" 'error: not the file that was profiled' 'another file is not'
cp good changed
touch -r good changed
byte=$(($(readelf -lW good | awk '$1 == "LOAD" && / R E / { print $2; exit }') + 64))
printf '\314' | dd of=changed bs=1 seek=$byte conv=notrunc 2>dd.err
touch -r good changed
is "$(ask changed good)" 'error: not the file that was profiled' \
	'nor one whose code alone was changed, with its old size and time'
mkfifo fifo
like "$(ask fifo good)" '^error: ' 'nor a FIFO'
ask /dev/zero good >zero 2>&1
like "$(cat zero)" '^error: ' 'nor one without an end'
: >empty
like "$(ask empty)" '^error: ' 'an empty file is an error'
for size in 1 16 64 120 1000 5000; do
	head -c $size good >cut
	ask cut
done >cuts 2>&1
is "$(grep -c . cuts)" 6 'a file that was cut gives an answer'
like "$(cat cuts)" '^error: ' 'which may be an error'
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
	# What killed the worker would show as a child that died.
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
	like "$(ask split)" 'procedures some.*data some' \
		'a program with its debug information in 21 files'
else
	skip 1 'the compiler here splits no debug information'
fi

# With cpid
collect_start -F 1000 --sweep 200ms --capture 16M
server=$(cat "/proc/$cpid_pid/task/$cpid_pid/children")
server=${server%% *}
is "$(cat "/proc/$server/comm")" cpi-capture 'cpid has started it'
unlike "$(cat "/proc/$server/status")" '^Uid:[[:space:]]*0[[:space:]]' 'and it is not root'
is "$(sed -n 's/^CapEff:[[:space:]]*//p' "/proc/$server/status" |
	grep -vE '^000000000000000[04]$')" '' 'with at most the right to read'
is "$(awk '{ print $19 }' "/proc/$server/stat")" 19 'at the lowest priority'
run 'a program runs' "$PWD/good" 700
captured()
{
	[ "$(sql "SELECT count(*) FROM capture JOIN image ON id = image
		WHERE name = '$1'")" -ge 1 ]
}
await 600 captured "$PWD/good"
ok $? 'and is captured'
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
run 'where no worker can be started a program runs' "$PWD/third" 700
short() { grep -c ": cpi-capture cannot start a worker: " t.log; }
await 600 short >/dev/null
is "$(short)" 1 'that nothing is captured is said, once'
bound "$(cpid_field captures_failed)" '>' 0 'and counted'
captured "$PWD/third"
is $? 1 'nothing of it is there'
may_start "$allowed"
run 'where one can be again it runs once more' "$PWD/third" 700
cpid_ask flush >out
await 600 captured "$PWD/third"
ok $? 'and is captured'
kill -KILL "$server"
cp "$programs/burn_b" second
run 'with cpi-capture dead a program runs' "$PWD/second" 700
cpid_ask flush >out
is $? 0 'and cpid stores what it did'
is_stopped() { [ "$(cpid_field capture)" = stopped ]; }
await 600 is_stopped
ok $? 'and says that captures have stopped'
collect_stop
is "$(sql 'SELECT count(*) FROM capture WHERE length(covers) = 0 OR length(data) = 0')" 0 \
	'nothing is half there'
captured "$PWD/second"
is $? 1 'nor there at all, of what came later'
try 'every profile decodes' cpi cat --db "$db" --check

# Damaged captures
cp "$db" damaged.db
rm good
sqlite3 damaged.db "UPDATE capture SET data = substr(data, 1, length(data) / 2)" 2>err
cpi prof --db damaged.db --image '*/good' >out 2>err
is $? 0 'a database with damaged captures is read'
like "$(cat err)" 'good: ' 'and what it lacks is said'
is "$(cpi prof --db "$db" --image '*/good' --format=csv 2>err | sed -n 2p | cut -d, -f5)" \
	burn_a 'what is whole has its name'
