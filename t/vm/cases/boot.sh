# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel is the one that was asked for, and all its CPUs are there.
. /cpi/case.sh

uname -a
check_that 'both CPUs are online' "$(grep -c '^processor' /proc/cpuinfo) == 2"
check 'modules can be loaded' test -e /proc/modules
check 'perf events can be opened' "$peer" can-sample
