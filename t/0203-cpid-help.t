#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpid --help lists the options that cpid(8) describes.
. "$srcdir/t/tap.sh"
plan 4

# described REGEX: what the group in REGEX matches in the options of cpid(8).
described()
{
	sed -n "/^\.Ss Options/,/^\.Ss Control/s/$1/\1/p" "$srcdir/man/cpid.8" | sort
}

cpid --help >help
is $? 0 'cpid --help succeeds'
is "$(sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' help | sort)" \
	"$(described '^\.It .*Fl Fl \([a-z-]*\).*')" \
	'cpid --help and cpid(8) have the same options'
is "$(sed -n 's/^  -\([A-Za-z]\),.*/\1/p' help | sort)" \
	"$(described '^\.It Fl \([A-Za-z]\) ,.*')" \
	'cpid --help and cpid(8) have the same one-letter options'
try 'cpid --version starts with the name' sh -c 'cpid --version | grep -q "^cpid [0-9]"'
