# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 900
# modules: fuse overlay
# Processes and file systems that do not answer, in all the ways that the project's own
# tests have.
. /cpi/case.sh

modprobe fuse || skip_all 'this kernel has no FUSE'
modprobe overlay
for script in 0408-hostile-locks 0409-hostile-roots; do
	run_test "$script.t"
done
