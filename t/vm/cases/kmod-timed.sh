# SPDX-License-Identifier: GPL-2.0-or-later
# icount: yes
# cpus: 1
# needs: module
# The handler's cycles, and memory per CPU. Here x86-64's time stamp counter goes on by 2
# with each instruction, of which a hit has 60 at most.
. /cpi/case.sh
module_load
kmod_check timed >timed || fail "$(cat timed)"
module_unload
cat timed
[ "$(uname -m)" = x86_64 ] || exit 0
hit=$(sed -n 's/.* hits of \([0-9]*\) cycles.*/\1/p' timed)
check_that 'instructions of a hit' "$hit / 2 <= 60 && $hit > 0"
