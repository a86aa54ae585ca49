# SPDX-License-Identifier: GPL-2.0-or-later
# long: yes
# limit: 3000
# The unit tests, as they are on this architecture.
. /cpi/case.sh

export CK_TAP_LOG_FILE_NAME=- CK_VERBOSITY=silent CK_TIMEOUT_MULTIPLIER=20
for unit in /cpi/t/unit/check_*; do
	"$unit" >out 2>messages
	echo "${unit##*/}: $(grep -c '^ok' out) passed"
	grep '^not ok' out && failed=yes
	grep -q '^ok' out || failed=yes
	grep -q '^1[.][.]' out || failed=yes # the plan is the last line
done
[ -z "${failed:-}" ] || fail 'units'
