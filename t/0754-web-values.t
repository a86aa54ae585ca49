#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page in Chromium shows the values of operands that windows kept.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
. "$srcdir/t/web_page.sh"
. "$srcdir/t/recorded.sh"

need_windows
compile_program operands -O2
record_windows t.db --values -- ./operands 3000 1234567890abcdef
web_start --db=t.db
"$browser_python" "$srcdir/t/web_page.py" "$url" "$builddir/tools/cpi" t.db operands \
	"$PWD/operands" values
