#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What is not on this machine comes from a debuginfod server, when that is asked for.
. "$srcdir/t/tap.sh"

for tool in cc debuginfod python3 readelf sqlite3 strip; do
	command -v $tool >/dev/null || skip_all "no $tool here"
done
grep -q 'define HAVE_DEBUGINFOD 1' "$builddir/config.h" ||
	skip_all "cpi was built without debuginfod"
unset DEBUGINFOD_URLS DEBUGINFOD_TIMEOUT CPI_DEBUGINFOD CPI_DEBUG_DIR
DEBUGINFOD_CACHE_PATH=$tmp/cache
export DEBUGINFOD_CACHE_PATH

# The program that was profiled is stripped, its source is gone: an archive has both.
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

# A port that is free so far.
port=$(python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
debuginfod -p "$port" -d :memory: -Z .tar -g 0 "$tmp/served" >server.log 2>&1 &
tap_pids="$tap_pids $!"
cat >has.py <<'END'
"""Waits until the server at argv[1] has what the paths behind it name."""
import sys, time, urllib.error, urllib.request

def has(path):
    try:
        return urllib.request.urlopen(sys.argv[1] + path, timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False

end = time.monotonic() + 60
while not all(has(path) for path in sys.argv[2:]):
    if time.monotonic() > end:
        sys.exit("the server does not have it")
    time.sleep(0.05)
END
server=http://127.0.0.1:$port
python3 has.py "$server" "/buildid/$id/debuginfo" "/buildid/$id/executable" \
	"/buildid/$id/source$tmp/build/target.c" || bail "$(tail -n 3 server.log)"

# The busiest procedure of the target.
prof()
{
	cpi prof --epoch full --event cpu-clock --format=csv --image '*target' "$@" \
		2>err | cut -d, -f1,5 | sed -n 2p
}

echo "1..18"
DEBUGINFOD_URLS=$server
export DEBUGINFOD_URLS
like "$(prof)" '^[0-9]*,\[0x' "nobody is asked because a server is known"
[ ! -e cache ]
ok $? "not even the cache is touched"
is "$(prof --debuginfod)" "600,target_hot" "--debuginfod asks for symbols"
is "$(CPI_DEBUGINFOD=1 prof)" "600,target_hot" "so does CPI_DEBUGINFOD"
like "$(CPI_DEBUGINFOD=0 prof)" '^[0-9]*,\[0x' "unless it is 0"
is "$(DEBUGINFOD_URLS=http://127.0.0.1:1 prof --debuginfod)" "600,target_hot" \
	"what was fetched is kept"

cpi list --epoch full --debuginfod target_hot >text 2>err
like "$(cat text)" '^target.c:[0-9]*  *for (unsigned int i' \
	"list has lines, and their source from the server"
cpi list --epoch full --debuginfod --source target_hot >text 2>err
like "$(cat text)" "^$tmp/build/target.c\$" "so has list --source"

# The program itself is gone: its code comes from the server.
mv target away
cpi list --epoch full target_hot >text 2>err
is "$?" 1 "a program that is gone has no procedures"
cpi list --epoch full --debuginfod target_hot >text 2>err
like "$(cat text)" '0x[0-9a-f]*  *ret' "the server has its code"
like "$(cat text)" '^target.c:[0-9]*  *for (unsigned int i' "and the rest"
mv away target

# What comes must be what was asked for.
rm -rf cache
mkdir -p lying/buildid/"$id"
cp "$builddir/t/mkdb" "lying/buildid/$id/debuginfo"
cat >lie.py <<'END'
"""Serves the directory argv[1]; or says nothing at all, once it was asked."""
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
# Waits until the file $1 has the line that matches $2.
await()
{
	tap_i=0
	until grep -q "$2" "$1"; do
		tap_i=$((tap_i + 1))
		[ $tap_i -lt 600 ] || bail "no $2 in $1"
		sleep 0.05
	done
}
python3 lie.py lying >lying.port 2>lying.log &
tap_pids="$tap_pids $!"
await lying.port .
DEBUGINFOD_URLS=http://127.0.0.1:$(cat lying.port)
like "$(prof --debuginfod)" '^[0-9]*,\[0x' "a debug file of another build id is no help"
like "$(cat lying.log)" "debuginfo HTTP/1.1\" 200" "though the server sent one"

# A server that does not answer.
rm -rf cache
python3 lie.py >silent.port &
tap_pids="$tap_pids $!"
await silent.port .
DEBUGINFOD_URLS=http://127.0.0.1:$(head -n 1 silent.port)
cpi prof --epoch full --debuginfod >text 2>err &
cpi=$!
tap_pids="$tap_pids $cpi"
await silent.port asked
kill -INT $cpi
wait $cpi
is "$?" 0 "Ctrl-C ends the asking, not the report"
like "$(cat err)" "debuginfod: interrupted" "which says so"
like "$(cat text)" "TARGET\|$tmp/target" "and is complete"

DEBUGINFOD_URLS=http://127.0.0.1:1
rm -rf cache
cpi prof --epoch full --debuginfod >text 2>err
like "$(cat err)" "debuginfod: Connection refused: going on without" \
	"a server that is not there is named"
unset DEBUGINFOD_URLS
cpi prof --epoch full --debuginfod >text 2>err
is "$?:$(cat err)" \
	"1:cpi: error: debuginfod: say which servers to ask, in DEBUGINFOD_URLS" \
	"no servers at all is an error"
