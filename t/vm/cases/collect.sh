# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 900
# What the project's own tests check of the daemon holds on this kernel, too: those
# that do not measure rates or clocks, which emulation stretches.
. /cpi/case.sh

for script in 0201-cpid-lifecycle 0202-cpid-privileges 0203-cpid-help \
	0303-collect-pid-reuse 0304-collect-exec-chain; do
	run_test "$script.t"
done
