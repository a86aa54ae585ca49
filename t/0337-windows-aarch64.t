#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# AArch64: windows interpret single instructions as the machine does, and windows of
# programs go where single steps go.
#
# $WINDOWS: how many of each program; 1000 and more for figures. $INSTRUCTIONS: how many
# are tried. $SEED: the seed of the random ones. $AARCH64_ROOT: a Debian root whose
# programs are followed as well.
. "$srcdir/t/tap.sh"
. "$srcdir/t/aarch64.sh"
. "$srcdir/t/windows.sh"
aarch64_find
plan 7

aarch64_build machine "$srcdir"/t/aarch64_machine.c "$srcdir"/daemon/windows/translate_check.c \
	"$srcdir"/analysis/translate/translate.c "$srcdir"/analysis/translate/translate_lead.c \
	"$srcdir"/analysis/translate/translate_form.c "$srcdir"/analysis/translate/translate_uop.c \
	"$srcdir"/analysis/translate/translate_aarch64*.c
ok $? 'the translator is built for AArch64'

SEED=${SEED:-1}
export SEED
aarch64_run ./machine "${INSTRUCTIONS:-30000}" >out 2>&1
ok $? 'instructions are interpreted as the machine executes them'
sed '/^#/!s/^/# /' out
awk '/^compared/ { n = $2; never = $6 } END { exit !(n > 0 && never <= 6) }' out
ok $? 'at most 6 rules were not tried'

# emulate_exactly NAME PROGRAM [ARGUMENT...]: fails unless all its windows are exact.
emulate_exactly()
{
	emulated_name=$1
	shift
	$aarch64_qemu -cpu "$aarch64_cpu" -g "$tmp/socket" "$@" >/dev/null &
	emulator=$!
	tap_pids="$tap_pids $emulator"
	while [ ! -S socket ] && kill -0 $emulator; do
		sleep 0.1
	done
	follow_exact "$emulated_name" "$builddir/t/window_qemu" -v -n "${WINDOWS:-150}" \
		"$tmp/socket" $emulator
	emulated_status=$?
	kill $emulator
	rm -f socket
	return $emulated_status
}

# try_emulated NAME PROGRAM [ARGUMENT...]: a test of it, if it is emulated
try_emulated()
{
	if [ "$aarch64_qemu" ]; then
		emulate_exactly "$@"
		ok $? "windows of $1 are exact"
	else
		tap_n=$((tap_n + 1))
		echo "ok $tap_n - $1 # SKIP on AArch64 itself nothing is emulated"
	fi
}

aarch64_build strings "$srcdir/t/programs/strings.c"
try_emulated strings ./strings 100000
aarch64_build atomics -march=armv8.2-a "$srcdir/t/programs/strings.c"
try_emulated 'strings for a newer machine' ./atomics 100000
aarch64_build signed -mbranch-protection=standard "$srcdir/t/programs/strings.c"
try_emulated 'strings with signed addresses' ./signed 100000
if [ "${AARCH64_ROOT:-}" ] && [ "$aarch64_qemu" ]; then
	root=$AARCH64_ROOT
	cat "$srcdir"/analysis/*/*.c >text
	cat text text text text text text >long
	emulate_exactly mawk -L "$root" "$root/usr/bin/mawk" \
		'{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) print w, n[w] }' long
	emulate_exactly sqlite3 -L "$root" "$root/usr/bin/sqlite3" :memory: \
		'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n
		LIMIT 10000000) SELECT sum(i % 7), max(i || "x") FROM n'
	for applet in sort 'gzip -9 -c' md5sum 'sed s/a.*b/c/g' 'bzip2 -c'; do
		# shellcheck disable=SC2086 # words
		emulate_exactly "$applet" -L "$root" "$root/bin/busybox" $applet long
	done
fi
if [ -z "$aarch64_qemu" ]; then
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - how far windows reach # SKIP on AArch64 itself nothing is emulated"
	exit
fi
# 86 on the mean, with a deviation of 1.5 of 450 windows: cbz ends some, of lanes that are
# narrowed.
windows_reach 80 'a window has more than 80 of 100 instructions on the mean'
