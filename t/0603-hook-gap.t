#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A program loads a library and computes in it while the kernel's buffer of mapping records
# is full. Without the hook these samples are in a gap. With the hook they are in the
# library.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need taskset
set -- $(taskset -cp $$ | sed 's/.*: *//; s/[,-]/ /g')
[ $# -gt 1 ] || skip_all 'two CPUs are needed'
shift $(($# - 1))
last=$1
plan $((2 * (nr_stored_tests + 4) + 1))

CPI_ANNOUNCE=$tmp/t.sock.announce
export CPI_ANNOUNCE

# Long paths make long records, and more of them in less time.
deep=$tmp
for _ in $(seq 15); do
	deep=$deep/$(printf '%0200d' 0)
done
mkdir -p "$deep"
cp "$programs/burn_c" "$deep"
mkfifo in out

# run LD_AUDIT: 400 ms in loaded.so, after the records were lost.
run()
{
	rm -f "$db" "$db"-*
	collect_start -F 300 --sweep 1m
	env LD_AUDIT="$1" taskset -c "$last" "$programs/loader" wait "$programs/loaded.so" 400 \
		<in >out &
	loader=$!
	exec 4>in 5<out
	read -r _ <&5
	cpid_ask flush >/dev/null
	kill -STOP "$cpid_pid"
	taskset -c "$last" "$programs/spawn" 3000 1 0 "$deep/burn_c" >/dev/null
	echo go >&4
	read -r _ <&5
	kill -CONT "$cpid_pid"
	cpid_ask flush >/dev/null
	bound "$(cpid_field mapping_records_lost)" '>' 0 'mapping records were lost'
	cpid_ask status | grep -E '^(announcements|stated|refused)' | sed 's/^/# /'
	exec 4>&-
	wait $loader
	is $? 0 'the program ends in good order'
	exec 5<&-
	collect_stop
	check_stored
	in_library=$(samples loader '*/loaded.so')
	note "$in_library samples are in the library"
}

run ''
bound "$in_library" '<=' 10 'without the hook the samples are not in the library'
run "$builddir/loader-hook/libcpi-audit.so"
# 120 are due. A busy machine may lose some of them; half are 5 sigma.
bound "$in_library" '>=' 60 'with the hook the samples are in the library'
is "$(strangers)" '' 'no sample is attributed to another program'
