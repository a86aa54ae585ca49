# SPDX-License-Identifier: GPL-2.0-or-later
# cached.sh - tests of the files that reports keep for later runs
#
# The test defines reports(), and writes what these print without a file to "without".

XDG_CACHE_HOME=$tmp/cache
export XDG_CACHE_HOME
folder=$XDG_CACHE_HOME/cpi

# unchanged NAME: the reports are as without a file.
unchanged()
{
	reports >out 2>err
	is "$? $(cmp out without && echo same)" '0 same' "$1"
}

# unchanged_if_damaged FILE SIZE AT...: the same if the file is damaged at these bytes,
# or truncated to SIZE bytes. The file as it was is in "whole".
unchanged_if_damaged()
{
	damaged_file=$1
	damaged_size=$2
	shift 2
	cp "$damaged_file" whole
	for damaged_at; do
		cp whole "$damaged_file"
		printf '\377\377\377\377' |
			dd of="$damaged_file" bs=1 seek="$damaged_at" conv=notrunc status=none
		unchanged "the reports are the same with a file that is damaged at byte $damaged_at"
	done
	head -c "$damaged_size" whole >"$damaged_file"
	unchanged 'the reports are the same with a truncated file'
}
