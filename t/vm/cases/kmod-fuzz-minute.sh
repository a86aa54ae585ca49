# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# needs: module
# A minute of nonsense, after which the kernel has no more memory in use than before.
. /cpi/case.sh
module_load
check 'fuzz' kmod_fuzz 5
before=$(kernel_memory)
kmod_fuzz 60 >fuzz || fail "fuzz: $(cat fuzz)"
cat fuzz
check 'windows were made of nonsense' grep -q ' [1-9][0-9]* windows' fuzz
check_that 'no memory stays (kB)' "$(kernel_memory) - $before < 4096"
check 'pcs' kmod_check pcs
module_unload
