#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes run one way: a folder includes only folders below it.
. "$srcdir/t/tap.sh"
cd "$srcdir" || exit 1

# allowed FOLDER "FOLDERS or HEADERS": what its files may include, beside config.h, abi/,
# base/ and its own.
allowed()
{
	bad=$(grep -Hn '^#include "' "$1"/*.[ch] 2>/dev/null | grep -v '"config.h"' |
		awk -v allowed=" abi $1 $(echo $2 ${3:-}) " '{
			split($0, part, "\"")
			header = part[2]
			folder = header
			sub("/[^/]*$", "", folder)
			if (!index(allowed, " " folder " ") && !index(allowed, " " header " "))
				print
		}')
	is "$bad" '' "$1/ includes only its own and $(echo $2)"
}

# rooms PARENT "OTHERS": the table on the standard input; each room may include OTHERS, too.
rooms()
{
	room_parent=$1
	while read -r room_name room_others; do
		[ -n "$room_name" ] || continue
		room_list=
		for room_other in $room_others; do
			case $room_other in
			/*) room_list="$room_list ${room_other#/}" ;;
			*/*) room_list="$room_list $room_other" ;;
			*) room_list="$room_list $room_parent/$room_other" ;;
			esac
		done
		allowed "$room_parent/$room_name" "$room_list" "base $2"
	done
}

# The rooms, lowest first: NAME and the rooms that it may include. They stand above it.
daemon_rooms='
os
collect os /decode daemon/cpi.skel.h
procmap os /decode
jit os procmap
mappings os procmap jit daemon/collect/bpf_log.h daemon/cpi_newprogram.skel.h
stacks os collect procmap jit
attribute os collect procmap jit stacks /decode
windows os collect procmap jit mappings stacks attribute analysis/windows/codepack.h analysis/windows/steps.h analysis/windows/walk.h daemon/cpi_window.skel.h kmod/window.h kmod/window_alu.h
store os collect procmap jit stacks attribute windows
import os collect procmap stacks attribute store /decode
session os collect procmap jit mappings stacks attribute windows store
control os collect mappings session /service
'
analysis_rooms='
math
image
isa image
cfg image isa
windows math image isa cfg
predict math image isa cfg windows
values math image isa cfg windows
freq math image isa cfg windows
data math
blame math image isa cfg windows predict freq data
explain math image isa cfg windows predict freq data blame
translate
unwind image
feedback math image isa cfg windows freq
compare math image isa
calls math
trace math
'
db_rooms='
profile
core profile
store profile core
query profile core
retain profile core
move profile core query
clickhouse profile core query /service
'
report_rooms='
cache /analysis/explain /analysis/image /analysis/isa decode/elfid.h
workers
select cache /analysis/freq /analysis/image /analysis/isa /db/clickhouse /db/core /db/move decode/elfid.h
profile cache select /analysis/freq
calls select profile /analysis/calls /analysis/image
explain cache workers select profile calls /analysis/blame /analysis/data /analysis/explain /analysis/freq /analysis/isa /analysis/predict /analysis/trace /analysis/values /analysis/windows /decode
compare select profile calls explain /analysis/compare /analysis/freq /analysis/math
fleet report/profile/prof.h /analysis/compare /db/clickhouse
feedback select explain /analysis/feedback decode/elfid.h
'
tools_rooms='
ui
write ui /report/select /report/profile /report/calls /report/explain /report/compare /report/feedback /analysis/calls /analysis/explain /analysis/freq /analysis/trace /db/core /db/query
export ui write /report/select /report/calls /report/compare /report/feedback
fleet ui /report/fleet /analysis/math /db/clickhouse service/shipconfig.h service/unitfile.h
doctor ui /daemon/os daemon/collect/calibrate.h daemon/session/budget.h service/shipconfig.h
retain ui /db/core /db/query /db/retain
cat ui /report/select /db/core /db/query
top ui /report/select /report/profile /db/core tools/commands.h
input ui /analysis/image /analysis/trace /daemon/import/replay.h /daemon/os/tipfile.h /decode/elfid.h
'
plan $((14 + $(echo "$daemon_rooms$analysis_rooms$db_rooms$report_rooms$tools_rooms" | grep -c .)))

allowed kmod 'kmod'
allowed loader-hook ''
allowed base ''
allowed service base
rooms db '' <<END
$db_rooms
END
allowed decode 'analysis/math db/profile' base
rooms daemon 'db/profile db/core db/store db/query db/retain kmod/table.h' <<END
$daemon_rooms
END
rooms analysis 'db/profile decode' <<END
$analysis_rooms
END
rooms report 'db/profile db/query' <<END
$report_rooms
END
rooms tools '' <<END
$tools_rooms
END
allowed tools 'base tools/ui tools/write tools/export tools/input tools/cat tools/doctor tools/retain tools/top report/select report/profile report/fleet tools/fleet
	report/calls report/explain report/compare analysis/trace db/profile db/core db/store
	db/query db/retain db/move db/clickhouse service daemon/session/session.h daemon/collect/calibrate.h daemon/collect/eventperiod.h
	daemon/control/status_parts.h daemon/import/perfimport.h'
allowed helpers 'base analysis/cfg analysis/image analysis/isa analysis/translate analysis/unwind
	decode/elfid.h db/profile/pack.h db/clickhouse/curlcall.h report/select/client.h' base
allowed web/auth 'base service web/loop.h'
allowed web 'base service tools/ui/cmd.h db/core/db.h db/clickhouse/storeurl.h web/auth'
allowed ship 'base service db/profile db/core db/clickhouse'
is "$(ls -d base/ service/ decode/ kmod/ helpers/ analysis/*/ daemon/*/ db/*/ report/*/ tools/*/ tools/ web/ web/auth/ ship/ 2>/dev/null | sed 's,/$,,' | while read -r room; do
	[ "$(ls "$room"/*.[ch] "$room"/*.cpp 2>/dev/null | wc -l)" -le 45 ] || echo "$room"
done)" '' 'every room has at most 45 files'
is "$(wc -l analysis/*/README.md daemon/*/README.md db/*/README.md report/*/README.md tools/*/README.md web/*/README.md [a-z]*/README.md |
	awk '$2 != "total" && $1 > 40')" '' 'every README.md of a folder has at most 40 lines'

# Only tools/ and the mains write to stdout. Only mains exit, and the children that
# timed_child.c, foreignfds.c and workers.c fork.
is "$(grep -nE '\b(printf|puts|putchar)\(|stdout' abi/*.h kmod/*.h base/*.c service/*.c db/*/*.c decode/*.c \
	analysis/*/*.c daemon/*/*.c report/*/*.c web/*.[ch] web/auth/*.[ch] ship/*.[ch] |
	grep -vE '(ship|web)/(main|options)\.c|service/options\.c|control/(main|options)\.c|snprintf|buf_p')" '' 'only tools/ writes to stdout'
is "$(grep -nE '\b_?exit\(' base/*.c service/*.c db/*/*.c decode/*.c analysis/*/*.c daemon/*/*.c report/*/*.c web/*.c web/auth/*.c ship/*.c |
	grep -vE 'web/(main|spawn|auth/login)\.c|daemon/(control/|os/)?(main|timed_child_serve|foreignfds)\.c|report/workers/workers\.c')" '' \
	'only mains and their forked children exit'
