#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi export on a database whose every count is known (t/mkdb.c). t/export_check.py and
# the tools of each format read the exports.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"

need python3 sqlite3
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' ||
	skip_all "python3 is older than 3.8"

plan 52

check()
{
	python3 "$srcdir/t/export_check.py" "$@"
}

# totals FORMAT OPTION...: the totals of an export
totals()
{
	format=$1
	shift
	cpi export --format="$format" -o out "$@" 2>err && check "$format" out totals
}

formats='collapsed speedscope firefox callgrind'
if cpi export -o probe 2>/dev/null; then
	formats="pprof $formats"
	cpi export 2>/dev/null >stdout.gz
	cmp -s probe stdout.gz
	ok $? "standard output and -o write the same bytes"
else
	like "$(cpi export 2>&1)" 'libprotobuf-c-dev' \
		"without protobuf-c, the message names the missing package"
fi

# Selections with one period have the totals of cpi prof.
for options in "--epoch=full" "--epoch=all" "--epoch=full --image=target" \
	"--epoch=full --event=page-faults"; do
	# shellcheck disable=SC2086 # words
	cpi prof $options --format=csv >prof.csv 2>/dev/null
	check prof prof.csv totals | grep -v 'time 0' >want
	for format in pprof speedscope firefox callgrind; do
		case $formats in
		*$format*)
			# shellcheck disable=SC2086
			is "$(totals $format $options)" "$(cat want)" \
				"$format has the samples and the time of cpi prof $options"
			;;
		*) skip 1 "no protobuf-c here" ;;
		esac
	done
done

collapsed()
{
	cpi export --format=collapsed "$@" 2>err | sort
}

is "$(collapsed --epoch full)" "$(cat <<'END'
?[31mred,"x"??;[unknown procedure] in ?[31mred,"x"?? 7
[kernel];[unknown procedure] in [kernel] 5
[kernel];do_syscall_64 55
[unknown] ambiguous 2
[unknown] map_gap 3
app;[unknown procedure] in app 20
target;[unknown procedure] in target 8
target;target_cold 300
target;target_hot 600
END
)" "collapsed stacks have one line each, control characters replaced"
like "$(cat err)" '1000 samples of .idle. are left out' \
	"the warning counts the idle samples that are left out"
is "$(collapsed --epoch full --idle | grep idle)" "[idle] 1000" "--idle exports the idle loop"
is "$(collapsed --epoch full --event page-faults)" "target;target_cold 12" \
	"--event exports one event"
is "$(collapsed --epoch all --image target | tail -n 1)" "target;target_hot 800000000" \
	"samples with different periods are exported as time"
like "$(cat err)" 'the numbers are ns' "the warning says that the numbers are ns"

# A period that changed, of an event that measures no time.
MKDB_UNIT=events "$builddir/t/mkdb" events.db "$target"
cpi prof --db events.db --epoch all --event cpu-clock --format=csv >prof.csv 2>/dev/null
check prof prof.csv shares | grep '^target' >want
like "$(cat want)" '^target_hot 57.14' "cpi prof weights samples with different periods"
for format in pprof collapsed speedscope firefox callgrind; do
	case $formats in
	*$format*)
		cpi export --db events.db --epoch all --event cpu-clock \
			--format "$format" -o out 2>err
		is "$(check "$format" out shares | grep '^target')" "$(cat want)" \
			"$format: the shares are those of cpi prof"
		;;
	*) skip 1 "no protobuf-c here" ;;
	esac
	test "$format" != collapsed || cp err warned
done
like "$(cat warned)" 'cpu-clock stand for different amounts: the numbers are events' \
	"the warning says that the numbers are events"
is "$(totals speedscope --db events.db --epoch all --image target)" "cpu-clock 1108
page-faults 12
cpu-clock-amount 1308000000" "speedscope: the weighted amount stands beside the number of samples"
is "$(totals speedscope --db events.db --epoch full --image target)" "cpu-clock 908
page-faults 12" "speedscope: no amount is written if all samples weigh the same"

MKDB_HOST=web2 "$builddir/t/mkdb" other.db "$target"
is "$(cpi export --db known.db --db other.db --epoch full --image target \
	--format collapsed 2>/dev/null | sort | grep hot)" \
	"web1;target;target_hot 600
web2;target;target_hot 600" "collapsed stacks of two hosts begin with the host"

