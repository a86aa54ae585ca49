# SPDX-License-Identifier: GPL-2.0-or-later
# guest.sh - what a machine does that was booted for a test; booted.sh and service.sh read it
#
# The packages are in /srv/repo, which is all that apt knows. /srv/previous has packages of
# the version before, if they could be built. Results are TAP lines in /srv/results if that
# is there; else on the second serial line, or on arm64 the virtual console.
set -u
LC_ALL=C DEBIAN_FRONTEND=noninteractive
HOME=/root
export LC_ALL DEBIAN_FRONTEND HOME
if [ -e /srv/results ]; then
	exec >>/srv/results 2>&1
elif [ -c /dev/ttyAMA0 ]; then
	exec >/dev/hvc0 2>&1
else
	exec >/dev/ttyS1 2>&1
fi
cd /srv || exit 1
tap_n=$(cat tap_n 2>/dev/null || echo 0)

note()
{
	printf '# %s\n' "$*"
}

ok()
{
	tap_n=$((tap_n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		return 1
	fi
}

skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n # SKIP $1"
}

# try NAME COMMAND...
try()
{
	try_name=$1
	shift
	if "$@" >try.out 2>&1; then
		ok 0 "$try_name"
	else
		ok 1 "$try_name"
		sed 's/^/# /' try.out | tail -n 15
		journalctl -q -u cpid -o cat -n 8 | sed 's/^/# cpid: /'
	fi
}

# await SECONDS COMMAND...: repeats the command until it succeeds; an emulated machine, on
# a busy host, gets ten times as long.
await()
{
	await_end=$(($(date +%s) + 10 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt $await_end ] || return 1
		sleep 0.3
	done
}

main_pid()
{
	systemctl show -P MainPID cpid
}

received()
{
	cpi status --all 2>/dev/null | awk '/^received[.]/ { n += $2 } END { print n + 0 }'
}

has_received()
{
	[ "$(received)" -ge "$1" ]
}

# Every sample of this daemon's is somewhere. An answer is one moment's.
accounted()
{
	cpi status --all | awk '/^database/ { exit }
		$1 ~ /^received[.]/ { n += $2; all += $2 }
		$1 ~ /^(stored|unknown|lost)[.]/ || $1 == "pending_samples" { n -= $2 }
		$1 ~ /^lost[.]/ { lost += $2 }
		END { print all, "received", n, "unaccounted for", lost + 0, "lost"
			exit !(all > 0 && n == 0 && lost == 0) }'
}

# whole NAME: after a flush.
whole()
{
	try "$1: a flush is stored" cpi flush
	try "$1: every sample of the daemon is somewhere, none is lost" accounted
	try "$1: the database is undamaged" cpi cat --check
}

# It leaves most of the CPUs, which may be emulated, to what is tried.
load_start()
{
	systemd-run -q --unit=load -p Nice=19 -p CPUQuota=20% sh -c 'while :; do gzip -9 </usr/bin/perl >/dev/null; done'
}

has_load()
{
	cpi flush && cpi prof --epoch all --by unit --format=csv | grep -q load.service
}

has_later()
{
	cpi flush && cpi prof --epoch all --by image --format=csv | grep -q /mnt/later
}

# seconds SINCE: since that time of /proc/uptime.
seconds()
{
	awk -v since="$1" '{ printf "%.1f\n", $1 - since }' /proc/uptime
}

now()
{
	cut -d ' ' -f 1 /proc/uptime
}

# schema: the version of the database's format.
schema()
{
	od -An -t u1 -j 60 -N 4 /var/lib/cpi/cpi.db | awk '{ print $3 * 256 + $4 }'
}

# stored [EPOCHS]: how many samples the database has of them.
stored()
{
	cpi cat --intervals --epoch "${1:-all}" --format=csv | awk -F, 'NR > 1 { n += $7 } END { print n + 0 }'
}

# The old version samples while the new one is installed.
upgrade()
{
	if ! ls previous/cpid_*.deb >/dev/null 2>&1; then
		skip 'there are no packages of the previous version'
		return
	fi
	rm -f previous/*-dbgsym_* previous/cpi-dkms_* previous/cpi-doc_* previous/libcpi-*
	try 'the previous version is installed' apt-get -qy install ./previous/cpi_*.deb \
		./previous/cpid_*.deb ./previous/cpi-web_*.deb
	await 60 has_load
	ok $? 'the previous version samples the load'
	systemctl enable --now cpi-web.socket 2>/dev/null
	epochs=..$(cpi epoch list --limit 1 --format=csv | sed -n '2s/,.*//p')
	schema_before=$(schema) stored_before=$(stored "$epochs")
	note "before the upgrade: schema $schema_before, $stored_before samples"
	try 'the upgrade, while it samples' apt-get -qy install cpi cpid cpi-web
	try 'the service is active after it' systemctl is-active cpid
	await 60 has_received 50
	try 'a flush after the upgrade is stored' cpi flush
	if [ "$(schema)" -gt "$schema_before" ]; then
		ok 0 "the database is migrated: schema $(schema)"
	else
		skip "both versions have schema $(schema): $(cat previous/why)"
	fi
	[ "$(stored "$epochs")" -ge "$stored_before" ] && [ "$(stored)" -gt "$(stored "$epochs")" ]
	ok $? 'all samples of the previous version are there'
	whole 'after the upgrade'
	page_answers 'after the upgrade the socket'
	[ "$(readlink "/proc/$(systemctl show -P MainPID cpi-web)/exe")" = /usr/sbin/cpi-web ]
	ok $? 'the new server serves it'

	downgrade
	try 'the service is active after the refusal' systemctl is-active cpid
	apt-get -qfy install >/dev/null 2>&1
	apt-get -qy purge cpi cpid cpi-web >/dev/null 2>&1
}

# The previous version cannot read the migrated database.
downgrade()
{
	if [ "$(schema)" -eq "$schema_before" ]; then
		skip "the previous version can read the database: $(cat previous/why)"
		return
	fi
	installed=$(dpkg-query -W cpi cpid cpi-web)
	apt-get -qy --allow-downgrades install ./previous/cpi_*.deb ./previous/cpid_*.deb \
		./previous/cpi-web_*.deb >downgrade.out 2>&1
	ok $((! $?)) 'a downgrade is refused'
	grep -q "too old for /var/lib/cpi/cpi.db" downgrade.out
	ok $? 'the refusal says why'
	if dpkg-deb -I previous/cpi_*.deb preinst >/dev/null 2>&1; then
		[ "$(dpkg-query -W cpi cpid cpi-web)" = "$installed" ]
		ok $? 'the refused downgrade has replaced nothing' ||
			dpkg-query -W cpi cpid cpi-web | sed 's/^/# /'
	else
		skip 'the previous version of the package cpi does not look at the database'
	fi
}

# A database of a version that does not exist yet: every package refuses it.
too_new()
{
	systemctl stop cpid
	cp /var/lib/cpi/cpi.db kept.db
	printf '\000\000\000\143' | dd of=/var/lib/cpi/cpi.db bs=1 seek=60 conv=notrunc 2>/dev/null
	for package in cpi cpid cpi-web; do
		dpkg -i repo/${package}_*.deb >too_new.out 2>&1
		ok $((! $?)) "the package $package refuses a database that is too new" || cat too_new.out
	done
	grep -q 'the database has version 99' too_new.out
	ok $? 'the refusal has the version'
	cat kept.db >/var/lib/cpi/cpi.db
	try 'the packages stay installed' dpkg --verify cpi cpid cpi-web
	systemctl start cpid
	await 60 has_received 50
	whole 'after the refusals'
}

first_install()
{
	began=$(now)
	try 'apt install' apt-get -qy install cpi cpid cpi-web
	installed=$(seconds "$began")
	await 60 has_load
	ok $? 'a report shows the load by its unit'
	note "from apt install to the first report: $(seconds "$began") s, of which apt took $installed s;" \
		"load $(cut -d ' ' -f 1 /proc/loadavg)"
	cpi prof --epoch all --limit 5 2>/dev/null | sed 's/^/# /'
	try 'the service is enabled' systemctl is-enabled cpid
	try 'systemctl enable --now cpid' systemctl enable --now cpid
	is_user=$(ps -o user= -p "$(main_pid)")
	[ "$is_user" = cpi ]
	ok $? 'the daemon runs as its own user'
	note "capabilities: $(sed -n 's/^CapPrm:\t*//p' "/proc/$(main_pid)/status")"
	# What is mounted after the start, is it seen?
	mount -t tmpfs none /mnt
	cp /usr/bin/perl /mnt/later # its code is in itself, not in a library
	/mnt/later -e '1 while 1' &
	await 60 has_later
	ok $? 'a program on a later mount has its name'
	kill $!
	note "$(systemd-analyze security cpid 2>&1 | tail -n 1)"
	try 'systemd-analyze security: at most 2.5' \
		systemd-analyze security --threshold=25 cpid
	whole 'after the installation'
}

restarts()
{
	for round in 1 2 3; do
		await 60 has_received 50
		systemctl restart cpid || break
	done
	ok $? 'three restarts under load succeed'
	await 60 has_received 50
	try 'the service is active after them' systemctl is-active cpid
	whole 'after three restarts'
}

# gaps: how many the database tells of.
gaps()
{
	cpi status --all --epoch all --format=csv | awk -F, '$2 == "gaps" { print $3 }'
}

killed()
{
	cpi flush
	gaps_before=$(gaps) pid_before=$(main_pid)
	systemctl kill -s KILL cpid
	await 60 other_pid "$pid_before"
	ok $? 'systemd starts cpid again after SIGKILL'
	await 60 has_received 50
	cpi flush
	[ "$(gaps)" -eq $((gaps_before + 1)) ]
	ok $? 'the time without samples is a gap'
	whole 'after SIGKILL'
}

other_pid()
{
	[ "$(main_pid)" -gt 0 ] && [ "$(main_pid)" != "$1" ] && cpi status
}

is_state()
{
	[ "$(cpi status --all | awk '$1 == "state" { $1 = ""; print substr($0, 2) }')" = "$1" ]
}

disk_full()
{
	dd if=/dev/zero of=/var/lib/cpi/fill bs=64k 2>/dev/null
	cpi epoch new full >epoch.out 2>&1
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		cpi flush >/dev/null 2>flush.err && await 2 has_received 1
		is_state 'cannot store' && break
	done
	is_state 'cannot store'
	ok $? 'on a full disk cpid keeps samples in memory' || cpi status --all | sed -n 's/^\(state\|pending\|db_\).*/# &/p'
	cpi mark 'disk full' >mark.out 2>&1
	ok $? 'a mark is taken on a full disk'
	sed 's/^/# /' mark.out
	try 'the service is active on a full disk' systemctl is-active cpid
	rm /var/lib/cpi/fill
	await 60 is_state sampling
	ok $? 'with room it stores again'
	whole 'after the full disk'
	try 'the mark is stored' sh -c 'cpi mark --list --format=csv | grep -q "disk full"'
}

has_apparmor()
{
	grep -qx Y /sys/module/apparmor/parameters/enabled 2>/dev/null
}

# confine PROFILE: the root file system may be one without documents, which have it.
confine()
{
	dpkg-deb --fsys-tarfile repo/cpi-doc_*.deb |
		tar -xO "./usr/share/doc/cpi/deploy/apparmor/$1" >"/etc/apparmor.d/$1"
	[ -s "/etc/apparmor.d/$1" ] && apparmor_parser -r "/etc/apparmor.d/$1"
}

# has_profile SERVICE NAME
has_profile()
{
	[ "$(cat "/proc/$(systemctl show -P MainPID "$1")/attr/current")" = "$1 (enforce)" ]
	ok $? "$2"
}

# is_denied_nothing PROFILE NAME
is_denied_nothing()
{
	dmesg | grep 'apparmor="DENIED"' | grep "profile=\"$1" | grep -v /srv/denied >denials
	[ ! -s denials ]
	ok $? "$2" || head -n 5 denials | sed 's/^/# /'
}

confined()
{
	if ! has_apparmor; then
		skip 'this kernel runs without AppArmor'
		return
	fi
	try "AppArmor's profile is loaded" confine usr.sbin.cpid
	systemctl restart cpid
	is_confined 'after a restart'
	timeout 60 cpid --db /srv/denied.db --socket /run/cpi/denied.sock >denied.out 2>&1
	[ $? -ne 0 ] && [ ! -e /srv/denied.db ]
	ok $? 'a database in another place is denied'
}

# is_confined WHEN: the service samples under the profile, which forbids nothing that it does.
is_confined()
{
	has_profile cpid "$1 cpid is confined"
	await 60 has_received 50
	cpi prof >/dev/null 2>&1 # on a terminal it shows its progress, in the line of a result
	await 60 has_load
	ok $? "$1 the confined cpid samples the load"
	is_denied_nothing cpid "$1 AppArmor denies cpid nothing"
}

# web PATH: the status line and the body of an answer.
web()
{
	perl -MIO::Socket::UNIX -e '
		my $s = IO::Socket::UNIX->new(Peer => "/run/cpi/web.sock") or die "$!";
		print $s "GET $ARGV[0] HTTP/1.0\r\nHost: localhost\r\n\r\n";
		$s->flush; print while <$s>' "$1"
}

page()
{
	try 'systemctl enable --now cpi-web.socket' systemctl enable --now cpi-web.socket
	page_answers 'the enabled socket'
	note "$(systemd-analyze security cpi-web 2>&1 | tail -n 1)"
	try 'systemd-analyze security: cpi-web has at most 1.5' \
		systemd-analyze security --threshold=15 cpi-web
	reloads cpi-web patience 77
}

page_answers()
{
	web / >page.out 2>&1
	head -n 1 page.out | grep -q ' 200 '
	ok $? "$1 serves the page" || head -n 3 page.out | sed 's/^/# /'
	web '/api/v1/prof?epoch=all&by=unit' >report.out 2>&1
	grep -q load.service report.out
	ok $? "$1 serves a report with the load" || {
		tr -d '\r' <report.out | sed -n '/^$/,$p' | head -n 5 | sed 's/^/# /'
		journalctl -q -u cpi-web -o cat -n 5 | sed 's/^/# cpi-web: /'
	}
}

# set_in SERVICE OPTION: its value and origin, as 'cpi config' says.
set_in()
{
	cpi config --format=csv | tr -d '\r' | sed -n "s/^$1,$2,//p"
}

# reloads SERVICE OPTION VALUE: a file that sets it, and a reload.
reloads()
{
	mkdir -p "/etc/cpi/$1.conf.d"
	printf '[%s]\n%s = %s\n' "$1" "$2" "$3" >"/etc/cpi/$1.conf.d/reload.conf"
	try "systemctl reload $1" systemctl reload "$1"
	await 10 is_set "$1" "$2" "$3,/etc/cpi/$1.conf.d/reload.conf:2"
	ok $? "cpi config shows what $1 has from the file" || cpi config | sed 's/^/# /'
	rm "/etc/cpi/$1.conf.d/reload.conf"
	rmdir "/etc/cpi/$1.conf.d" 2>/dev/null # its own folder, which no purge removes
}

is_set()
{
	[ "$(set_in "$1" "$2")" = "$3" ]
}

web_confined()
{
	if ! has_apparmor; then
		skip 'this kernel runs without AppArmor'
		return
	fi
	try "AppArmor's profile of cpi-web is loaded" confine usr.sbin.cpi-web
	systemctl stop cpi-web
	page_answers 'the confined cpi-web'
	has_profile cpi-web 'AppArmor confines cpi-web'
	is_denied_nothing cpi-web 'AppArmor denies cpi-web nothing'
}

ship_metric()
{
	awk -v name="cpi_ship_$1" '$1 == name { print $2 }' /run/cpi-ship/metrics.prom
}

is_failing()
{
	[ "$(ship_metric store_failing)" = 1 ]
}

is_failed()
{
	[ "$(systemctl show -P ActiveState cpi-ship)" = failed ]
}

# A store that is away: a port that nobody listens on.
ships()
{
	try 'apt install cpi-ship' apt-get -qy install cpi-ship
	[ "$(systemctl is-enabled cpi-ship)" = disabled ]
	ok $? 'it does not start by itself'
	systemctl enable --now cpi-ship >enable.out 2>&1
	await 30 is_failed
	ok $? 'without a store it ends'
	journalctl -q -u cpi-ship -o cat | grep -q 'name a store'
	ok $? 'it says what is missing'
	[ "$(systemctl show -P NRestarts cpi-ship)" = 0 ]
	ok $? 'systemd does not start it again and again'
	mkdir -p /etc/cpi/cpi-ship.conf.d
	store='clickhouse://127.0.0.1:9/cpi?user=u&password-file=/run/credentials/cpi-ship.service/password'
	printf '[cpi-ship]\nstore = %s\n' "$store" >/etc/cpi/cpi-ship.conf.d/store.conf
	(umask 077 && echo secret >/etc/cpi/ship.password)
	mkdir -p /etc/systemd/system/cpi-ship.service.d
	printf '[Service]\nLoadCredential=password:/etc/cpi/ship.password\n' \
		>/etc/systemd/system/cpi-ship.service.d/password.conf
	systemctl daemon-reload
	! has_apparmor || confine usr.sbin.cpi-ship
	try 'with a store it starts' systemctl restart cpi-ship
	systemctl is-active -q cpi-ship ||
		journalctl -q -u cpi-ship -o cat -n 8 | sed 's/^/# cpi-ship: /'
	await 60 is_failing
	ok $? 'its metrics say that the store is away' || journalctl -q -u cpi-ship -o cat -n 8 | sed 's/^/# cpi-ship: /'
	journalctl -q -u cpi-ship -o cat -n 8 | grep -q 'no ClickHouse answers'
	ok $? 'it has read the password, and tried the store' ||
		journalctl -q -u cpi-ship -o cat -n 8 | sed 's/^/# cpi-ship: /'
	systemctl show -P StatusText cpi-ship | grep -q 'epochs wait'
	ok $? 'systemctl status says so'
	cpi doctor --format=json >doctor.json
	grep -q 'the store has taken nothing' doctor.json
	ok $? 'cpi doctor says so' || tail -c 600 doctor.json | sed 's/^/# /'
	web /metrics | grep -q '^cpi_ship_store_failing 1'
	ok $? 'the page serves its metrics'
	note "$(systemd-analyze security cpi-ship 2>&1 | tail -n 1)"
	try 'systemd-analyze security: cpi-ship has at most 2' systemd-analyze security --threshold=20 cpi-ship
	if has_apparmor; then
		has_profile cpi-ship 'AppArmor confines it'
		is_denied_nothing cpi-ship 'AppArmor denies it nothing'
	fi
	reloads cpi-ship every 7m
	pid=$(systemctl show -P MainPID cpi-ship)
	try 'it is installed again' apt-get -qy reinstall cpi-ship
	[ "$(systemctl show -P MainPID cpi-ship)" != "$pid" ] && systemctl -q is-active cpi-ship
	ok $? 'an upgrade restarts it'
	pid=$(systemctl show -P MainPID cpi-ship)
	try 'apt purge cpi-ship' apt-get -qy purge cpi-ship
	[ ! -e "/proc/$pid" ] && [ ! -e /run/cpi-ship ] && [ ! -e /etc/cpi/cpi-ship.conf ]
	ok $? 'nothing of it stays' || ls -d /proc/$pid /run/cpi-ship /etc/cpi/cpi-ship.conf* 2>/dev/null | sed 's/^/# /'
	rm -rf /etc/cpi/cpi-ship.conf.d /etc/cpi/ship.password
}

has_pod()
{
	cpi flush && cpi prof --epoch all --by container --format=csv | grep -q shop/cart-7d9/cart
}

# A pod in Debian's containerd has its names in reports: from cpi-containers, in its sandbox.
# It stays enabled, for the reboot and the purge.
pods()
{
	if [ ! -x pod ]; then
		skip 'there is no program for a pod'
		return
	fi
	try 'apt install containerd' apt-get -qy --no-install-recommends install containerd runc curl python3
	cp containerd.toml /etc/containerd/config.toml
	systemctl restart containerd
	await 60 ctr version
	try 'containerd takes an image' sh -c './containerd.py image pod.tar localhost/pod:1 pod &&
		ctr -n k8s.io images import pod.tar'
	./containerd.py run /run/containerd/containerd.sock /kubepods/burstable/pod0123abcd-0123-0123-0123-0123456789ab \
		shop cart-7d9 cart localhost/pod:1 burn >pod.out 2>&1
	pod=$?
	if [ $pod -ne 0 ] && systemd-detect-virt -qc; then
		skip "no pod runs in a container here: $(grep -o 'message: .*' pod.out)"
		systemctl disable -q --now containerd
		return
	fi
	ok $pod 'a pod runs' || {
		sed 's/^/# /' pod.out
		return
	}
	! has_apparmor || confine usr.libexec.cpi.cpi-containers
	try 'systemctl enable --now cpi-containers' systemctl enable --now cpi-containers
	await 60 has_pod
	ok $? 'a report has the names of the pod and its container' ||
		journalctl -q -u cpi-containers -o cat | tail -n 5 | sed 's/^/# /'
	if has_apparmor; then
		has_profile cpi-containers 'AppArmor confines cpi-containers'
		is_denied_nothing cpi-containers 'AppArmor denies cpi-containers nothing'
	fi
	systemctl disable -q --now containerd
}

rebooted()
{
	await 60 cpi status
	try 'after a reboot cpid runs' systemctl is-active cpid
	load_start
	await 60 has_received 50
	cpi flush
	[ "$(stored)" -gt "$(cat stored)" ]
	ok $? 'the samples from before the reboot are there, and new ones'
	[ ! -e mark.out ] || try 'the mark from before the reboot is there' \
		sh -c 'cpi mark --list --format=csv | grep -q "disk full"'
	cpi epoch list --limit 1 --format=csv >list
	page_answers 'after a reboot the socket'
	[ ! -e /etc/apparmor.d/usr.sbin.cpid ] || is_confined 'after a reboot'
	if [ -e /etc/apparmor.d/usr.libexec.cpi.cpi-containers ]; then
		has_profile cpi-containers 'after a reboot AppArmor confines cpi-containers'
		is_denied_nothing cpi-containers 'after a reboot AppArmor denies cpi-containers nothing'
	fi
	whole 'after a reboot'
}

# After a purge.
nothing_stays()
{
	[ -z "$(find /var/lib/cpi -mindepth 1 2>/dev/null)" ] && [ ! -e /etc/cpi ] &&
		[ ! -S /run/cpi/cpid.sock ]
	ok $? 'nothing of the data, the configuration and the sockets stays' ||
		ls -a /var/lib/cpi /etc/cpi /run/cpi 2>/dev/null | sed 's/^/# /'
	[ -z "$(ps -C cpid,cpi-web,cpi-capture,cpi-containers -o pid=)" ]
	ok $? 'no process stays'
}

purged()
{
	systemctl stop load
	try 'apt purge' apt-get -qy purge cpid cpi-web cpi
	nothing_stays
	try 'it is installed again' apt-get -qy install cpid
	await 60 has_received 50
	whole 'after a purge and an installation'
}

# end WORD: what the host waits for.
end()
{
	echo "$tap_n" >tap_n
	echo "$1"
	sync
}
