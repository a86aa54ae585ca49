#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Reports that are made in parallel processes: the number of processes changes nothing,
# and a process that dies loses nothing.
. "$srcdir/t/tap.sh"
. "$srcdir/t/known.sh"
need_decoder

# Each process that asks for its parent, as workers do, dies while there are tokens.
cat >die.c <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

pid_t getppid(void)
{
	char name[32];

	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "token.%d", i);
		if (!unlink(name))
			kill(getpid(), SIGKILL);
	}
	return syscall(SYS_getppid);
}
END
cc -shared -fPIC -o die.so die.c || bail "cc failed"

# reports: everything that is made by several processes.
reports()
{
	for format in text json csv; do
		cpi sum --epoch full --format=$format &&
			cpi stats --by category --format=$format 1..3 || return
	done
	cpi calc --all --epoch full --format=json && cpi sum --epoch all
}

# dying N COMMAND: the first N workers of the command die.
dying()
{
	rm -f token.*
	for token in $(seq "$1"); do
		: >token."$token"
	done
	shift
	ASAN_OPTIONS=verify_asan_link_order=0:${ASAN_OPTIONS:-} LD_PRELOAD=$PWD/die.so \
		CPI_JOBS=2 cpi "$@"
}

plan 17

CPI_JOBS=1 reports >one 2>one.err
is "$?" 0 'one process makes the reports'
ok $((! $(wc -l <one) > 200)) 'there is something to compare'
for jobs in 2 5 64; do
	CPI_JOBS=$jobs reports >several 2>err
	is "$? $(cmp one several && cmp one.err err && echo same)" '0 same' \
		"the reports of $jobs processes are the same, and their warnings"
done
CPI_JOBS=many reports >several 2>err
is "$? $(cmp one several && echo same)" '0 same' 'CPI_JOBS that is no number is ignored'
for cache in 'a new cache' 'what an earlier report kept'; do
	XDG_CACHE_HOME=$PWD/cache reports >several 2>err
	is "$? $(cmp one several && echo same)" '0 same' \
		"the reports are the same with $cache, without CPI_JOBS"
done

for command in 'sum --epoch full' 'calc --all --epoch full --format=json'; do
	CPI_JOBS=1 cpi $command >one
	dying 1 $command >several 2>err
	is "$? $(cmp one several && echo same)" '0 same' \
		"cpi ${command%% *} is the same if a worker dies"
	like "$(cat err)" '^cpi: warning: a worker died of Killed while it explained .*/target.*: a new one does that again$' \
		'... and a warning names what it explained'
	is "$(ls token.* 2>/dev/null)" '' '... and it did die'
done

dying 30 sum --epoch full --format=csv >several 2>err
is "$?" 0 'cpi sum ends if each worker dies'
like "$(cat err)" 'target: its analysis crashed again, so its procedures are not explained' \
	'a warning names the image'
is "$(awk -F, 'NR > 1 { n += $3 } END { printf "%.1f\n", n }' several)" 1000.0 \
	'the samples are in the report'
