# SPDX-License-Identifier: GPL-2.0-or-later
# web_page.sh - the page in a browser, for tests: behind t/web.sh
#
# page_browser sets $browser_python; page_database makes page.db.

# The browser is Debian's, and so is selenium: another python3 may stand first in PATH.
browser_python=
for page_python in python3 /usr/bin/python3; do
	if "$page_python" -c 'import selenium' 2>/dev/null; then
		browser_python=$page_python
		break
	fi
done
[ -n "$browser_python" ] || skip_all "python3-selenium is missing"
need chromium chromedriver sqlite3

# page_database: page.db has three epochs before a change and three after it, with call
# stacks, contexts and hostile names, then those of mkdb with code that can be read.
page_database()
{
	page_long=$(printf 'n%.0s' $(seq 1 3000))
	page_turned=$(printf 'turn\342\200\256ed')
	for page_n in 1 2 3; do
		for page_side in before after; do
			page_gamma=1000
			[ "$page_side" = before ] || page_gamma=2000
			page_gcc='comm=gcc&cgroup=/system.slice/nginx.service&@'
			echo "$page_side 120 1000" \
				"${page_gcc}a=$((2000 + 9 * page_n))" \
				"comm=ld&cgroup=/system.slice/db.service&@b=$((1500 - 8 * page_n))" \
				"${page_gcc}gamma=$((page_gamma + 4 * page_n))" \
				"${page_gcc}d=$((900 - 3 * page_n))" \
				"${page_gcc}/usr/bin/other:e=$((1100 + page_n))" \
				"$page_gcc<script>pwned()</script>=50 <iframe>=41" \
				"$page_turned=31 $page_long=21 main;f;a=200 main;f;b=150" \
				"main;f;gamma=$((page_gamma / 10 + page_n)) main;d=90" \
				"main;f;/usr/bin/other:e=110 main;f;<script>pwned()</script>=20"
		done
	done >page.table
	"$builddir/t/runsdb" page.db <page.table || bail "no database of runs"
	"$builddir/t/mkdb" code.db "$builddir/t/target" || bail "no database with code"
	# Another boot: else its epochs would be those of the runs.
	sqlite3 code.db "UPDATE platform SET boot_id = '00000000-0000-0000-0000-000000000002'"
	cpi epoch import --db page.db code.db >import.out 2>&1 || bail "$(cat import.out)"
	# cpid was started anew before the fifth epoch, without a gap.
	sqlite3 page.db "INSERT INTO run SELECT (SELECT max(id) + 1 FROM run), platform, (SELECT from_ns FROM epoch WHERE id = 5),
		to_ns, state FROM run WHERE id = (SELECT run FROM epoch WHERE id = 5);
		UPDATE epoch SET run = (SELECT max(id) FROM run) WHERE id IN (5, 6)" || bail 'no other run'
	# target_hot, rebuilt from other source, in an epoch of its own.
	if command -v "${CC:-cc}" >/dev/null; then
		sed 's/sum \* 3 + 1/(sum ^ n) * 5 + 1/' "$srcdir/t/target.c" >rebuilt.c
		"${CC:-cc}" -O1 -g -o rebuilt rebuilt.c || bail "no program"
		"$builddir/t/mkdb" built.db "$PWD/rebuilt" || bail "no database of it"
		sqlite3 built.db "UPDATE platform SET boot_id = '00000000-0000-0000-0000-000000000003'"
		cpi epoch label --db built.db 1 rebuilt || bail "no label"
		cpi epoch export --db built.db part.db rebuilt >import.out 2>&1 || bail "$(cat import.out)"
		cpi epoch import --db page.db part.db >import.out 2>&1 || bail "$(cat import.out)"
	fi
	cpi epoch label --db page.db 9 '<img src=x onerror=pwned()>' || bail "no hostile label"
}
