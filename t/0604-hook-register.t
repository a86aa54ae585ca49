#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program that reads its code from a file by itself, before and after cpi register.
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
	like "$(cat out.txt)" "$refused_like" 'with the reason'
}

try 'it computes there' compute
cpid_ask flush >/dev/null
before=$(samples loader '*/loader')
anonymous=$(sql "SELECT total(n) FROM comm WHERE comm = 'loader' AND image = 0" | sed 's/\.0$//')
note "$before samples have the image, $anonymous have none"
bound "$anonymous" '>' 100 'its samples have no image'

refused 'is not what' 'another place of the file' $pid --base "$base" --size "$size" \
	--path "$loader" --offset $((offset + 1))
refused 'nothing executable' 'another place in memory' $pid --base 0x10000 --size "$size" \
	--path "$loader" --offset "$offset"
refused 'no process' 'another process' 4194303
register $pid --base 0x10000
is $? 2 'half a range is a wrong command line'
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 . && chmod 666 t.sock
	setpriv --reuid=65534 --regid=65534 --clear-groups "$builddir/tools/cpi" register \
		--socket "$tmp/t.sock" $pid >out.txt 2>&1
	like "$(cat out.txt)" 'is not yours' "another user's process is refused"
else
	skip 1 'only root can become another user'
fi

try 'its mappings can be read again' register $pid
try 'what is true is registered' register $pid --base "$base" --size "$size" \
	--path "$loader" --offset "$offset"
try 'it computes there again' compute
exec 4>&-
wait $pid
is $? 0 'the program ends well'
collect_stop
check_stored
bound "$(($(samples loader '*/loader') - before))" '>' 100 'its samples have the image'
# All the others are elsewhere in the program, which has not got a hundred places.
bound "$(cpi cat --db "$db" --image '*/loader' --format=csv 2>/dev/null | wc -l)" '<=' 100 \
	'at their places in the file'