case $formats in
pprof*)
	is "$(cpi export --db known.db --db other.db --epoch full -o out 2>/dev/null
		check pprof out labels)" "1000 12 1000000000 host=web1
1000 12 1000000000 host=web2" "pprof: each sample is labelled with its host"
	;;
*) skip 1 "no protobuf-c here" ;;
esac

# The output file is replaced completely, or not at all.
mkdir files
echo precious >files/real
chmod 604 files/real
ln -s real files/link
cp known.db damaged.db
sqlite3 damaged.db "UPDATE profile SET counts = x'ff' WHERE image = (SELECT max(image) FROM profile)"
for format in callgrind $(echo "$formats" | grep -o '^pprof'); do
	cpi export --db damaged.db --epoch full --format=$format -o files/link 2>err
	[ $? -eq 1 ] || note "$format does not fail"
done
is "$(cat files/real)$(ls -A files | tr '\n' ' ')" "preciouslink real " \
	"a failed export leaves the old file and no other file"
cpi export --epoch full --format=collapsed -o files/link 2>err
is "$(stat -c %a files/real)$(readlink files/link)$(grep -c hot files/real)" 604real1 \
	"an export through a symlink replaces the file and keeps its mode"
mkdir full
if mount -t tmpfs -o nr_inodes=2 none full 2>/dev/null; then
	echo precious >full/real
	cpi export --epoch full --format=collapsed -o full/real 2>err
	is "$? $(cat full/real)" "1 precious" \
		"a failed export leaves the old file where no other can be made"
	umount full
else
	skip 1 "nothing can be mounted here"
fi
mkfifo fifo
cat fifo >got &
cpi export --epoch full --format=collapsed -o fifo 2>err
wait
cmp got files/real
ok $? "an export into a FIFO is written directly"

cpi export --format=collapsed --by=comm >out 2>err
is "$?" 1 "--by comm without profiles by comm is an error"
like "$(cat err)" 'no profiles by comm: collect them with' \
	"the message says how to collect profiles by comm"
cpi export --format=collapsed --by=comm --label=x 2>err
is "$?" 1 "two kinds of contexts without profiles by them are an error"
cpi export --format=collapsed --stacks 2>err
is "$?" 1 "--stacks without stacks is an error"
like "$(cat err)" 'no call stacks: collect them with' "the message says how to collect stacks"
cpi export --format=collapsed -o /nonexistent/out 2>err
is "$?" 1 "an output path that cannot be written is an error"
like "$(cat err)" '/nonexistent/out: No such file' "the message names the output path"

# The tools that the formats are made for.
if [ "${formats%% *}" != pprof ]; then
	skip 4 "no protobuf-c here"
elif ! command -v go >/dev/null; then
	skip 4 "no go, whose 'go tool pprof' reads profiles"
else
	HOME=$tmp
	export HOME
	cpi export --epoch full -o out 2>/dev/null
	go tool pprof -raw out >raw 2>&1
	ok $? "go tool pprof reads the profile"
	like "$(cat raw)" 'cpu-clock/count page-faults/count time/nanoseconds.dflt.' \
		"go tool pprof shows time first"
	like "$(cat raw)" 'target_cold .*/target.c:[0-9]* s=' "go tool pprof finds lines"
	like "$(go tool pprof -top -sample_index=cpu-clock out 2>&1)" \
		' 600 60.00% .* target_hot' "go tool pprof counts as cpi prof does"
fi
if [ "${formats%% *}" != pprof ] || ! command -v protoc >/dev/null; then
	skip 1 "no protoc to decode protocol buffers with"
else
	cpi export --epoch full -o out 2>/dev/null
	gzip -dc <out | protoc --decode=pprof.Profile --proto_path="$srcdir/tools" \
		"$srcdir/tools/export/pprof.proto" >decoded
	is "$(grep -c '^sample {' decoded) $(grep -Ec '^ *[0-9]+: ' decoded)" "11 0" \
		"protoc knows every field of the profile"
fi
if ! command -v callgrind_annotate >/dev/null; then
	skip 2 "no valgrind, whose callgrind_annotate reads callgrind's format"
else
	cpi export --epoch full --format callgrind -o callgrind.out 2>/dev/null
	callgrind_annotate callgrind.out >annotated 2>warnings
	is "$? $(cat warnings)" "0 " "callgrind_annotate reads the profile without warnings"
	like "$(cat annotated)" '600 .60.00%. .*target.c:target_hot' \
		"callgrind_annotate counts as cpi prof does"
fi
