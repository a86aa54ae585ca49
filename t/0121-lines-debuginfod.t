#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi fetches symbols, sources and programs from a debuginfod server, but only on request.
. "$srcdir/t/tap.sh"

need cc debuginfod python3 readelf sqlite3 strip
grep -q 'define HAVE_DEBUGINFOD 1' "$builddir/config.h" ||
	skip_all "cpi was built without debuginfod"
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT CPI_DEBUGINFOD CPI_DEBUG_DIR
DEBUGINFOD_CACHE_PATH=$tmp/cache
export DEBUGINFOD_CACHE_PATH

# The profiled program is stripped, and its source is deleted. The server's archive has
# both.
mkdir build served
cp "$srcdir/t/target.c" build/
cc -g -O1 -Wl,--build-id -o build/target "$tmp/build/target.c" || bail "cc failed"
cp build/target target
"$builddir/t/mkdb" known.db "$tmp/target" || bail "mkdb failed"
id=$(readelf -n target | sed -n 's/.*Build ID: //p')
sqlite3 known.db "UPDATE image SET build_id = x'$id' WHERE name = '$tmp/target'" ||
	bail "sqlite3 failed"
strip target
tar -cf served/package.tar -C / "${tmp#/}/build" || bail "tar failed"
rm -r build
CPI_DB=known.db
export CPI_DB

# serve: starts a server at a free port. Another program may take the port before
# debuginfod does, and debuginfod then ends.
serve()
{
	port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	server=http://127.0.0.1:$port
	debuginfod -p "$port" -d :memory: -Z .tar -g 0 "$tmp/served" >server.log 2>&1 &
	tap_pids="$tap_pids $!"
	python3 "$srcdir/t/server_has.py" $! "$server" "/buildid/$id/debuginfo" "/buildid/$id/executable" \
		"/buildid/$id/source$tmp/build/target.c"
}
serve || serve || serve || bail "$(tail -n 3 server.log)"

# The busiest procedure of the target.
prof()
{
	cpi prof --epoch full --event cpu-clock --format=csv --image '*target' "$@" \
		2>err | cut -d, -f1,5 | sed -n 2p
}

echo "1..19"
DEBUGINFOD_URLS=$server
export DEBUGINFOD_URLS
like "$(prof)" '^[0-9]*,\[0x' "DEBUGINFOD_URLS alone does not make cpi ask a server"
[ ! -e cache ]
ok $? "the cache is not created without --debuginfod"
is "$(prof --debuginfod)" "600,target_hot" "--debuginfod fetches symbols"
is "$(CPI_DEBUGINFOD=1 prof)" "600,target_hot" "CPI_DEBUGINFOD=1 fetches symbols"
like "$(CPI_DEBUGINFOD=0 prof)" '^[0-9]*,\[0x' "CPI_DEBUGINFOD=0 does not fetch symbols"
is "$(DEBUGINFOD_URLS=http://127.0.0.1:1 prof --debuginfod)" "600,target_hot" \
	"symbols that were fetched come from the cache"

cpi list --epoch full --debuginfod target_hot >text 2>err
like "$(cat text)" '^target.c:[0-9]*  *for (unsigned int i' \
	"cpi list shows lines and fetched source"
cpi list --epoch full --debuginfod --source target_hot >text 2>err
like "$(cat text)" "^$tmp/build/target.c\$" "cpi list --source shows fetched source"

# The program itself is gone: its code comes from the server.
mv target away
cpi list --epoch full target_hot >text 2>err
is "$?" 1 "cpi list fails if the program is gone"
cpi list --epoch full --debuginfod target_hot >text 2>err
like "$(cat text)" '0x[0-9a-f]*  *ret' "cpi list --debuginfod disassembles a fetched program"
like "$(cat text)" '^target.c:[0-9]*  *for (unsigned int i' \
	"cpi list --debuginfod shows the source of a fetched program"
mv away target

# A server that sends another debug file.
rm -rf cache
mkdir -p lying/buildid/"$id"
cp "$builddir/t/mkdb" "lying/buildid/$id/debuginfo"
cat >lie.py <<'END'
"""Serves the directory argv[1]; without one, accepts a request and never answers."""
import functools, http.server, socket, sys

if sys.argv[1:]:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler,
                                directory=sys.argv[1])
    server = http.server.HTTPServer(("127.0.0.1", 0), handler)
    print(server.server_port, flush=True)
    server.serve_forever()
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
client, _ = listener.accept()
print("asked", flush=True)
while client.recv(4096):
    pass
END
python3 lie.py lying >lying.port 2>lying.log &
tap_pids="$tap_pids $!"
await grep -q . lying.port || bail 'no server'
DEBUGINFOD_URLS=http://127.0.0.1:$(cat lying.port)
like "$(prof --debuginfod)" '^[0-9]*,\[0x' "a debug file with another build id is not used"
like "$(cat lying.log)" "debuginfo HTTP/1.1\" 200" "the server did send a debug file"

# A server that does not answer.
rm -rf cache
python3 lie.py >silent.port &
tap_pids="$tap_pids $!"
await grep -q . silent.port || bail 'no server'
DEBUGINFOD_URLS=http://127.0.0.1:$(head -n 1 silent.port)
cpi prof --epoch full --debuginfod >text 2>err &
cpi=$!
tap_pids="$tap_pids $cpi"
await grep -q asked silent.port || bail 'the server is not asked'
kill -INT $cpi
wait $cpi
is "$?" 0 "Ctrl-C ends the download, and the report succeeds"
like "$(cat err)" "debuginfod: interrupted" "the warning says that the download was interrupted"
like "$(cat text)" "TARGET\|$tmp/target" "the report is complete after Ctrl-C"

DEBUGINFOD_URLS=http://127.0.0.1:1
rm -rf cache
cpi prof --epoch full --debuginfod >text 2>err
like "$(cat err)" "debuginfod: Connection refused: going on without" \
	"an unreachable server is reported"
unset DEBUGINFOD_URLS
cpi prof --epoch full --debuginfod >text 2>err
is "$?:$(cat err)" \
	"1:cpi: error: debuginfod: say which servers to ask, in DEBUGINFOD_URLS" \
	"--debuginfod without servers is an error"

mkdir libraries
: >libraries/libdebuginfod.so.1
DEBUGINFOD_URLS=http://127.0.0.1:1 LD_LIBRARY_PATH=$tmp/libraries \
	cpi prof --epoch full --debuginfod >text 2>err
like "$?:$(cat err)" "1:cpi: error: debuginfod: .*: install libdebuginfod1" \
	"--debuginfod without a client that can be loaded is an error"
