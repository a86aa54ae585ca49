# SPDX-License-Identifier: GPL-2.0-or-later
# kaslr: yes
# boots: 2
# Two boots place the kernel differently; in the database it is one image, and
# what was at an offset is there again.
. /cpi/case.sh

# procedures: of each kernel offset that is stored, by this boot's kallsyms.
procedures()
{
	cpi cat --db t.db --epoch 1..last --image '[kernel]' --format csv >offsets
	awk -F '[ ,]' '
		function number(hex,  i, n) {
			hex = substr(hex, length(hex) - 11) # exact as a double
			for (i = 1; i <= length(hex); i++)
				n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
			return n
		}
		FILENAME == "/proc/kallsyms" {
			if ($3 == "_text")
				text = number($1)
			if ($2 ~ /[tTwW]/ && !$4)
				at[number($1)] = $3
			next
		}
		$1 == "[kernel]" {
			for (a = text + number(substr($8, 3)); !(a in at) && a >= text; a--)
				;
			print $8, at[a]
		}' /proc/kallsyms offsets
}

[ "$BOOT" = 1 ] || cp /carry/t.db .
cpid_start --collector perf -F 500 || fail 'cpid does not start'
split_start
await_samples 1000
split_stop
cpid_stop
sed -n 's/ [tT] _text$//p' /proc/kallsyms >text
cat text
check 'the kernel has samples' test "$(samples image '[kernel]')" -gt 0
if [ "$BOOT" = 1 ]; then
	cp t.db text /carry
	procedures >/carry/procedures
	exit
fi
cmp -s text /carry/text && skip_all 'the same place was drawn twice'
check_that 'the kernel is one image' \
	"$(sqlite3 t.db "SELECT count(*) FROM image WHERE name = '[kernel]'") == 1"
check_that 'both boots are there' "$(sqlite3 t.db 'SELECT count(*) FROM run') == 2"
procedures >both
check 'procedures were found' test "$(wc -l </carry/procedures)" -ge 20
# Where there were samples in both boots, a line is there in both lists.
awk 'NR == FNR { now[$1] = $2; next }
	now[$1] != $2 {
		print $1 ": " $2 " became " now[$1]
		bad = 1
	}
	END { exit bad }' both /carry/procedures || fail 'offsets moved'
check_that 'what was sampled is the same in both' \
	"$(cpi prof --db t.db --epoch 1..last --image '[kernel]' --procedure '\[0x*' --format csv | wc -l) == 1"
rm -f /carry/*
