#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A hostile local user offers maps of code that are no maps, that belong to others, or that
# never end; vast or damaged files; names with control characters; and thousands of
# mappings. cpid goes on, in bounded memory, and discloses no file that this user may not
# read.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need setpriv python3 truncate
[ "$(id -u)" = 0 ] || skip_all 'only root can become another user'
plan $((nr_stored_tests + 16))

chmod 711 .
mkdir theirs
chown 65534:65534 theirs
cp "$programs/jit" "$programs/burn_a" theirs
chmod 755 theirs/jit theirs/burn_a

# trap_map NAME COMMAND...: a program of nobody makes code, and the command makes the map
# that should name it, at $map.
trap_map()
{
	trap_name=$1
	shift
	# Not through as_nobody: $! would be the shell that runs it.
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PWD/theirs/jit" -n 1500 never \
		>/dev/null &
	map=/tmp/perf-$!.map
	"$@"
	wait $!
	ok $? "a program runs with $trap_name"
	rm -f "$map"
}
covers_all='0 7fffffffffff '

as_owner() { as_nobody sh -c "echo '${covers_all}told_by_owner' >'$map'"; }
as_fifo() { as_nobody mkfifo "$map"; }
as_symlink()
{
	echo "${covers_all}secret_symlink" >secret
	chmod 600 secret
	as_nobody ln -s "$PWD/secret" "$map"
}
# If links to files of others are not forbidden.
as_link()
{
	echo "${covers_all}secret_link" >/tmp/cpi-secret.$$
	chmod 600 /tmp/cpi-secret.$$
	ln /tmp/cpi-secret.$$ "$map"
	rm /tmp/cpi-secret.$$
}
as_anothers()
{
	echo "${covers_all}secret_anothers" >"$map"
	chown 65533 "$map"
}
as_endless()
{
	as_nobody sh -c "echo '${covers_all}endless' >'$map'; truncate -s 1T '$map'"
}

collect_start -F 1000 --sweep 500ms
trap_map 'a regular map' as_owner
trap_map 'a FIFO for a map' as_fifo
trap_map 'a symbolic link for a map' as_symlink
trap_map 'a hard link to a file of root for a map' as_link
trap_map 'a file of another user for a map' as_anothers
trap_map 'a map of 1 TiB' as_endless

# A name with control characters.
odd=$(printf 'odd\n\033[31m\tname')
cp "$programs/burn_a" "theirs/$odd"
as_nobody "$PWD/theirs/$odd" 300
ok $? 'a program with control characters in its name runs'

# ELF files that are vast or damaged, with code to run.
cp "$srcdir/t/elf_crafted.py" theirs
if [ "$(uname -m)" = x86_64 ]; then
	as_nobody sh -c 'cd theirs && python3 elf_crafted.py'
	ok $? 'code of crafted ELF files runs'
else
	skip 1 'its code is for x86_64'
fi

# A quarter of a million mappings.
cat >mappings.py <<'PY'
import ctypes, mmap, os, sys

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                      ctypes.c_int, ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY)
failed = [i for i in range(60000)
          if libc.mmap(None, 4096, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_PRIVATE,
                       fd, 4096 * (i % 2 * 2)) == ctypes.c_void_p(-1).value]
sys.exit(len(failed) > 0)
PY
before=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$cpid_pid/status")
failed=0
for _ in 1 2 3 4; do
	as_nobody sh -c 'python3 mappings.py theirs/burn_a' || failed=1
done
is $failed 0 'four programs with 60,000 mappings each run'
grown=$(($(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$cpid_pid/status") - before))
bound $grown '<=' 262144 'cpid needs at most 256 MiB for them'
collect_stop
check_stored

like "$(sql 'SELECT name FROM symbol')" 'told_by_owner' 'names of a regular map are stored'
unlike "$(sql 'SELECT name FROM symbol')" 'secret_' 'no name of a file that the user may not read is stored'
unlike "$(cpi prof --db "$db" --limit 0)" "$(printf '\033\\|\t')" 'cpi prof prints no control characters'
bound "$(sql "SELECT total(n) FROM comm c JOIN image i ON i.id = c.image
	WHERE i.name LIKE '%/theirs/odd%'" | sed 's/\.0$//')" '>=' 100 'the program with control characters in its name has samples'
is "$(sql "SELECT n FROM loss WHERE kind = 0 AND name NOT IN ('ambiguous', 'map_gap', 'no_process',
	'no_mapping', 'anonymous', 'special', 'image_limit', 'kernel_unmapped')")" '' \
	'each sample without an image has a reason, and no sample is lost'
