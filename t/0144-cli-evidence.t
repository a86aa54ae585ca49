#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random samples and the scheduler's ticks as one time, on known counts (t/runsdb.c).
. "$srcdir/t/tap.sh"

plan 37

# cpu-clock at 10 ms and ticks at 4 ms agree on hot and cold: 400 and 1000 samples, 4 s
# each. With them, a sample of either kind stands for 1 / (1/10 + 1/4) = 1/0.35 ms.
# timed has no ticks for 60 random samples, which is no chance.
"$builddir/t/runsdb" both.db <<'END' || bail "runsdb failed"
one 10 10000 /app:hot=290,760 /app:cold=110,240 /app:timed=60 kernel:work=50 idle:idle=200
END
CPI_DB=both.db
export CPI_DB

rows()
{
	cpi prof --epoch all "$@" 2>err | sed -n '/^$/,$p' | sed '1d; s/ *$//'
}

is "$(rows)" "$(cat <<'END'
    ms       %     cum%     procedure  image
3000.0  58.82%   58.82%     hot        /app
1000.0  19.61%   78.43%     cold       /app
 600.0  11.76%   90.20%  *  timed      /app
 500.0   9.80%  100.00%     work       kernel
END
)" "the time of a row comes from both kinds of samples, unless chance does not explain it"
is "$(cpi prof --epoch all -v 2>/dev/null | sed -n '/^Time/,/^$/p')" "$(cat <<'END'
Time: 7.100 s, by 710 samples of cpu-clock and 1000 of ticks
* ticks are biased in this row: its time is from cpu-clock alone
END
)" "the header says what time is made of"
is "$(rows --by-stream)" "$(cat <<'END'
cpu-clock       %     cum%  ticks       %  procedure  image
      290  56.86%   56.86%    760  76.00%  hot        /app
      110  21.57%   78.43%    240  24.00%  cold       /app
       60  11.76%   90.20%      0   0.00%  timed      /app
       50   9.80%  100.00%      0   0.00%  work       kernel
END
)" "--by-stream shows each event in columns of its own"
is "$(rows --event cpu-clock | head -n 2)" "$(cat <<'END'
    ms       %     cum%  procedure  image
2900.0  56.86%   56.86%  hot        /app
END
)" "--event leaves ticks out"
is "$(rows --event ticks | head -n 2)" "$(cat <<'END'
    ms       %     cum%  procedure  image
3040.0  76.00%   76.00%  hot        /app
END
)" "ticks alone are time as well"
is "$(cpi prof --epoch all --format=csv --limit 3)" "$(cat <<'END'
samples:cpu-clock,percent,cum_percent,time_ns,samples:ticks,percent:ticks,departs,procedure,image,build_id
290,58.82,58.82,3000000000,760,76.00,0,hot,/app,1000
110,19.61,78.43,1000000000,240,24.00,0,cold,/app,1000
60,11.76,90.20,600000000,0,0.00,1,timed,/app,1000
END
)" "CSV has the time, and the samples of both"
is "$(rows --idle | sed -n 2,3p)" "$(cat <<'END'
3000.0  42.25%   42.25%     hot        /app
2000.0  28.17%   70.42%     [idle]
END
)" "idle time is that of random samples"
is "$(rows --sort ticks | head -n 2 | tr -s ' ')" "$(printf '%s\n' \
	'ticks % cum% cpu-clock % procedure image' \
	' 760 76.00% 76.00% 290 56.86% hot /app')" "--sort by an event shows its column first"

is "$(cpi export --format=callgrind 2>/dev/null | awk '/^0x/ { print $3, $4, $5 }')" \
	"$(printf '%s\n' '290 760 3000000000' '110 240 1000000000' '60 0 600000000' '50 0 500000000')" \
	"an export has the samples of both kinds, and their time"
is "$(cpi export --format=collapsed 2>/dev/null)" \
	"$(printf '%s\n' 'app;hot 3000000000' 'app;cold 1000000000' 'app;timed 600000000' \
		'kernel;work 500000000')" "stacks as lines have the time of both"

# Half the rate of cpu-clock in the second epoch: there a sample stands for 1/0.3 ms, on
# average of both for 1/0.325 ms.
"$builddir/t/runsdb" parts.db <<'END' || bail "runsdb failed"
one 10 10000 /app:hot=300,750 /app:cold=100,250 kernel:work=50
two 10 20000 /app:hot=145,760 /app:cold=55,240 kernel:work=25
END
CPI_DB=parts.db
is "$(rows | sed 1d)" "$(cat <<'END'
6007.7  66.75%   66.75%  hot        /app
1992.3  22.14%   88.89%  cold       /app
1000.0  11.11%  100.00%  work       kernel
END
)" "samples at two rates, and ticks, are one time"
is "$(cpi prof --epoch all --over-time --format=csv 2>/dev/null | sed 1d | cut -d, -f8,9)" \
	"$(printf '%s\n' '0.3 0.301667,hot' '0.1 0.0983333,cold' '0.05 0.05,work')" \
	"each interval has its time from both kinds of samples"
