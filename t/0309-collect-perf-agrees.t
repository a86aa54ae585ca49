#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same seconds profiled by cpid and by perf record -a at the same rate: shares of
# non-idle time agree, procedure by procedure. SECONDS=60 takes longer.
#
# A procedure's key is the file name of its image and the first name of its address:
# perf and CPI may choose different aliases. Code without a name, or with one that is
# written in different ways (C++, Rust), is pooled by image. Code without an image is pooled
# as well.
#
# perf's period is fixed, cpid's are not. A period of 1 ms would be in step with the timer
# tick, and would see the tick's own work always or never. So perf takes 0.997 ms.
#
# Statistic: two-sample chi-square over the keys with 20 samples or more in both profiles
# together, and the pooled rest; p > 0.00005. Each share of 100 samples or more: the
# probability of the farthest, of so many, is above 0.00005. So chance makes this fail in
# one of 10,000 runs at most. Samples of one timeline vary less than binomials:
# chi-square is 0.9 to 1.1 times its degrees of freedom.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need perf gzip python3 nm
[ "$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)" != 0000000000000000 ] ||
	skip_all 'addresses of kernel symbols are hidden'
seconds=${SECONDS:-12}
plan $((nr_stored_tests + 6))

cat >work <<'END'
end=$(($(date +%s) + $1))
cpi epoch new work --socket t.sock
while [ "$(date +%s)" -lt $end ]; do
	gzip -c numbers >numbers.gz
	python3 -c 'import re
text = open("numbers").read()
counts = {}
for word in re.findall(r"\d+", text):
	counts[word[-3:]] = counts.get(word[-3:], 0) + 1'
	sqlite3 :memory: 'CREATE TABLE n (a INTEGER, b TEXT);
		WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 200000)
		INSERT INTO n SELECT i * 7919 % 100003, printf("%d", i) FROM c;
		CREATE INDEX x ON n (b);
		SELECT count(*), sum(length(b)) FROM n GROUP BY a % 10;' >/dev/null
done
cpi epoch new rest --socket t.sock
END
seq 300000 >numbers
collect_start -F 1000 --sweep 200ms
try 'perf records' perf record -q -a -k CLOCK_REALTIME -e cpu-clock -c 997000 -m 16M --no-buildid -o perf.data -- \
	sh work "$seconds"
collect_stop
check_stored

# Lines of image, name and samples, separated by tabs; without the idle loop.
sql "SELECT name FROM symbol WHERE image IN (SELECT id FROM image WHERE kind = 4)" >idle
# Those that perf took outside of the epoch are left out.
epoch=$(sql "SELECT printf('%d.%09d,%d.%09d', from_ns / 1000000000, from_ns % 1000000000,
	to_ns / 1000000000, to_ns % 1000000000) FROM epoch WHERE label = 'work'")
perf script -i perf.data -F pid,ip,sym,dso --time "$epoch" --no-demangle 2>/dev/null |
	awk -f "$srcdir/t/perf_counts.awk" idle - >perf.tsv
cpi prof --db t.db --epoch work --limit 0 --format=json >prof.json 2>prof.err
sqlite3 -tabs :memory: "SELECT json_extract(value, '\$.image'),
		coalesce(json_extract(value, '\$.procedure'), '['),
		json_extract(value, '\$.samples.cpu-clock')
	FROM json_each(readfile('prof.json'), '\$.rows')
	UNION ALL SELECT '', '[', value FROM json_each(readfile('prof.json'), '\$.unknown')" \
	>cpi.tsv

# Every text symbol: image, address and name.
{
	awk -v OFS='\t' '$2 ~ /[TtWw]/ { print "[kernel]", $1, $3 }' /proc/kallsyms
	cut -f 1 perf.tsv cpi.tsv | grep '^/' | sort -u | while read -r image; do
		[ -f "$image" ] || continue
		{
			nm --defined-only "$image"
			nm -D --defined-only "$image"
		} 2>/dev/null | awk -v OFS='\t' -v image="$image" '$2 ~ /[TtWwi]/ {
			sub(/@@?[A-Z].*/, "", $3)
			print image, $1, $3
		}'
	done
} >names.tsv

awk -F '\t' -f "$srcdir/t/profiles_agree.awk" names.tsv perf.tsv cpi.tsv | sort -rn >shares
read -r chi2 df z perf_n cpi_n <result
note "perf $perf_n samples, cpid $cpi_n; chi-square $chi2 with $df degrees of freedom"
reason=
if grep 'CPUs are online now' t.log; then
	reason='a CPU came or went, which perf does not follow'
elif perf report --stats -i perf.data 2>/dev/null | grep -E '^ +LOST(_SAMPLES)? events: +[1-9]'; then
	reason='perf lost samples: the machine is too busy'
fi
[ -z "$reason" ] || {
	skip 4 "$reason"
	exit
}
head -n 5 shares | sed 's/^/# sigma, perf, cpid: /'
bound "$df" '>=' 20 'at least 20 procedures are compared'
bound "$cpi_n" '>=' $((seconds * 500)) 'enough samples are compared'
bound "$z" '<=' 3.89 'both profiles have one distribution: the normal deviate of chi-square'
# The largest of many deviates: by chance one of them is above 4 in one run of a hundred,
# so the bound is on the probability of the largest.
bound "$(head -n 1 shares | awk -v shares="$(wc -l <shares)" '{
	print shares * 2 * exp(-$1 * $1 / 2) / (($1 + 1e-9) * sqrt(8 * atan2(1, 1)))
}')" '>=' 0.00005 'each share agrees: the probability of the farthest one'
