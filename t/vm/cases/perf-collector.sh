# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# A program's procedures have the shares that it measured, and nothing is lost.
. /cpi/case.sh

cpid_start --collector perf -F 1000 || fail 'cpid does not start'
split_start
await_samples 2000
split_stop
cpid_ask flush >/dev/null
check_accounting
cpid_stop
cpi prof --db t.db --limit 10
check_share
check 'the database is whole' cpi cat --db t.db --check
