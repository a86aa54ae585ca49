#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid's configuration files: mistakes in them, the current options, and a reload.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
plan 25

# config LINES: the configuration from now on.
config()
{
	{ echo '[cpid]' && cat; } >cpid.conf
}
# in_force OPTION: its value and origin, as 'cpi config' says.
in_force()
{
	CPI_SOCKET=$PWD/t.sock cpi config --format=csv | sed -n "s/^cpid,$1,//p" | tr -d '\r'
}

# ---- check ----
config <<'.'
budget = 0.4%
retain = hourly:soon
.
cpid --config cpid.conf --check-config >out 2>err
is $? 2 '--check-config of a wrong value fails'
like "$(cat err)" 'cpid.conf:3:10: retain: "hourly:soon"' \
	'--check-config names file, line and column of a wrong value'
config <<'.'
bugdet = 0.4%
.
cpid --config cpid.conf --check-config >out 2>err
like "$(cat err)" 'cpid.conf:2:1: .*did you mean "budget"' \
	'--check-config suggests the name that was meant'
config <<'.'
budget = 200%
.
cpid --config cpid.conf --check-config >out 2>err
like "$(cat err)" 'cpid.conf:2:10: budget: "200%".* from 0.0001% to 100%' \
	'--check-config says which values are valid'
echo 'budget = 1%' >cpid.conf
cpid --config cpid.conf --check-config >out 2>err
like "$(cat err)" 'cpid.conf:1:1: write this line above the first setting: \[cpid\]$' \
	'--check-config names the section that is missing'
config <<'.'
event = cpu-clock,no-such-event
.
cpid --config cpid.conf --check-config >out 2>err
like "$? $(cat err)" '^2 .*no-such-event: event not found' \
	'--check-config looks up the names of events'
cpid --config nowhere.conf --check-config >out 2>err
is $? 1 'a file that --config names has to exist'
config <<'.'
budget = 0.4%
.
mkdir cpid.conf.d
printf '[cpid]\nsweep = 3s\n' >cpid.conf.d/sweep.conf
CPI_CONFIG=$PWD/cpid.conf cpid --check-config --flush 7s >out 2>err
is $? 0 '--check-config succeeds'
like "$(cat out)" 'budget  *0.4%  *.*/cpid.conf:2' '--check-config shows a value of the file'
like "$(cat out)" 'sweep  *3s  *.*/sweep.conf:2' '--check-config shows a value of another file'
like "$(cat out)" 'flush  *7s  *command line' '--check-config shows a value of the command line'
like "$(cat out)" 'epoch  *1m  *default' '--check-config shows a default'

# ---- the example ----
# Each option once, commented out, with its default.
example=$srcdir/daemon/cpid.conf
is "$(sed -n 's/^#\([a-z-]*\) =.*/\1/p' "$example" | sort)" "$(cpid --help |
	sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' |
	grep -vx 'config\|check-config\|help\|version' | sort)" \
	'the example has every option of a file'
sed 's/^#\([a-z-]* =\)/\1/' "$example" >all.conf
try 'all settings of the example are valid' cpid --config all.conf --check-config
cpid --config /dev/null --check-config | awk '$NF == "default" { print $1, $2 }' >defaults
cpid --config all.conf --check-config | awk 'NR == FNR { is_default[$1]; next }
	$1 in is_default { print $1, $2 }' defaults - >set
is "$(cat set)" "$(cat defaults)" 'the values of the example are the defaults'

# ---- current options ----
cpid_rate= cpid_start --config cpid.conf --epoch 0 || bail 'cpid does not start'
is "$(in_force budget)" '0.4%,cpid.conf:2' 'cpi config shows a value of the file'
is "$(in_force epoch)" '0,command line' 'cpi config shows a value of the command line'
is "$(cpid_field budget_percent)" 0.4 'the budget is that of the file'

# ---- reload ----
config <<'.'
# now more
budget = 0.8%
freq = 150
collector = perf
.
kill -HUP "$cpid_pid"
cpid_await RELOADING=1 && cpid_await READY=1
is $? 0 'a reload tells the service manager its begin and end'
is "$(in_force budget)" '0.8%,cpid.conf:3' 'a reload takes the new budget'
cpid_await_signals
is "$(cpid_field budget_percent) $(cpid_field rate_hz)" '0.8 150.0' \
	'a reload changes budget and rate'
is "$(in_force collector)" 'auto,default' 'a reload does not change options that need a restart'
like "$(cat t.log)" 'changed: freq budget' 'the log says what a reload has changed'
like "$(cat t.log)" 'need a restart: collector' 'the log says what needs a restart'
config <<'.'
budget = nothing
.
kill -HUP "$cpid_pid"
cpid_await READY=1
is "$(in_force budget)" '0.8%,cpid.conf:3' 'a reload of a wrong file changes nothing'
