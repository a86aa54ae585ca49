#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel's code is stored with the profile. Its procedures are listed instruction by
# instruction, and their calls go to places where procedures begin by kallsyms.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
grep -q '^[^ ]*[1-9a-f][^ ]* T _text$\|^[^ ]*[1-9a-f][^ ]* T _stext$' /proc/kallsyms ||
	skip_all 'kallsyms hides its addresses'
plan $((nr_stored_tests + 7))

collect_start -F 1000
run 'a program that makes system calls' dd if=/dev/zero of=out bs=1 count=400000 2>dd.log
collect_stop
if grep -q "the kernel's code is not kept" t.log; then
	reason=$(sed -n "s/.*the kernel's code is not kept: //p" t.log)
	skip $((nr_stored_tests + 5)) "$reason"
	exit
fi
check_stored

code="code c JOIN image i ON i.id = c.image WHERE i.name = '[kernel]'"
bound "$(sql "SELECT count(*) FROM $code")" '>=' 10 'procedures of the kernel are stored'
is "$(sql "SELECT count(*) FROM code c JOIN image i ON i.id = c.image
	LEFT JOIN symbol s ON s.image = c.image AND s.start = c.start
	WHERE i.kind IN (1, 2, 4, 5) AND length(c.bytes) IS NOT s.size")" 0 \
	'each stored procedure of the kernel is complete'

sql "SELECT s.name FROM symbol s JOIN $code AND c.image = s.image AND c.start = s.start" |
	while read -r name; do
		cpi list --db "$db" --asm --image '[[]kernel]' "$name" 2>>said
	done >listings
is "$(grep -c 'not captured' listings)" 0 'each stored procedure of the kernel is listed'
python3 "$srcdir/t/kernel_calls.py" /proc/kallsyms listings >calls || sed 's/^/# /' calls
bound "$(sed -n 's/^calls //p' calls)" '>=' 20 'the listed procedures call others'
sed "s/^/# /" calls
is "$(sed -n 's/^elsewhere //p' calls)" 0 'each call goes to the begin of a procedure'
