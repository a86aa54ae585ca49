#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Requests that mean harm get nothing, and do not keep others from getting answers.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
need sqlite3 pgrep
plan 30

# KiB that the server may grow by. Sanitizers keep what was freed: 256 MiB of it.
most_grown=60000
! grep -q 'SANITIZERS 1' "$builddir/config.h" || most_grown=400000

attack() # TITLE NAME
{
	try "$1" timeout 120 python3 "$srcdir/t/web_attack.py" "$2" "$url" "$web_pid" \
		$most_grown
}

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
web_start --db=known.db
attack "every answer has the headers that keep a browser safe" headers
attack "a request for another host is refused" rebinding
attack "only GET and HEAD are taken" methods
attack "another site's page gets nothing" cross_site
attack "a wrong token is like any other address" tokens
attack "no path and no option leads to a file" traversal
attack "what is behind a request is no request" smuggling
attack "what is too long is refused" oversize
attack "compressed, partial and conditional answers are right" conditions
attack "slow clients keep nobody out" slow
get '' >page
is "$(status)" 200 "the server answers after malformed requests"
web_stop
is "$? $(cat web.log)" "0 " "malformed requests are not logged"

# name_image BYTES: gives an image a hostile name.
name_image()
{
	sqlite3 known.db "UPDATE image SET name = '/x/</script><script>alert(1)</script>' ||
		char(8238) || char(27) || '[31m' || hex(zeroblob($1 / 2)) WHERE id = 1" ||
		bail "no hostile name"
}
name_image 3000
web_start --db=known.db
attack "a hostile name is a string in JSON" hostile
name_image 100000
get 'api/v1/prof?by=image&epoch=all' >got
is "$(status) $(grep -o 'a name has [0-9]* bytes' got)" "422 a name has 100045 bytes" \
	"a name of 100 KB is refused with its database"
web_stop

# program TEXT: reports are made by this script instead of cpi.
program()
{
	printf '#!/bin/sh\n%s\n' "$1" >"$tmp/program"
	chmod +x "$tmp/program"
}

web_start_program()
{
	SECRET=word web_start --db=known.db --jobs=2 --cpi="$tmp/program" "$@"
}

# The server's own figures do not need a report.
program 'case $1 in status | epoch) exit 0 ;; esac
sleep 98765 &
sh -c "sleep 98765; :" &
exec sleep 1000'
web_start_program
attack "the report of a client that goes away is ended, and what it started" leaving
attack "only so many questions wait" crowd
web_stop

program 'while :; do :; done'
web_start_program --patience=1
get api/v1/prof >got
is "$(status) $(cat got)" '504 {"error": "prof: not done within 1 s: choose a shorter time, or one image"}' \
	"a report that takes too long is ended"
web_stop

program 'exec cat /dev/urandom'
web_start_program
get api/v1/prof >got
is "$(status) $(cat got)" '500 {"error": "prof: the result is too large: choose a shorter time, or one image"}' \
	"a report that prints too much is ended"
web_stop

# Its last 60 KB may still be in the pipe when it has ended.
program 'sleep 98765 &
exec python3 -c "
import fcntl, os, struct, termios, time
os.write(2, b\"x\" * 9000)
for _ in range(128):
    os.write(1, os.urandom(65300))
while struct.unpack(\"i\", fcntl.ioctl(1, termios.FIONREAD, bytes(4)))[0]:
    time.sleep(0.001)
os.write(1, os.urandom(60000))
os._exit(0)"'
web_start_program
attack "a report that prints too much at its end is ended, and what it started" late
web_stop

program 'echo done
sleep 98765 &
yes &
setsid yes &
exit 0'
web_start_program
attack "what a report leaves running ends with it" behind
web_stop

program 'kill -SEGV $$'
web_start_program
get api/v1/prof >got
is "$(status) $(cat got)" '500 {"error": "prof: ended by signal 11"}' "a report that crashes is an error"
is "$(get -/healthy)" healthy "the server answers after a report crashed"
web_stop

program 'python3 - <<END
import os, socket
print(sorted(os.environ.get(n, "-") for n in ("SECRET", "SHELL", "USER", "LISTEN_FDS")))
print(os.listdir("/proc/self/fd").__len__() <= 5)
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK):
    try:
        socket.socket(family)
        print("a socket")
    except PermissionError:
        print("no socket")
print(open("/proc/self/status").read().split("NoNewPrivs:")[1].split()[0])
END
for f in "$0" '"$tmp"'/new /tmp/cpi-web-new; do
	(echo x >"$f") 2>/dev/null && echo "wrote $f"
done
ulimit -v
ulimit -c'
web_start_program --memory=1G
get 'api/v1/prof?format=text' >got
is "$(sed -n 1,2p got)" "['-', '-', '-', '-']
True" "a report gets no environment and no descriptors"
is "$(sed -n 3,5p got)" "no socket
no socket
no socket" "a report has no network"
is "$(sed -n 6p got)" 1 "a report gains no privilege"
if [ -d /sys/kernel/security ] && ! grep -qw landlock /sys/kernel/security/lsm 2>/dev/null; then
	skip 1 "this kernel has no Landlock"
else
	is "$(grep wrote got)" "" "a report writes no file"
fi
if grep -q 'SANITIZERS 1' "$builddir/config.h"; then
	skip 1 "sanitizers need any amount of addresses"
else
	is "$(tail -n 2 got)" "1048576
0" "the memory of a report is limited"
fi
web_stop
is "$(cat web.log)" "" "the server logs nothing"

# stop_during PATH: stops the server while a client waits for its child, sleep. Prints the
# status, what the server says and what it leaves.
stop_during()
{
	web_start_program
	get "$1" >got 2>&1 &
	stop_client=$!
	tap_pids="$tap_pids $stop_client"
	await pgrep -P "$web_pid" -x sleep >/dev/null || echo "no child for $1"
	web_stop
	echo "$? $(cat web.log)"
	! wait "$stop_client" || echo "the client has an answer: $(cat got)"
	find "$tmp" -name 'cpi-web.*' -o -name 'core*'
}
program 'exec sleep 1000'
is "$(stop_during -/ready)" "0 " "the server ends while a report is made"
is "$(stop_during api/v1/prof)" "0 " "the server ends while it computes the hash of a report"
