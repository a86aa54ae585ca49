# SPDX-License-Identifier: GPL-2.0-or-later
# lib.sh - packages and root file systems for the tests of packages; after tap.sh
#
# All that takes long to make is kept in $cache, and made again when what it is made of
# changes:
#
#	debs-SUM/	the packages of these sources, by make deb
#	previous-COMMIT/ the packages of the version whose database had an older format
#	SUITE-NAME.tar	root file systems of Debian releases, by mmdebstrap
#	deps-SUITE/	the packages that ours depend on, for installing without a network

cache=${XDG_CACHE_HOME:-${HOME:-/var/tmp}/.cache}/cpi-packages

# sources_sum: of all that is in the archive, whose own bytes have times.
sources_sum()
{
	make -s -C "$builddir" distdir >dist.log 2>&1 || bail "make distdir: $(tail -n 3 dist.log)"
	distdir=$(sed -n 's/^AC_INIT(\[cpi\], \[\(.*\)\])/cpi-\1/p' "$srcdir/configure.ac")
	(cd "$builddir/$distdir" && find . -type f ! -name configure ! -name '*.in' \
		! -path './build-aux/*' -print0 | sort -z | xargs -0 sha256sum) |
		sha256sum | cut -c 1-16
	chmod -R u+w "$builddir/$distdir"
	rm -rf "$builddir/$distdir"
}

# packages_build: sets $debs, a folder with the packages of these sources.
packages_build()
{
	need dpkg-buildpackage dh dh_dkms dpkg-checkbuilddeps
	dpkg-checkbuilddeps -P nocheck "$srcdir/debian/control" 2>builddeps ||
		skip_all "$(cat builddeps)"
	debs=$cache/debs-$(sources_sum)
	[ ! -d "$debs" ] || return 0
	mkdir -p "$cache"
	rm -rf "$cache"/debs-*
	note 'building the packages'
	make -C "$builddir" deb >deb.log 2>&1 ||
		bail "make deb: $(tail -n 5 deb.log)"
	mkdir "$debs.new"
	cp "$builddir"/deb/*.deb "$builddir"/deb/*.changes "$builddir"/deb/*.buildinfo "$debs.new"
	mv "$debs.new" "$debs"
}

# previous_build: sets $previous, a folder with the packages of the newest version whose
# database has an older format than that of these sources; empty if the history does not
# have it, or it cannot be built.
previous_build()
{
	previous=
	added=$(git -C "$srcdir" log -1 --diff-filter=A --format=%H -- 'db/core/schema_[0-9]*.sql' 2>git.err) &&
		commit=$(git -C "$srcdir" rev-parse -q --verify "$added^") || return 0
	folder=$cache/previous-$(echo "$commit" | cut -c 1-12)
	if [ ! -d "$folder" ]; then
		rm -rf "$cache"/previous-*
		note "building the packages of $commit"
		mkdir older && git -C "$srcdir" archive --prefix=cpi/ "$commit" | tar -C older -x || return 0
		sed -i '1s/(\(.*\))/(\1~previous)/' older/cpi/debian/changelog
		(cd older/cpi && env -u MAKEFLAGS -u MAKELEVEL \
			DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
			dpkg-buildpackage -b -us -uc) >previous.log 2>&1 || return 0
		mkdir -p "$folder.new"
		mv older/*.deb "$folder.new"
		mv "$folder.new" "$folder"
		rm -rf older
	fi
	previous=$folder
}

# deb NAME: the package's file.
deb()
{
	echo "$debs/$1"_[0-9]*.deb
}

# root_archive SUITE NAME PACKAGES: sets $archive, a root file system of the release.
root_archive()
{
	archive=$cache/$1-$2.tar
	[ ! -s "$archive" ] || return 0
	mkdir -p "$cache"
	note "making a root file system of $1 with${3:+ $3}"
	mmdebstrap --variant=minbase --include="$3" "$1" "$archive.new.tar" >mmdebstrap.log 2>&1 ||
		skip_all "mmdebstrap: $(grep -m 1 '^E:' mmdebstrap.log)"
	mv "$archive.new.tar" "$archive"
}

# unpack_root FOLDER: $archive.
unpack_root()
{
	mkdir -p "$1" && tar -C "$1" --numeric-owner -xf "$archive" || bail "cannot unpack $archive"
}

# repository ROOT SUITE: what cpi, cpid and cpi-web need beyond the root file system, and
# all packages in $debs, as an archive for apt in ROOT/srv/repo, which is the only one.
# Needs a network when $cache lacks the dependencies.
repository()
{
	dependencies=$cache/deps-$2-$({
		dpkg-deb -f "$(deb cpi)" Depends
		dpkg-deb -f "$(deb cpid)" Depends
		dpkg-deb -f "$(deb cpi-web)" Depends
	} | cksum | cut -d ' ' -f 1)-$(basename "$archive" .tar)
	if [ ! -d "$dependencies" ]; then
		mkdir -p "$1/srv/ours"
		cp "$(deb cpi)" "$(deb cpid)" "$(deb cpi-web)" "$1/srv/ours"
		cp -L /etc/resolv.conf "$1/etc/resolv.conf"
		chroot "$1" sh -c 'apt-get -q update && apt-get -qy --no-install-recommends \
			--download-only install /srv/ours/*.deb' >apt.log 2>&1 ||
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

# image_debs: sets $image_debs, all packages that the container image may need beside ours:
# the libraries of a bare root file system ($archive), and what cpi and cpid add to it.
image_debs()
{
	folder=$cache/image-$(dpkg-deb -f "$(deb cpi)" Depends | cksum | cut -d ' ' -f 1)
	if [ ! -d "$folder" ]; then
		unpack_root fetch
		mkdir -p fetch/srv/ours "$folder.new"
		cp "$(deb cpi)" "$(deb cpid)" fetch/srv/ours
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
