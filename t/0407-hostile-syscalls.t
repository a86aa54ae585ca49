#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The thread that drains, flushes and answers makes no system call that another process,
# a file system or a peer can hold up: daemon/os/timed_child.h has the rule.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need strace python3 unshare
strace -o probe true 2>/dev/null || skip_all 'nothing can be traced here'
plan 14

# Programs of this test are outside of cpid's own folder.
own=$PWD/own
export CPI_CONFIG="$own/cpid.conf" # which is not there
mkdir own own/bin foreign foreign/root
cp "$programs/burn_a" foreign/here
cp "$programs/burn_b" foreign/root/there
cpid_program=$(command -v cpid)
cat >own/bin/cpid <<END
#!/bin/sh
exec strace -qq -y -s 256 -o '$PWD/trace' -- '$cpid_program' "\$@"
END
chmod +x own/bin/cpid
cd own || bail 'no folder'
PATH=$own/bin:$PATH

# The checker must find each of these calls.
while read -r line; do
	{
		echo 'sendto(3<socket:[1]>, "READY=1", 7, 0, NULL, 0) = 7'
		echo "$line"
	} >bad
	is "$("$srcdir/t/syscalls_check" bad "$own")" "$line" "the checker finds a forbidden call of ${line%%(*}"
done <<'END'
openat(AT_FDCWD, "/proc/77/maps", O_RDONLY|O_CLOEXEC) = 5</proc/77/maps>
newfstatat(AT_FDCWD, "/proc/77/root", 0x7ffd, 0) = 0
close(7</mnt/of/another>) = 0
recvmsg(4<socket:[5]>, {msg_name=NULL}, 0) = 1
perf_event_open({type=PERF_TYPE_BREAKPOINT}, 77, -1, -1, 0) = 5<anon_inode:[perf_event]>
END

contexts=
[ -z "$(awk '$3 == "cgroup2"' /proc/mounts)" ] || contexts=',cgroup'
collect_start -F 500 --sweep 200ms --flush 1s --by "comm,label$contexts" --retain all \
	--metrics "$own/metrics.prom"
ok $? 'cpid runs under strace'

# Everything that cpid reads of other processes.
../foreign/here 300
unshare -m chroot ../foreign/root /there 300 2>/dev/null || ../foreign/root/there 300
cp ../foreign/here ../foreign/gone
../foreign/gone 600 &
gone=$!
rm ../foreign/gone
"$programs/jit" 500 map_a map_b >jit.out
"$programs/jit" -d 500 dump_a dump_b >jit.out
cpi label some -- "$programs/burn_c" 300
wait $gone
cpi prof --db "$db" >prof.out 2>&1
mkfifo in out
"$programs/loader" read "$programs/loader" 300 <in >out &
pid=$!
tap_pids="$tap_pids $pid"
exec 4>in 5<out
read -r its_pid base size offset <&5
cpi register --socket t.sock "$pid" --base "$base" --size "$size" \
	--path "$(realpath "$programs/loader")" --offset "$offset" >register.out 2>&1
is $? 0 "code is registered: $(cat register.out)"
echo go >&4
read -r said <&5
cpid_ask status >status
cpid_ask flush >status
cpid_ask epoch next >status
ok $? 'cpid answers status, flush and epoch under strace'

# A lock on its database. /proc/locks does not name the process that holds it.
python3 -c "
import fcntl, os, struct, time
fd = os.open('$db-shm', os.O_RDONLY)
lock = struct.pack('hhqqi4x', fcntl.F_RDLCK, 0, 120, 1, 0)
fcntl.fcntl(fd, fcntl.F_OFD_SETLKW, lock)
open('locked', 'w').close()
time.sleep(600)" 2>lock.err &
locker=$!
tap_pids="$tap_pids $locker"
try 'another process locks the database of cpid' await test -e locked
try 'the status names the process that holds the lock' await is_blocked_by $locker
kill $locker
cpid_ask quit >status
cpid_wait
is "$cpid_status" 0 'cpid ends in good order'
bound "$(grep -c . ../trace)" '>' 1000 'system calls of cpid were traced'
is "$(grep -c 'READY=1' ../trace)" 1 'the trace shows when cpid was ready'
"$srcdir/t/syscalls_check" ../trace "$own" "$builddir" >others
sed 's/^/# /' others
is "$(grep -c . others)" 0 'no system call of cpid can be blocked by other processes'
exec 4>&-
