#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Windows go where single steps of the same instructions go: of programs in C and of
# interpreters, with the C library of the system, a randomised address space, and threads.
# CPI_TEST_WINDOWS=all follows more programs, for longer.
#
# The length and number of windows do not depend on time: programs run to their end.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
. "$srcdir/t/windows.sh"
all=${CPI_TEST_WINDOWS:-}

lines=100000
[ "$all" ] && lines=1000000
seq 1 $lines | awk '{ print $1 * 7919 % 100003, "line", $1 }' >text

# follow_installed COMMAND...: a command that is not installed is left out.
follow_installed()
{
	! command -v "$1" >/dev/null || follow_stepped "$@"
}

need_stepped
plan 22
follow_installed sort -n text
follow_installed gzip -9 -c text
follow_installed awk '{ n[$1 % 977] += $3 } END { for (i in n) s += n[i]; print s }' text
follow_installed perl -ne '$n{$1}++ if /(\d+)$/; END { print scalar keys %n }' text
follow_installed /usr/bin/python3 -c 'print(sum(int(x) % 7 for i in range(4) for x in open("text").read().split()[::3]))'
follow_installed "$programs/stacks" 300
if [ "$all" ]; then
	follow_installed grep -cE '9[0-4]*7.*3$' text
	follow_installed xz -3 -c text
	follow_installed bzip2 -c text
	follow_installed sed -n 's/\([0-9]*\) line/\1/p' text
	follow_installed zstd -15 -c text
	follow_installed sqlite3 :memory: 'WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL
		SELECT i + 1 FROM t WHERE i < 3000000) SELECT sum(i * i % 97) FROM t'
	follow_installed openssl speed -seconds 2 sha256
	follow_installed sha256sum text text text text text
	follow_installed md5sum text text text text text
fi
# Windows end at pages that are not in memory, and bring none into memory.
"$stepped" '' 997 "$programs/absent" 8000 >absent.txt 2>err
sed 's/^/# /' absent.txt

# total FIELD: of all programs
total()
{
	stepped_sum "$1" summary.txt
}

reach=$(awk '{ for (i = 2; i < NF; i++) { if ($i == "compared") n = $(i + 1)
	if ($i == "reach") { sum += n * $(i + 1); all += n } } }
	END { print all ? sum / all : 0 }' summary.txt)
bound "$(wc -l <summary.txt)" '>=' 3 'at least three programs were followed'
bound "$(total compared)" '>=' 300 'enough windows were compared'
is "$(total wrong)" 0 'each window goes where the program goes'
bound "$(total data)" '>=' 3000 'enough addresses of data were compared'
is "$(total data-wrong)" 0 'each address of data is the one that the instruction touches'
bound "$reach" '>=' 90 'windows reach 90 instructions on the mean'
bound "$(total unwalked)" '<=' "$(($(total windows) / 20))" 'at most one window in twenty cannot be walked'
bound "$(total cut)" '<=' "$(($(total compared) / 20))" 'at most one window in twenty is not stepped to its end'
like "$(cat absent.txt)" ' fault [1-9]' 'windows end at pages that are not in memory'
like "$(cat absent.txt)" '^signals [1-9]' 'threads that window_stepped signals had not gone on by then'
like "$(cat absent.txt)" ' there 0$' 'windows bring no page into memory'

# guarded HOW [MS]: windows of a program that reads memory which is guarded so. Fails if
# the kernel has no such thing.
guarded()
{
	"$stepped" '' 997 "$programs/guarded" "$1" "${2:-800}" >guarded.txt 2>err
	sed "s/^/# $1: /" guarded.txt err
	! grep -q 'ended with 0x4d00' err
}

# guarded_ends HOW END NAME [MS]: a test that some windows end so.
guarded_ends()
{
	if guarded "$1" "${4:-}"; then
		like "$(cat guarded.txt)" " $2 [1-9]" "$3"
	else
		skip 1 "this kernel has no memory that is $1"
	fi
}

guarded_ends no-access fault 'windows end at memory that may not be read'
guarded_ends user-fault fault 'windows end at memory of userfaultfd' 2500
like "$(cat guarded.txt)" '^there 0 ' 'windows ask userfaultfd for no page'
guarded_ends paged-out fault 'windows end at memory that the kernel has taken away'
like "$(cat guarded.txt)" '^there 0 ' 'windows bring back no page that the kernel has taken away'
guarded_ends debugged changed 'windows end at the breakpoint of a debugger' 2500
guarded_ends filtered length 'a program that may make no system calls has windows' 5000
unlike "$(cat err)" 'ended with' 'windows make no system calls'
guarded_ends unmapping length 'a program whose threads map and unmap code has windows'
is "$(awk '{ for (i = 2; i < NF; i++) if ($i == "wrong") n += $(i + 1) } END { print n + 0 }' \
	guarded.txt)" 0 'no window goes astray while code is mapped and unmapped'
if guarded secret; then
	like "$(cat guarded.txt)" ' windows 0 ' 'a program with secret memory has no windows'
else
	skip 1 'this kernel has no secret memory'
fi
