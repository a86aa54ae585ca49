#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Call stacks in recordings: each frame is where perf has it, and each end has its reason.
. "$srcdir/t/tap.sh"
need python3 sqlite3
plan 23

python3 "$srcdir/t/perfdata_stacks.py" >made || bail 'no recording'
cpi import -o made.db made >out 2>&1
like "$(cat out)" '^made: 8 call stacks' 'cpi import counts the call stacks of a recording'
cpi cat --stacks --db made.db --format=csv | sed -n 's/^[^,]*,import,1000,[a-z]*,1,comm=program,//p' |
	sort >got
cat >want <<'END'
copied,/bin/program+0x10
copied,[kernel]+0x10
deferred,[kernel]+0x10
ended,/bin/program+0x10;/bin/program+0xff;/lib/libc.so.6+0x1ff
ended,[guest]
ended,[kernel]+0x10;/bin/program+0x300;/bin/program+0x105;/lib/libc.so.6+0x205
ended,[kernel]+0x10;[kernel]+0x1f;/bin/program+0x10;/bin/program+0xff;/lib/libc.so.6+0x1ff
limit,/bin/program+0x10;/bin/program+0xff;/bin/program+0x1ff
END
diff want got >&2
ok $? 'each frame has its image and offset, and each end its reason'
is "$(cpi cat --edges --db made.db --format=csv | grep -c '^branch')" 0 \
	'branch records that extend a chain are not stored as edges'
is "$(sqlite3 made.db 'SELECT sum(received), sum(stored) FROM tally WHERE kind = 1')" '13|8' \
	'received stacks = stored stacks + stacks that perf lost'
is "$(cpi cat --check --db made.db >out 2>&1; echo $?)" 0 'cpi cat --check finds no damage'
python3 "$srcdir/t/perfdata_stacks.py" lost >lost
cpi import -o lost.db lost >out 2>&1
is "$? $(sqlite3 lost.db "SELECT received, stored, (SELECT total(n) FROM loss l WHERE
	l.epoch = t.epoch AND l.kind = 1) FROM tally t WHERE kind = 1")" '0 5|0|5.0' \
	'stacks that were lost are counted in a recording without any other stack'
is "$(cpi cat --check --db lost.db >out 2>&1; echo $?)" 0 'cpi cat --check finds no damage there'
python3 "$srcdir/t/perfdata_stacks.py" leader >leader
cpi import -o leader.db leader >out 2>&1
is "$? $(sqlite3 leader.db 'SELECT name, sum(total) FROM profile JOIN image ON id = image
	WHERE context = 0 GROUP BY 1')" '0 /bin/program|1' \
	'a process whose first thread has ended is still known'
# A recording without a clock time ends when its file was written.
python3 "$srcdir/t/perfdata_stacks.py" long >long
for mtime in 1 -5; do
	touch -d @$mtime long
	cpi import -o "at$mtime.db" long >out 2>&1
	is "$? $(sqlite3 "at$mtime.db" 'SELECT min(from_ns), max(to_ns) FROM epoch')" '0 0|20000000000' \
		"a file of time $mtime: its recording does not begin before 1970"
done

# What only call chains touch has no build id in a recording: device and inode alone. The
# file that lies there is it, unless it changed since.
cp "$builddir/t/target" target
"$builddir/t/mkdb" chains.db "$tmp/target" || bail 'no database'
nobody_said()
{
	sqlite3 chains.db "UPDATE image SET build_id = x'', content = x'', size = 0, mtime_ns = 0,
		device = $(stat -c %d target), inode = $2 WHERE name = '$tmp/target';
		UPDATE epoch SET from_ns = $1 * 1000000000, to_ns = ($1 + 60) * 1000000000"
}
now=$(date +%s)
nobody_said $((now + 60)) "$(stat -c %i target)"
like "$(cpi prof -v --db chains.db --epoch full 2>err)" ' target_hot ' \
	'a file without a build id is read if it is older than the recording'
nobody_said $((now - 3600)) "$(stat -c %i target)"
unlike "$(cpi prof -v --db chains.db --epoch full 2>err)" ' target_hot ' \
	'a file that changed after the recording is not read'
like "$(cat err)" 'target: it has no build id in the profile, and the file may have changed' \
	'the warning says why the changed file is not read'
nobody_said $((now + 60)) 1
unlike "$(cpi prof --db chains.db --epoch full 2>err)" ' target_hot ' \
	'another file of its name is not read'

# This machine's.
if ! command -v perf >/dev/null || ! perf record -qge cpu-clock -o probe.data true 2>err; then
	skip 9 'perf cannot record here'
	exit
fi
cat "$srcdir"/t/*.t "$srcdir"/daemon/*/*.c "$srcdir"/db/*/*.c "$srcdir"/analysis/*/*.c >text
record_sort()
{
	perf record -qF 1999 -e cpu-clock,page-faults "$@" -- sort -o sorted text text 2>err
}
# frames_agree FILE NAME: each frame is that of perf script, in the order of the file and in
# the database.
frames_agree()
{
	perf script -i "$1" -F ip |
		awk '/^$/ { if (n) print ""; n = 0 } /^[ \t]/ { printf(n++ ? " %s" : "%s", $1) }
			END { if (n) print "" }' |
		sed -E 's/[0-9a-f]*([0-9a-f]{3})\b/\1/g' >want
	"$builddir/t/perfdata_dump" "$1" | sed -n 's/^c //p' |
		sed -E 's/[0-9a-f]*([0-9a-f]{3})\b/\1/g' >got
	[ -s got ] && cmp got want >&2
	ok $? "$2: $(wc -l <got) chains have the frames that perf shows"
	cpi import -o "$1.db" "$1" >out 2>&1 && "$srcdir/t/perfdata_chains.py" "$1" "$1.db"
	ok $? "$2: images, offsets and counts agree with perf"
}
record_sort -g -o own.data
frames_agree own.data 'perf record -g'
record_sort -g -z -o packed.data
frames_agree packed.data 'perf record -g -z'
record_sort -g -o - >pipe.data
frames_agree pipe.data 'perf record -g into a pipe'
# The event is cpu-clock:u if this user may sample only its own processes.
event=$(sqlite3 own.data.db "SELECT event FROM stream WHERE event GLOB 'cpu-clock*'")
like "$(cpi tree --db own.data.db --event="$event" 2>err)" 'sort' \
	'cpi tree shows the stacks of a recording'
cpi flame --db own.data.db --event="$event" -o flame.svg >out 2>&1
is $? 0 'cpi flame draws the stacks of a recording'
record_sort --call-graph dwarf,512 -o copied.data
cpi import -o copied.db copied.data >out 2>&1
is "$(sqlite3 copied.db 'SELECT sum(received) = sum(stored) AND sum(stored) > 0 FROM tally WHERE kind = 1')" 1 \
	'stacks that perf copied are all counted'
