# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# modules: zram lz4
# A module's samples are counted from its text, wherever it was loaded.
. /cpi/case.sh

modprobe zram && modprobe lz4 || skip_all 'this kernel has no zram or lz4'
echo lz4 >/sys/block/zram0/comp_algorithm
echo 64M >/sys/block/zram0/disksize
cpid_start --collector perf -F 1000 || fail 'cpid does not start'
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
procedures '[lz4_compress]' "$(cat /sys/module/lz4_compress/sections/.text)" |
	awk '{ n[$2] += $3 } END { for (name in n) print name, n[name] }' >truth
check 'there are procedures' test -s truth
while read -r name n; do
	check_that "$name" "$(samples procedure "$name" --image '[lz4_compress]') == $n"
done <truth
