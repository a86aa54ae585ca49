# SPDX-License-Identifier: GPL-2.0-or-later
# Short processes: fork, exec and exit in quick succession, on two CPUs.
# needs: module
# long: arm64
. /cpi/case.sh

module_load
cpid_start --collector kmod -F 1000 --by comm --sweep 200ms || fail 'cpid does not start'
# For as long as it takes to get enough samples, whatever the host's load is.
while
	/cpi/t/programs/spawn 40 2 30 /cpi/t/programs/burn_a /cpi/t/programs/burn_b
	cpid_ask flush >/dev/null
	[ "$(samples procedure burn_a)" -le 100 ] || [ "$(samples procedure burn_b)" -le 100 ]
do :; done
check_accounting
unknown=$(status_sum unknown.)
cat status
cpid_stop
cpi prof --db t.db --by image
a=$(samples procedure burn_a) b=$(samples procedure burn_b)
check_that 'both programs ran equally long' "$a > 100 && ($a - $b) ^ 2 < 25 * ($a + $b)"
check_that 'hardly any sample is without an image' "$unknown <= 0.005 * $received"
check_that 'each procedure is of its own program' \
	"$(samples procedure burn_a --image burn_b) == 0 && $(samples procedure burn_b --image burn_a) == 0"
module_unload
