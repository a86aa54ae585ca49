#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Pods of a real containerd have their names in reports, also after they were removed. Debian's
# packages containerd and runc are enough: their programs may be in a folder of $PATH.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
need containerd ctr runc curl python3 cc
[ "$(id -u)" = 0 ] || skip_all 'only root runs containers'
[ -e "$builddir/helpers/cri.pb-c.h" ] || skip_all 'this build lacks protobuf-c'

cc -O1 -static -o pod "$srcdir/t/pod.c" 2>/dev/null || skip_all 'no static program can be made here'
pod_id=
group=cpi-pods-$$
pods_end()
{
	[ -z "$pod_id" ] || "$srcdir/t/containerd.py" remove "$PWD/containerd.sock" "$pod_id" >/dev/null 2>&1
	tap_end
	awk -v "at=$tmp/" 'index($2, at) == 1 { print $2 }' /proc/mounts | sort -r | while read -r mount; do
		umount -l "$mount"
	done
	find /sys/fs/cgroup -depth -type d -path "*/$group*" -exec rmdir {} + 2>/dev/null
}
trap pods_end EXIT
containerd -c "$srcdir/t/containerd.toml" --root "$PWD/root" --state "$PWD/state" \
	--address "$PWD/containerd.sock" >containerd.log 2>&1 &
tap_pids="$tap_pids $!"
is_up()
{
	[ -S containerd.sock ] && ctr -a "$PWD/containerd.sock" version >/dev/null 2>&1
}
within 60 is_up || skip_all 'containerd does not start here'
"$srcdir/t/containerd.py" image pod.tar localhost/pod:1 pod &&
	ctr -a "$PWD/containerd.sock" -n k8s.io images import pod.tar >import.log 2>&1 ||
	skip_all "containerd takes no image: $(tail -n 1 import.log)"
collect_start -F 1000
ids=$("$srcdir/t/containerd.py" run "$PWD/containerd.sock" \
	"/$group/kubepods/burstable/pod0123abcd-0123-0123-0123-0123456789ab" \
	shop cart-7d9 cart localhost/pod:1 burn 2>run.err) || {
	sed 's/^/# /' run.err
	cpid_ask quit >/dev/null
	skip_all 'no pod can run here'
}
pod_id=${ids% *} id=${ids#* }
plan 8
sed -n 's/.*containerd github/# containerd github/p' containerd.log | head -n 1
sed 's/^/# /' run.err

is "$("$builddir/helpers/cpi-containers" --list --cri containerd.sock 2>&1 | sort -k 2)" \
	"$pod_id shop/cart-7d9/[pod]
$id shop/cart-7d9/cart" 'cpi-containers has the names of the pod and its container'
is "$("$builddir/helpers/cpi-containers" --once --socket t.sock --cri containerd.sock 2>&1)" '' \
	'cpid takes them'
short=$(echo "$id" | cut -c 1-12)
has_container()
{
	cpid_ask flush >/dev/null
	cpi prof --db t.db --epoch all --by container --format=csv >containers.csv && grep -q "$short" containers.csv
}
await has_container
ok $? 'the container has samples'
sed 's/^/# /' containers.csv
like "$(cat containers.csv)" "$short,kubernetes,0123abcd-0123-0123-0123-0123456789ab,burstable,shop/cart-7d9/cart" \
	'cpi prof --by container shows namespace, pod and container'
like "$(cpi prof --db t.db --epoch all --by image --container 'shop/*' --format=csv)" '/program' \
	'cpi prof --container selects by namespace'
try 'the pod is removed' "$srcdir/t/containerd.py" remove "$PWD/containerd.sock" "$pod_id"
pod_id=
"$builddir/helpers/cpi-containers" --once --socket t.sock --cri containerd.sock
cpid_ask flush >/dev/null
like "$(cpi prof --db t.db --epoch all --by container --format=csv)" 'shop/cart-7d9/cart' \
	'the container keeps its name'
collect_stop
