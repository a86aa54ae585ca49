# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - packages and root file systems for the tests of packages; after tap.sh
#
# All that takes long to make is kept in $cache, and made again when what it is made of
# changes:
#
#	debs-SUITE-ARCH-SUM/ the packages of these sources, by make deb
#	previous-SUITE-ARCH-COMMIT/ those of the version whose database had an older format
#	SUITE-build-ARCH-SUM/ a root file system that builds them for another release or machine
#	SUITE-NAME-ARCH.tar root file systems of Debian releases, by mmdebstrap
#	deps-*/		the packages that ours depend on, for installing without a network

cache=${CPI_TEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}}/cpi-packages

# sources_sum: of all that is in the archive, whose own bytes have times, but for the tests,
# which no package has.
sources_sum()
{
	make -s -C "$builddir" distdir >dist.log 2>&1 || bail "make distdir: $(tail -n 3 dist.log)"
	distdir=$(sed -n 's/^AC_INIT(\[cpi\], \[\(.*\)\])/cpi-\1/p' "$srcdir/configure.ac")
	(cd "$builddir/$distdir" && find . -type f ! -name configure ! -name '*.in' \
		! -path './build-aux/*' ! -path './t/*' -print0 | sort -z | xargs -0 sha256sum) |
		sha256sum | cut -c 1-16
	chmod -R u+w "$builddir/$distdir"
	rm -rf "$builddir/$distdir"
}

# host_suite: the Debian release that this is; empty elsewhere.
host_suite()
{
	(. /etc/os-release && [ "$ID" = debian ] && echo "$VERSION_CODENAME")
}

# is_native: whether packages for $suite and $machine are built on this machine itself.
is_native()
{
	[ "$suite $machine" = "$(host_suite) $(dpkg --print-architecture)" ]
}

