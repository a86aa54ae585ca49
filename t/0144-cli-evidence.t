#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Random samples and the scheduler's ticks as one time, on known counts (t/runsdb.c).
. "$srcdir/t/tap.sh"

plan 12

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
is "$(cpi prof --epoch all 2>/dev/null | sed -n '/^Time/,/^$/p')" "$(cat <<'END'
Time: 7.100 s, by 710 samples of cpu-clock and 1000 of ticks
idle 28.2 % (percentages are of busy time)
* chance does not explain how often ticks met it: time of cpu-clock alone
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
three 10 10000 /app:hot=0,10 kernel:work=5
END
CPI_DB=alone.db
is "$(cpi prof --epoch two | tail -n 2)" "$(cat <<'END'
400.0  88.89%   88.89%  hot        /app
 50.0  11.11%  100.00%  work       kernel
END
)" "without ticks time is that of random samples"
is "$(cpi prof --epoch three | tail -n 2)" "$(cat <<'END'
50.0  55.56%   55.56%  work       kernel
40.0  44.44%  100.00%  hot        /app
END
)" "ticks alone in user mode are its time"
