#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The list of libraries that 'make sbom' writes is valid, complete, and the same each time.
. "$srcdir/t/tap.sh"
need python3 readelf

plan 6
export SOURCE_DATE_EPOCH=1700000000
try 'the list is written' sh -c '"$0/deploy/sbom" "$1" >list.json' "$srcdir" "$builddir"
try 'the list is written again' sh -c '"$0/deploy/sbom" "$1" >again.json' "$srcdir" "$builddir"
try 'both lists are equal' cmp list.json again.json

# Of the programs that are built, the libraries that they load.
find "$builddir/tools" "$builddir/daemon" "$builddir/helpers" "$builddir/web" "$builddir/ship" \
	-maxdepth 1 -type f -perm -100 -exec readelf -d {} + 2>/dev/null |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u >needed
cat >check.py <<'END'
import json
import re
import sys

d = json.load(open('list.json'))
packages = d['packages']
ids = [p['SPDXID'] for p in packages]
named = {r['relatedSpdxElement'] for r in d['relationships']} | {
    r['spdxElementId'] for r in d['relationships']}
files = {p.get('packageFileName') for p in packages}
if sys.argv[1] == 'valid':
    wrong = [p['name'] for p in packages
             if not re.fullmatch(r'SPDXRef-[A-Za-z0-9.-]+', p['SPDXID'])
             or not p['licenseDeclared'] or not p['versionInfo']]
    wrong += [i for i in ids if ids.count(i) > 1 or i not in named]
elif sys.argv[1] == 'versions':
    # Two headers do not say it where there is no package manager.
    wrong = [p['name'] for p in packages if not re.match(r'\d', p['versionInfo'])
             and not (p['name'] in ('libiberty', 'libpfm4')
                      and p['versionInfo'] == 'NOASSERTION')]
else:
    # Parts of a C library, and the loader, come with it.
    parts = {'libm': 'libc', 'ld-linux-x86-64': 'libc', 'ld-linux-aarch64': 'libc',
             'libunwind-x86_64': 'libunwind', 'libunwind-aarch64': 'libunwind',
             'libasan': 'libgcc_s', 'libubsan': 'libgcc_s', 'libresolv': 'libc'}
    names = [re.sub(r'\.so.*', '', line.strip()) for line in open('needed')]
    wrong = [n for n in names if parts.get(n, n) not in files]
    if not names:
        wrong = ['no program was looked at']
print(' '.join(wrong))
END
is "$(python3 check.py valid)" '' 'each package has an identifier, a licence and a relationship'
is "$(python3 check.py versions)" '' 'each package has a version'
is "$(python3 check.py complete)" '' 'each library that a program loads is in the list'
