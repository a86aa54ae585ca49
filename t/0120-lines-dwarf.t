#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Lines and inlined calls agree with llvm-symbolizer, in programs as compilers and
# packagers make them. Random addresses are compared ($SEED gives others), with every
# function and line of their chains.
. "$srcdir/t/tap.sh"

need g++ llvm-symbolizer c++filt readelf objcopy strip
[ "$(uname -m)" = x86_64 ] || [ "$(uname -m)" = aarch64 ] || skip_all "the programs are for x86-64 and AArch64"
seed=${SEED:-1}
echo "# seed $seed"

cp "$srcdir/t/programs/inlined.h" "$srcdir/t/programs/inlined_one.cc" \
	"$srcdir/t/programs/inlined_two.cc" .
lines=$builddir/t/lines_dump

# build NAME COMPILER FLAGS...: makes NAME/program. On failure NAME/why has the reason.
build()
{
	name=$1
	shift
	mkdir "$name"
	if ! command -v "$1" >/dev/null; then
		echo "no $1 here" >"$name/why"
		return 1
	fi
	(cd "$name" && "$@" -O2 -o program -Wl,--build-id ../inlined_one.cc ../inlined_two.cc) \
		>"$name/log" 2>&1 && return
	echo "$* fails" >"$name/why"
	return 1
}

# Addresses of the code of file $1, at random.
addresses()
{
	readelf -SW "$1" |
		awk -v seed="$seed" -f "$srcdir/t/hex.awk" -f "$srcdir/t/text_addresses.awk"
}

# The answers of llvm-symbolizer in the format of lines_dump. The last function of a
# chain has no name.
llvm()
{
	llvm-symbolizer --no-demangle --inlines -e "$1" | c++filt | awk '
	function flush_chain(    i) {
		for (i = 1; i <= n; i++)
			printf "\t%s %s", i < n ? name[i] : "", place[i]
		print ""
		n = 0
	}
	$0 == "" { flush_chain(); want = 0; next }
	!want { name[++n] = $0; want = 1; next }
	{
		sub(/:[0-9]*$/, "")
		sub(/^.*:0$|^\?\?:.*/, "?:0")
		place[n] = $0
		want = 0
	}'
}

# agrees PROGRAM NAME [REFERENCE [DIRECTORY]]: lines_dump and llvm-symbolizer give the
# same chains. REFERENCE is the same program in a form that llvm-symbolizer understands.
# DIRECTORY has debug files.
agrees()
{
	addresses "${3:-$1}" >addresses
	llvm "${3:-$1}" <addresses | clean >wanted
	"$lines" "$1" ${4:+"$4"} <addresses | sed 's/^[^	]*//' | clean >got
	if ! grep -q 'inlined_one.cc.*	.*inlined_one.cc' wanted; then
		ok 1 "$2: lines and inlined calls agree with llvm-symbolizer"
		echo "# the reference knows nothing"
	elif cmp -s wanted got; then
		ok 0 "$2: lines and inlined calls agree with llvm-symbolizer"
	else
		ok 1 "$2: lines and inlined calls agree with llvm-symbolizer"
		diff wanted got | head -n 8 | cut -c 1-300 | sed 's/^/# /'
	fi
}

# Removes "." and ".." from paths: only one of the two writes them.
clean()
{
	sed 's#/[^/ ]*/\.\./#/#g; s#/[^/ ]*/\.\./#/#g; s#/\./#/#g; s#//*#/#g' |
		sed ':again; s#/[^/ .][^/ ]*/\.\./#/#; t again'
}

# variant NAME COMPILER FLAGS...: builds and compares. $like names another variant as the
# reference: LLVM 14 finds only some of the inlined calls of split units.
like=
variant()
{
	if build "$@"; then
		shift
		agrees "$name/program" "$*" "${like:-$name}/program"
	else
		skip 1 "$(cat "$name/why")"
	fi
}

# with "TOOLS" FUNCTION NAME: runs FUNCTION and compares; skips if a tool is missing.
with()
{
	for tool in $1; do
		command -v "$tool" >/dev/null && continue
		skip 1 "no $tool here"
		return
	done
	mkdir "$2"
	$2 >"$2/log" 2>&1 && agrees "$2/program" "$3" "$reference" "$2/debug" && return
	ok 1 "$3"
	sed 's/^/# /' "$2/log"
}

