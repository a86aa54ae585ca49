#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The answer whether memory equals a file discloses the file byte by byte. So cpid answers
# only for files that the asking process has opened itself.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3 setpriv
[ "$(id -u)" = 0 ] || skip_all 'only root can become another user'
python=$(PATH=/usr/bin:/bin command -v python3) || skip_all 'python3 is not in /usr/bin or /bin'
plan 7

chmod 711 .
mkdir private
printf 'S3cr3t' >private/secret
chmod 644 private/secret
chmod 700 private
printf 'S3cr3t' >shared
chmod 644 shared
# Where the other user can read it.
cp "$srcdir/t/register_ask.py" .
chmod 644 register_ask.py
collect_start -F 100 --sweep 1m
chmod 666 t.sock

# answers PATH TEXT FILE...: the answers to the user nobody
answers()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups \
		"$python" register_ask.py "$PWD/t.sock" "$@" </dev/null 2>&1
}

secret=$PWD/private/secret
setpriv --reuid=65534 --regid=65534 --clear-groups cat private/secret >out.txt 2>&1
is $? 1 'the user cannot read the private file'
right=$(answers "$secret" S3cr -1 0 77)
is "$right" "$(answers "$secret" Wr0n -1 0 77)" 'right and wrong guesses of a private file get the same answers'
like "$right" '^-[0-9]* -[0-9]* -[0-9]* $' 'guesses of a private file are refused'
is "$(answers "$PWD/shared" S3cr "$PWD/shared")" '0 ' 'a right text of an open file is accepted'
like "$(answers "$PWD/shared" Wr0n "$PWD/shared")" '^-[0-9]* $' 'a wrong text of an open file is refused'
like "$(answers "$PWD/shared" S3cr "path:$PWD/shared")" '^-[0-9]* $' \
	'a file that is open without the right to read is refused'
cpid_ask quit >/dev/null
cpid_wait
is "$cpid_status" 0 'cpid ends in good order'