# packages_build [SUITE [ARCH]]: sets $debs, a folder with the packages of these sources,
# and $suite and $machine (default: those of this machine). For another release or machine
# they are built in a root file system of that release.
packages_build()
{
	suite=${1:-$(host_suite)} machine=${2:-$(dpkg --print-architecture)}
	if is_native; then
		need dpkg-buildpackage dh dh_dkms dpkg-checkbuilddeps
		dpkg-checkbuilddeps -P nocheck "$srcdir/debian/control" 2>builddeps ||
			skip_all "$(cat builddeps)"
	else
		need mmdebstrap unshare
	fi
	sum=$(sources_sum) || bail "the archive cannot be made: $sum"
	debs=$cache/debs-$suite-$machine-$sum
	[ ! -d "$debs" ] || return 0
	mkdir -p "$cache"
	rm -rf "$cache/debs-$suite-$machine"-*
	note "building the packages for $suite on $machine"
	mkdir -p "$debs.new"
	if is_native; then
		make -C "$builddir" deb >deb.log 2>&1 || bail "make deb: $(tail -n 5 deb.log)"
		cp "$builddir"/deb/*.deb "$builddir"/deb/*.changes "$builddir"/deb/*.buildinfo "$debs.new"
	else
		build_root
		make -s -C "$builddir" dist >dist.log 2>&1 || bail "make dist: $(tail -n 3 dist.log)"
		build_in_root "$debs.new" '' tar -xf "$(echo "$builddir"/cpi-*.tar.xz)" --strip-components=1 ||
			bail "the packages for $suite do not build: $(tail -n 5 deb.log)"
	fi
	mv "$debs.new" "$debs"
}

# build_root: sets $build_root, a root file system of $suite with what builds packages for
# $machine.
build_root()
{
	build_root=$cache/$suite-build-$machine-$(sed -n '/^Build-Depends:/,/^$/p' \
		"$srcdir/debian/control" | cksum | cut -d ' ' -f 1)
	[ ! -d "$build_root" ] || return 0
	note "making a root file system of $suite that builds packages for $machine"
	rm -rf "$cache/$suite-build-$machine"-*
	mkdir -p "$cache"
	build_arch=$(dpkg --print-architecture)
	[ "$machine" = "$build_arch" ] || build_arch=$build_arch,$machine
	mmdebstrap --variant=buildd --architectures="$build_arch" \
		$([ "$build_arch" = "${build_arch%,*}" ] || echo "--include=crossbuild-essential-$machine") \
		"$suite" "$build_root.new" >mmdebstrap.log 2>&1 ||
		skip_all "mmdebstrap: $(grep -m 1 '^E:' mmdebstrap.log)"
	mkdir -p "$build_root.new/srv/cpi/debian"
	cp "$srcdir/debian/control" "$srcdir/debian/changelog" "$build_root.new/srv/cpi/debian"
	cp -L /etc/resolv.conf "$build_root.new/etc/resolv.conf"
	DEBIAN_FRONTEND=noninteractive chroot "$build_root.new" sh -c "apt-get -q update &&
		cd /srv/cpi && apt-get -qy --no-install-recommends -a $machine \
			-P $(profiles) build-dep . && apt-get clean" >build-dep.log 2>&1 ||
		skip_all "apt: $(grep -m 1 '^E:' build-dep.log)"
	mv "$build_root.new" "$build_root"
}

# profiles: how packages for $machine are built here.
profiles()
{
	if [ "$machine" = "$(dpkg --print-architecture)" ]; then
		echo nocheck
	else
		echo cross,nocheck
	fi
}

# build_in_root FOLDER OPTIONS COMMAND...: COMMAND unpacks sources in its working directory;
# their packages, built without a network, go to FOLDER.
build_in_root()
{
	build_to=$1 build_options=$2
	shift 2
	rm -rf "$build_root/srv/build"
	mkdir -p "$build_root/srv/build/cpi"
	(cd "$build_root/srv/build/cpi" && "$@") && unshare --mount --net sh -c '
		mount -t proc proc "$0/proc" && mount --bind /dev "$0/dev" &&
		chroot "$0" env -u TMPDIR sh -c "
			cd /srv/build/cpi && DEB_BUILD_OPTIONS=\"nocheck $1 parallel=$(nproc)\" \
			DEB_BUILD_PROFILES=\"$2\" dpkg-buildpackage -b -us -uc -a $3"' \
		"$build_root" "$build_options" "$(profiles | tr , ' ')" "$machine" >deb.log 2>&1 ||
		return 1
	cp "$build_root"/srv/build/*.deb "$build_root"/srv/build/*.changes \
		"$build_root"/srv/build/*.buildinfo "$build_to"
	rm -rf "$build_root/srv/build"
}

# previous_build: sets $previous, a folder with the packages of the newest version whose
# database has an older format than that of these sources. Its file why says what it has
# instead: the same packages with a lower version, if this is an archive without history, or
# packages for another release or machine.
previous_build()
{
	added=$(git -C "$srcdir" log -1 --diff-filter=A --format=%H -- 'db/core/schema_[0-9]*.sql' 2>git.err) &&
		commit=$(git -C "$srcdir" rev-parse -q --verify "$added^") || commit=
	if [ -z "$commit" ]; then
		previous_repack 'this is an archive without history'
		return
	fi
	if ! is_native; then
		previous_repack 'packages of the version before are built for this machine only'
		return
	fi
	previous=$cache/previous-$suite-$machine-$(echo "$commit" | cut -c 1-12)
	[ ! -d "$previous" ] || return 0
	rm -rf "$cache/previous-$suite-$machine"-*
	note "building the packages of $commit"
	mkdir -p older "$previous.new"
	previous_sources older && (cd older/cpi && env -u MAKEFLAGS -u MAKELEVEL \
		DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
		dpkg-buildpackage -b -us -uc) >previous.log 2>&1 ||
		bail "the packages of $commit do not build: $(tail -n 5 previous.log)"
	mv older/*.deb "$previous.new" && mv "$previous.new" "$previous"
	rm -rf older
}

# previous_repack WHY: $previous from $debs.
previous_repack()
{
	note "the previous version is this one, with a lower number: $1"
	previous=$tmp/previous
	mkdir "$previous"
	echo "$1" >"$previous/why"
	for name in cpi cpid cpi-web; do
		dpkg-deb -R "$(deb $name)" repacked
		sed -i "s/^Version: .*/&~previous/; s/(= \([^)]*\))/(= \1~previous)/" repacked/DEBIAN/control
		dpkg-deb -Zgzip -z1 --root-owner-group -b repacked "$previous" >/dev/null
		rm -r repacked
	done
}

# previous_sources FOLDER: those of $commit in FOLDER/cpi, with a version before ours.
previous_sources()
{
	git -C "$srcdir" archive --prefix=cpi/ "$commit" | tar -C "$1" -x &&
		sed -i '1s/(\(.*\))/(\1~previous)/' "$1/cpi/debian/changelog"
}

