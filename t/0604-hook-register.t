#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program reads its code from a file into memory. cpi register tells where from.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan $((nr_stored_tests + 18))

loader=$programs/loader
mkfifo in out
collect_start -F 1000 --sweep 1m
"$loader" read "$loader" 300 <in >out &
pid=$!
tap_pids="$tap_pids $pid"
exec 4>in 5<out
read -r its_pid base size offset <&5
is "$its_pid" $pid 'the program has read its code'

compute()
{
	echo go >&4
	read -r said <&5
	[ "$said" = done ]
}

register()
{
	cpi register --socket t.sock "$@" >out.txt 2>&1
}

# refused PATTERN NAME OPTION...
refused()
{
	refused_like=$1
	refused_name=$2
	shift 2
	register "$@"
	is $? 1 "$refused_name is refused"
	like "$(cat out.txt)" "$refused_like" "the reason is given: $refused_name"
}

try 'the program computes in its code before registration' compute
cpid_ask flush >/dev/null
before=$(samples loader '*/loader')
anonymous=$(sql "SELECT total(n) FROM comm WHERE comm = 'loader' AND image = 0" | sed 's/\.0$//')
note "$before samples have the image, $anonymous have none"
bound "$anonymous" '>' 100 'samples before registration have no image'

refused 'is not what' 'a wrong offset in the file' $pid --base "$base" --size "$size" \
	--path "$loader" --offset $((offset + 1))
refused 'nothing executable' 'a wrong address' $pid --base 0x10000 --size "$size" \
	--path "$loader" --offset "$offset"
refused 'no process' 'a process that does not exist' 4194303
register $pid --base 0x10000
is $? 2 'a range without a size is a usage error'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && chmod 666 t.sock
	setpriv --reuid=65534 --regid=65534 --clear-groups "$builddir/tools/cpi" register \
		--socket "$tmp/t.sock" $pid >out.txt 2>&1
	like "$(cat out.txt)" 'is not yours' "another user's process is refused"
else
	skip 1 'only root can become another user'
fi

try 'cpi register reads the mappings of a process again' register $pid
try 'true code is registered' register $pid --base "$base" --size "$size" \
	--path "$loader" --offset "$offset"
try 'the program computes in its code after registration' compute
exec 4>&-
wait $pid
is $? 0 'the program ends in good order'
collect_stop
check_stored
bound "$(($(samples loader '*/loader') - before))" '>' 100 'samples after registration have the image'
# The other samples of the program are at fewer than a hundred offsets.
bound "$(cpi cat --db "$db" --image '*/loader' --format=csv 2>/dev/null | wc -l)" '<=' 100 \
	'samples after registration are at offsets of the file'
