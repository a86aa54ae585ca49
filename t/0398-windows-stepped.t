#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows are what single-stepping the very same instructions shows: of programs in C and
# of interpreters, with the C library as it is, address space randomised, with threads.
# CPI_TEST_WINDOWS=all: of more programs, for longer.
#
# How far windows reach, and how many there are, is not a matter of time: programs run
# until they are done.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
stepped=$builddir/t/window_stepped
[ -x "$stepped" ] || skip_all 'windows are not built in'
all=${CPI_TEST_WINDOWS:-}
programs=$builddir/t/programs
plan 20

lines=100000
[ "$all" ] && lines=1000000
seq 1 $lines | awk '{ print $1 * 7919 % 100003, "line", $1 }' >text

# follow COMMAND...: its windows; a command that is not here is left out.
follow()
{
	command -v "$1" >/dev/null || return 0
	"$stepped" "$builddir/t/stepper.so" 997 "$@" >one 2>err
	follow_status=$?
	grep -a '^[^ ]*: compared' one >>summary
	grep -a '^# ' one
	[ $follow_status -le 1 ] || sed 's/^/# /' err
}

# Nothing that executes another program: the stepper would not be there any more.
if ! "$stepped" "$builddir/t/stepper.so" 997 true >one 2>err; then
	grep -q 'load: \|open: ' err && skip_all "no windows here: $(tail -n 1 err)"
fi
: >summary
follow sort -n text
follow gzip -9 -c text
follow awk '{ n[$1 % 977] += $3 } END { for (i in n) s += n[i]; print s }' text
follow perl -ne '$n{$1}++ if /(\d+)$/; END { print scalar keys %n }' text
follow /usr/bin/python3 -c 'print(sum(int(x) % 7 for i in range(4) for x in open("text").read().split()[::3]))'
follow "$programs/stacks" 300
if [ "$all" ]; then
	follow grep -cE '9[0-4]*7.*3$' text
	follow xz -3 -c text
	follow bzip2 -c text
	follow sed -n 's/\([0-9]*\) line/\1/p' text
	follow zstd -15 -c text
	follow sqlite3 :memory: 'WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL
		SELECT i + 1 FROM t WHERE i < 3000000) SELECT sum(i * i % 97) FROM t'
	follow openssl speed -seconds 2 sha256
	follow sha256sum text text text text text
	follow md5sum text text text text text
fi
sed 's/^/# /' summary

# Of pages that are not there windows end, and make none be there.
"$stepped" '' 997 "$programs/absent" 8000 >absent.txt 2>err
sed 's/^/# /' absent.txt

# total FIELD: of all programs
total()
{
	awk -v field="$1" '{ for (i = 2; i < NF; i++) if ($i == field) n += $(i + 1) }
		END { print n + 0 }' summary
}

reach=$(awk '{ for (i = 2; i < NF; i++) { if ($i == "compared") n = $(i + 1)
	if ($i == "reach") { sum += n * $(i + 1); all += n } } }
	END { print all ? sum / all : 0 }' summary)
# bound VALUE RELATION LIMIT NAME
bound()
{
	echo "# $4: $1, wanted $2 $3"
	awk -v value="$1" -v limit="$3" -v relation="$2" 'BEGIN {
		exit !(relation == ">=" ? value + 0 >= limit : value + 0 <= limit) }'
	ok $? "$4"
}

bound "$(wc -l <summary)" '>=' 3 'programs were followed'
bound "$(total compared)" '>=' 300 'windows were compared'
is "$(total wrong)" 0 'each went where the program went'
bound "$reach" '>=' 90 'they reach far'
bound "$(total unwalked)" '<=' "$(($(total windows) / 20))" 'hardly any cannot be walked'
bound "$(total cut)" '<=' "$(($(total compared) / 20))" 'hardly any is not stepped through'
like "$(cat absent.txt)" ' fault [1-9]' 'windows end at what is not there'
like "$(cat absent.txt)" '^signals [1-9]' 'their threads had not gone on by then'
like "$(cat absent.txt)" ' there 0$' 'nothing was there that had not been'

# guarded HOW [MS]: windows of a program that reads memory which is guarded so. 1: the
# kernel has no such thing.
guarded()
{
	"$stepped" '' 997 "$programs/guarded" "$1" "${2:-800}" >guarded.txt 2>err
	sed "s/^/# $1: /" guarded.txt err
	! grep -q 'ended with 0x4d00' err
}

# guarded_ends HOW END NAME [MS]: windows end so, at the latest.
guarded_ends()
{
	if guarded "$1" "${4:-}"; then
		like "$(cat guarded.txt)" " $2 [1-9]" "$3"
	else
		skip 1 "this kernel has no memory that is $1"
	fi
}

guarded_ends no-access fault 'windows end at what may not be read'
guarded_ends user-fault fault 'and at what another thread has to give' 2500
like "$(cat guarded.txt)" '^there 0 ' 'which nobody was asked for'
guarded_ends paged-out fault 'and at what the kernel has taken away'
like "$(cat guarded.txt)" '^there 0 ' 'which stayed away'
guarded_ends debugged changed 'and at the breakpoint of a debugger' 2500
guarded_ends filtered length 'where system calls are forbidden there are windows' 5000
unlike "$(cat err)" 'ended with' 'which make none'
guarded_ends unmapping length 'and where others change what is mapped'
is "$(awk '{ for (i = 2; i < NF; i++) if ($i == "wrong") n += $(i + 1) } END { print n + 0 }' \
	guarded.txt)" 0 'none went astray there'
if guarded secret; then
	like "$(cat guarded.txt)" ' windows 0 ' 'who has secret memory is left alone'
else
	skip 1 'this kernel has no secret memory'
fi
