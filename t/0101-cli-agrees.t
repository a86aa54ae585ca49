#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# --help, the bash completion and the man page of a command name the same
# options; the synopsis names the same arguments.
. "$srcdir/t/tap.sh"

commands=$(cpi --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p')
[ -n "$commands" ] || bail "cpi --help lists no commands"
cpi help --completion >completion || bail "no completion script"

plan $((5 * $(echo "$commands" | wc -w) + 24))

for c in $commands; do
	page=$builddir/man/cpi-$c.1
	help=$(cpi "$c" --help)
	cpi help "$c" >help.out
	is "$(cat help.out)" "$help" "cpi help $c prints what cpi $c --help prints"

	options=$(echo "$help" | sed -n 's/^  \(-.,\|   \) \(--[a-z-]*\).*/\2/p' | sort)
	is "$(sed -n 's/^\.It .*Fl -\([a-z][a-z-]*\).*/--\1/p' "$page" | sort)" \
		"$options" "cpi-$c(1) describes the options of cpi $c"
	is "$(sed -n "/^	$c)/,/^		;;/s/^		opts='\(.*\)'/\1/p" completion |
		tr -d = | tr ' ' '\n' | sort)" \
		"$options" "the completion lists the options of cpi $c"
	letters=$(echo "$help" | sed -n 's/^  \(-.\), .*/\1/p' | sort)
	is "$(sed -n 's/^\.It Fl \([a-zA-Z]\) .*/-\1/p' "$page" | sort)" \
		"$letters" "cpi-$c(1) describes the one-letter options of cpi $c"
	args=$(echo "$help" | sed -n '1s/^usage: cpi [a-z]* \[OPTION...\] *//p')
	is "$(sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/s/^\.Ar //p' "$page")" \
		"$args" "cpi-$c(1) and the usage of cpi $c name the same arguments"
done

listed=$(sed -n 's/^\.It Xr cpi-\([a-z]*\) 1$/\1/p' "$srcdir/man/cpi.1" | sort)
is "$listed" "$(echo "$commands" | sort)" "cpi(1) lists every command"
summaries=$(sed -n '/^\.It Xr cpi-/{n;s/\.$//;p}' "$srcdir/man/cpi.1")
is "$summaries" "$(cpi --help | sed -n 's/^  [a-z][a-z]*  *\([A-Z].*\)/\1/p')" \
	"cpi(1) and cpi --help have the same summaries"

is "$(cpi --help | sed -n 's/^\([A-Z][a-z ]*\):$/\1/p')" "$(sed -n \
	'/^The commands are/,/^\.Ss Names/{/Names/!s/^\.Ss //p;}' "$srcdir/man/cpi.1")" \
	"cpi(1) and cpi --help have the same groups of commands"
is "$(cpi --help | awk 'length > 80')" "" "cpi --help fits into 80 columns"

is "$(cpi record --help | grep -c -e ' --stacks\[=off|dwarf|fp|auto\]$') $(grep -c \
	'Fl -stacks Ns Oo Ns = .* Cm auto Oc$' "$builddir/man/cpi-record.1")" "1 1" \
	"a value that may be left out is in brackets"

# What perf calls a command is one, too.
for pair in report:prof annotate:list; do
	is "$(cpi "${pair%:*}" --help)" "$(cpi "${pair#*:}" --help)" \
		"cpi ${pair%:*} is cpi ${pair#*:}"
	like "$(cpi --help)" "'cpi ${pair%:*}' is 'cpi ${pair#*:}'" \
		"cpi --help says that cpi ${pair%:*} is cpi ${pair#*:}"
done

if command -v bash >/dev/null; then
	bash -n completion
	ok $? "the completion is a valid script"
	got=$(bash -c '. ./completion
		COMP_WORDS=(cpi prof --form) COMP_CWORD=2
		compopt() { :; }
		_cpi; echo "${COMPREPLY[*]}"')
	is "$got" "--format=" "the completion completes an option"
	got=$(bash -c '. ./completion
		COMP_WORDS=(cpi prof --by = proced) COMP_CWORD=4
		_cpi; echo "${COMPREPLY[*]}"')
	is "$got" "procedure" "the completion completes a value"
	got=$(bash -c '. ./completion
		COMP_WORDS=(cpi report --over) COMP_CWORD=2
		compopt() { :; }
		_cpi; echo "${COMPREPLY[*]}"')
	is "$got" "--over-time" "the completion knows the options of cpi report"

	# What the database has.
	"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
	completes() # WORD... CURSOR: what the last word becomes
	{
		CPI_DB=known.db bash -c '. ./completion
			COMP_WORDS=(cpi "$@") COMP_CWORD=$#
			_cpi 2>&1; echo "${COMPREPLY[*]}"' sh "$@"
	}
	is "$(completes prof --epoch = h)" half "the completion completes a label"
	is "$(completes diff full ha)" half "the completion completes the epochs of cpi diff"
	is "$(completes list target_h)" target_hot "the completion completes a procedure"
	# The word is quoted for the shell, which takes the quotes off.
	is "$(bash -c "printf %s $(completes prof --image "${builddir%/*}/")")" "$builddir/t/target" \
		"the completion completes an image"
	is "$(completes prof --db = none.db --epoch h)" "" \
		"the completion asks the database of the command line, and is silent"
	"$builddir/t/mkdb" evil.db "$builddir/t/target" || bail "mkdb failed"
	cpi epoch label --db evil.db half 'x$(touch evil)'
	CPI_DB=evil.db bash -c '. ./completion
		COMP_WORDS=(cpi prof --epoch x) COMP_CWORD=3
		_cpi; echo "${COMPREPLY[*]}"' >out
	is "$(cat out; ls evil 2>/dev/null)" 'x\$\(touch\ evil\)' "a label is not run as a command"
else
	skip 10 "no bash here"
fi

is "$(grep -E '^\.Sh' "$srcdir"/man/*.[1-8] "$builddir"/man/*.[1-8] | grep -v '\.Sh [A-Z ]*$')" "" \
	"headings of man pages are in capitals"

if command -v mandoc >/dev/null; then
	is "$(mandoc -Tlint -W warning "$srcdir"/man/*.[1-8] "$builddir"/man/*.[1-8])" "" \
		"mandoc has no warning about the man pages"
else
	skip 1 "no mandoc here"
fi

# page PAGE OPTIONS: what page.awk says of a wrong page or file of options.
page()
{
	cpi flush --help | awk -v options="$2" -f "$srcdir/man/page.awk" - "$1" 2>&1 >/dev/null
	echo "status $?"
}
printf '.\\" OPTIONS\n.\\" --nonsense\nText.\n.\\" END\n' >unknown.in
echo Text. >none.in
is "$(page unknown.in "$srcdir/man/options")" "page.awk: the command has no option --nonsense
status 1" 'a page that explains an unknown option is refused'
is "$(page none.in "$srcdir/man/options")" \
	"page.awk: the page needs one list of options, from OPTIONS to END
status 1" 'a page without a list of options is refused'
is "$(page unknown.in missing)" "page.awk: missing cannot be read
status 1" 'a missing file of options is an error'
