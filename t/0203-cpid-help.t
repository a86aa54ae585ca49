#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cpid --help lists is what cpid(8) describes.
. "${srcdir:-.}/t/tap.sh"
plan 4

cpid --help >help
is '--help succeeds' $? 0
is 'both know the same options' \
	"$(sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' help | sort)" \
	"$(sed -n '/^\.Ss Options/,/^\.Ss Control/s/^\.It .*Fl Fl \([a-z-]*\).*/\1/p' \
		"${srcdir:-.}/man/cpid.8" | sort)"
is 'both know the same letters' \
	"$(sed -n 's/^  -\([A-Za-z]\),.*/\1/p' help | sort)" \
	"$(sed -n '/^\.Ss Options/,/^\.Ss Control/s/^\.It Fl \([A-Za-z]\) ,.*/\1/p' \
		"${srcdir:-.}/man/cpid.8" | sort)"
ok '--version names the program' sh -c 'cpid --version | grep -q "^cpid [0-9]"'
