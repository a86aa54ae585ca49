#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The files of debian/ agree with what make install installs, with configure and deps, and
# the package refuses a database of a newer version.
. "$srcdir/t/tap.sh"
plan 18

# packages: the names in debian/control.
packages=$(sed -n 's/^Package: //p' "$srcdir/debian/control")

# patterns PACKAGE: what its .install file takes from the installed files.
patterns()
{
	sed 's/ .*//; s|${env:UNITS}|*lib/systemd/system|; s|^|/|' "$srcdir/debian/$1.install" | grep -v -e '^/kmod/' -e '^/debian/'
}

# regexes PACKAGE: the same as regular expressions; an '*' matches no '/'.
regexes()
{
	patterns "$1" | sed 's/[.]/[.]/g; s/[*]/[^\/]*/g; s|^/\[^/\]\*lib/|/(usr/)?lib/|
		s|.*|^&(/.*)?$|'
}

make -s -C "$builddir" install install-dkms DESTDIR="$tmp/root" prefix=/usr \
	libdir=/usr/lib/x86_64-linux-gnu libexecdir=/usr/libexec docdir=/usr/share/doc/cpi \
	systemdsystemunitdir=/usr/lib/systemd/system >install.log 2>&1
ok $? 'make install works in a folder'
sed 's/^/# /' install.log | tail -n 5
# As debian/rules does.
mkdir -p root/etc/cpi
for conf in cpid cpi-ship cpi-web; do
	mv "root/usr/share/doc/cpi/$conf.conf" root/etc/cpi/
done
(cd root && find . ! -type d) | sed 's/^[.]//' | grep -v '/LICENSE$' | sort >installed
bound "$(wc -l <installed)" '>' 50 'there are files to look for'
for package in $packages; do
	regexes "$package" >regexes
	grep -E -f regexes installed
done | cat - installed | sort | uniq -c | awk '$1 != 2 { print $2 ": in " $1 - 1 }' >strays
is "$(cat strays)" '' 'every installed file is in exactly one package'

# The same of the RPM packages; %doc has the documents, and cpi-dkms is no RPM.
sed -n '/^%files/,/^%changelog/p' "$srcdir/deploy/rpm/cpi.spec" |
	sed -n 's/^%config(noreplace) //; s/^%doc //; s/^\(%{_.*\)/\1/p' |
	sed 's|%{name}|cpi|; s|%{_sysconfdir}|/etc|; s|%{_bindir}|/usr/bin|; s|%{_sbindir}|/usr/sbin|
		s|%{_libexecdir}|/usr/libexec|; s|%{_datadir}|/usr/share|; s|%{_mandir}|/usr/share/man|
		s|%{_docdir}|/usr/share/doc|; s|%{_unitdir}|/usr/lib/systemd/system|
		s|%{_sysusersdir}|/usr/lib/sysusers.d|; s|%{_libdir}|/usr/lib/x86_64-linux-gnu|
		s/[.]/[.]/g; s/[*]/[^\/]*/g; s|.*|^&(/.*)?$|' >rpm_regexes
while read -r regex; do
	grep -E "$regex" installed
done <rpm_regexes | cat - installed | sort | uniq -c | awk '$1 != 2 { print $2 ": in " $1 - 1 }' |
	grep -v -e '^/usr/src/' -e '/modules-load.d/' -e '/udev/' >strays
is "$(cat strays)" '' 'every installed file is in exactly one RPM package'

for package in $packages; do
	patterns "$package" | while read -r pattern; do
		found=
		# shellcheck disable=SC2086 # a pattern
		for file in root$pattern root/usr$pattern; do
			[ -e "$file" ] && found=yes
		done
		[ -n "$found" ] || echo "$package: $pattern"
	done
done >missing
# A build without optional libraries installs less.
for optional in 'BPF:libexec/cpi/cpi-translate' 'UNWIND:libexec/cpi/cpi-unwind'; do
	[ -e "$builddir/helpers/${optional##*/}" ] || sed -i "\|${optional#*:}|d" missing
done
is "$(cat missing)" '' 'every file that a package takes is installed'

version=$(sed -n 's/^AC_INIT(\[cpi\], \[\(.*\)\])/\1/p' "$srcdir/configure.ac")
is "$(sed -n '1s/^cpi (\([^)]*\)).*/\1/p' "$srcdir/debian/changelog")" "$version" \
	'the packages have the version of configure.ac'

