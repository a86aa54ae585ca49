# SPDX-License-Identifier: GPL-2.0-or-later
# icount: no
# What the project's own tests check of the daemon holds on this kernel, too.
. /cpi/case.sh

for script in /cpi/t/02*.t /cpi/t/0301*.t /cpi/t/0302*.t /cpi/t/0303*.t /cpi/t/0304*.t; do
	run_test "${script##*/}"
done
