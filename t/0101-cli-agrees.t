#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --help, the bash completion and the man page of a command name the same
# options; the synopsis names the same arguments.
. "$srcdir/t/tap.sh"

commands=$(cpi --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p')
[ -n "$commands" ] || bail "cpi --help lists no commands"
cpi help --completion >completion || bail "no completion script"

plan $((5 * $(echo "$commands" | wc -w) + 7))

for c in $commands; do
	page=$srcdir/man/cpi-$c.1
	help=$(cpi "$c" --help)
	cpi help "$c" >help.out
	is "$(cat help.out)" "$help" "cpi help $c is cpi $c --help"

	options=$(echo "$help" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort)
	is "$(sed -n 's/^\.It .*Fl -\([a-z][a-z-]*\).*/--\1/p' "$page" | sort)" \
		"$options" "cpi-$c(1) describes the options of cpi $c"
	is "$(sed -n "/^	$c)/,/^		;;/s/^		opts='\(.*\)'/\1/p" completion |
		tr -d = | tr ' ' '\n' | sort)" \
		"$options" "the completion knows the options of cpi $c"
	letters=$(echo "$help" | sed -n 's/^  \(-.\), .*/\1/p' | sort)
	is "$(sed -n 's/^\.It Fl \([a-zA-Z]\) .*/-\1/p' "$page" | sort)" \
		"$letters" "cpi-$c(1) describes the letters of cpi $c"
	args=$(echo "$help" | sed -n '1s/^usage: cpi [a-z]* \[OPTION...\] *//p')
	is "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.Ar //p' "$page")" \
		"$args" "cpi-$c(1) has the synopsis of cpi $c"
done

listed=$(sed -n 's/^\.It Xr cpi-\([a-z]*\) 1$/\1/p' "$srcdir/man/cpi.1" | sort)
is "$listed" "$(echo "$commands" | sort)" "cpi(1) lists the commands"
summaries=$(sed -n '/^\.It Xr cpi-/{n;s/\.$//;p}' "$srcdir/man/cpi.1")
is "$summaries" "$(cpi --help | sed -n 's/^  [a-z][a-z]*  *\([A-Z].*\)/\1/p')" \
	"cpi(1) has the summaries"

if command -v bash >/dev/null; then
	bash -n completion
	ok $? "the completion is a valid script"
	got=$(bash -c '. ./completion
		COMP_WORDS=(cpi prof --form) COMP_CWORD=2
		compopt() { :; }
		_cpi; echo "${COMPREPLY[*]}"')
	is "$got" "--format=" "an option is completed"
	got=$(bash -c '. ./completion
		COMP_WORDS=(cpi prof --by = proced) COMP_CWORD=4
		_cpi; echo "${COMPREPLY[*]}"')
	is "$got" "procedure" "a value is completed"
else
	skip 3 "no bash here"
fi

is "$(grep -E '^\.Sh' "$srcdir"/man/*.[1-8] | grep -v '\.Sh [A-Z ]*$')" "" \
	"headings are words in capitals"

if command -v mandoc >/dev/null; then
	is "$(mandoc -Tlint -W warning "$srcdir"/man/*.[1-8])" "" \
		"mandoc finds nothing to warn of"
else
	skip 1 "no mandoc here"
fi