# Each file of debian/ is in the archive that they are built from.
(cd "$srcdir" && git ls-files debian 2>/dev/null | grep . || find debian -type f) |
	grep -v '^debian/local[.]mk$' | sort >files
tr -s ' \t\\' '\n' <"$srcdir/debian/local.mk" | grep ^debian/ | sort >listed
is "$(cat files)" "$(cat listed)" 'debian/local.mk lists the files of debian/'

# The build's packages are those that deps installs.
sed -n "/^build='/,/'\$/p" "$srcdir/deps" | tr -d "'" | sed 's/build=//' | tr -s ' \t' '\n' |
	grep -e -dev$ -e compiler -e bpftool -e clang -e check | grep -v libc6-dev | sort >deps
sed -n '/^Build-Depends:/,/^$/p' "$srcdir/debian/control" | sed 's/^Build-Depends://' |
	sed -n '/<cross>/d; s/^ *\([a-z0-9-]*\).*/\1/p' | grep -v -e debhelper -e dh- -e pkgconf -e '^$' |
	sort >control
is "$(cat control)" "$(cat deps)" 'the packages are built with the libraries of deps'

# dpkg-buildpackage refuses to build without what it takes for granted.
is "$(sed -n "/^packages_tools='/,/'\$/p" "$srcdir/deps" | tr -s " \t'=" '\n' |
	grep -cx -e build-essential -e debhelper -e dh-dkms)" 3 \
	'deps installs what every package is built with'

# The version of the database's format, as the package and as the program know it.
schema=$(sed -n '/^static const char \*const steps/,/^};/p' "$srcdir/db/core/schema.c" |
	grep -o 'schema[_0-9]*_sql' | wc -l)
"$builddir/t/mkdb" t.db >/dev/null 2>mkdb.err || bail "mkdb: $(cat mkdb.err)"
# It stands in the file's header, behind a write-ahead log's end.
has=$(od -An -t u1 -j 60 -N 4 t.db | awk '{ print (($1 * 256 + $2) * 256 + $3) * 256 + $4 }')
is "$has" "$schema" 'the number of steps is the version of a new database'
is "$(env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -f "$srcdir/debian/rules" \
	-C "$srcdir" schema 2>/dev/null)" "$schema" \
	'debian/rules counts the same steps'

sed -e "s/#SCHEMA#/$schema/; s/#VERSION#/$version/; /#DEBHELPER#/d" \
	-e "s|^db=.*|db=$tmp/var.db|" "$srcdir/debian/cpid.preinst" >preinst
# set_version N: of a database that the package finds.
set_version()
{
	cp t.db var.db
	# shellcheck disable=SC2059 # an octal escape
	printf "\\000\\000\\000\\$(printf %03o "$1")" |
		dd of=var.db bs=1 seek=60 conv=notrunc 2>/dev/null
}
accepts 'a package is installed where there is no database' sh preinst install
set_version "$schema"
accepts 'a package takes over a database of its own version' sh preinst upgrade 0.0.1
set_version $((schema - 1))
accepts 'a package takes over an older database' sh preinst upgrade 0.0.1
set_version $((schema + 1))
sh preinst upgrade 9.0 2>refused
is $? 1 'a package refuses a newer database'
like "$(cat refused)" "has version $((schema + 1)), this version knows $schema" \
	'the refusal names both versions'
echo 'not a database' >var.db
accepts 'a package leaves a foreign file to cpid' sh preinst upgrade 0.0.1

# An upgrade restarts cpi-ship if it runs, so nothing may stop it before.
if command -v dh_installsystemd >/dev/null; then
	mkdir -p dh/debian
	cp -r "$srcdir"/debian/c[!p]* "$srcdir"/debian/cpi-ship.* dh/debian/
	for units in lib usr/lib; do
		mkdir -p "dh/debian/cpi-ship/$units/systemd/system"
		cp "$builddir/ship/cpi-ship.service" "dh/debian/cpi-ship/$units/systemd/system/"
	done
	(cd dh && eval "$(grep -o 'dh_installsystemd -pcpi-ship.*' "$srcdir/debian/rules")") >dh.log 2>&1
	is "$(grep -rl enabled dh/debian/.debhelper | sed 's|.*/||') $(grep -rh 'invoke.* stop' dh/debian/.debhelper)" \
		'postinst.service ' 'an upgrade does not stop cpi-ship before it can be restarted'
else
	skip 1 'debhelper is not here'
fi