# An epoch without ticks, and one with ticks alone in user mode.
"$builddir/t/runsdb" alone.db <<'END' || bail "runsdb failed"
one 10 10000 /app:hot=290,760 kernel:work=50
two 10 10000 /app:hot=40 kernel:work=5
three 10 10000 /app:hot=0,30 kernel:work=15
END
CPI_DB=alone.db
is "$(cpi prof --epoch two | tail -n 2)" "$(cat <<'END'
400.0  88.89%   88.89%  hot        /app
 50.0  11.11%  100.00%  work       kernel
END
)" "without ticks time is that of random samples"
is "$(cpi prof --epoch three | tail -n 2)" "$(cat <<'END'
150.0  55.56%   55.56%  work       kernel
120.0  44.44%  100.00%  hot        /app
END
)" "ticks alone in user mode are its time"

# The header has the time of the rows: of all of them, and of one event.
sampled()
{
	cpi prof "$@" 2>/dev/null | sed -n '1s/.*, \([0-9.]* s\) of CPU sampled\([^,]*\).*/\1\2/p'
}
is "$(sampled --epoch three) $(sampled --epoch three --event ticks)" '0.27 s 0.12 s' \
	'the time in the header is that of the rows'
is "$(sampled --epoch one)" '3.4 s' 'where both kinds agree it is that of the random samples'
is "$(sampled --epoch three --image /app),$(sampled --epoch three --image kernel)" \
	'0.15 s by cpu-clock,0.15 s by cpu-clock' \
	'if the rows are a part, the header has the time of all random samples, and says so'
is "$(sampled --epoch three --image /app --event ticks),$(sampled --epoch two --image /app)" \
	'0.12 s,0.45 s' 'where there is one kind of samples, the header names none'

echo 'long 1000 999700 /app:hot=1000' | "$builddir/t/runsdb" long.db || bail "runsdb failed"
is "$(sampled --db long.db --epoch long)" '1000 s' 'a rounded time has no exponent'

# The kernel's ticks have a scale of their own: here ticks see half of its time. With them,
# a sample of either kind stands for 1 / (1/10 + 1/8) = 1/0.225 ms. tock has no ticks for 50
# random samples.
"$builddir/t/runsdb" kernel.db <<'END' || bail "runsdb failed"
one 10 10000 /app:hot=290,760 /app:cold=110,240 kernel:work=105,120 kernel:read=55,80 kernel:tock=50
END
CPI_DB=kernel.db
is "$(rows | sed 1d)" "$(cat <<'END'
3000.0  49.18%   49.18%     hot        /app
1000.0  16.39%   65.57%     cold       /app
1000.0  16.39%   81.97%     work       kernel
 600.0   9.84%   91.80%     read       kernel
 500.0   8.20%  100.00%  *  tock       kernel
END
)" "the kernel's time comes from both kinds of samples, too"
is "$(cpi export --format=collapsed 2>/dev/null | grep kernel)" \
	"$(printf '%s\n' 'kernel;work 1000000000' 'kernel;read 600000000' 'kernel;tock 500000000')" \
	"stacks as lines have the kernel's time of both"
is "$(cpi stats --epoch all --normalize=none --format=csv | cut -d, -f3,16 | grep -v app | sed 1d)" \
	"$(printf '%s\n' 3000,hot 1000,cold 1000,work 600,read 500,tock)" \
	"cpi stats has the kernel's time of both"
# An epoch whose ticks are of user mode only beside one whose ticks are of the kernel, too.
"$builddir/t/runsdb" older.db <<'END' || bail "runsdb failed"
one 10 10000 /app:hot=300,750 kernel:work=105
two 10 10000 /app:hot=300,750 kernel:work=105,120
END
CPI_DB=older.db
is "$(rows | sed 1d)" "$(cat <<'END'
6000.0  74.07%   74.07%  hot        /app
2100.0  25.93%  100.00%  work       kernel
END
)" "ticks that lack the kernel in some epochs leave its time as it is"

# Comparisons: cold takes twice the time in b; the kernel has random samples alone.
"$builddir/t/runsdb" runs.db <<'END' || bail "runsdb failed"
a 10 10000 /app:hot=290,760 /app:cold=110,240 /app:timed=60 kernel:work=50
a 10 10000 /app:hot=310,740 /app:cold=90,260 /app:timed=60 kernel:work=50
a 10 10000 /app:hot=300,750 /app:cold=100,250 /app:timed=60 kernel:work=50
b 10 10000 /app:hot=290,760 /app:cold=210,490 /app:timed=60 kernel:work=60
b 10 10000 /app:hot=310,740 /app:cold=190,510 /app:timed=60 kernel:work=55
b 10 10000 /app:hot=300,750 /app:cold=200,500 /app:timed=60 kernel:work=50
END
CPI_DB=runs.db

