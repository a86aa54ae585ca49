# SPDX-License-Identifier: GPL-2.0-or-later
# known.sh - a database whose every count is known (t/mkdb.c): $CPI_DB; after tap.sh
#
# Its samples are of $target, which the script may change.

target=$tmp/target
cp "$builddir/t/target" "$target" || bail "no target"
"$builddir/t/mkdb" known.db "$target" || bail "mkdb failed"
CPI_DB=known.db
export CPI_DB

# Skips what explains instructions where there is no decoder for them.
need_decoder()
{
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip_all "no decoder for $(uname -m)" ;;
	esac
}
