#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The page's files keep to what web/page/README.md says.
. "$srcdir/t/tap.sh"
cd "$srcdir" || exit 1
plan 7

is "$(grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\(|new Function|setAttribute\("style' \
	web/page/*.js)" '' 'no module parses markup or makes code of text'
is "$(grep -nE ' on[a-z]+=| style=|<script[^>]*>[^<]|<style' web/page/index.html)" '' \
	'no script and no style stands in the page itself'
is "$(grep -noE "https?://[^\"' )]*" web/page/*.js web/page/*.css web/page/*.html |
	grep -v 'http://www.w3.org/2000/svg')" '' 'no file names another origin'
is "$(wc -l web/page/* | awk '$2 != "total" && $1 > 400')" '' 'every file has at most 400 lines'
is "$(ls web/page | wc -l | awk '$1 > 45')" '' 'the folder has at most 45 files'
bound "$(for page_file in web/page/*.js web/page/*.css web/page/*.html; do
	gzip -9nc "$page_file" | wc -c
done | awk '{ n += $1 } END { print n }')" '<=' 122880 'compressed, the page has at most 120 KiB'
is "$(for page_file in web/page/*.js web/page/*.css web/page/*.html; do
	grep -q "$page_file" web/local.mk || echo "$page_file"
done)" '' 'every file is served'
