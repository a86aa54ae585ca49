# SPDX-License-Identifier: GPL-2.0-or-later
# build.sh - CPI, the module and the initramfs, for the guest; for run
#
# All of it goes to $work, outside of the source tree. CPI is cross-built against
# $sysroot, on the same architecture too: one way for all, and what runs in the
# guest is the distribution's.

# build NAME COMMAND...: its output is shown when it fails.
build()
{
	build_name=$1
	shift
	"$@" >"$work/$build_name.log" 2>&1 && return
	sed 's/^/# /' "$work/$build_name.log" | tail -n 30
	bail "$build_name: does not build; $work/$build_name.log"
}

# Of the project's test programs, those that the guest has.
guest_programs='t/cpid_peer t/stalling_fs t/programs/branch t/programs/burn_a t/programs/burn_b
	t/programs/burn_c t/programs/lock_holder t/programs/spawn t/programs/split'

build_cpi()
{
	mkdir -p "$work/cpi"
	[ -x "$srcdir/configure" ] || build autoreconf autoreconf -fi "$srcdir"
	ln -sfn "$srcdir" "$work/source" # configure refuses sources in a path with a space
	# The host's says what to link, the sysroot has it.
	cat >"$work/llvm-config" <<-EOF
		#!/bin/sh
		llvm-config-19 "\$@" | sed 's|/usr/lib/llvm-19|$sysroot&|g'
	EOF
	chmod +x "$work/llvm-config"
	[ "$work/cpi/config.status" -nt "$srcdir/configure" ] &&
		grep -q "$sysroot" "$work/cpi/config.status" ||
		build configure env -C "$work/cpi" "$work/source/configure" -q \
			--host="$triplet" CC="$triplet-gcc --sysroot=$sysroot" \
			CXX="$triplet-g++ --sysroot=$sysroot" CFLAGS=-O2 CXXFLAGS=-O2 \
			LLVM_CONFIG="$work/llvm-config" PKG_CONFIG=pkg-config \
			PKG_CONFIG_SYSROOT_DIR="$sysroot" \
			PKG_CONFIG_LIBDIR="$sysroot/usr/lib/$triplet/pkgconfig:$sysroot/usr/share/pkgconfig"
	bpf=
	if grep -q '^#define HAVE_BPF 1' "$work/cpi/config.h"; then
		bpf=yes
		guest_programs="$guest_programs t/bench/flips t/bench/verified
			t/programs/operands t/programs/values t/find_key"
		# x86-64 would need Zydis in the sysroot, too.
		[ "$arch" != arm64 ] || guest_programs="$guest_programs helpers/cpi-translate"
	fi
	windows=
	if [ "$bpf$arch" = yesx86_64 ] &&
		grep -q '^#define HAVE_ZYDIS 1' "$work/cpi/config.h"; then
		windows=yes
		guest_programs="$guest_programs helpers/cpi-translate t/programs/guarded t/window_kmod"
	fi
	# shellcheck disable=SC2086 # a list of words
	build cpi make -C "$work/cpi" -j2 tools/cpi daemon/cpid $guest_programs
	case " $cases " in
	*' units '*) build units make -C "$work/cpi" -j2 check TESTS= ;;
	esac
}