# deb NAME: the package's file.
deb()
{
	echo "$debs/$1"_[0-9]*.deb
}

# root_archive NAME PACKAGES: sets $archive, a root file system of $suite for $machine.
root_archive()
{
	archive=$cache/$suite-$1-$machine.tar
	[ ! -s "$archive" ] || return 0
	mkdir -p "$cache"
	note "making a root file system of $suite for $machine${2:+ with $2}"
	mmdebstrap --variant=minbase --architectures="$machine" ${2:+--include="$2"} "$suite" \
		"$archive.new.tar" >mmdebstrap.log 2>&1 ||
		skip_all "mmdebstrap: $(grep -m 1 '^E:' mmdebstrap.log)"
	mv "$archive.new.tar" "$archive"
}

# unpack_root FOLDER: $archive.
unpack_root()
{
	mkdir -p "$1" && tar -C "$1" --numeric-owner -xf "$archive" || bail "cannot unpack $archive"
}

# kernel_fetch: sets $kernel, a folder with $suite's kernel and its modules. Its package is
# only unpacked: for another machine its installation takes half an hour.
kernel_fetch()
{
	kernel=$cache/kernel-$suite-$machine
	[ ! -d "$kernel" ] || return 0
	rm -rf "$kernel.new"
	mkdir -p "$kernel.new/usr/lib"
	ln -s usr/lib "$kernel.new/lib"
	unpack_root fetch
	cp -L /etc/resolv.conf fetch/etc/resolv.conf
	chroot fetch sh -c "apt-get -q update && cd /srv && apt-get -q download \$(
		apt-cache depends linux-image-cloud-$machine |
			sed -n 's/^ *Depends: \(linux-image-[0-9]\)/\1/p')" >apt.log 2>&1 ||
		skip_all "apt: $(grep -m 1 '^E:' apt.log)"
	dpkg-deb --fsys-tarfile fetch/srv/linux-image-*.deb |
		tar -C "$kernel.new" -x --keep-directory-symlink || bail 'cannot unpack the kernel'
	rm -r fetch
	depmod -b "$kernel.new" "$(ls "$kernel.new/lib/modules")" || bail 'depmod fails'
	mv "$kernel.new" "$kernel"
}

