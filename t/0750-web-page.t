#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page in Chromium: what every view shows; its figures are the commands'.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
. "$srcdir/t/web_page.sh"

page_database
web_start --db=page.db
"$browser_python" "$srcdir/t/web_page.py" "$url" "$builddir/tools/cpi" page.db target_hot \
	"$builddir/t/target" views
