# SPDX-License-Identifier: GPL-2.0-or-later
# recorded.sh - programs of t/programs with recorded windows; after tap.sh

# need_windows: skips the script where windows cannot be recorded or looked at.
need_windows()
{
	command -v python3 >/dev/null || skip_all 'no python3 to read JSON with'
	command -v cc >/dev/null || skip_all 'no compiler for the program'
	[ "$(uname -m)" = x86_64 ] || skip_all 'windows are of x86-64 code'
	[ -x "$builddir/helpers/cpi-translate" ] || skip_all 'windows are not built in'
}

# compile_program NAME OPTION...: NAME, from t/programs/NAME.c.
compile_program()
{
	cp "$srcdir/t/programs/$1.c" .
	cc -g -o "$@" "$1.c" 2>err || bail "$(cat err)"
}

# record_windows DATABASE OPTION... -- COMMAND...: skips the script if there are none.
record_windows()
{
	cpi record -v -w 499 -o "$@" 2>err || skip_all "$(tail -n 1 err)"
	grep -q 'windows/s per CPU' err || skip_all "no windows here: $(grep windows: err | tail -n 1)"
}
