#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi-web answers with what the commands print, and says why it does not.
. "$srcdir/t/tap.sh"
. "$srcdir/t/web.sh"

plan 32

"$builddir/t/mkdb" known.db "$builddir/t/target" || bail "mkdb failed"
web_start --db=known.db

# answer_is NAME PATH COMMAND...: the answer is what the command prints.
answer_is()
{
	same_name=$1 same_path=$2
	shift 2
	get "$same_path" >got
	"$@" --db known.db >want 2>want.err
	is "$(status) $(cmp got want 2>&1)" "200 " "$same_name"
}
answer_is "prof" 'api/v1/prof?epoch=all' cpi prof --epoch all --format=json
answer_is "prof by image" 'api/v1/prof?epoch=all&by=image&limit=2' \
	cpi prof --epoch all --by image --limit 2 --format=json
answer_is "a flag" 'api/v1/prof?epoch=all&idle' cpi prof --epoch all --idle --format=json
answer_is "a flag that is 1" 'api/v1/prof?epoch=all&idle=1' cpi prof --epoch all --idle --format=json
answer_is "a flag that is 0" 'api/v1/prof?epoch=all&idle=0' cpi prof --epoch all --format=json
answer_is "a value that is encoded" 'api/v1/prof?epoch=%61ll&procedure=target%5Fh*' \
	cpi prof --epoch all --procedure 'target_h*' --format=json
get 'api/v1/prof?epoch=all&thread=a' >got
like "$(cat got)" 'have no profiles by thread' "threads can be selected"
answer_is "CSV" 'api/v1/prof?epoch=all&format=csv' cpi prof --epoch all --format=csv
answer_is "text" 'api/v1/prof?epoch=all&format=text' cpi prof --epoch all
answer_is "list" 'api/v1/list?epoch=all&procedure=target_hot' \
	cpi list --epoch all --format=json target_hot
answer_is "an argument" 'api/v1/calc?epoch=all&arg=target_hot' \
	cpi calc --epoch all --format=json target_hot
answer_is "epochs" 'api/v1/epochs' cpi epoch list --format=json
answer_is "two sides" 'api/v1/diff?A=full&B=half' cpi diff --format=json full half
is "$(head_of Content-Type)" application/json "an answer in JSON has its content type"

get 'api/v1/prof?by=imag' >got
is "$(status)" 400 "a value that the command does not know is refused"
like "$(cat got)" '"error": "prof: --by=imag: say some of' "the refusal of a value has the command's message"
is "$(get 'api/v1/prof?output=x'; status)" '{"error": "prof: there is no option output"}
400' "an unknown option is refused"
is "$(get 'api/v1/prof?limt=x'; status)" \
	'{"error": "prof: there is no option limt: did you mean limit?"}
400' "the refusal of an option suggests the nearest name"
is "$(get 'api/v1/prof?format=xml'; status)" \
	'{"error": "prof: format=xml: say one of json csv text"}
400' "an unknown format is refused"
is "$(get 'api/v1/prof?idle=x'; status)" '{"error": "prof: idle=x: say 1 or 0"}
400' "a value for a flag is refused"
get 'api/v1/prof?epoch=none' >got
is "$(status)" 422 "a report of a command that fails has its own status"
like "$(cat got)" "there is no epoch 'none'" "a report of a command that fails has the command's message"
is "$(get 'api/v1/record'; status)" \
	'{"error": "there is no such report: /api/v1/ lists them"}
404' "a command that changes the database is not a report"
is "$(get 'api/v1/' | python3 -c 'import json, sys
print(*[r["name"] for r in json.load(sys.stdin)["reports"]][:3])')" "prof list calc" \
	"the reports are listed"
cat >options.py <<'END'
import json, subprocess, sys
words = {"epochs": ["epoch", "list"], "hosts": ["fleet", "hosts"], "fleet-top": ["fleet", "top"]}
reports = json.load(sys.stdin)["reports"]
assert len(reports) > 20
for r in reports:
    command = words.get(r["name"], [r["name"]])
    help = subprocess.run([sys.argv[1], *command, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    has = {w.rstrip(",").split("=")[0] for line in help.splitlines() for w in line.split()}
    assert r["options"], r
    for option in r["options"]:
        if "--" + option not in has:
            print(*command, "--" + option)
END
is "$(get 'api/v1/' | python3 options.py "$builddir/tools/cpi" 2>&1)" "" \
	"each listed option is one of the command"
is "$(get -/ready; status)" "ready
200" "the server is ready"
get metrics | "$srcdir/t/prometheus_check.py" >got 2>&1
like "$(cat got)" '^cpi_database_up 1.0$' "a strict parser reads its metrics"
like "$(get '')" '<title>CPI' "the page is served"
web_stop
is "$? $(cat web.log)" "0 " "the server ends without a message"

lines='api/v1/list?epoch=all&procedure=target_hot&source'
web_start --db=known.db
get "$lines" >with
web_stop
web_start --db=known.db --no-source
get "$lines" >without
is "$(status) $(head_of CPI-Warnings | grep -o CPI_NO_SOURCE)" "200 CPI_NO_SOURCE" \
	"the server says that source files are switched off"
get 'api/v1/calc?epoch=all&procedure=target_hot&source' >>without
web_stop
text() # FILE: lines of the source file that are in an answer
{
	grep -c 'unsigned int i = 0' "$1"
}
is "$(text without)" 0 "with source files off, answers have no source lines"
like "$(text with)" '^[1-9]' "with source files on, answers have source lines"
