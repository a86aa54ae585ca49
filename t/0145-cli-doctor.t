#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi doctor: findings about this machine.
. "$srcdir/t/tap.sh"
plan 15

CPI_SOCKET=$PWD/none.sock
export CPI_SOCKET
cpi doctor --format=json >out.json 2>err
status=$?
is "$(cat err)" '' 'cpi doctor prints no message'
cat >judge.py <<'.'
import json, sys
r = json.load(open(sys.argv[1]))
rank = ["ok", "note", "problem", "fatal"]
worst = max((f["verdict"] for f in r["findings"]), key=rank.index)
assert r["verdict"] == worst
assert int(sys.argv[2]) == (rank.index(worst) >= 2)
names = [f["check"] for f in r["findings"]]
assert len(names) == len(set(names)), "each once"
for f in r["findings"]:
    assert f["what"], f
    for part in "why", "fix":
        assert (f[part] is None) == (f["verdict"] == "ok"), f
print("right")
.
is "$(python3 judge.py out.json $status 2>&1)" right 'verdict and exit status are of the worst finding'
is "$(python3 -c 'import json
print("\n".join(sorted(f["check"] for f in json.load(open("out.json"))["findings"])))')" \
	"$(sed -n '/^The checks are/,/^The options are/s/^\.It Cm //p' "$srcdir/man/cpi-doctor.1.in" |
		tr -s ' ,' '\n' | sort)" 'cpi-doctor(1) describes every check'
cpi doctor >out
is $? $status 'text has the same exit status'
like "$(head -n 1 out)" '^This machine can' 'the first line is the answer'
is "$(sed 's/^.\{80\}$//' out | awk 'length > 80')" '' 'no line is longer than 80 characters'
like "$(cat out)" 'cpid  *no cpid runs' 'a missing daemon is a finding'
cpi doctor --format=csv >out 2>err
is $? 2 'a format that is not there is refused'

# Without rights, findings are about the user and not about the kernel.
if [ "$(id -u)" -eq 0 ]; then
	setpriv --bounding-set=-all --inh-caps=-all cpi doctor --format=json >user.json 2>err
	is "$(python3 judge.py user.json $? 2>&1)" right 'a user without rights learns what to do at each finding'
	is "$(grep -c 'this kernel takes no BPF' user.json)" "$(grep -c 'this kernel takes no BPF' out.json)" \
		'missing rights are not taken for a lack of the kernel'

	# A root file system without /sys: no CPUs are listed there.
	without_sys()
	{
		unshare --mount sh -c 'mount -t tmpfs none /sys && exec "$@"' sh "$@"
	}
	if can_sample && unshare --mount true 2>/dev/null; then
		without_sys cpi doctor >out
		is $? 1 'without /sys the machine cannot be profiled'
		like "$(tr -s ' \n' ' ' <out)" 'fatal system-wide .* to do: mount -t sysfs sysfs /sys ' \
			'the finding says what to mount'
		bad '^status 1: .*/sys/devices/system/cpu/online: .*mount -t sysfs' \
			'cpi record says so as well' without_sys cpi record -o new.db -- true
	else
		skip 3 'sampling the whole system or a mount is not permitted here'
	fi

	# A socket in a folder that the user may not enter.
	mkdir -m 0 closed
	CPI_SOCKET=$PWD/closed/cpid.sock setpriv --bounding-set=-all --inh-caps=-all cpi doctor >out
	like "$(cat out)" '^note  *cpid  *this user may not ask it' \
		'a user without access to the socket learns that, and not that cpid hangs'
	like "$(grep -A4 'may not ask it' out | paste -s | tr -s ' ')" 'to do: add the capabilities' \
		'root without capabilities is not told to be root'
else
	skip 7 'only root can give up its rights'
fi
