#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Helpers of cpid get their socket, and no descriptor that cpid itself inherited.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
plan 4

mkfifo given
exec 7<>given 8>given.too
cpid_start || bail 'cpid does not start'
try 'cpid has the descriptors that it was given' test -e "/proc/$cpid_pid/fd/7"
helpers=$(cat /proc/"$cpid_pid"/task/*/children)
try 'cpid has helpers' test -n "$helpers"
for helper in $helpers; do
	for fd in "/proc/$helper/fd/"*; do
		case $(readlink "$fd") in
		"$tmp"/* | pipe:*) echo "$(cat "/proc/$helper/comm") has $(readlink "$fd")" ;;
		esac
	done
done >inherited
is "$(cat inherited)" '' 'no helper has a descriptor that cpid was given'
cpid_ask quit
cpid_wait
is "$cpid_status" 0 'cpid exits with 0'