# Static, so that they are the same whatever the guest's libraries are.
build_programs()
{
	mkdir -p "$work/programs"
	for source in "$here"/programs/*.c; do
		[ -e "$source" ] || continue
		program=$work/programs/$(basename "$source" .c)
		[ -z "$(find "$source" "$srcdir/abi" -newer "$program" 2>&1)" ] ||
			build program "$triplet-gcc" --sysroot="$sysroot" -O1 -g -static \
				-I"$srcdir" -Wall -Wextra -Werror -o "$program" "$source"
	done
}

# Sets $module, which is empty where it cannot be built. The kernel's build writes beside
# the sources, so it gets a copy.
build_module()
{
	module= nmi_module= inside= no_module='there is no kmod/'
	[ -e "$srcdir/kmod/Kbuild" ] || return 0
	no_module='the archive has no headers of this kernel'
	[ -e "$kernel/usr/src/linux-headers-$release" ] || return 0
	no_module='it needs Linux 6.1' # kmod/cpi_compat.h
	case $release in
	[1-5].*) return 0 ;;
	esac
	# The compiler that the kernel's configuration names is that of its Debian release.
	cc=$(sed -n 's/^CC = .*[$](CROSS_COMPILE)//p' \
		"$kernel/usr/src/linux-headers-$release/.kernelvariables")
	cc=${cc:-gcc}
	command -v "$triplet-$cc" >/dev/null && kbuild_runs || foreign_compiler || return 0
	no_module=
	mkdir -p "$work/module-$release"
	cp -Rpu "$srcdir/kmod" "$srcdir/abi" "$work/module-$release"
	build_ko kmod
	module=$work/module-$release/kmod/cpi.ko
	[ "$arch" = x86_64 ] || return 0
	cp -Rpu "$here/nmi" "$work/module-$release"
	build_ko nmi
	nmi_module=$work/module-$release/nmi/cpi_nmi.ko
}

# kbuild_runs: those of a newer release may need a newer C library.
kbuild_runs()
{
	modpost=$(find "$kernel/usr/lib" "$kernel/usr/src" -name modpost | head -n 1)
	[ -n "$modpost" ] && ! "$modpost" --help 2>&1 | grep -q 'not found'
}

# foreign_compiler: sets $inside, a command that runs another in a minimal system of the
# kernel's Debian release, which has its compiler and what the kernel's build programs
# need. It sees $cache at the same place.
foreign_compiler()
{
	inside=$cache/system-${suite%-backports}-$cc-$arch
	no_module="it is built by $cc, which is not installed, and a system of"
	no_module="$no_module ${suite%-backports} cannot be made: "
	if [ "$(id -u)" != 0 ] || ! command -v mmdebstrap >/dev/null; then
		no_module="${no_module}that needs root and mmdebstrap"
		return 1
	fi
	if [ ! -e "$inside" ]; then
		note "making a system of ${suite%-backports} with $cc"
		rm -rf "$inside.new"
		# A mirror that stands still has an old list of sid, which is signed.
		if ! mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' \
			--include="$(compiler_packages)" "${suite%-backports}" "$inside.new" "$(mirror)" \
			>"$inside.log" 2>&1 </dev/null; then
			no_module="$no_module$(grep -m 1 '^E:' "$inside.log")"
			return 1
		fi
		mv "$inside.new" "$inside"
	fi
	mkdir -p "$inside$cache"
	inside="unshare -m $here/inside $inside $cache"
}

compiler_packages()
{
	printf make,bc,perl,python3,
	case ${suite%-backports} in
	bullseye) printf libelf1,libssl1.1, ;;
	bookworm) printf libelf1,libssl3, ;;
	*) printf libelf1t64,libssl3t64,libdw1t64, ;;
	esac
	[ "$deb_arch" = "$host_deb_arch" ] && echo "$cc" || echo "$cc-$triplet"
}

# mirror: the host's, of its own Debian release.
mirror()
{
	apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Created-By: Packages' |
		awk -v c="$codename" '$2 == c && $1 !~ /security/ { print $1; exit }'
}

# build_ko FOLDER: where sparse is installed it looks at what is compiled. Neither may
# have anything to say. Debian's headers lack the vmlinux that modules' BTF is made from.
build_ko()
{
	sparse=
	! command -v sparse >/dev/null || [ -n "$inside" ] || sparse=C=1
	# shellcheck disable=SC2086 # lists of words
	build "$1" $inside make -C "$kernel/usr/src/linux-headers-$release" \
		KBUILD_OUTPUT="$kernel/usr/src/linux-headers-$release" \
		M="$work/module-$release/$1" ARCH="$kernel_arch" \
		CROSS_COMPILE="$triplet-" CONFIG_DEBUG_INFO_BTF_MODULES= W=1 $sparse modules
	! grep -E '(warning|error): ' "$work/$1.log" | grep -v '^warning: pahole ' || bail "$1: see above"
}

# add_program FILE PLACE: with the libraries that it needs, and theirs.
add_program()
{
	mkdir -p "$(dirname "$root$2")"
	"$triplet-strip" -g -o "$root$2" "$1"
	add_libraries "$1"
}

add_libraries()
{
	for library in $("$triplet-readelf" -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ ! -e "$root/lib/$triplet/$library" ] || continue
		found=$(find "$sysroot/lib/$triplet" "$sysroot/usr/lib/$triplet" \
			-maxdepth 1 -name "$library" | head -n 1)
		[ -n "$found" ] || bail "$1 needs $library, which the sysroot lacks"
		cp -L "$found" "$root/lib/$triplet/$library"
		add_libraries "$found"
	done
}

# Modules of the kernel that cases ask for, with what these need in turn.
add_modules()
{
	tree=$kernel/lib/modules/$release
	mkdir -p "$root/lib/modules/$release"
	cp "$tree"/modules.builtin* "$tree/modules.order" "$root/lib/modules/$release"
	[ -e "$tree/modules.dep" ] || depmod -b "$kernel" "$release"
	for name; do
		awk -v name="$name" -F '[: ]+' '$1 ~ "/" name "[.]ko" {
			for (i = 1; i <= NF; i++)
				print $i
		}' "$tree/modules.dep" | tr -d :
	done | sort -u | while read -r file; do
		[ -n "$file" ] || continue
		mkdir -p "$root/lib/modules/$release/$(dirname "$file")"
		cp "$tree/$file" "$root/lib/modules/$release/$file"
	done
	depmod -b "$root" "$release"
}

# The tree is laid out as the project's, so that its tests run there unchanged.
build_initramfs()
{
	root=$work/root
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/lib/$triplet" "$root/proc" "$root/sys" "$root/dev" \
		"$root/tmp" "$root/etc" "$root/cpi/t" "$root/carry"
	printf '%s\n' 'root:x:0:0::/:/bin/sh' 'nobody:x:65534:65534::/:/bin/false' \
		>"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' 'daemon:x:1:' 'nogroup:x:65534:' >"$root/etc/group"
	cp "$sysroot/bin/busybox" "$root/bin/busybox"
	ln -s busybox "$root/bin/sh"
	mkdir -p "$root$(dirname "$interpreter")"
	cp -L "$sysroot$interpreter" "$root$interpreter"
	for program in tools/cpi daemon/cpid $guest_programs; do
		add_program "$work/cpi/$program" "/cpi/$program"
	done
	case " $cases " in
	*' units '*) add_units ;;
	esac
	add_program "$sysroot/usr/bin/sqlite3" /bin/sqlite3
	add_program "$sysroot/usr/bin/mawk" /bin/mawk
	cp -R "$srcdir/man" "$root/cpi/man"
	cp "$srcdir"/t/*.sh "$srcdir"/t/*.t "$root/cpi/t"
	cp "$here/guest/init" "$root/init"
	cp "$here/guest/case.sh" "$here"/cases/*.sh "$root/cpi"
	for program in "$work"/programs/*; do
		[ ! -e "$program" ] || cp "$program" "$root/bin"
	done
	# shellcheck disable=SC2086 # a list of words
	[ -z "$module" ] || cp $module $nmi_module "$root"
	[ -n "$module" ] || echo "$no_module" >"$root/cpi/no_module"
	# shellcheck disable=SC2046 # a list of words
	add_modules virtio_pci virtio_blk $(sed -n 's/^# modules: *//p' "$here"/cases/*.sh)
	pack "$root" >"$work/initramfs"
}

add_units()
{
	for program in "$work"/cpi/t/unit/check_*[!.o]; do
		add_program "$program" "/cpi/t/unit/${program##*/}"
	done
	cp -R "$srcdir/t/fixtures" "$root/cpi/t"
}

pack()
{
	(cd "$1" && find . | cpio -o -H newc --quiet --owner 0:0)
}
