#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-web's configuration files: mistakes in them, the current options, and a reload.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
plan 15
CPI_WEB_CONFIG=$PWD/web.conf
export CPI_WEB_CONFIG

# config: the lines of the configuration from now on.
config()
{
	{ echo '[cpi-web]' && cat; } >web.conf
}

# ---- check ----
config <<'.'
memory = much
.
bad '^status 2: .*web.conf:2:10: memory: "much"' 'file, line and column of a wrong value are named' \
	cpi-web --check-config
config <<'.'
patiense = 9
.
bad '^status 2: .*web.conf:2:1: .*did you mean "patience"' 'the name that was meant is suggested' \
	cpi-web --check-config
config <<'.'
certificate = a.pem
.
bad '^status 2: .*certificate and key belong together' 'options are checked together' \
	cpi-web --check-config
config <<'.'
patience = 9
.
like "$(cpi-web --check-config --jobs 3 2>&1)" 'patience  *9  *.*/web.conf:2' 'a value of the file is shown'
like "$(cpi-web --check-config --jobs 3 2>&1)" 'jobs  *3  *command line' 'a value of the command line is shown'

# Each option once, commented out, with its default.
example=$srcdir/web/cpi-web.conf
cpi-web --help | sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' | sort >options
is "$(sed -n 's/^#\([a-z-]*\) =.*/\1/p' "$example" | sort | comm -23 - options)" '' \
	'the example has only options that there are'
sed 's/^#\([a-z-]* =\)/\1/' "$example" >all.conf
try 'all settings of the example are valid' cpi-web --config all.conf --check-config

# ---- a reload ----
"$builddir/t/mkdb" t.db "$builddir/t/target" >/dev/null || bail 'mkdb failed'
mkdir -p run/cpi-web
RUNTIME_DIRECTORY=$PWD/run/cpi-web
export RUNTIME_DIRECTORY
# in_force OPTION: its value and origin, as 'cpi config' says.
in_force()
{
	CPI_RUN=$PWD/run cpi config --socket none --format=csv | tr -d '\r' | sed -n "s|$PWD/||g; s/^cpi-web,$1,//p"
}
web_start --db t.db
is "$(in_force patience) $(in_force cache)" '9,web.conf:2 32M,default' 'cpi config shows the current options'
get metrics Host:other.example >/dev/null
like "$(status)" '^421' 'a name that it does not have is refused'
config <<'.'
host = other.example
patience = 30
passwords = p
certificate = a.pem
key = a.key
.
kill -HUP "$web_pid"
await grep -q 'changed: host patience' web.log
ok $? 'the log says what a reload has changed'
like "$(cat web.log)" 'need a restart: certificate key passwords' 'the log says what needs a restart'
is "$(in_force patience) $(in_force passwords)" '30,web.conf:3 ' 'a reload takes what can change'
get metrics Host:other.example >/dev/null
like "$(status)" '^200' 'the new name is accepted'
config <<'.'
patience = 0
.
kill -HUP "$web_pid"
await grep -q 'the previous options stay' web.log
is "$? $(in_force patience)" '0 30,web.conf:3' 'a reload of a wrong file changes nothing'
web_stop
is "$? $(ls -A run/cpi-web)" '0 ' 'at its end it removes its file'
