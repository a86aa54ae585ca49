#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi sends requests to a control socket and reads replies, also malformed ones. A Python
# script stands in for the daemon.
. "$srcdir/t/tap.sh"

need python3
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

# daemon EXPRESSION COMMAND...: runs the command against a daemon that replies EXPRESSION.
# Sets $status; the files out, err and heard have the output and the request.
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

plan 53

daemon 'reply("flushed 123 samples\n")' cpi flush
is "$status" 0 "a flush succeeds"
is "$(cat heard)" "0x31697063 1 2 " "cpi flush sends a flush request"
is "$(cat out)" "flushed 123 samples" "cpi flush prints the reply"
daemon 'reply("")' cpi epoch new "a label"
is "$(cat heard)" "0x31697063 1 3 a label" "cpi epoch new sends the label"
daemon 'reply("marked 2026-01-02T03:04:05Z\n")' env -u CPI_DB cpi mark "release 4.2"
is "$(cat heard)" "0x31697063 1 7 release 4.2" "cpi mark sends the text"
is "$(cat out)" "marked 2026-01-02T03:04:05Z" "cpi mark prints the reply"
env -u CPI_DB cpi mark x --socket none.sock 2>err
is "$? $(grep -c 'none.sock: no cpid listens there' err)" "1 1" \
	"cpi mark fails if the named cpid does not run"
daemon 'reply("")' cpi rate 2000
is "$(cat heard)" "0x31697063 1 4 2000" "cpi rate sends the rate as it was typed"
daemon 'reply("not for you\n", -1)' cpi flush
is "$status" 1 "a refused request is a failure"
like "$(cat err)" "not for you" "the message has the daemon's reason"
unlike "$(cat err)" "not for you." "nothing follows the daemon's reason"
daemon 'reply("", -13)' cpi flush
like "$(cat err)" "Permission denied" "without a reason the message has the error's text"
daemon 'reply("evil \33[31m\nrate 7\n")' cpi flush
is "$(cat out)" "$(printf 'evil ?[31m\nrate 7')" "control characters in a reply are replaced"
for rubbish in 'b"x"' 'b"\0" * 16' 'b"\377" * 5000' 'reply("x", size=4000)' \
	'reply("x", magic=7)' 'reply("x", 5)'; do
	daemon "$rubbish" cpi flush
	is "$status" 1 "a malformed reply is an error: $rubbish"
done
daemon 'reply("x", version=2)' cpi flush
like "$(cat err)" "newer version" "the message says that the daemon is newer"

daemon 'reply("rate 1351\ncollector perf\nsince 2026-01-02 03:04\n")' \
	cpi status --format=json
is "$status" 0 "cpi status --format=json succeeds"
is "$(python3 -c '
import json
print(json.load(open("out"))["daemon"])')" \
	"{'rate': 1351, 'collector': 'perf', 'since': '2026-01-02 03:04'}" \
	"lines of the status become members, and numbers stay numbers"
daemon 'reply("n 007\nm -1.5\no 1e5\np\n")' cpi status --format=json
is "$(python3 -c '
import json
print(json.load(open("out"))["daemon"])')" \
	"{'n': '007', 'm': -1.5, 'o': '1e5', 'p': ''}" \
		"text that resembles a number is quoted as JSON requires"
daemon 'reply("collector bpf\nreceived.b\"\\ 7\nlost.x 1\nreceived.a 2\nlost.x 2\nnot_delivered.a -3\ncpus 2\n")' \
	cpi status --db none.db --format=prometheus
is "$status" 0 "cpi status --format=prometheus succeeds"
is "$(grep -v '^# HELP' out)" '# TYPE cpi_cpus gauge
cpi_cpus 2
# TYPE cpi_samples_lost_total counter
cpi_samples_lost_total{reason="x"} 3
# TYPE cpi_samples_not_delivered gauge
cpi_samples_not_delivered{stream="a"} -3
# TYPE cpi_samples_total counter
cpi_samples_total{stream="a",outcome="received"} 2
cpi_samples_total{stream="b\"\\",outcome="received"} 7
# TYPE cpi_up gauge
cpi_up 1
# TYPE cpi_database_up gauge
cpi_database_up 0' "each metric has its type, text is left out, repeated names are added up"
try "a strict parser accepts the metrics" "$srcdir/t/prometheus_check.py" <out
like "$(cpi status --db known.db --socket none --format=prometheus 2>/dev/null)" \
	'^cpi_up 0' "metrics without a daemon have cpi_up 0"

