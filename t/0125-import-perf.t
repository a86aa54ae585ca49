#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Recordings of other machines are read as perf reads them.
. "$srcdir/t/tap.sh"
need perf python3 sqlite3 zstd

fixtures=$srcdir/t/fixtures/perfdata
names='perf.data.branch-4.14 perf.data.branch_stack_spec perf.data.hybrid_topology
	perf.data.lost_samples-4.4 perf.data.weight_struct skylake-lbr.perf.data
	synth-ibs.perf.data'
plan 34

# perf_samples FILE: perf's samples in the format of perfdata_dump, without the event.
perf_samples()
{
	perf script -i "$1" --ns -F pid,tid,time,period,event,ip 2>/dev/null |
		sed -E 's|^ *([-0-9]+/[-0-9]+) +([0-9.]+): +([0-9]+) .* +([0-9a-f]+) *$|\1 \2 \3 \4|'
}

our_samples()
{
	"$builddir/t/perfdata_dump" "$1" | sed -nE 's/^s .*([^ ]*) ([-0-9]+\/[-0-9]+) ([0-9.]+) ([0-9]+) ([0-9a-f]+) [0-9a-f]+ [0-9]+ [0-9a-f]+$/\2 \3 \4 \5/p'
}

for name in $names; do
	zstd -qd "$fixtures/$name.zst" -o "$name" || bail "no $name"
	perf_samples "$name" >want
	our_samples "$name" >got
	[ -s got ] && cmp got want >&2
	ok $? "$name: each sample has the process, time, period and address that perf shows"
	cpi import -o "$name.db" "$name" >out 2>&1
	"$srcdir/t/perfdata_oracle.py" "$name" "$name.db"
	ok $? "$name: images, offsets, counts, times and edges agree with perf"
done

for name in perf.data.branch-4.14 perf.data.branch_stack_spec skylake-lbr.perf.data; do
	perf script -i "$name" -F brstack 2>/dev/null | tr ' ' '\n' | sed '/^$/d' |
		cut -d/ -f1-6 >want
	"$builddir/t/perfdata_dump" "$name" | sed -n 's/^b //p' >got
	[ -s got ] && cmp got want >&2
	ok $? "$name: $(wc -l <got) branches have the ends and cycles that perf shows"
done
is "$("$builddir/t/perfdata_dump" perf.data.weight_struct | awk '/^s/ {print $7, $8, $9}')" \
	"$(perf script -i perf.data.weight_struct -F addr,weight,data_src 2>/dev/null |
		sed -E 's/^ *([0-9a-f]+) +([0-9a-f]+) .* ([0-9]+) *$/\1 \3 \2/')" \
	'addresses, weights and data sources are those that perf shows'

# The latency of each record is kept with its instruction.
cat >records.py <<'END'
import json, subprocess, sys
rows = json.loads(subprocess.check_output(
    ["cpi", "records", "--db", sys.argv[1], "--limit=0", "--format=json"]))["instructions"]
got = sorted(r["latencies"]["memory"]["median"] for r in rows for _ in range(r["records"]))
want = sorted(int(w) for w in sys.stdin.read().split())
assert len(got) == len(want) and want, (got, want)
assert all(abs(g - w) <= w / 32 for g, w in zip(got, want)), (got, want)
END
perf script -i perf.data.weight_struct -F weight 2>/dev/null |
	python3 records.py perf.data.weight_struct.db
is $? 0 'cpi records has the latency of each record'
for name in perf.data.weight_struct synth-ibs.perf.data; do
	is "$(sqlite3 $name.db 'SELECT sum(total) FROM profile WHERE kind = 4')" \
		"$(sqlite3 $name.db 'SELECT sum(total) FROM profile WHERE kind = 0')" \
		"$name: each sample with an image has a record"
done

name=perf.data.lost_samples-4.4
like "$(cpi prof --db $name.db)" '^Lost: 2 samples, ring_lost' \
	'samples that perf lost are reported as ring_lost'
like "$(cpi import -o $name.db $name)" 'imported before: epoch 1 ' \
	'a second import says that the recording was imported before'
is "$(cpi epoch list --db $name.db --format=json | grep -c '"id"')" 1 \
	'a second import adds no epoch'

# Impossible numbers of lost samples (type 13), and those that a filter dropped (bit 15).
cat >lose.py <<'END'
import struct, sys
data = bytearray(open(sys.argv[1], "rb").read())
at, size = struct.unpack_from("<QQ", data, 40)
end = at + size
while at < end:
    kind, misc, length = struct.unpack_from("<IHH", data, at)
    if kind == 13:
        struct.pack_into("<H", data, at + 4, misc | int(sys.argv[3], 0))
        struct.pack_into("<Q", data, at + 8, int(sys.argv[4], 0))
    at += length
open(sys.argv[2], "wb").write(data)
END
python3 lose.py $name lost 0 0xffffffffffffffff
cpi import -o lost.db lost >out 2>err
is $? 1 'an impossible number of lost samples is an error'
like "$(cat err)" 'at offset 0x[0-9a-f]*: a record of [0-9]* lost samples: ' \
	'the error says where the record is'
python3 lose.py $name filtered 0x8000 1000
unlike "$(cpi import -o filtered.db filtered >out 2>err && cpi prof --db filtered.db || echo ring_lost)" 'ring_lost' \
	'samples that a filter dropped were not lost'

# Truncated recordings, other files, and standard input.
head -c 15000 $name >cut
cpi import -o cut.db cut >out 2>&1
is "$?" 1 'a truncated recording is refused'
like "$(cat out)" 'cut: at offset 0x' 'the message says at which offset the recording ends'
is "$(cpi epoch list --db cut.db --format=json | grep -c '"id"')" 0 \
	'nothing of a truncated recording is stored'
cpi import $name.db >out 2>&1
like "$(cat out)" "use 'cpi epoch import" \
	'the message about a database says to use cpi epoch import'
cpi import -o pipe.db - <$name >out 2>&1
is "$?" 0 'a recording is read from standard input'

mkdir own
cp skylake-lbr.perf.data own/
(cd own && cpi import skylake-lbr.perf.data >out 2>&1)
is $? 0 'cpi import needs no database to be named'
is "$(cd own && echo *)" 'cpi.db out skylake-lbr.perf.data' \
	'cpi import writes one file, cpi.db in the current folder'
