# SPDX-License-Identifier: GPL-2.0-or-later
# fetch.sh - Debian packages for the guest, without installing any; for run
#
# apt gets lists, cache and an empty package database of its own, so neither root
# nor a foreign architecture is needed. Everything is kept in $cache:
#
#	apt/			lists (a day old at most, if the network allows), cache;
#				those of an older Debian release in apt-RELEASE/
#	REL/			image, headers and kbuild of kernel release REL,
#				unpacked, and its vmlinux
#	sysroot-ARCH-SUM/	what CPI is built against and runs on in the guest; SUM
#				is of the list of packages
#
# Folders appear by renaming when they are complete.

guest_libraries='libbpf-dev libcap-dev libcurl4-gnutls-dev libdw-dev libelf-dev libiberty-dev
	liblzma-dev libncurses-dev libpfm4-dev libsqlite3-dev libzstd-dev nettle-dev check
	busybox-static libstdc++6 mawk sqlite3 zlib1g-dev'
# Without what it depends on: its archives are all that is needed.
guest_llvm=llvm-19-dev

# suite_of VERSION: the Debian release that such a kernel is looked for in.
suite_of()
{
	case $1 in
	5.10*) echo bullseye ;;
	*) echo "$codename" ;;
	esac
}

# fetch_sources SUITE: the mirrors are the host's; backports are one suite more of the
# first, but for other releases, where they are a suite of their own.
fetch_sources()
{
	apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' |
		awk -v c="$codename" -v suite="$1" -v key=/usr/share/keyrings/debian-archive-keyring.gpg '
		$2 == c { line[$1 " " suite] }
		$2 == c && suite == c { line[$1 " " c "-backports"] }
		$2 == c "-updates" && suite == c { line[$1 " " $2] }
		$2 == c "-security" && suite !~ /^sid$|-backports/ {
			line[$1 " " suite "-security"]
		}
		END {
			for (l in line)
				print "deb [signed-by=" key "] " l " main"
		}' | sort
}

# vm_apt TOOL ARGUMENTS...: apt-get or apt-cache for $deb_arch, beside the host's.
vm_apt()
{
	apt_tool=$1
	shift
	"$apt_tool" -q -oAPT::Architecture="$deb_arch" \
		-oAPT::Architectures::=amd64 -oAPT::Architectures::=arm64 \
		-oAPT::Sandbox::User=root -oAcquire::Languages=none \
		-oDir::Etc::SourceList="$apt/sources.list" \
		-oDir::Etc::SourceParts="$apt/none" \
		-oDir::State="$apt" -oDir::State::Lists="$apt/lists" \
		-oDir::State::status="$apt/status" \
		-oDir::Cache="$apt/$deb_arch" "$@"
}

# Sets $codename, of the Debian release that this is.
find_codename()
{
	codename=$(. /etc/os-release && echo "$ID-${VERSION_CODENAME:-}")
	case $codename in
	debian-?*) codename=${codename#debian-} ;;
	*) skip_all 'the kernels come from Debian, which this is not' ;;
	esac
}

# fetch_lists SUITE: from here on packages are those of this Debian release.
fetch_lists()
{
	apt=$cache/apt
	[ "$1" = "$codename" ] || apt=$cache/apt-$1
	mkdir -p "$apt/lists/partial" "$apt/$deb_arch/archives/partial"
	: >"$apt/status"
	[ -z "$(find "$apt/stamp" -mmin -1440 2>/dev/null)" ] || return 0
	fetch_sources "$1" >"$apt/sources.list"
	note "fetching the lists of $1's packages"
	if vm_apt apt-get --error-on=any update >"$apt/log" 2>&1; then
		touch "$apt/stamp"
	elif [ ! -e "$apt/stamp" ]; then
		skip_all "no package lists: $(grep -m 1 '^[EW]:' "$apt/log")"
	fi
}

# newest PATTERN: the newest kernel release whose name matches.
newest()
{
	vm_apt apt-cache pkgnames linux-image- | sed -n \
		"s/^linux-image-\(\([0-9.]*-[0-9]*\|[0-9.]*+[^-]*\)-cloud-$deb_arch\)\$/\1/p" |
		grep -e "$1" | sort -V | tail -n 1
}

# fetch_release VERSION: which release that is now: of the distribution itself for
# "", of its backports for "backports", else the newest whose name begins with these
# numbers.
fetch_release()
{
	case $1 in
	latest) newest . ;;
	*-"$deb_arch" | *-rt-"$deb_arch" | *-"$deb_arch"-*)
		[ -z "$(vm_apt apt-cache show "linux-image-$1" 2>/dev/null)" ] || echo "$1"
		;;
	'' | backports)
		vm_apt apt-cache ${1:+-t "$codename-$1"} depends "linux-image-cloud-$deb_arch" |
			sed -n 's/.*Depends: linux-image-//p' | head -n 1
		;;
	*) newest "^$(printf %s "$1" | sed 's/[.]/\\./g')\\([^0-9]\\|\$\\)" ;;
	esac
}

