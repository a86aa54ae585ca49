#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cpid --help lists is what cpid(8) describes.
. "${srcdir:-.}/t/tap.sh"
plan 4

cpid --help >help
is $? 0 '--help succeeds'
is "$(sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' help | sort)" "$(sed -n '/^\.Ss Options/,/^\.Ss Control/s/^\.It .*Fl Fl \([a-z-]*\).*/\1/p'   	"${srcdir:-.}/man/cpid.8" | sort)" 'both know the same options'
is "$(sed -n 's/^  -\([A-Za-z]\),.*/\1/p' help | sort)" "$(sed -n '/^\.Ss Options/,/^\.Ss Control/s/^\.It Fl \([A-Za-z]\) ,.*/\1/p'   	"${srcdir:-.}/man/cpid.8" | sort)" 'both know the same letters'
try '--version names the program' sh -c 'cpid --version | grep -q "^cpid [0-9]"'
