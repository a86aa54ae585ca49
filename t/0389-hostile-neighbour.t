#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What a local user may try: maps that are no maps, that are another's, that never end;
# files that are vast or damaged; names that are not for terminals; mappings without
# number. cpid goes on, in bounded memory, and tells nobody what that user may not read.
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
as_nobody()
{
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# trap_map NAME COMMAND...: a program of nobody's makes code, and the command, which is
# told of the path, what should name it.
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
	ok $? "$trap_name: the program runs"
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
# Where links to others' files are not forbidden.
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
trap_map 'a map that is one' as_owner
trap_map 'a FIFO for a map' as_fifo
trap_map 'a symlink' as_symlink
trap_map 'a link to a file of root' as_link
trap_map 'a file of another user' as_anothers
trap_map 'a map of 1 TiB' as_endless

# Names for a terminal to obey.
odd=$(printf 'odd\n\033[31m\tname')
cp "$programs/burn_a" "theirs/$odd"
as_nobody "$PWD/theirs/$odd" 300
ok $? 'a program with an odd name runs'

# ELF files that are larger than they should be, or damaged, with code to run.
cat >crafted.py <<'PY'
import ctypes, mmap, os, struct, sys

LOOP = b"\xb9\x00\x00\x00\x08\xff\xc9\x75\xfc\xc3"  # 2^27 turns, some 50 ms
def run(path, phdrs, size):
    header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(phdrs), 0, 0, 0)
    with open(path, "wb") as f:
        f.write(header + b"".join(struct.pack("<IIQQQQQQ", *p) for p in phdrs))
        f.seek(1 << 20)
        f.write(LOOP)
        f.truncate(size)
    with open(path, "rb") as f:
        m = mmap.mmap(f.fileno(), 4096, mmap.MAP_PRIVATE,
                      mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC, offset=1 << 20)
    at = ctypes.addressof(ctypes.c_char.from_buffer(m))
    for _ in range(3):
        ctypes.CFUNCTYPE(None)(at)()

def load(offset, size):
    return (1, 5, offset, 0, 0, size, size, 4096)

run("vast", [load(0, (1 << 30) - 4096)], 1 << 30)
run("vaster", [load(0, 1 << 62)], 1 << 40)
run("many", [load(0, 1 << 20)] * 1000, 2 << 20)
run("beyond", [load(1 << 40, 1 << 20), (4, 4, (1 << 63) - 8, 0, 0, 1 << 62, 0, 4)], 2 << 20)
PY
if [ "$(uname -m)" = x86_64 ]; then
	as_nobody sh -c "cd theirs && python3 '$PWD/crafted.py'"
	ok $? 'crafted ELF files run'
else
	skip 1 'its code is for x86_64'
fi

# A quarter of a million of mappings.
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
is $failed 0 'programs with 60,000 mappings each run'
grown=$(($(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$cpid_pid/status") - before))
bound $grown '<=' 262144 'they take no more KiB of memory than that'
collect_stop
check_stored

like "$(sql 'SELECT name FROM symbol')" 'told_by_owner' 'a map is read'
unlike "$(sql 'SELECT name FROM symbol')" 'secret_' 'what that user may not read is not told'
unlike "$(cpi prof --db "$db" --limit 0)" "$(printf '\033\\|\t')" 'no name commands a terminal'
bound "$(sql "SELECT total(n) FROM comm c JOIN image i ON i.id = c.image
	WHERE i.name LIKE '%/theirs/odd%'" | sed 's/\.0$//')" '>=' 100 'odd names are images'
is "$(sql "SELECT n FROM loss WHERE name NOT IN ('ambiguous', 'map_gap', 'no_process',
	'no_mapping', 'anonymous', 'special', 'image_limit', 'kernel_unmapped')")" '' \
	'what is unknown has its reason, and nothing is lost'