# unpack PLACE PACKAGE...: downloads the packages and unpacks them into PLACE.
unpack()
{
	unpack_place=$1
	shift
	rm -rf "$unpack_place.new"
	mkdir -p "$unpack_place.new/debs"
	(cd "$unpack_place.new/debs" && vm_apt apt-get download "$@") >"$apt/log" 2>&1 ||
		skip_all "cannot download: $(grep -m 1 '^E:' "$apt/log")"
	unpack_debs "$unpack_place.new" "$unpack_place.new"/debs/*.deb
	rm -r "$unpack_place.new/debs"
}

unpack_debs()
{
	unpack_to=$1
	shift
	for deb; do
		dpkg-deb -x "$deb" "$unpack_to" || bail "cannot unpack $deb"
	done
}

# depends PACKAGE PATTERN: the packages among its dependencies that match.
depends()
{
	vm_apt apt-cache depends "$1" | sed -n "s/.*Depends: \\($2\\).*/\\1/p" | sort -u
}

# bzImage contains the kernel's ELF file, compressed; its header says where
# (Documentation/x86/boot.rst). Booting it by PVH saves the decompression.
unpack_vmlinux()
{
	word()
	{
		od -An -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
	}
	start=$((($(word "$1" 497 1) + 1) * 512 + $(word "$1" 584 4)))
	tail -c +$((start + 1)) "$1" | head -c "$(word "$1" 588 4)" >"$2.packed"
	# Behind all but gzip's comes the unpacked size, which is no part of it.
	case $(od -An -t x1 -N 4 "$2.packed" | tr -d ' ') in
	02214c18) head -c -4 "$2.packed" | lz4 -dcq >"$2" ;;
	28b52ffd) head -c -4 "$2.packed" | zstd -dcq >"$2" ;;
	fd377a58) head -c -4 "$2.packed" | xz -dc >"$2" ;;
	1f8b*) gzip -dc <"$2.packed" >"$2" ;;
	*) bail "$1: packed in a way that is not known" ;;
	esac
	rm "$2.packed"
	[ "$(head -c 4 "$2" | tail -c 3)" = ELF ] || bail "$1: no vmlinux inside"
}

# fetch_kernel RELEASE: sets $kernel, where its files are. The archive keeps some kernels
# without their headers.
fetch_kernel()
{
	kernel=$cache/$1
	[ ! -d "$kernel" ] || return 0
	note "fetching Linux $1"
	image=linux-image-$1 headers=linux-headers-$1
	common=$(depends "$headers" 'linux-headers-[^ ]*-common[^ ]*')
	# shellcheck disable=SC2046 # lists of words
	set -- "$1" "$image" $(depends "$image" 'linux-binary-[^ ]*') \
		$(depends "$image" 'linux-modules-[^ ]*')
	# kbuild's programs run here, not in the guest.
	[ -z "$common" ] || set -- "$@" "$headers" "$common" \
		"$(depends "$headers" 'linux-kbuild-[^ ]*'):$host_deb_arch"
	release=$1
	shift
	unpack "$kernel" "$@"
	place_files "$kernel.new" "$release"
	[ -z "$common" ] ||
		echo "include \$(dir \$(lastword \$(MAKEFILE_LIST)))../$common/Makefile" \
			>"$kernel.new/usr/src/$headers/Makefile"
	relative_links "$kernel.new"
	[ "$arch" != x86_64 ] || unpack_vmlinux "$kernel.new/boot/vmlinuz-$release" \
		"$kernel.new/boot/vmlinux-$release"
	mv "$kernel.new" "$kernel"
}

# place_files ROOT RELEASE: newer packages have the image and the modules below /usr.
place_files()
{
	mkdir -p "$1/boot"
	[ -e "$1/lib" ] || ln -s usr/lib "$1/lib"
	[ -e "$1/boot/vmlinuz-$2" ] ||
		cp "$1/lib/modules/$2/vmlinuz" "$1/boot/vmlinuz-$2" 2>/dev/null ||
		bail "linux-image-$2: no vmlinuz inside"
}

# relative_links ROOT: absolute links would lead out of it.
relative_links()
{
	find "$1" -type l -lname '/*' | while read -r link; do
		ln -sfr "$1$(readlink "$link")" "$link"
	done
}

# fetch_sysroot: sets $sysroot, with libraries, headers and busybox of $arch.
fetch_sysroot()
{
	sysroot=$cache/sysroot-$arch-$(echo $guest_libraries $guest_llvm | cksum | cut -d ' ' -f 1)
	[ ! -d "$sysroot" ] || return 0
	note "fetching libraries for $arch"
	# shellcheck disable=SC2086 # a list of words
	vm_apt apt-get -y --download-only --no-install-recommends install $guest_libraries \
		>"$apt/log" 2>&1 ||
		skip_all "cannot download: $(grep -m 1 '^E:' "$apt/log")"
	unpack "$sysroot" "$guest_llvm"
	unpack_debs "$sysroot.new" "$apt/$deb_arch"/archives/*.deb
	rm "$apt/$deb_arch"/archives/*.deb
	relative_links "$sysroot.new"
	mv "$sysroot.new" "$sysroot"
}
