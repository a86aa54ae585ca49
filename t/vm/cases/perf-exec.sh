# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# Short processes: fork, exec and exit in quick succession, on two CPUs.
. /cpi/case.sh

cpid_start --collector perf -F 1000 --by comm --sweep 200ms || fail 'cpid does not start'
# For as long as it takes to get enough samples, whatever the host's load is.
while
	/cpi/t/programs/spawn 60 2 40 /cpi/t/programs/burn_a /cpi/t/programs/burn_b
	cpid_ask flush >/dev/null
	[ "$(samples procedure burn_a)" -le 100 ] || [ "$(samples procedure burn_b)" -le 100 ]
do :; done
check_accounting
unknown=$(status_sum unknown.)
cpid_stop
cpi prof --db t.db --by image
a=$(samples procedure burn_a) b=$(samples procedure burn_b)
check_that 'both programs ran equally long' "$a > 100 && ($a - $b) ^ 2 < 25 * ($a + $b)"
check_that 'hardly any sample is without an image' "$unknown <= 0.005 * $received"
check_that 'each procedure is of its own program' \
	"$(samples procedure burn_a --image burn_b) == 0 && $(samples procedure burn_b --image burn_a) == 0"
check_that 'and of its own command' "$(samples procedure burn_a --comm burn_b) == 0"