# place FILE DIRECTORY: moves a debug file to its place by build id.
place()
{
	id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
	mkdir -p "$2/.build-id/${id%"${id#??}"}"
	mv "$1" "$2/.build-id/${id%"${id#??}"}/${id#??}.debug"
}

echo "1..34"
variant gcc5 g++ -g -gdwarf-5
variant gcc4 g++ -g -gdwarf-4
variant gcclto g++ -g -flto
variant gcczlib g++ -g -gz=zlib
variant gccgnu g++ -g -gz=zlib-gnu
variant gcctypes g++ -g -fdebug-types-section
variant gcc64 g++ -g -gdwarf64
variant gcco3 g++ -g3 -O3 -ffunction-sections
variant clang5 clang++ -g -gdwarf-5
variant clang4 clang++ -g -gdwarf-4
variant clangtypes5 clang++ -g -fdebug-types-section -gdwarf-5
variant clangtypes4 clang++ -g -fdebug-types-section -gdwarf-4
variant clangtables clang++ -gline-tables-only
variant gccsplit5 g++ -g -gsplit-dwarf -gdwarf-5
variant gccsplit4 g++ -g -gsplit-dwarf -gdwarf-4
like=clang5
variant clangsplit5 clang++ -g -gsplit-dwarf -gdwarf-5
like=clang4
variant clangsplit4 clang++ -g -gsplit-dwarf -gdwarf-4
like=clang5
variant clangsplitz clang++ -g -gsplit-dwarf -gz=zlib

# Split units are found in a package, or beside a program that was moved.
split=clangsplit5
reference=$tmp/clang5/program
dwp5()
{
	cp $split/program dwp5/ && (cd $split && llvm-dwp -e program -o ../dwp5/program.dwp)
}
beside()
{
	mv $split/* beside/
}
with "clang++ llvm-dwp" dwp5 "a package of DWARF 5"
[ -e dwp5/program.dwp ] && mv $split/*.dwo dwp5/ && cp dwp5/*.dwo $split/ && rm dwp5/*.dwo
with clang++ beside ".dwo files beside the program"
dwp4()
{
	cp gccsplit4/program dwp4/ && (cd gccsplit4 && dwp -e program -o ../dwp4/program.dwp) &&
		rm gccsplit4/*.dwo
}
reference=$tmp/gcc4/program
with dwp dwp4 "a package of DWARF 4, GNU's"

# Packagers strip, compress and link debug files; the lines stay the same.
reference=$tmp/gcc5/program
buildid()
{
	objcopy --only-keep-debug "$reference" buildid/program.debug &&
		strip -o buildid/program "$reference" &&
		place buildid/program.debug buildid/debug
}
with "objcopy strip" buildid "a debug file by build id"
packed()
{
	objcopy --only-keep-debug --compress-debug-sections "$reference" packed/x &&
		strip -o packed/program "$reference" && place packed/x packed/debug
}
with "objcopy strip" packed "a compressed debug file by build id"
link()
{
	objcopy --remove-section=.note.gnu.build-id "$reference" link/program &&
		objcopy --only-keep-debug link/program link/own.debug &&
		strip link/program &&
		(cd link && objcopy --add-gnu-debuglink=own.debug program)
}
with "objcopy strip" link "a debug file by debug link and checksum"
# As Yocto does: the debug file in .debug has the name of the program.
own()
{
	mkdir own/.debug && objcopy --only-keep-debug "$reference" own/.debug/program &&
		strip -o own/program "$reference" &&
		objcopy --add-gnu-debuglink=own/.debug/program own/program
}
with "objcopy strip" own "a debug link with the name of the file itself"
eulink()
{
	(cd eulink && eu-strip -f program.debug -o program "$reference")
}
with eu-strip eulink "a debug file made by eu-strip"
dwz1()
{
	cp "$reference" dwz1/program && dwz dwz1/program
}
with dwz dwz1 "dwz within a file"
dwzrelative()
{
	cp "$reference" dwzrelative/program && cp dwzrelative/program dwzrelative/other &&
		(cd dwzrelative && dwz -m common.debug program other) &&
		readelf -SW dwzrelative/program | grep gnu_debugaltlink
}
with dwz dwzrelative "dwz with a common file beside the program"
dwzbuildid()
{
	cp "$reference" dwzbuildid/program && cp dwzbuildid/program dwzbuildid/other &&
		(cd dwzbuildid && dwz -m common.debug -M /gone/common.debug program other) &&
		objcopy --only-keep-debug dwzbuildid/program dwzbuildid/x &&
		strip dwzbuildid/program && place dwzbuildid/x dwzbuildid/debug &&
		place dwzbuildid/common.debug dwzbuildid/debug
}
with "dwz objcopy strip" dwzbuildid "dwz with a common file by build id"
dwznamed()
{
	cp "$reference" dwznamed/program && cp dwznamed/program dwznamed/other &&
		(cd dwznamed && mkdir -p debug/.dwz &&
			dwz -m debug/.dwz/c.debug -M /usr/lib/debug/.dwz/c.debug program other)
}
with dwz dwznamed "dwz with a common file in /usr/lib/debug/.dwz"

# Missing or wrong debug files give no lines.
strip -o bare gcc5/program
addresses gcc5/program >addresses
is "$("$lines" bare <addresses | cut -f 2- | sort -u)" " ?:0" "a program without DWARF has no lines"
if [ -e beside/program ]; then
	cp beside/program bare
	"$lines" bare <addresses >got 2>err
	like "$(cat err)" "some of its .dwo files" "the warning says that .dwo files are missing"
else
	skip 1 "no clang++ here"
fi
zstd()
{
	objcopy --compress-debug-sections=zstd "$reference" zstd/program || return
	addresses gcc5/program | "$lines" zstd/program 2>zstd/err >/dev/null
	! grep -q "zstd needs elfutils" zstd/err
}
if objcopy --help | grep -q zstd; then
	mkdir zstd
	if zstd; then
		agrees zstd/program "zstd-compressed sections" "$reference"
	else
		like "$(cat zstd/err)" "compressed in a way that libelf cannot unpack" \
			"the warning says that libelf cannot unpack zstd"
	fi
else
	skip 1 "this objcopy has no zstd"
fi
cp link/own.debug link/other && printf x >>link/own.debug
is "$("$lines" link/program <addresses | cut -f 2- | sort -u)" " ?:0" \
	"a debug file with another checksum is not used"
