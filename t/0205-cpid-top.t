#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi top as a table and on a terminal, while cpid samples a busy program.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 32

# Names of this run: the same test may run beside this one.
own=burn_b_$$ own_endless=endless_$$
cp "$programs/burn_b" "$own"
"./$own" 600000 &
tap_pids="$tap_pids $!"
burn=$!
collect_start
await_samples 10

# As text: each table shows its own interval.
cpi top --db t.db --socket t.sock -n 2 -d 1 --limit 5 >top.txt 2>top.err
is $? 0 'cpi top -n 2 prints tables'
is "$(cat top.err)" '' 'cpi top writes no warnings'
is "$(grep -c 'samples of cpu-clock in' top.txt)" 2 'cpi top -n 2 prints two tables'
is "$(awk '/samples of/ { n = 0 } { n++ } n > 8' top.txt)" '' '--limit 5 prints at most 5 rows'
cpi top --db t.db --socket t.sock -n 2 -d 1 --image "*/$own" >top.txt
is "$(grep -c " burn_b  *.*/$own\$" top.txt)" 2 '--image lists one image'
# There are 100 samples a second: 0.6 is six sigma.
awk '/samples of/ { for (i = 1; i < NF; i++) if ($i == "in") s = $(i + 1) }
	/burn_b/ { if (!s || $2 > 1.6 * 1000 * s) exit 1 }' top.txt
is $? 0 'one process has at most its CPU time in a table'
cpi top --db t.db --socket t.sock -n 1 -d 1 --by comm >top.txt
like "$(cat top.txt)" " $own *\$" '--by comm lists commands'
cpi top --db t.db --socket t.sock -n 1 -d 1 --by unit --comm "$own" >top.txt
is "$(awk 'NR > 2 && NF' top.txt | wc -l)" 1 '--by unit --comm has one row for one process'
cpi top --db t.db --socket t.sock -n 1 -d 1 --by container >top.txt
unlike "$(cat top.txt)" 'no profiles by cgroup' 'cpid keeps profiles by cgroup by default'
cpi top --db t.db --socket nobody.sock -n 1 -d 0.1 >top.txt
like "$(cat top.txt)" '(no cpid listens at nobody.sock: nothing new will come)' \
	'without cpid, the table says so'
cpi top --db t.db --interval 0 2>top.err
is $? 2 'an interval of 0 is a usage error'
cpi top --db none.db 2>top.err
is $? 1 'a missing database is an error'

command -v tmux >/dev/null || {
	skip 18 'tmux is missing'
	exit
}
mux()
{
	tmux -S tmux.sock -f /dev/null "$@"
}
# screen: prints what the terminal shows.
screen()
{
	mux capture-pane -p -t top
}
shows()
{
	screen | grep -q -e "$1"
}
# sees PATTERN NAME: the terminal shows PATTERN within a minute.
sees()
{
	await shows "$1"
	ok $? "$2"
	shows "$1" || screen | sed 's/^/# /'
}
keys()
{
	mux send-keys -t top "$@"
}
LC_ALL=C.UTF-8 PAGER='sed -n 1,5p; cat </dev/tty >/dev/null' mux new-session -d -s top -x 240 -y 24 \
	"cpi top --db t.db --socket t.sock -d 0.5 2>top.err; echo STATUS \$?; exec cat"
sees ' burn_b  */' 'a terminal shows the busy procedure'
sees '[▁▂▃▄▅▆▇█]' 'the terminal shows bars'
sees 'busy .*idle .* of [0-9]* CPUs  lost 0' 'the terminal shows load, CPUs and losses'
keys Tab
sees 'history  *image' 'Tab switches to images'
keys Tab
sees 'history  *command' 'a second Tab switches to commands'
sees " $own *\$" 'rows of commands show the busy command'
keys Tab
sees 'history  *container' 'a third Tab switches to containers'
keys Tab
sees 'history  *unit' 'a fourth Tab switches to units'
keys Tab
keys / b u r n _ b Enter
sees 'filter: burn_b' 'a filter is shown'
# only NAME: every row of the table has NAME. The terminal is wide enough for images.
only()
{
	screen | sed '1,4d;$d' >rows.txt
	grep -q "$1" rows.txt && ! grep -v "$1" rows.txt | grep -q .
}
await only burn_b
ok $? 'the filter leaves only matching rows'
mux resize-window -t top -x 60 -y 12
sees '^.\{0,60\}burn_b' 'the view fits a window that became smaller'
is "$(screen | wc -l | tr -d ' ')" 12 'the smaller window has 12 lines'
keys Enter
sees '^Procedure burn_b in ' 'Enter lists the procedure'
keys C-d
sees 'filter: burn_b' 'the end of the pager returns to the view'
keys q
sees 'STATUS 0' 'q ends cpi top with status 0'
is "$(cat top.err)" '' 'cpi top writes no warnings on a terminal'
mux kill-server
kill "$burn"

# A pager that ends at the first line of a listing, of which more is to come. The database
# is the one that cpid writes.
{
	echo 'int main(void) { volatile unsigned x = 1; for (;;) {'
	awk 'BEGIN { for (i = 0; i < 3000; i++) print "x += 3; x ^= 5;" }'
	echo '} }'
} >endless.c
${CC:-cc} -O0 -o "$own_endless" endless.c 2>cc.err || {
	skip 4 'no compiler here'
	exit
}
"./$own_endless" &
tap_pids="$tap_pids $!"
LC_ALL=C.UTF-8 PAGER='head -n 1 >paged.txt' mux new-session -d -s top -x 120 -y 24 \
	"cpi top --socket t.sock -d 0.5 --image '*/$own_endless' 2>top.err
	echo STATUS \$?; exec cat"
sees ' main  */' 'a terminal shows a long procedure'
keys Enter
paged() { [ -s paged.txt ]; }
await paged
like "$(cat paged.txt)" ', still open), ' 'the pager shows the listing of the long procedure'
keys q
sees 'STATUS 0' 'a pager that closes early returns to the view'
bound "$(cpi list --db t.db --image "*/$own_endless" main | wc -c)" '>' 16384 \
	'the listing is longer than what a pager reads at once'
mux kill-server
