#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# The live view, as a table and on a terminal, over a cpid and a busy program.
. "$srcdir/t/tap.sh"
. "$srcdir/t/cpid.sh"
. "$srcdir/t/collect.sh"
plan 28

"$programs/burn_b" 600000 &
tap_pids="$tap_pids $!"
burn=$!
collect_start
await_samples 10

# As text: each look is a table of its own time.
cpi top --db t.db --socket t.sock -n 2 -d 1 --limit 5 >top.txt 2>top.err
is $? 0 'cpi top prints looks'
is "$(cat top.err)" '' 'without complaints'
is "$(grep -c 'samples of cpu-clock in' top.txt)" 2 'two of them'
is "$(awk '/samples of/ { n = 0 } { n++ } n > 8' top.txt)" '' 'with at most 5 rows'
cpi top --db t.db --socket t.sock -n 2 -d 1 --image '*/burn_b' >top.txt
is "$(grep -c ' burn_b  *.*/burn_b$' top.txt)" 2 'an image is chosen'
awk '/samples of/ { for (i = 1; i < NF; i++) if ($i == "in") s = $(i + 1) }
	/burn_b/ { if (!s || $2 > 1.6 * 1000 * s) exit 1 }' top.txt
is $? 0 'one process takes no more than its CPU in a look'
cpi top --db t.db --socket t.sock -n 1 -d 1 --by comm >top.txt
like "$(cat top.txt)" ' burn_b *$' 'commands are rows'
cpi top --db t.db --socket nobody.sock -n 1 -d 0.1 >top.txt
like "$(cat top.txt)" '(no cpid listens at nobody.sock: nothing new will come)' \
	'without cpid it says so'
cpi top --db t.db --interval 0 2>top.err
is $? 2 'an interval of nothing is refused'
cpi top --db none.db 2>top.err
is $? 1 'and so is a database that is not there'

command -v tmux >/dev/null || {
	skip 18 'tmux is missing'
	exit
}
mux()
{
	tmux -S "$tmp/tmux.sock" -f /dev/null "$@"
}
# What the terminal shows.
screen()
{
	mux capture-pane -p -t top
}
shows()
{
	screen | grep -q -e "$1"
}
# sees PATTERN NAME: it does so within a minute.
sees()
{
	await 60 shows "$1"
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
sees '[▁▂▃▄▅▆▇█]' 'and bars'
sees 'busy .*idle .* of [0-9]* CPUs  lost 0' 'and facts'
keys Tab
sees 'history  *image' 'Tab goes to images'
keys Tab
sees 'history  *command' 'and to commands'
sees ' burn_b *$' 'which have rows'
keys Tab
keys / b u r n _ b Enter
sees 'filter: burn_b' 'a filter'
# In a terminal wide enough for images, which it may name, too.
only()
{
	screen | sed '1,4d;$d' >rows.txt
	grep -q "$1" rows.txt && ! grep -v "$1" rows.txt | grep -q .
}
await 60 only burn_b
ok $? 'leaves only what it names'
mux resize-window -t top -x 60 -y 12
sees '^.\{0,60\}burn_b' 'it fits a window that became smaller'
is "$(screen | wc -l | tr -d ' ')" 12 'of 12 lines'
keys Enter
sees '^Procedure burn_b in ' 'Enter lists the procedure'
keys C-d
sees 'filter: burn_b' 'and comes back'
keys q
sees 'STATUS 0' 'q ends it'
is "$(cat top.err)" '' 'and nothing was complained of'
mux kill-server
kill "$burn"

# A listing that is longer than a pipe holds, and a pager that ends at its first line.
{
	echo 'int main(void) { volatile unsigned x = 1; for (;;) {'
	awk 'BEGIN { for (i = 0; i < 3000; i++) print "x += 3; x ^= 5;" }'
	echo '} }'
} >endless.c
${CC:-cc} -O0 -o endless endless.c 2>cc.err || {
	skip 4 'no compiler here'
	exit
}
./endless &
tap_pids="$tap_pids $!"
LC_ALL=C.UTF-8 PAGER='head -n 1 >paged.txt' mux new-session -d -s top -x 120 -y 24 \
	"cpi top --db t.db --socket t.sock -d 0.5 --image '*/endless' 2>top.err
	echo STATUS \$?; exec cat"
sees ' main  */' 'a terminal shows a long procedure'
keys Enter
paged() { [ -s paged.txt ]; }
await 60 paged
like "$(cat paged.txt)" '^Epoch ' 'its listing begins'
keys q
sees 'STATUS 0' 'and a pager that does not want the rest brings the view back'
bound "$(cpi list --db t.db --image '*/endless' main | wc -c)" '>' 65536 \
	'of which there was more than a pipe holds'
mux kill-server
