# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 900
# icount: yes
# cpus: 1
# What the project's own tests check of the daemon holds on this kernel, too. They
# count on rates, so time must not depend on the host.
. /cpi/case.sh

for script in 0201-cpid-lifecycle 0202-cpid-privileges 0203-cpid-help \
	0301-collect-accounting 0302-collect-shortlived 0303-collect-pid-reuse \
	0304-collect-exec-chain; do
	run_test "$script.t"
done
