#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The container image is small, and its cpid samples the host and other containers as an
# ordinary user with six capabilities: in namespaces of its own for mounts, network, IPC,
# host name and cgroups, on a read-only root file system, in the host's PID namespace.
. "$srcdir/t/tap.sh"
. "$srcdir/t/packages/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all 'making namespaces takes root'
need mmdebstrap python3 setcap getcap unshare readelf
hierarchy=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -n "$hierarchy" ] || skip_all 'cgroup v2 is not mounted'
pod=0123abcd_0123_0123_0123_0123456789ab
id=$(printf '%064d' 0 | tr 0 e)
made=$hierarchy/kubepods-cpi-test.slice
inside=$made/kubepods-burstable-pod$pod.slice/cri-containerd-$id.scope
mkdir -p "$inside" 2>/dev/null || skip_all 'no cgroup can be made here'
container_end()
{
	for pid in $tap_pids $(cat "$inside/cgroup.procs"); do
		kill -KILL "$pid" 2>/dev/null
	done
	until rmdir "$inside" 2>/dev/null; do
		sleep 0.1
	done
	rmdir "${inside%/*}" "$made"
	tap_end
}
trap container_end EXIT
packages_build
root_archive bare ''
image_debs
plan 15

try 'the image is built' "$srcdir/deploy/image/build" "$tmp/image" "$(deb cpi)" "$(deb cpid)" "$(deb cpi-ship)" $image_debs
size=$(tar -C image --xattrs --numeric-owner -cf - . | gzip -6 | wc -c)
bound "$size" '<=' 60000000 'the compressed image has at most 60 MB'
note 'largest files:' "$(cd image && find . -type f -printf '%s %p\n' | sort -rn | head -n 8)"
is "$(find image -xdev -perm /6000)" '' 'no program of it changes its user'
is "$(getcap -r image 2>/dev/null | wc -l)" 1 'one program has capabilities'
is "$(cd image/usr/bin && echo *) $(cd image/usr/sbin && echo *)" 'chown cpi cpi-ship cpid' \
	'the image has no other programs'

like "$(chroot image /usr/sbin/cpi-ship --once --store clickhouse://127.0.0.1:9/cpi 2>&1)" \
	'no ClickHouse answers' 'cpi-ship in the image has all that it needs to reach a store'

# The database's folder is the node's.
mkdir db run
chown 990:990 db run
chmod 755 "$tmp"
cat >in_container <<'END'
set -e
mount --bind "$tmp/image" "$tmp/image"
mount --rbind /proc "$tmp/image/proc"
mount --rbind /sys "$tmp/image/sys"
mount -t tmpfs -o size=64k none "$tmp/image/dev"
mknod -m 666 "$tmp/image/dev/null" c 1 3
mount --bind "$tmp/db" "$tmp/image/var/lib/cpi"
mount --bind "$tmp/run" "$tmp/image/run/cpi"
mount -o remount,bind,ro "$tmp/image"
exec python3 "$tmp/runtime.py" "$tmp/image" "$@"
END
# What a runtime does before it runs the program.
cat >runtime.py <<'END'
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
keep = {2, 19, 34, 38, 39, 40}  # dac_read_search, sys_ptrace, syslog, perfmon, bpf, checkpoint_restore
os.chroot(sys.argv[1])
os.chdir("/")
for cap in range(64):
    if cap not in keep and libc.prctl(23, cap, 0, 0, 0) == 1 and libc.prctl(24, cap, 0, 0, 0) < 0:
        sys.exit("capability %d stays" % cap)
os.setgroups([])
os.setgid(990)
os.setuid(990)
os.execv(sys.argv[2], sys.argv[2:])
END
tmp=$tmp unshare --mount --net --ipc --uts --cgroup sh in_container /usr/sbin/cpid \
	-F 500 -e cpu-clock >cpid.log 2>&1 &
tap_pids="$tap_pids $!"
await test -S run/cpid.sock
ok $? 'cpid starts in the container'
sed 's/^/# cpid: /' cpid.log
status()
{
	cpi status --all --socket run/cpid.sock --db db/cpi.db
}
cpid_pid=$(status | awk '$1 == "pid" { print $2 }')
is "$(awk '/^(Uid|CapBnd)/ { print $2 }' "/proc/${cpid_pid:-0}/status" | tr '\n' ' ')" \
	'990 000001c400080004 ' 'cpid in the container is an ordinary user with six capabilities'

# Another container: a root file system, PID and mount namespaces of its own.
unpack_root other
cp "$builddir/t/programs/burn_a" other/burn_a
sh -c "echo \$\$ >'$inside/cgroup.procs' &&
	exec unshare --mount --pid --fork --uts --ipc chroot other /burn_a 600000" >/dev/null 2>&1 &
tap_pids="$tap_pids $!"
"$builddir/t/programs/burn_b" 600000 >/dev/null 2>&1 &
tap_pids="$tap_pids $!"

profile()
{
	cpi prof --db db/cpi.db --epoch all --format=csv "$@"
}

has_both()
{
	cpi flush --socket run/cpid.sock && profile --by image >images &&
		grep -q ',/burn_a,' images && grep -q '/burn_b,' images
}

await has_both
ok $? 'programs of the host and of the other container are in a report'
head -n 12 images | sed 's/^/# /'
# Names come from the capture, which the daemon's helper in the image makes. On a busy
# machine other programs wait for it, too, each for many seconds.
has_name()
{
	cpi flush --socket run/cpid.sock && profile --by procedure --image /burn_a >procedures &&
		grep -q ',burn_a,/burn_a,' procedures
}
within 1500 has_name
ok $? 'a procedure of the other container has its name'
sed 's/^/# /' procedures | head -n 5
profile --by container >containers
sed 's/^/# /' containers
like "$(cat containers)" "$(echo "$id" | cut -c 1-12)" 'the other container has its name'
profile --by cgroup >cgroups
like "$(cat cgroups)" "pod$pod" 'the pod of the other container has its name'
status >status
is "$(awk '/^database/ { exit }
	$1 ~ /^received[.]/ { n += $2; all += $2 }
	$1 ~ /^(stored|unknown|lost)[.]/ || $1 == "pending_samples" { n -= $2 }
	END { print (all > 0), n + 0 }' status)" '1 0' 'received = stored + unknown + lost + pending in the container'
tmp=$tmp unshare --mount --net --ipc --uts --cgroup sh in_container /usr/bin/cpi doctor >doctor 2>&1
sed 's/^/# /' doctor
like "$(cat doctor)" "^ok  *container  *process ids are the host's" 'cpi doctor in the container sees that it is the host'"'"'s PID namespace'
kill "$cpid_pid"
await test ! -e run/cpid.sock
ok $? 'cpid in the container ends in good order'
