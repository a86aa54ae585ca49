# SPDX-License-Identifier: GPL-2.0-or-later
# known.sh - makes $CPI_DB, a database whose every count is known (t/mkdb.c); after tap.sh
#
# Its samples are of $target, which the script may change.

target=$tmp/target
cp "$builddir/t/target" "$target" || bail "no target"
"$builddir/t/mkdb" known.db "$target" || bail "mkdb failed"
CPI_DB=known.db
export CPI_DB

# target_has_lines: fails if the target was built without debug information.
target_has_lines()
{
	grep -qa '\.debug_line' "$target"
}

# need_decoder: skips the script if there is no decoder for this machine.
need_decoder()
{
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip_all "no decoder for $(uname -m)" ;;
	esac
}
