#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-containers tells cpid the names of containers, and reports show them after a container
# has ended. Runtimes that hang, flood or answer nonsense change nothing. The file of Podman's
# storage has one of Podman 4.3's rows, with other ids and names.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need python3
[ "$(id -u)" = 0 ] || skip_all 'only root makes cgroups'

hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$hierarchy" ] || skip_all 'cgroup v2 is not mounted'
made=$hierarchy/cpi-names-$$
mkdir "$made" 2>/dev/null || skip_all 'no cgroup can be made here'
id_a=aaaaaaaaaaaa0123456789abcdef0123456789abcdef0123456789abcdef0123
id_b=bbbbbbbbbbbb0123456789abcdef0123456789abcdef0123456789abcdef0123
mkdir "$made/libpod-$id_a.scope" "$made/libpod-$id_b.scope"
cgroups_end()
{
	tap_end
	rmdir "$made"/*.scope "$made"
}
trap cgroups_end EXIT
plan 29

row()
{
	printf '{"id":"%s","names":["%s"],"image":"","layer":"86d8d6b547d8","metadata":"{\\"image-name\\":\\"\\"}","created":"2026-11-28T06:29:26.197918821Z","flags":{"MountLabel":""}}' "$@"
}
printf '[%s]' "$(row $id_a web-1)" >containers.json

cpi_containers=$builddir/helpers/cpi-containers
# names [OPTION...]: one round.
names()
{
	timeout 120 "$cpi_containers" --once --socket t.sock "$@" 2>&1
}
is "$("$cpi_containers" --list --storage containers.json 2>&1)" "$id_a web-1" 'cpi-containers --list prints the id and the name'
printf '[%s]' "$(row $id_a second)" >second.json
is "$("$cpi_containers" --list --storage containers.json --storage second.json 2>&1)" "$id_a web-1" \
	'a container that two runtimes have has the name of the first one'
timeout 60 "$cpi_containers" --unknown >/dev/null 2>&1
is $? 2 'an unknown option is an error'
is "$("$cpi_containers" --list --storage none.json --cri none.sock --docker none.sock 2>&1)" '' \
	'runtimes that are not there are no error'

mkdir own
cp "$programs/burn_a" "$programs/burn_b" own
# burn PROGRAM ID: runs it in a container for as long as three hundred milliseconds of CPU time
burn()
{
	sh -c "echo \$\$ >'$made/libpod-$2.scope/cgroup.procs' && exec own/$1 300" >/dev/null 2>&1
}
# column NAME: of the rows of containers.csv
column()
{
	python3 -c '
import csv, sys
for row in csv.DictReader(open("containers.csv")):
    print(row[sys.argv[1]])' "$1"
}

collect_start -F 1000
burn burn_a $id_a
burn burn_b $id_b
is "$(names --storage containers.json)" '' 'cpid takes the name'
cpid_ask flush >/dev/null
is "$(sql 'SELECT id, name FROM container')" "$id_a|web-1" 'the next flush stores it'
# The container has ended, and the runtime has forgotten it.
printf '[]' >containers.json
is "$(names --storage containers.json)" '' 'a runtime has no containers any more'
cpid_ask flush >/dev/null
cpi prof --db t.db --by container --format=csv >containers.csv
like "$(column container; column container_name)" 'web-1' 'cpi prof --by container shows the name of a container that has ended'
is "$(python3 -c '
import csv
print([r["container_name"] for r in csv.DictReader(open("containers.csv")) if r["container"].startswith("bbbb")])')" \
	"['']" 'a container without a name has its id'
is "$(cpi prof --db t.db --by image --container 'web*' --format=csv | grep -c own/burn)" 1 \
	'cpi prof --container selects by name'
like "$(cpi prof --db t.db --by image --container 'web*' --format=csv)" 'own/burn_a' \
	'it selects that container'
is "$(cpi prof --db t.db --by container --format=json | python3 -c '
import json, sys
print(sorted(str(r["container_name"]) for r in json.load(sys.stdin)["rows"] if r["runtime"] == "podman"))')" \
	"['None', 'web-1']" 'JSON has the name'
cpi export --db t.db --format=collapsed >/dev/null 2>&1
cpi epoch export --db t.db --epoch all exported.db >/dev/null
is "$(sql 'SELECT id, name FROM container' exported.db)" "$id_a|web-1" 'exported epochs keep the name'
cpi prof --db t.db --db exported.db --epoch all --by container --format=csv >containers.csv
like "$(column container_name)" 'web-1' 'joined databases keep the name'

# Runtimes that do what they should not. Each answer is complete.
cat >runtime.py <<'END'
import os, socket, sys
kind, path = sys.argv[1:]
s = socket.socket(socket.AF_UNIX)
s.bind(path)
s.listen()
print("ready", flush=True)
while True:
    c = s.accept()[0]
    try:
        if kind == "hangs":
            while c.recv(65536):
                pass
        else:
            c.recv(65536)
            body = b"[" + b" " * (17 << 20) + b"]" if kind == "floods" else {
                "deep": b"[" * 1000000,
                "controls": b'[{"Id":"%s","Names":["/\\u001b[31m"]}]' % (b"b" * 64),
                "nonsense": os.urandom(1000)}[kind]
            c.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    except OSError:
        pass
    c.close()
END
for kind in hangs floods deep controls nonsense; do
	mkfifo $kind.fifo
	python3 runtime.py $kind $PWD/$kind.sock >$kind.fifo 2>/dev/null &
	tap_pids="$tap_pids $!"
	head -n 1 $kind.fifo >/dev/null
done
before=$(date +%s)
like "$(names --docker hangs.sock)" '[Tt]imeout' 'a runtime that does not answer is left out'
bound $(($(date +%s) - before)) '<=' 60 'it is given up after some seconds'
like "$(names --cri hangs.sock)" '[Tt]imeout' 'so is one that should speak gRPC'
like "$(names --docker floods.sock)" 'too large' 'an answer of 17 MiB is refused'
like "$(names --docker deep.sock)" 'deep.sock: ' 'JSON of a million levels is refused'
like "$(names --docker nonsense.sock)" 'nonsense.sock: ' 'an answer without sense is refused'
timeout 10 "$cpi_containers" --every 1 --socket none.sock --docker nonsense.sock >every.out 2>&1
is "$(grep -c nonsense.sock every.out)" 1 'a runtime that fails each time is logged once'
is "$(names --docker controls.sock)" '' 'a name with control characters is left out'
printf '[%s]' "$(row $id_b worker)" >containers.json
like "$(names --docker nonsense.sock --storage containers.json)" nonsense.sock 'one runtime is not asked in vain'
cpid_ask flush >/dev/null
is "$(sql 'SELECT name FROM container ORDER BY name' | tr '\n' ' ')" 'web-1 worker ' \
	'cpid has the names of the other one, and none that is false'

# A file system that does not answer: the worker cannot even be killed.
mkdir stalls
stuck_ended()
{
	read -r workers <"/proc/$stuck_names/task/$stuck_names/children"
	[ -z "$workers" ]
}
if command -v nsenter >/dev/null && unshare -m true 2>/dev/null && [ -c /dev/fuse ]; then
	unshare -m "$builddir/t/stalling_fs" -o read stalls containers.json sleep 600 &
	stalls=$!
	tap_pids="$tap_pids $stalls"
	await nsenter -m -t "$stalls" test -e "$PWD/stalls/program"
	nsenter -m -t "$stalls" "$cpi_containers" --every 1 --socket "$PWD/t.sock" --storage "$PWD/stalls/program" \
		>stuck.out 2>&1 &
	stuck_names=$!
	tap_pids="$tap_pids $stuck_names"
	await grep -q 'no answer in 20 s' stuck.out
	ok $? 'a file that cannot be read is left out'
	sleep 3 # it tries to kill the worker for a second
	kill $(ps -o pid= --ppid "$stalls")
	await stuck_ended
	ok $? 'its worker is reaped when it ends'
	kill "$stuck_names"
else
	skip 2 'no file system can be mounted here'
fi

# Two containers of one name, such as of two pods.
printf '[%s,%s]' "$(row $id_a twin)" "$(row $id_b twin)" >containers.json
names --storage containers.json >/dev/null
cpid_ask flush >/dev/null
for id in $id_a $id_b; do
	sh -c "echo \$\$ >'$made/libpod-$id.scope/cgroup.procs' && exec own/burn_a 60000" >/dev/null 2>&1 &
	twins="${twins:-} $!"
	tap_pids="$tap_pids $!"
done
shows_twins()
{
	cpi top --db t.db --socket t.sock -n 1 -d 1 --by container >top.txt
	grep -q 'twin (aaaaaaaaaaaa)' top.txt && grep -q 'twin (bbbbbbbbbbbb)' top.txt
}
within 60 shows_twins
ok $? 'cpi top keeps two containers of one name apart' || sed 's/^/# /' top.txt
kill $twins
wait $twins 2>/dev/null

# The worker may not even open a file.
cat >trace_files.sh <<'END'
strace -f -qq -e trace=seccomp,prctl,openat,socket,connect -o trace "$1" --list --storage containers.json >/dev/null 2>&1
awk '/PR_SET_SECCOMP/ { locked[$1] = 1; next } locked[$1] && / = [0-9]/ { print }' trace
END
if command -v strace >/dev/null && strace -o probe true 2>/dev/null; then
	is "$(sh trace_files.sh "$cpi_containers"; grep -c PR_SET_SECCOMP trace)" 1 \
		'a worker opens nothing after it has locked itself in'
else
	skip 1 'nothing can be traced here'
fi
collect_stop
