#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What cpi makes of the replies on a control socket, rubbish included.
. "$srcdir/t/tap.sh"

command -v python3 >/dev/null || skip_all "no python3 to answer as a daemon would"
. "$srcdir/t/known.sh"

# Takes one request and answers with the bytes of an expression.
cat >daemon.py <<'END'
import socket, struct, sys

def reply(text, status=0, magic=0x31697063, version=1, size=None):
    body = text if isinstance(text, bytes) else text.encode()
    size = len(body) if size is None else size
    return struct.pack("<IHHiI", magic, version, 0, status, size) + body

s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("sock")
s.listen(1)
s.settimeout(60)
print("ready", flush=True)
c, _ = s.accept()
magic, version, op, text = struct.unpack("<IHH64s", c.recv(4096))
print(hex(magic), version, op, text.rstrip(b"\0").decode(), flush=True)
c.send(eval(sys.argv[1]))
END

# daemon EXPRESSION COMMAND...: status, out, err, and the request in heard.
daemon()
{
	rm -f sock heard
	mkfifo ready
	python3 daemon.py "$1" >ready &
	pid=$!
	shift
	{
		read -r _
		"$@" --socket sock >out 2>err
		status=$?
		cat >heard
	} <ready
	rm ready
	wait $pid
}

plan 27

daemon 'reply("flushed 123 samples\n")' cpi flush
is "$status" 0 "a flush that succeeds"
is "$(cat heard)" "0x31697063 1 2 " "asks for a flush"
is "$(cat out)" "flushed 123 samples" "and prints the reply"
daemon 'reply("")' cpi epoch new "a label"
is "$(cat heard)" "0x31697063 1 3 a label" "a new epoch has a label"
daemon 'reply("")' cpi rate 2000
is "$(cat heard)" "0x31697063 1 4 2000" "a rate is sent as it stands"
daemon 'reply("not for you\n", -1)' cpi flush
is "$status" 1 "a refusal is a failure"
like "$(cat err)" "not for you" "with the daemon's reason"
daemon 'reply("", -13)' cpi flush
like "$(cat err)" "Permission denied" "or the error's own text"
daemon 'reply("evil \33[31m\nrate 7\n")' cpi flush
is "$(cat out)" "$(printf 'evil ?[31m\nrate 7')" "a reply cannot steer the terminal"
for rubbish in 'b"x"' 'b"\0" * 16' 'b"\377" * 5000' 'reply("x", size=4000)' \
	'reply("x", magic=7)' 'reply("x", 5)'; do
	daemon "$rubbish" cpi flush
	is "$status" 1 "rubbish is a failure: $rubbish"
done
daemon 'reply("x", version=2)' cpi flush
like "$(cat err)" "newer version" "a newer daemon is told from rubbish"

daemon 'reply("rate 1351\ncollector perf\nsince 2026-01-02 03:04\n")' \
	cpi status --format=json
is "$status" 0 "the status of a daemon"
is "$(python3 -c '
import json
print(json.load(open("out"))["daemon"])')" \
	"{'rate': 1351, 'collector': 'perf', 'since': '2026-01-02 03:04'}" \
	"its lines are members, numbers are numbers"
daemon 'reply("n 007\nm -1.5\no 1e5\np\n")' cpi status --format=json
is "$(python3 -c '
import json
print(json.load(open("out"))["daemon"])')" \
	"{'n': '007', 'm': -1.5, 'o': '1e5', 'p': ''}" "what looks like a number is none"
daemon 'reply("collector bpf\nreceived.b\"\\ 7\nlost.x 1\nreceived.a 2\nlost.x 2\nnot_delivered.a -3\ncpus 2\n")' \
	cpi status --db none.db --format=prometheus
is "$status" 0 "a status as metrics"
is "$(grep -v '^# HELP' out)" '# TYPE cpi_daemon_cpus gauge
cpi_daemon_cpus 2
# TYPE cpi_daemon_lost_total counter
cpi_daemon_lost_total{reason="x"} 3
# TYPE cpi_daemon_not_delivered gauge
cpi_daemon_not_delivered{event="a"} -3
# TYPE cpi_daemon_received_total counter
cpi_daemon_received_total{event="a"} 2
cpi_daemon_received_total{event="b\"\\"} 7
# TYPE cpi_daemon_up gauge
cpi_daemon_up 1
# TYPE cpi_database_up gauge
cpi_database_up 0' "each metric with its type, numbers alone, what comes twice added up"
try "which a strict reader takes" "$srcdir/t/prometheus_check.py" <out
like "$(cpi status --db known.db --socket none --format=prometheus 2>/dev/null)" \
	'^cpi_daemon_up 0' "without a daemon they say so"

daemon 'reply("rate 1351\n")' cpi status --db none.db
is "$status" 0 "a daemon is enough for a status"
like "$(cat out)" "^rate  1351" "which is printed"
like "$(cat err)" "none.db" "and the missing database named"
daemon 'reply("no\n", -5)' cpi status
is "$status" 1 "a daemon that fails is a failure"