# repository ROOT [OTHERS]: what cpi, cpid, cpi-web, cpi-ship and OTHERS need beyond the root
# file system, and all packages in $debs, as an archive for apt in ROOT/srv/repo, which is the
# only one. Needs a network when $cache lacks the dependencies.
repository()
{
	dependencies=$cache/deps-$({
		dpkg-deb -f "$(deb cpi)" Depends
		dpkg-deb -f "$(deb cpid)" Depends
		dpkg-deb -f "$(deb cpi-web)" Depends
		dpkg-deb -f "$(deb cpi-ship)" Depends
		[ -z "${2:-}" ] || echo "$2"
	} | cksum | cut -d ' ' -f 1)-$(basename "$archive" .tar)
	if [ ! -d "$dependencies" ]; then
		mkdir -p "$1/srv/ours"
		cp "$(deb cpi)" "$(deb cpid)" "$(deb cpi-web)" "$(deb cpi-ship)" "$1/srv/ours"
		cp -L /etc/resolv.conf "$1/etc/resolv.conf"
		chroot "$1" sh -c 'apt-get -q update && apt-get -qy --no-install-recommends \
			--download-only install /srv/ours/*.deb "$@"' sh ${2:-} >apt.log 2>&1 ||
			skip_all "apt: $(grep -m 1 '^E:' apt.log)"
		mkdir -p "$dependencies"
		mv "$1"/var/cache/apt/archives/*.deb "$dependencies"
		rm -rf "$1/srv/ours" "$dependencies"/cpi*_*.deb
	fi
	mkdir -p "$1/srv/repo"
	cp "$dependencies"/*.deb "$debs"/*.deb "$1/srv/repo"
	rm -f "$1"/srv/repo/*-dbgsym_*
	(cd "$1/srv/repo" && dpkg-scanpackages -m . 2>/dev/null >Packages) ||
		bail 'dpkg-scanpackages fails'
	rm -rf "$1"/var/lib/apt/lists/* "$1"/etc/apt/sources.list.d/*
	echo 'deb [trusted=yes] file:/srv/repo ./' >"$1/etc/apt/sources.list"
}

# bootable_root ROOT SCRIPT [OTHERS]: a root file system with Debian's systemd and packages as
# in repository(), which runs t/packages/SCRIPT when it has booted.
bootable_root()
{
	root_archive boot systemd-sysv,udev,dbus,procps,kmod,apparmor,busybox-static
	unpack_root "$1"
	repository "$1" "${3:-}"
	cp "$srcdir/t/packages/guest.sh" "$srcdir/t/packages/$2" "$1/srv/"
	cat >"$1/etc/systemd/system/guest.service" <<END
[Unit]
After=multi-user.target
[Service]
Type=exec
ExecStart=/bin/sh /srv/$2
[Install]
WantedBy=multi-user.target
END
	mkdir -p "$1/etc/systemd/system/multi-user.target.wants"
	ln -s /etc/systemd/system/guest.service "$1/etc/systemd/system/multi-user.target.wants/"
	echo guest >"$1/etc/hostname"
	echo '127.0.0.1 localhost' >"$1/etc/hosts"
	: >"$1/etc/machine-id"
}

# What guest.sh's pods() takes from the archive, and what it finds in /srv. A program for
# another machine than this one takes its compiler.
pod_packages='containerd runc curl python3'
pod_files()
{
	case $machine in
	amd64) pod_cc=x86_64-linux-gnu-gcc ;;
	arm64) pod_cc=aarch64-linux-gnu-gcc ;;
	esac
	cp "$srcdir/t/containerd.py" "$srcdir/t/containerd.toml" "$1/srv/"
	$pod_cc -O1 -static -o "$1/srv/pod" "$srcdir/t/pod.c" 2>pod.log || note "no pod: $(head -n 1 pod.log)"
}

# preinstall ROOT: installs what our packages depend on, which takes an emulated machine
# minutes, and leaves out what a first boot does.
preinstall()
{
	chroot "$1" sh -c 'cd /srv/repo && apt-get -q update && DEBIAN_FRONTEND=noninteractive apt-get -qy \
		--no-install-recommends install $(ls | grep "[.]deb$" | grep -v -E "^(lib)?cpi" | sed "s,^,./,")' \
		>preinstall.log 2>&1 || bail "apt: $(grep -m 1 "^E:" preinstall.log)"
	echo 0123456789abcdef0123456789abcdef >"$1/etc/machine-id"
	echo force-unsafe-io >"$1/etc/dpkg/dpkg.cfg.d/unsafe"
	for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer \
		e2scrub_all.timer e2scrub_reap.service fstrim.timer getty@tty1.service \
		ldconfig.service serial-getty@hvc0.service systemd-hwdb-update.service \
		systemd-journal-catalog-update.service systemd-update-done.service; do
		ln -sf /dev/null "$1/etc/systemd/system/$unit"
	done
}

# image_debs: sets $image_debs, all packages that the container image may need beside ours:
# the libraries of a bare root file system ($archive), and what cpi, cpid and cpi-ship add.
image_debs()
{
	folder=$cache/image-$({
		dpkg-deb -f "$(deb cpi)" Depends
		dpkg-deb -f "$(deb cpi-ship)" Depends
	} | cksum | cut -d ' ' -f 1)
	if [ ! -d "$folder" ]; then
		unpack_root fetch
		mkdir -p fetch/srv/ours "$folder.new"
		cp "$(deb cpi)" "$(deb cpid)" "$(deb cpi-ship)" fetch/srv/ours
		cp -L /etc/resolv.conf fetch/etc/resolv.conf
		chroot fetch sh -c 'apt-get -q update && apt-get -qy --no-install-recommends \
			--download-only install /srv/ours/*.deb && cd /var/cache/apt/archives &&
			apt-get -q download $(dpkg-query -W -f "\${Package}\n" |
				grep -E "^(lib.*|zlib1g|coreutils)\$")' >apt.log 2>&1 ||
			skip_all "apt: $(grep -m 1 '^E:' apt.log)"
		mv fetch/var/cache/apt/archives/*.deb "$folder.new"
		rm -rf fetch "$folder.new"/cpi*_*.deb
		mv "$folder.new" "$folder"
	fi
	image_debs=$(echo "$folder"/*.deb)
}