daemon 'reply("rate 1351\n")' cpi status --all --db none.db
is "$status" 0 "cpi status succeeds with a daemon and no database"
like "$(cat out)" "^rate  1351" "cpi status prints the lines of the daemon"
like "$(cat err)" "none.db" "cpi status names the missing database"
# Numbers with which all is well, and others.
well='received.a 1000\nuptime_s 60\nstate sampling\nbudget_percent 0.5\ncost_percent 0.51\n'
daemon "reply('${well}lost.x 1\n')" cpi status --db none.db
like "$(cat out)" "^cpid      running for 1 min: all is well" "the summary says that all is well"
like "$(cat out)" "^lost      1 of 1000 samples (0.1 %): x 1" "the summary has losses by name"
like "$(cat out)" "^cost      0.51 % .*: about the budget of 0.5 %" "a cost just above the budget is not called within it"
daemon "reply('${well}store_state open\nlast_flush_unix_s 9999999999\n')" cpi status --db none.db
like "$(cat out)" "^stored *last 0[ .0-9a-z]* ago" "a flush after the clock was set back was just now"
daemon "reply('state starting\n')" cpi status --db none.db
like "$(cat out)" "^cpid      starting" "a daemon that starts is not said to be well"
daemon 'reply("no\n", -5)' cpi status --db known.db
unlike "$(cat out)" "not running" "a daemon that refuses is not said to be stopped"
like "$(cat out)" "^cpid      does not answer at sock" "the summary says that the daemon does not answer"
daemon "reply('${well}lost.x 2\n')" cpi status --db none.db
like "$(cat out)" "min: samples are lost" "the summary says that samples are lost"
daemon "reply('$well'.replace('0.51', '0.6'))" cpi status --db none.db
like "$(cat out)" "min: it costs more than its budget" "the summary says that the budget is exceeded"
daemon "reply('${well}cpus 64\nthrottled_s.a 30\nthrottled_s.b 8\n')" cpi status --db none.db
like "$(cat out)" "min: all is well" "throttling is judged by the time of all CPUs"
daemon "reply('${well}cpus 64\nthrottled_s.a 30\nthrottled_s.b 9\n')" cpi status --db none.db
like "$(cat out)" "min: the kernel throttles sampling" "the summary says that sampling is throttled"
above=$(printf %s "$well" | sed 's/0\.51/0.74/')
daemon "reply('${above}rate_hz 40\n')" cpi status --db none.db
unlike "$(cat out)" "what helps" "a rate that can be lowered needs no advice"
daemon "reply('${above}rate_hz 19\nwindows on\nstacks off\n')" cpi status --db none.db
like "$(cat out)" "^ *the rate cannot be lowered further; what helps: --windows off, or --budget 0.8% of cpid" \
	"at the least rate the summary says what to do"
daemon "reply('${above}rate_hz 19\nwindows on\nwindows_rate_hz 9\nwindows_rate_least_hz 5\n')" cpi status --db none.db
unlike "$(cat out)" "what helps" "neither does a rate of windows that can be lowered"
daemon "reply('${well}rate_hz 25\nevent.0 a\nwindows on\nwindows_rate_hz 5\nwindows_rate_full_hz 50\nwindows_lowered budget\n')" \
	cpi status --db none.db
like "$(cat out)" "^rate .* of a; windows on (5/s of 50: lowered to keep the budget), stacks off" \
	"the summary says why windows are few"
daemon "reply('${above}rate_hz 97\nrate_fixed 1\n')" cpi status --db none.db
like "$(cat out)" "^ *the rate was fixed, and stays; what helps: a lower 'cpi rate', or --budget" \
	"so it does for a fixed rate"
daemon "reply('${above}rate_hz 19\n')" cpi doctor
is "$status $(grep -A3 '^problem *cpid' out | tr -s ' \n' ' ')" \
	"1 problem cpid it costs more than its budget 'cpi status' shows the cost and its parts. to do: the rate cannot be lowered further; what helps: --budget 0.8% of cpid " \
	"cpi doctor calls that a problem"
daemon "reply('${well}retain_bytes_limit 9e17\n'.replace('percent 0.5', 'percent 7'))" cpi doctor --db none.db
doctor=$(tr -s ' \n' ' ' <out)
like "$(cat out)" "^note *space .* are free" "cpi doctor wants the space of the running cpid's limit"
if grep -q 'cost of a sample cannot be measured' out; then
	skip 1 "the cost of a sample cannot be measured here"
else
	like "$doctor" "a budget of 7 % buys" "cpi doctor judges the budget of the running cpid"
fi
daemon "reply('${well}store_error No space\nmain_waits_s 3\n')" cpi status --db none.db
like "$(cat out)" "it does not answer, and these numbers are old; it cannot store the samples" \
	"the summary says that the daemon does not answer and cannot store"

daemon "reply('db_path $PWD/known.db\n')" env -u CPI_DB cpi epoch list
is "$status" 0 "cpi epoch list reads the database of the daemon that --socket names"
like "$(cat out)" "  full" "the epochs are those of that database"

daemon 'reply("no\n", -5)' cpi status
is "$status" 1 "cpi status fails if the daemon answers with an error"
