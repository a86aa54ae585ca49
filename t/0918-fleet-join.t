#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi fleet join: what it checks, and the file that it writes. This machine's own files stay:
# /etc is a copy, and without systemd. t/0812 has the services.
. "$srcdir/t/tap.sh"
. "$srcdir/t/clickhouse.sh"
PATH="$builddir/ship:$PATH"
need curl unshare setpriv
[ "$(id -u)" -eq 0 ] || skip_all 'a copy of /etc takes root'
lacks=$(store_lacks old)
[ -z "$lacks" ] || skip_all "$lacks"
if [ -z "${JOIN_COPY:-}" ]; then
	unshare --mount true 2>unshare.err || skip_all "$(cat unshare.err)"
	cd / && rm -rf "$tmp"
	JOIN_COPY=1 exec unshare --mount "$srcdir/t/0918-fleet-join.t"
fi
mount -t tmpfs none "$tmp" && cd "$tmp" && mkdir upper work &&
	mount -t overlay none -o lowerdir=/etc,upperdir=upper,workdir=work /etc 2>mount.err ||
	skip_all "there is no overlay of /etc: $(cat mount.err)"
[ ! -d /run/systemd ] || mount -t tmpfs none /run/systemd || skip_all 'systemd cannot be hidden'
join_end()
{
	for pid in $tap_pids; do
		kill -KILL "$pid" 2>/dev/null
	done
	wait
	umount -l "$tmp"
	tap_end
}
trap join_end EXIT
unset CPI_SHIP_CONFIG CPI_STORE
rm -rf /etc/cpi
mkdir /etc/cpi
folder=/etc/cpi/cpi-ship.conf.d
file=$folder/store.conf
plan 22

# unchanged NAME: nothing was written.
unchanged()
{
	is "$(find /etc/cpi -mindepth 1)" '' "$1"
}

store_start old store
url=clickhouse://127.0.0.1:$store_port/cpi
bad '^status 2: .*name one store' 'a store has to be named' cpi fleet join
bad '^status 1: .*no name of a database' 'a wrong URL is refused' cpi fleet join --db "${url};"
bad '^status 1: .*no ClickHouse answers' 'a store has to answer' cpi fleet join --db clickhouse://127.0.0.1:9/cpi
bad "^status 1: .*'cpi fleet init' makes it" 'it has to have tables' cpi fleet join --db "$url"
cpi fleet init --db "$url" >/dev/null || bail 'no tables'
store_db=cpi
store_sql 'CREATE TABLE kept AS version'
store_sql 'INSERT INTO kept SELECT * FROM version'
store_sql 'INSERT INTO version (version) VALUES (99)'
bad '^status 1: .*version 99.*install a newer one' 'tables of a newer version are refused' cpi fleet join --db "$url"
store_sql 'DROP TABLE version'
store_sql 'RENAME TABLE kept TO version'
(umask 077 && echo secret >password)
bad '^status 1: .*/password: cpi-ship could not read it: .*chgrp cpi' 'a password that cpi-ship cannot read is refused' \
	cpi fleet join --db "$url?user=shipper&password-file=$tmp/password"
bad '^status 1: .*cpi-ship.conf.d: Permission denied: run this as root' 'a user without rights is told what to do' \
	setpriv --reuid=65534 --clear-groups cpi fleet join --db "$url"
unchanged 'none of these has changed anything'

bad '^status 1: .*systemd does not run here.*start cpid and cpi-ship' 'without systemd it says what to start' \
	cpi fleet join --db "$url"
like "$(cat out)" "^$file: store = $url\$" 'it says which file it has written'
is "$(stat -c %a "$file") $(ls /etc/cpi)" "644 cpi-ship.conf.d" 'every user may read the file'
checked()
{
	cpi-ship --check-config | sed -n 's/^store  *//p' | tr -s ' '
}
is "$(checked)" "$url $file:3" 'cpi-ship sends to that store'
inode=$(stat -c %i "$file")
cpi fleet join --db "$url" >out 2>&1
is "$(stat -c %i "$file") $(ls $folder)" "$inode store.conf" 'again it changes nothing'

# Another store, and settings that an administrator made.
cpi fleet init --db "${url}2" >/dev/null || bail 'no tables'
echo 'cluster = here' >>"$file"
cp "$file" edited
CPI_DB=${url}2 cpi fleet join >out 2>&1
is "$(checked)" "${url}2 $file:3" 'another store replaces the first one'
like "$(cat out)" "^$file: its old contents are in store.conf.old\$" 'it says where the former file is'
try 'the former file is there' cmp edited "$file.old"
like "$(cat out)" "^$file:3 named another store before: $url\$" 'it says which store was named before'
is "$(ls $folder)" "$(printf 'store.conf\nstore.conf.old')" 'no temporary file stays'
printf '[cpi-ship]\n\nstore = clickhouse://elsewhere/cpi\n' >$folder/zone.conf
bad "^status 1: .*$folder/zone.conf:3 sets another store, and is read later" 'a later file with another store is an error' \
	cpi fleet join --db "$url"
rm $folder/zone.conf
printf 'store = clickhouse://elsewhere/cpi\n' >/etc/cpi/cpi-ship.conf
bad "^status 1: .*cpi-ship.conf:1:1: .*\[cpi-ship\]" 'a file that cpi-ship refuses is an error' cpi fleet join --db "$url"
printf '[cpi-ship]\nstore = clickhouse://elsewhere/cpi\n' >/etc/cpi/cpi-ship.conf
cpi fleet join --db "$url" >out 2>&1
is "$(checked)" "$url $file:3" 'the store of cpi-ship.conf is replaced'

# What was written is enough for the machine's epochs to arrive.
"$builddir/t/mkdb" t.db "$builddir/t/target" >/dev/null || bail 'mkdb failed'
cpi-ship --once --db t.db >ship.log 2>&1
is "$? $(store_sql 'SELECT count() > 0 FROM epoch')" '0 1' 'cpi-ship sends epochs to the store' || note "$(cat ship.log)"
