#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The files of deploy/ are well formed: the DaemonSet is not privileged and has the unit's
# capabilities, AppArmor's profile is parsed, SELinux's module compiles.
. "$srcdir/t/tap.sh"
deploy=$srcdir/deploy unit=$srcdir/daemon/cpid.service.in
plan 24

# wrong PATTERN REPLACEMENT: what the checker says of a changed DaemonSet.
wrong()
{
	rm -rf changed
	cp -R "$deploy" changed
	chmod -R u+w changed
	sed -i "s/$1/$2/" changed/kubernetes/daemonset.yaml
	"$srcdir/t/deploy_check.py" changed "$unit"
}

if python3 -c 'import yaml' 2>/dev/null; then
	is "$("$srcdir/t/deploy_check.py" "$deploy" "$unit" 2>&1)" '' 'the DaemonSet is right'
	is "$(wrong 'runAsNonRoot: true' 'privileged: true' | sed -n 1p)" 'cpid: is privileged' \
		'a privileged container is found'
	is "$(wrong '- SYSLOG' '- SYS_ADMIN')" 'cpid: the capabilities are not those of the unit' \
		'another capability is found'
	is "$(wrong 'hostPID:' 'hostPid:' | sed -n 1p)" 'pod: Kubernetes has no field hostPid there' \
		'a field that Kubernetes does not have is found'
	is "$(wrong 'runAsUser: 990' 'runAsUser: 991')" 'cpid: does not run as the user of the image' \
		'another user is found'
	is "$(wrong 'hostPath:' 'hostpath:')" 'volume: Kubernetes has no field hostpath there' \
		'a misspelt volume is found'
	rm -rf changed && cp -R "$deploy" changed && chmod -R u+w changed
	sed -i 's/allowPrivilegeEscalation: false/allowPrivilegeEscalation: true/' \
		changed/kubernetes/ship/container.yaml
	is "$("$srcdir/t/deploy_check.py" changed "$unit")" 'cpi-ship: may get more rights' \
		'rights of the container for fleets are found'
else
	skip 7 'python3 has no yaml'
fi
version=$(sed -n 's/^AC_INIT(\[cpi\], \[\(.*\)\])/\1/p' "$srcdir/configure.ac")
like "$(cat "$deploy/kubernetes/kustomization.yaml")" "newTag: $version\$" \
	'the image has the version of configure.ac'
is "$(sed -n 's/^Version: *//p' "$deploy/rpm/cpi.spec")" "$version" \
	'the RPM packages have the version of configure.ac'

# systemd ignores a group that it does not know, and denies what was meant.
if command -v systemd-analyze >/dev/null; then
	sed -n 's/^SystemCallFilter=~*//p' "$unit" "$srcdir/web/cpi-web.service.in" \
		"$srcdir/ship/cpi-ship.service.in" "$srcdir/helpers/cpi-containers.service.in" | tr ' ' '\n' |
		grep '^@' | while read -r group; do
		systemd-analyze syscall-filter "$group" >/dev/null 2>&1 || echo "$group"
	done >unknown
	is "$(cat unknown)" '' "systemd knows each group of system calls that the units allow"
else
	skip 1 'systemd-analyze is missing'
fi

if command -v apparmor_parser >/dev/null; then
	apparmor_parser -Q -K "$deploy"/apparmor/usr.* >parser.out 2>&1
	ok $? 'AppArmor parses the profiles'
	sed 's/^/# /' parser.out
else
	skip 1 'apparmor_parser is missing'
fi
for capability in $(sed -n 's/^CapabilityBoundingSet=//p' "$unit"); do
	grep -qi "^  capability ${capability#CAP_},\$" "$deploy/apparmor/usr.sbin.cpid" ||
		echo "$capability"
done >missing
is "$(cat missing)" '' "AppArmor's profile allows the unit's capabilities"

like "$(paste -s "$deploy/kubernetes/ship/container.yaml")" \
	'CPI_HOST[[:space:]]*valueFrom:[[:space:]]*fieldRef:[[:space:]]*fieldPath: spec.nodeName' \
	'the store knows a node by its own name'

if command -v checkmodule >/dev/null && command -v semodule_package >/dev/null; then
	for module in cpid cpi-ship cpi-web; do
		name=$(echo $module | tr - _)
		try "SELinux's module for $module compiles" checkmodule -M -m -o "$name.mod" \
			"$deploy/selinux/$name.te"
		try 'it becomes a policy package' semodule_package -o "$name.pp" -m "$name.mod" \
			-f "$deploy/selinux/$name.fc"
	done
else
	skip 6 'checkmodule is missing'
fi

# A process that may gain no privileges enters another domain only by this permission.
for service in daemon/cpid web/cpi-web ship/cpi-ship; do
	domain=$(basename "$service" | tr - _)
	! grep -q '^NoNewPrivileges=yes' "$srcdir/$service.service.in" ||
		grep -q "^allow init_t ${domain}_t:process2 .*nnp_transition" "$deploy/selinux/$domain.te" ||
		echo "$domain"
done >missing
is "$(cat missing)" '' "SELinux lets each service enter its domain with the unit's NoNewPrivileges="

# units SECTION NAME: the units that a section of the specification names for a package.
units()
{
	sed -n "/^%$1 $2\$/,/^\$/p" "$deploy/rpm/cpi.spec" | grep -o '[a-z-]*[.]\(service\|socket\)' |
		sort -u | tr '\n' ' '
}
for package in '-n cpid' web; do
	is "$(units files "$package") $(units files "$package") $(units files "$package")" \
		"$(units post "$package") $(units preun "$package") $(units postun "$package")" \
		"the RPM package ${package#-n } tells systemd of the units that it has"
done

# It does not read a specification without rpm.
if command -v rpmlint >/dev/null && command -v rpm >/dev/null; then
	rpmlint "$deploy/rpm/cpi.spec" >rpmlint.out 2>&1
	like "$(cat rpmlint.out)" ' 0 errors' 'rpmlint finds no error in the specification'
	# The archive is on no server, and a build root is RPM's own affair since 2009.
	is "$(grep ' W: ' rpmlint.out | grep -v -e no-buildroot-tag -e 'invalid-url Source0')" '' \
		'nor a warning that is not explained'
else
	skip 2 'rpmlint or rpm is missing'
fi
