#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid notifies the watchdog while its main thread runs, and only then.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/halt.sh"
plan 9

# hear SECONDS: the notifications that arrive within that time.
hear()
{
	timeout "$1" cat <&3
}

WATCHDOG_USEC=400000
export WATCHDOG_USEC
cpid_start || bail 'cpid does not start'
try 'cpid notifies the watchdog' cpid_await WATCHDOG=1
try 'cpid notifies the watchdog again' cpid_await WATCHDOG=1

try 'the main thread is stopped' halt_start
# Notifications from before the stop may still arrive.
is_silent()
{
	[ -z "$(hear 0.5)" ]
}
await is_silent
cpid_ask status >status.txt
is "$(grep -c '^main_waits_s' status.txt)" 1 'main thread stopped: the status is still answered'
is "$(hear 1.5)" '' 'main thread stopped: the watchdog is not notified'
halt_end
try 'main thread resumed: the watchdog is notified' cpid_await WATCHDOG=1
cpid_ask quit
try 'cpid announces its end' cpid_await STOPPING=1
cpid_wait
is "$cpid_status" 0 'cpid exits with 0'

WATCHDOG_PID=1
export WATCHDOG_PID
cpid_start || bail 'cpid does not start'
is "$(hear 1 | grep -c WATCHDOG)" 0 'cpid does not notify the watchdog of another process'
