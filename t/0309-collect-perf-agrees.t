#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The same seconds profiled by cpid and by perf record -a at the same rate: shares of
# non-idle time agree, procedure by procedure. SECONDS=60 takes longer.
#
# A procedure's key is its image and the first name of its address: perf and CPI may
# choose different aliases. What has no name, or one that is written in different
# ways (C++, Rust), is pooled by image; code without an image is pooled as well.
#
# perf's period is fixed, cpid's are not. One of 1 ms would be in step with the timer
# tick, and see what the tick causes always or never: perf takes 0.997 ms.
#
# Statistic: two-sample chi-square over the keys with 20 samples or more in both
# profiles together, and the pooled rest; p > 0.001. Each share of 100 samples or more:
# within 4 sigma of a difference of two binomials. Samples of one timeline vary less
# than that: chi-square is 0.9 to 1.1 times its degrees of freedom.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need perf gzip python3 nm
[ "$(awk '$3 == "_text" { print $1 }' /proc/kallsyms)" != 0000000000000000 ] ||
	skip_all 'addresses of kernel symbols are hidden'
seconds=${SECONDS:-20}
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
try 'perf records' perf record -q -a -e cpu-clock -c 997000 -m 16M --no-buildid -o perf.data -- \
	sh work "$seconds"
collect_stop
check_stored

# Lines of image, name and samples, separated by tabs. The idle task's samples in
# what CPI takes for the idle loop are none of perf's either.
sql "SELECT name FROM symbol WHERE image IN (SELECT id FROM image WHERE kind = 4)" >idle
perf script -i perf.data -F pid,ip,sym,dso --no-demangle 2>/dev/null | awk '
	FILENAME != "-" {
		idle[$1] = 1
		next
	}
	$1 == 0 && $3 in idle {
		next
	}
	{
		image = $0
		sub(/^[^(]*\(/, "", image)
		sub(/\)$/, "", image)
		n[image "\t" $3]++
	}
	END {
		for (key in n)
			print key "\t" n[key]
	}' idle - >perf.tsv
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

# Prints chi-square, its degrees of freedom, and its normal deviate (Wilson and
# Hilferty); then keys by how far their shares are apart, in sigma.
awk -F '\t' '
	FILENAME == "names.tsv" {
		at = $1 "\t" $2
		name = $1 "\t" $3
		if (!(at in first) || $3 < first[at])
			first[at] = $3
		if (!(name in address) || $2 < address[name])
			address[name] = $2
		next
	}
	{
		image = $1
		name = $2
		sub(/@@?[A-Z].*/, "", name) # a version; "@plt" is part of the name
		if (image ~ /^\/\/anon|^\/tmp\/perf-|^\[unknown\]|^\[anon/ || image == "")
			key = "unknown"
		else {
			if (image !~ /^\// && image != "[vdso]")
				image = "[kernel]"
			if (name ~ /^[[@]|^_Z|^_R|::|\(/)
				name = "other"
			else if ((image "\t" name) in address)
				name = first[image "\t" address[image "\t" name]]
			key = image " " name
		}
		n[key, FILENAME] += $3
		all[FILENAME] += $3
		keys[key] = 1
	}
	function add(key, a, b,  d, p) {
		d = a / a_all - b / b_all
		p = (a + b) / (a_all + b_all)
		if (a + b == 0)
			return
		chi2 += d * d / (p * (1 / a_all + 1 / b_all))
		classes++
		d /= sqrt(p * (1 - p) * (1 / a_all + 1 / b_all))
		if (a + b >= 100)
			printf "%.2f %d %d %s\n", d < 0 ? -d : d, a, b, key
	}
	END {
		a_all = all["perf.tsv"]
		b_all = all["cpi.tsv"]
		for (key in keys) {
			a = n[key, "perf.tsv"] + 0
			b = n[key, "cpi.tsv"] + 0
			if (a + b < 20) {
				a_rest += a
				b_rest += b
			} else
				add(key, a, b)
		}
		add("the rest", a_rest, b_rest)
		df = classes - 1
		z = (exp(log(chi2 / df) / 3) - (1 - 2 / (9 * df))) / sqrt(2 / (9 * df))
		print chi2, df, z, a_all, b_all >"result"
	}' names.tsv perf.tsv cpi.tsv | sort -rn >shares
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
bound "$df" '>=' 20 'there are procedures to compare'
bound "$cpi_n" '>=' $((seconds * 500)) 'there are samples to compare'
bound "$z" '<=' 3.09 'the profiles are of one distribution, normal deviate of p'
# The largest of many deviates: by chance one of them is above 4 in one run of a hundred.
bound "$(head -n 1 shares | awk -v shares="$(wc -l <shares)" '{
	print shares * 2 * exp(-$1 * $1 / 2) / (($1 + 1e-9) * sqrt(8 * atan2(1, 1)))
}')" '>=' 0.001 'every share agrees, probability of the farthest'
