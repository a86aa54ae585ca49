# SPDX-License-Identifier: GPL-2.0-or-later
# runs.sh - runs of a program in one database, to be compared; after tap.sh

case $(uname -m) in
x86_64 | aarch64) ;;
*) skip_all "no decoder for $(uname -m)" ;;
esac

# record_run LABEL COMMAND...: an epoch of $CPI_DB; the last line of record.err has the
# reason of a failure.
record_run()
{
	record_label=$1
	shift
	cpi record -F 1000 -o "$CPI_DB" -l "$record_label" -- "$@" >record.out 2>record.err
}
