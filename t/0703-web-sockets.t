#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The sockets of cpi-web: local ones, those of the service manager, and its units.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"
plan 20

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"

# ask SOCKET PATH: the status and the body.
ask()
{
	python3 "$srcdir/t/web_unix.py" get "$@"
}

# serve SOCKET COMMAND...: in the background, until the socket takes connections.
serve()
{
	serve_socket=$1
	shift
	"$@" >served 2>&1 &
	web_pid=$!
	tap_pids="$tap_pids $web_pid"
	for _ in $(seq 600); do
		ask "$serve_socket" /-/healthy >/dev/null 2>&1 && return
		kill -0 "$web_pid" 2>/dev/null || return
		sleep 0.1
	done
}
ln -s "$builddir/tools/cpi" reporter # the path may have spaces
web="cpi-web --cpi=$tmp/reporter --db=known.db"

serve web.sock $web --listen=unix:web.sock
is "$(ask web.sock /-/ready)" "200
ready" "a local socket needs no token"
is "$(ask web.sock '/api/v1/prof?epoch=all' | tail -n +2)" \
	"$(cpi prof --db known.db --epoch all --format json)" "the local socket has the reports"
is "$(stat -c %a web.sock)" 660 "the local socket's owner and group may connect"
is "$($web --listen=unix:web.sock 2>&1; echo $?)" \
	"cpi-web: error: web: --listen=unix:web.sock: Address already in use
1" "a socket that is in use is not replaced"
web_stop
is "$? $(cat served)" "0 " "the server logs nothing"

serve web.sock $web --listen=unix:web.sock
is "$(ask web.sock /-/healthy)" "200
healthy" "a socket that was left behind is replaced"
web_stop
echo text >file
is "$($web --listen=unix:file 2>&1; echo $?; cat file)" \
	"cpi-web: error: web: --listen=unix:file: File exists
1
text" "a file that is not a socket is not replaced"

serve handed.sock python3 "$srcdir/t/web_unix.py" serve handed.sock $web
is "$(ask handed.sock /-/ready)" "200
ready" "a socket of the service manager is taken"
web_stop
is "$? $(cat served)" "0 " "with a socket of the service manager the server listens on nothing else"

serve both.sock python3 "$srcdir/t/web_unix.py" both both.sock $web
is "$(ask both.sock /-/ready)" "200
ready" "a local socket needs no token beside a port that needs one"
web_stop

# A program can name any file as its source, also one that only the server may read.
printf '#!/bin/sh\necho "sources: $CPI_NO_SOURCE"\n' >says
chmod +x says
printf '[cpi-web]\npatience = 9\n' >says.conf
serve says.sock cpi-web --config="$tmp/says.conf" --cpi="$tmp/says" --db=known.db --listen=unix:says.sock
is "$(ask says.sock '/api/v1/prof?format=text' | tail -n +2)" "sources: private" \
	"on a local socket, reports read only source files that everybody may read"
printf '[cpi-web]\npatience = 8\n' >says.conf
kill -HUP "$web_pid"
await grep -q 'changed: patience' served
is "$(ask says.sock '/api/v1/prof?format=text&by=image' | tail -n +2)" "sources: private" \
	"so they do after a reload"
web_stop
web_start --cpi="$tmp/says" --db=known.db
is "$(get 'api/v1/prof?format=text')" "sources: " "with a token, they read all source files"
web_stop
if command -v cc >/dev/null; then
	mkdir private
	cp "$srcdir/t/target.c" private
	cc -g -O1 -o own private/target.c && chmod 600 private/target.c || bail "cc fails"
	"$builddir/t/mkdb" own.db ./own || bail "mkdb failed"
	for sources in '' private; do
		CPI_NO_SOURCE=$sources cpi list --db own.db --epoch all --source target_hot 2>&1
	done >lines
	is "$(grep -c 'unsigned int i = 0' lines) $(grep -c 'target.c: not everybody may read it' lines)" \
		"1 1" "a source file that not everybody may read is named, and not shown"
else
	skip 1 "there is no compiler"
fi

for address in 0.0.0.0:0 '[::]:0'; do
	is "$($web --listen="$address" 2>&1; echo $?)" \
		"cpi-web: error: web: other machines would reach the server: listen on 127.0.0.1 or unix:PATH, or set certificate, key, and client-ca or passwords
1" "$address is refused, with what to do"
done
is "$($web --listen=localhost 2>&1; echo $?)" \
	"cpi-web: error: web: --listen=localhost: Invalid argument
1" "a text that is not an address is refused"

is "$(cpi-web --help | sed -n 's/^  .\{4\}--\([a-z-]*\).*/\1/p' | sort)" \
	"$(sed -n 's/^\.It .*Fl -\([a-z-]*\).*/\1/p' "$srcdir/man/cpi-web.8" | sort)" \
	"cpi-web --help and cpi-web(8) have the same options"
is "$(cpi-web --nosuch >/dev/null 2>&1; echo $?) $(cpi-web --jobs=0 >/dev/null 2>&1; echo $?)" \
	"2 2" "a wrong option is a usage error"

sed 's|@sbindir@|/usr/sbin|' "$srcdir/web/cpi-web.service.in" >cpi-web.service
if systemd-analyze security --help 2>/dev/null | grep -q -e --offline; then
	try "its unit leaves it next to nothing" \
		systemd-analyze security --offline=yes --threshold=15 "$tmp/cpi-web.service"
else
	skip 1 "no systemd-analyze that reads files"
fi
