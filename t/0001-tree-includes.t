#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Includes run one way: a folder includes only folders below it.
. "$srcdir/t/tap.sh"
cd "$srcdir" || exit 1
plan 10

# allowed FOLDER "FOLDERS or HEADERS": what its files may include, beside config.h.
allowed() {
	bad=$(grep -Hn '^#include "' "$1"/*.[ch] | grep -v '"config.h"' |
		awk -v allowed=" $2 " '{
			split($0, part, "\"")
			header = part[2]
			folder = header
			sub("/[^/]*$", "", folder)
			if (!index(allowed, " " folder " ") && !index(allowed, " " header " "))
				print
		}')
	is "$bad" '' "$1/ includes only $2"
}

allowed abi 'abi'
allowed kmod 'abi kmod'
allowed loader-hook 'abi loader-hook'
allowed base 'base'
allowed db 'base db'
allowed analysis 'analysis base abi/uop.h abi/window.h db/windows.h db/edges.h db/profile.h db/model.h db/records.h db/anchorsums.h'
# Decoders of what hardware records are pure functions of bytes.
allowed daemon 'abi base db daemon kmod/table.h analysis/hwrecord.h analysis/ibs.h analysis/perffields.h analysis/rates.h analysis/spe.h analysis/walk.h'
allowed tools 'tools analysis db base abi/capture.h abi/control.h abi/label.h abi/translate.h abi/unwind.h daemon/elfid.h daemon/perfimport.h daemon/replay.h daemon/session.h daemon/tipfile.h'

# Only tools/ and the mains write to stdout, and only mains exit, and what apart.c forks.
is "$(grep -nE '\b(printf|puts|putchar)\(|stdout' abi/*.h kmod/*.h base/*.c db/*.c analysis/*.c \
	daemon/*.c | grep -vE 'daemon/(main|options)\.c|snprintf|buf_p')" '' 'only tools/ writes to stdout'
is "$(grep -nE '\b_?exit\(' base/*.c db/*.c analysis/*.c daemon/*.c | grep -vE 'daemon/(main|apart)\.c')" '' \
	'only mains and forked work exit'
