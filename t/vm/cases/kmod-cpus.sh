# SPDX-License-Identifier: GPL-2.0-or-later
# each CPU has the samples of what ran on it
# needs: module
. /cpi/case.sh
module_load
check 'cpus' kmod_check cpus
module_unload