is "$(cpi diff --history=none a b | awk '$6 == "cold" { print $1, $2, $3, $4 }')" \
	'100.00 200.00 19.61 32.52' "cpi diff has the time of both kinds of samples"

# width PROCEDURE [OPTION...]: of its change's interval, as a logarithm.
width()
{
	procedure=$1
	shift
	cpi diff "$@" --history=none --format=csv a b | awk -F, -v p="$procedure" '$17 == p {
		printf "%.2f\n", log(1 + $9 / 100) - log(1 + $8 / 100) }'
}
is "$(width cold) $(width cold --event cpu-clock)" '0.26 0.44' "ticks make an interval smaller"
# A row's own part of an interval, to which comes how well the sides' sizes are known.
least()
{
	awk -v a="$1" -v b="$2" -v least="$3" 'BEGIN { print (a >= least && b >= least) }'
}
is "$(least "$(width timed)" "$(width timed --event cpu-clock)" 0.58)" 1 \
	"the interval of a row with biased ticks is at least that of its random samples"
is "$(least "$(width work)" "$(width work --event cpu-clock)" 0.62)" 1 \
	"the interval of the kernel is at least that of its random samples"
is "$(cpi stats --epoch a --normalize=none --format=csv | cut -d, -f3,16 | sed 1d)" \
	"$(printf '%s\n' 9000,hot 3000,cold 1800,timed 1500,work)" \
	"cpi stats has the time of both kinds of samples"

# Instructions: a program with code, where ticks differ a little from random samples.
MKDB_TICKS=1
export MKDB_TICKS
. "$srcdir/t/known.sh"
unset MKDB_TICKS
listed()
{
	cpi list --epoch full --asm "$@" target_hot 2>/dev/null
}
is "$(listed | grep -c '^ *samples  *%  *page-faults  *%  *blamed')" 1 "cpi list has one column of samples"
like "$(listed | sed -n '/^$/,$p' | sed 1,2d | head -n 1)" '^  *551  *91\.1' \
	"cpi list has the time of both kinds of samples"
is "$(listed --by-stream | grep -c '^ *cpu-clock  *%  *ticks  *%')" 1 \
	"cpi list --by-stream shows each event in columns of its own"
is "$(cpi list --epoch full --asm --format=csv target_hot | awk -F, '
	NR == 1 { print $1, $3, $NF }
	NR > 1 { n += $NF }
	END { printf "%.0f\n", n }' | tr '\n' ' ')" 'samples:cpu-clock samples:ticks time_percent 100 ' \
	"CSV has the counts, and the share of the time last"
if ! command -v python3 >/dev/null; then
	skip 5 "no python3 to read JSON with"
	exit 0
fi

cpi prof --epoch full --format=json >prof.json 2>/dev/null
cpi sum --epoch full --format=json >sum.json 2>/dev/null
cpi hot --epoch full --limit 1000 --format=json >hot.json 2>/dev/null
cat >get.py <<'END'
import json, sys
prof, summary, hot = (json.load(open(name + ".json")) for name in ("prof", "sum", "hot"))
insns = hot["instructions"]

def ms(name):
    return sum(r["time_ns"] for r in prof["rows"] if r["procedure"] == name) / 1e6

def samples(name, kind):
    return sum(i[kind] for i in insns if i["procedure"] == name)

def same(a, b):
    return abs(a - b) < 0.01 or (a, b)
END
get()
{
	python3 -c "exec(open('get.py').read()); print($1)" 2>&1
}
# A sample of cpu-clock is 1 ms. The two unknown images' samples are no rows of JSON.
for procedure in target_hot target_cold do_syscall_64; do
	is "$(get "same(samples('$procedure', 'blamed_samples'), ms('$procedure'))")" True \
		"the instructions of $procedure have the time that cpi prof has"
done
# Where ticks agree, of each: 560 and 260 at the first instruction, 40 and 40 at the next.
is "$(get 'same(insns[0]["samples"] / samples("target_hot", "blamed_samples"), (560 + 260) / 900)')" \
	True 'an instruction has its share of all samples of the procedure'
is "$(get 'same(summary["summary"]["samples"],
	sum(r["time_ns"] for r in prof["rows"]) / 1e6 / sum(r["percent"] for r in prof["rows"]) * 100)')" \
	True "cpi sum has the time of cpi prof"
