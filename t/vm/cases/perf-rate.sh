# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# icount: yes
# cpus: 1
# A busy CPU gives as many samples as were asked for, of the PMU's cycles where
# there is one.
. /cpi/case.sh

cpid_start --collector perf -F 400 || fail 'cpid does not start'
split_start
sleep 3
split_stop
cpid_ask flush >/dev/null
check_accounting
cpid_stop
cpi prof --db t.db --limit 5
check_share
check_that 'the rate is right within 10 %' \
	"(($a + $b) / (0.4 * ($three + $one)) - 1) ^ 2 < 0.1 ^ 2"
