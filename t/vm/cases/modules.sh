# SPDX-License-Identifier: GPL-2.0-or-later
# modules: zram lz4
# A module's samples are counted from its text, wherever it was loaded.
. /cpi/case.sh

modprobe zram && modprobe lz4 || skip_all 'this kernel has no zram or lz4'
echo lz4 >/sys/block/zram0/comp_algorithm
echo 64M >/sys/block/zram0/disksize
cpid_start --collector perf -F 500 || fail 'cpid does not start'
has_module_samples()
{
	dd if=/cpi/tools/cpi of=/dev/zram0 bs=64k conv=notrunc 2>/dev/null
	cpid_ask flush >/dev/null
	[ "$(samples image '[lz4_compress]')" -ge 100 ]
}
await has_module_samples
check_accounting
cpid_stop
cpi prof --db t.db --limit 10

# Each offset, counted from where .text is now, is in a procedure of the module.
cpi cat --db t.db --image '[lz4_compress]' --format csv >offsets
awk -F '[ ,\t]' -v text="$(cat /sys/module/lz4_compress/sections/.text)" '
	function number(hex,  i, n) {
		hex = substr(hex, length(hex) - 11) # exact as a double
		for (i = 1; i <= length(hex); i++)
			n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
		return n
	}
	FILENAME == "/proc/kallsyms" {
		if ($4 == "[lz4_compress]" && $2 ~ /[tT]/)
			at[number($1)] = $3
		next
	}
	FNR == 1 { next }
	{
		for (a = number(text) + number(substr($8, 3)); !(a in at); a--)
			if (a < number(text)) {
				print $8 " is before .text"
				exit 1
			}
		n[at[a]] += $9
	}
	END {
		for (name in n)
			print name, n[name]
	}' /proc/kallsyms offsets | sort >truth || fail 'offsets'
cat truth
while read -r name n; do
	check_that "$name" "$(samples procedure "$name" --image '[lz4_compress]') == $n"
done <truth
check 'there are procedures' test -s truth
