# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# kaslr: yes
# boots: 2
# Two boots place the kernel differently; in the database it is one image, and
# what was at an offset is there again.
. /cpi/case.sh

[ "$BOOT" = 1 ] || cp /carry/t.db .
cpid_start --collector perf -F 500 || fail 'cpid does not start'
split_start
await_samples 1000
split_stop
cpid_stop

# AArch64 lists no _text.
text=$(awk '$3 == "_text" || $3 == "_stext" { print $1; exit }' /proc/kallsyms)
echo "the kernel is at $text"
cpi cat --db t.db --epoch 1..last --image '[kernel]' --format csv >offsets
procedures '' "$text" | cut -d ' ' -f 1,2 >now
check 'procedures are found' test "$(wc -l <now)" -ge 20
if [ "$BOOT" = 1 ]; then
	echo "$text" >/carry/text
	cp t.db now /carry
	exit
fi
[ "$text" != "$(cat /carry/text)" ] || skip_all 'the same place was drawn twice'
check_that 'the kernel is one image' \
	"$(sqlite3 t.db "SELECT count(*) FROM image WHERE name = '[kernel]'") == 1"
check_that 'both boots are there' "$(sqlite3 t.db 'SELECT count(*) FROM run') == 2"
# What was found at the first boot's offsets is found there again.
check 'procedures are where they were' test -z "$(sort now /carry/now /carry/now | uniq -c |
	awk '$1 == 2')"
check_that 'each sample has its procedure' "$(cpi prof --db t.db --epoch 1..last \
	--image '[kernel]' --procedure '\[*' --format csv | wc -l) == 1"
rm /carry/*
