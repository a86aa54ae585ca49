# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 900
# icount: yes
# cpus: 1
# needs: module
# What the project's own tests check of the daemon holds with the module, too, which
# it takes by itself. They count on rates, so time must not depend on the host.
# 0303-collect-pid-reuse has 200 lives of one process id between two sweeps: the
# module's tables do not part them.
. /cpi/case.sh

module_load
for script in 0201-cpid-lifecycle 0301-collect-accounting 0302-collect-shortlived \
	0304-collect-exec-chain 0307-collect-killed; do
	run_test "$script.t"
done
module_unload
