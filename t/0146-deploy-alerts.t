#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The rules for alerts fire where they should, and they and the dashboard use metrics that
# exist.
. "$srcdir/t/tap.sh"
need python3
plan 8

rules=$srcdir/deploy/prometheus/cpi.rules.yml
alerts=$(sed -n 's/^ *- alert: //p' "$rules")
known=$(sed -n 's/^	{ "[^"]*", "\([^"]*\)".*/\1/p' "$srcdir/daemon/control/status_parts.c" | sort -u)
{
	echo "$known" | sed 's/^/cpi_/'
	echo "$known" | sed 's/^/cpi_database_/'
	sed -n 's/^	{ "[^"]*", "\([^"]*\)".*/cpi_ship_\1/p' "$srcdir/ship/status.c"
} | sort >metrics
is "$(grep -o 'cpi_[a-z_]*' "$rules" | grep -v '^cpi_rules' | sort -u | comm -23 - metrics)" '' 'every metric of the rules is one that CPI has'
is "$(sed -n 's/^## //p' "$srcdir/doc/runbook.md")" "$alerts" \
	'the runbook has a section for each alert, in the same order'
is "$(grep -o 'runbook.md#[a-z]*' "$rules")" \
	"$(echo "$alerts" | tr 'A-Z' 'a-z' | sed 's/^/runbook.md#/')" \
	'each alert names its section of the runbook'
# A database that cpid keeps small is no reason for an alert.
kept=$(sed -n 's|.*policy[.]bytes - r->policy[.]bytes / \([0-9]*\);|\1|p' "$srcdir/db/retain/retain.c")
warned=$(sed -n 's/.*cpi_db_bytes > \([0-9.]*\) .*/\1/p' "$rules")
is "$(echo "$kept $warned" | awk '{ print (1 - 1 / $1 < $2), ($2 < 1) }')" '1 1' \
	'the alert of a large database begins above the size that retention keeps'
like "$(cat "$srcdir/man/cpid.8")" "$((kept - 1))/$kept of\$" 'cpid(8) names that size'
is "$("$srcdir/t/dashboard_check.py" "$srcdir/deploy/grafana/cpi.json" metrics exprs.json)" '' \
	'the dashboard is what Grafana loads, and asks for metrics that exist'
if command -v promtool >/dev/null; then
	try 'each alert fires where it should' promtool test rules \
		"$srcdir/deploy/prometheus/cpi.rules.test.yml"
	try 'each expression of the dashboard parses' promtool check rules exprs.json
else
	skip 2 'promtool is not installed (package prometheus)'
fi
