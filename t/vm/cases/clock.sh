# SPDX-License-Identifier: GPL-2.0-or-later
# A clock that is set back by a day does not make an epoch of a day.
. /cpi/case.sh

cpid_start --epoch 10s --flush 1s -F 100 || fail 'cpid does not start'
newest()
{
	cpid_ask flush >/dev/null
	cpi epoch list --db t.db --format=csv | sed 1d | cut -d, -f1 | sort -n | tail -n 1
}
date -s "@$(($(date +%s) - 86400))" >/dev/null
before=$(newest)
has_another() { [ "$(newest)" -gt "$before" ]; }
await has_another
check_accounting
cpid_stop
check 'the database is whole' cpi cat --db t.db --check
