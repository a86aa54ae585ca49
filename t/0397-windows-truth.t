#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows go where single steps of the same instructions go, in programs of the system,
# some of them with threads.
#
# $WINDOWS: how many of each program; 1000 and more for figures. Most have all their
# instructions, but a third of sort's have few: with 60 of each, of which sort gives as
# many as the others, the mean was 91.4 with a deviation of 0.85. With 150 it is 95.
. "$srcdir/t/tap.sh"
. "$srcdir/t/windows.sh"

[ -x "$builddir/t/window_truth" ] || skip_all "x86-64 code is not translated here"
cat "$srcdir"/analysis/*/*.c >text
cat text text text text text >long
"$builddir/t/window_truth" -n 1 gzip -c text >/dev/null 2>&1
[ $? -le 1 ] || skip_all "this machine does not let processes be traced"
plan 18

# follow_traced NAME COMMAND...: a test that all its windows are exact.
follow_traced()
{
	name=$1
	shift
	if ! command -v "$1" >/dev/null; then
		skip 1 "there is no $1"
		return
	fi
	follow_exact "$name" "$builddir/t/window_truth" -n "${WINDOWS:-150}" "$@"
	ok $? "windows of $name are exact"
}

follow_traced gzip gzip -9 -c long
follow_traced xz xz -c long
follow_traced 'xz with threads' xz -T2 --block-size=65536 -c long
follow_traced zstd zstd -12 -c long
follow_traced sha256sum sha256sum long long long long long long long long
follow_traced sort sort long
follow_traced 'sort with threads' sort --parallel=2 long
follow_traced awk awk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }' \
	long long long
follow_traced perl perl -ne '$n{$_}++ for split; END { print sort keys %n }' long long long
follow_traced python3 python3 -c 'while True: sorted(str(i * i) for i in range(1000))'
follow_traced sqlite3 sqlite3 :memory: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1
	FROM n LIMIT 1000000) SELECT sum(i % 7), max(i || "x") FROM n'
follow_traced sed sed 's/a.*b/c/g; s/[0-9][0-9]*/n/g' long long long
follow_traced objdump objdump -d "$builddir/t/window_truth"
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512VL,-AVX512BW follow_traced 'perl with AVX2' \
	perl -ne '$n{$_}++ for split; END { print sort keys %n }' long long long
GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-AVX512VL,-AVX512BW,-AVX follow_traced 'sort with SSE2' \
	sort long

# sum FIELD: of all programs
sum()
{
	awk -v field="$1" '{ for (i = 1; i < NF; i++) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' all.txt
}

bound "$(sum accesses)" '>=' 10000 'windows tell which data was touched'
bound "$(sum missed)" '<=' "$(($(sum accesses) / 1000))" \
	'windows tell of each instruction that touches data'

windows_reach 90 'a window has more than 90 of 100 instructions on the mean'
