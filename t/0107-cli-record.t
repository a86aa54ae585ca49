#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# cpi record on this machine: the profile, the command's exit, signals.
. "$srcdir/t/tap.sh"

need_record

cp "$builddir/t/target" target || bail "no target"

plan 70

cpi record -o a.db --label first -- ./target 400000000 >out 2>err
is "$?" 0 "cpi record succeeds"
is "$(cat out)" "$(./target 400000000)" "the command's output is unchanged"
like "$(cat err)" "[0-9] samples.* in .*a.db; try: cpi prof --db a.db" \
	"cpi record prints how many samples it stored"
is "$(wc -l <err | tr -d ' ')" 1 "cpi record prints one line"
is "$(echo a.db*)" a.db "cpi record leaves one file"
cpi prof --db a.db --image target --format=csv >prof 2>/dev/null
is "$(sed -n 2p prof | cut -d, -f5)" target_hot "the busiest procedure is found"
got=$(awk -F, '/,target_hot,/ { hot += $1 } NR > 1 { all += $1 }
	END { print (all >= 20 && hot > 0.9 * all) }' prof)
is "$got" 1 "the busiest procedure has over 90 % of the samples"
is "$(cpi cat --intervals --db a.db --epoch all --format=csv |
	awk -F, 'NR > 1 && $7 != $8 + $9' | wc -l | tr -d ' ')" 0 \
	"received = stored + lost in every flush"
is "$(cpi epoch list --db a.db --format=csv | sed 1d | cut -d, -f7,11)" "ended,first" \
	"the epoch has its label and has ended"
cpi list --db a.db --image target --format=csv target_hot >list 2>/dev/null
is "$(awk -F, 'NR > 1 { n += $1 } END { print n }' list)" \
	"$(awk -F, '/,target_hot,/ { n += $1 } END { print n }' prof)" \
	"cpi prof and cpi list count the same samples of a procedure"
is "$(cpi prof --db a.db --comm 'targ*' --format=csv 2>&1)" \
	"$(cpi prof --db a.db --format=csv 2>&1)" \
	"--comm takes all samples of a recording of one command"
cpi prof --db a.db --comm other >out 2>err
like "$? $(cat err)" "1 .*no profiles by comm.*; there are samples of: target$" \
	"--comm with another command names the command that there is"

cpi record -F 500 -e cpu-clock -e page-faults@10 -o a.db --raw raw -- \
	sh -c 'i=0; while [ $i -lt 20 ]; do ./target 100 >out; i=$((i + 1)); done' 2>err
is "$?" 0 "cpi record takes two events"
is "$(cpi epoch list --db a.db --format=csv | sed 1d | wc -l | tr -d ' ')" 2 \
	"a second recording adds an epoch to the same database"
like "$(cpi prof -v --db a.db 2>/dev/null)" "^Stream cpu-clock.* a sample per 2 ms" \
	"cpu-clock is sampled at the requested rate"
like "$(cpi prof -v --db a.db 2>/dev/null)" "^Stream page-faults.* a sample per 10 events" \
	"page-faults are sampled with the requested period"
is "$(($(wc -c <raw) - 16))" "$((32 * $(cpi cat --intervals --db a.db --format=csv |
	awk -F, 'NR > 1 { n += $7 - $9 } END { print n }')))" \
	"the raw file has every sample except those that found the ring full"

# The command's exit is cpi's.
for try in 'exit 3:3' 'kill -9 $$:137'; do
	cpi record -o b.db -- sh -c "${try%:*}" 2>err
	is "$?" "${try#*:}" "cpi record exits with ${try#*:} after: ${try%:*}"
done
(ulimit -f 8 && cpi record -o limited.db -- true) 2>err
is "$?" 1 "a limit on the size of files makes cpi record fail"
like "$(cat err)" "limited.db: " "the message names the file that cannot be written"
(ulimit -f 4000 && cpi record -o limited.db -- sh -c 'exec head -c 3000000 /dev/zero >big') 2>err
is "$?" 153 "a command beyond the limit on the size of files gets SIGXFSZ"
cpi epoch list --db b.db >before
cpi record -o b.db -- ./nothing 2>err
is "$?" 127 "a command that does not exist gives status 127"
like "$(cat err)" "./nothing: No such file" "the message names the command that does not exist"
: >plain
cpi record -o b.db -- ./plain 2>err
is "$?" 126 "a file that cannot be run gives status 126"
cpi record -o b.db -- no-such-program 2>err
is "$?" 127 "a command that no folder of PATH has gives status 127"
printf '#!%s\n' "$PWD/gone" >script
printf '#! %s -x\n' "$PWD/script" >caller
chmod +x script caller
cpi record -o b.db -- ./caller 2>err
is "$?" 127 "a script whose interpreter does not exist gives status 127"
like "$(cat err)" "script: interpreter $PWD/gone: No such file" \
	"the message names the interpreter"
: >gone
cpi record -o b.db -- ./caller 2>err
is "$?" 126 "a script whose interpreter cannot be run gives status 126"
# The C compiler is not needed to run a program: any of this build will do.
echo 'int main(void) { return 0; }' >loaded.c
if ${CC:-cc} -Wl,--dynamic-linker="$PWD/lost" -o loaded loaded.c 2>err &&
	[ "$(od -An -tu1 -j4 -N1 loaded | tr -d ' ')" = 2 ]; then
	cpi record -o b.db -- ./loaded 2>err
	is "$?" 127 "a program whose loader does not exist gives status 127"
	like "$(cat err)" "./loaded: loader $PWD/lost: No such file" "the message names the loader"
else
	skip 2 "no compiler that makes 64-bit programs with another loader"
fi
if [ -e loaded ] && [ -z "$(ls /proc/sys/fs/binfmt_misc 2>/dev/null | grep -vx -e register -e status)" ]; then
	printf '\376\176' | dd of=loaded bs=1 seek=18 conv=notrunc 2>/dev/null
	cpi record -o b.db -- ./loaded 2>err
	is "$?" 126 "a program of another machine gives status 126"
	mkdir first second
	mv loaded first
	PATH=$PWD/first:$PWD/second:$PATH cpi record -o b.db -- loaded 2>err
	is "$?" 126 "so does one that PATH leads to"
else
	skip 2 "programs of other machines may run here"
fi
is "$(cpi epoch list --db b.db)" "$(cat before)" \
	"a command that cannot be run adds no epoch"
printf '#!/bin/sh\ntouch ran_script\n' >script
cpi record -o script.db -- ./script 2>err && [ -e ran_script ]
ok $? "a script runs"
cpi record -o none.db -- ./nothing 2>err
is "$(echo none.db*)" "none.db*" "a command that does not exist makes no database"
cpi record -o none/b.db -- touch ran 2>err
is "$?" 1 "cpi record fails if it cannot create the database"
[ ! -e ran ]
ok $? "the command does not run if the database cannot be created"
cpi record -o none.db --raw /dev/full -- touch ran 2>err
is "$? $(echo none.db*)" "1 none.db*" \
	"a recording that does not begin leaves no database"
cpi record -o b.db --raw /dev/full -- touch ran 2>err
is "$(cpi epoch list --db b.db --format=csv | sed 1d | wc -l | tr -d ' ')" 2 \
	"a recording that does not begin leaves an earlier database as it was"
[ ! -e ran ]
ok $? "the command does not run if the recording does not begin"

# A machine so busy that the mappings of the process are not read in time.
cp "$builddir/t/slow_maps.so" . # the path may have spaces
slow_maps()
{
	LD_PRELOAD=$tmp/slow_maps.so \
		ASAN_OPTIONS="verify_asan_link_order=0:${ASAN_OPTIONS-}" "$@"
}
slow_maps cpi record -o slow.db -- ./target 400000000 >out 2>err
is "$? $(wc -l <err | tr -d ' ')" "0 1" "a command is recorded on a very busy machine"
cpi prof --db slow.db --image target --format=csv >prof 2>/dev/null
is "$(sed -n 2p prof | cut -d, -f5)" target_hot "its procedures are found"
cpi record 2>err
is "$?" 2 "a missing command is a usage error"

# Without -e the rate is of use for a short command, and stacks follow it.
mkdir here
(cd here && cpi record -v -g fp -- ../target 200000000 >out 2>../err)
like "$(cat err)" "; try: cpi prof$" "without -o the advice needs no --db"
is "$(cd here && echo *)" "cpi.db out" "without -o the database is cpi.db"
like "$(cat err)" "session: 500 call stacks/s" "-g fp takes half as many stacks as samples"
cpi record -v -g -o g.db -- ./target 2000 >out 2>err
if [ -x "$builddir/helpers/cpi-unwind" ]; then
	like "$(cat err)" "100 call stacks/s" "-g alone takes unwind tables"
else
	like "$(cat err)" "500 call stacks/s" "-g alone takes frame pointers without cpi-unwind"
fi
if strip -o stripped target 2>/dev/null; then
	cpi record -g fp -o stripped.db -- ./stripped 400000000 >out 2>err
	name=$(cpi prof --db stripped.db --limit 1 2>/dev/null | grep -o 'stripped+0x[0-9a-f]*')
	like "$(cpi callers --db stripped.db "$name" 2>&1)" "\(100\|9[0-9]\)[.][0-9]*%.*stripped+0x" \
		"cpi callers takes the name that cpi prof shows of a stripped procedure"
else
	skip 1 "there is no strip"
fi
like "$(cpi prof -v --db here/cpi.db 2>/dev/null)" "a sample per 1 ms" \
	"1000 samples are taken a second where the clock is sampled"

(cd here && CPI_SOCKET=other.sock cpi record -- true 2>../err)
like "$(cat err)" "; try: cpi prof --db cpi.db$" \
	"the advice names the database if CPI_SOCKET names another one"

# The command and what it starts are profiled; other programs and cpi are not.
"$builddir/t/programs/burn_c" 600000 >/dev/null &
other=$!
tap_pids="$tap_pids $other"
cpi record -e cpu-clock -o only.db -- sh -c './target 400000000; ./target 1000' >out 2>err
is "$?" 0 "a command with children is profiled"
kill -STOP $other # it need not compute all the time
cp target target2
cpi record -e cpu-clock -o two.db -- \
	sh -c './target 400000000; ./target2 400000000' >out 2>err
cpi prof --db two.db --comm target >out 2>err
like "$? $(cat err)" "1 .*no profiles by comm.*; there are samples of: .*target, target2$" \
	"--comm with one of several commands is refused without profiles by command"
cpi prof --db only.db --by image --format=csv >prof 2>/dev/null
is "$(grep -c '/target' prof) $(grep -c '/burn_c,\|/cpi,' prof)" "1 0" \
	"children of the command are in the profile, other programs and cpi are not"
if can_sample; then
	cpi record -e cpu-clock -F 2000 -o kernel.db -- dd if=/dev/zero of=/dev/null \
		bs=1M count=4000 2>err
	like "$(cpi prof --db kernel.db --by image 2>/dev/null)" '\[kernel\]' \
		"the kernel's work for the command is in the profile"
	cpi record -a -e cpu-clock -o all.db -- sh -c "kill -CONT $other; ./target 400000000" \
		>out 2>err
	kill -STOP $other
	cpi prof --db all.db --by image --format=csv >prof 2>/dev/null
	# The same programs may run elsewhere at this time.
	is "$(grep -cF "$(realpath target)," prof) $(
		grep -cF "$(realpath "$builddir/t/programs/burn_c")," prof)" "1 1" \
		"-a profiles other programs, too"
	cpi record -a -d 0.3 -o all.db 2>err
	is "$?" 0 "-a needs no command if the duration is given"
	like "$(cat err)" "samples in 0\.[3-9] s" "the duration ends the recording"
else
	skip 4 "sampling the whole system is not permitted here"
fi
kill -KILL $other
wait $other 2>/dev/null
cpi record -d 0.2 -o d0.db -- ./target 100000000000 >out 2>err
is "$?" 0 "a command that the duration ended is no failure"
cpi record -d 0.2 -o d0.db -- sh -c 'trap "exit 4" TERM; while :; do :; done' 2>err
is "$?" 4 "a command that ends itself after the duration gives its status"
cpi record -d 100 -o d0.db -- sh -c 'exit 6' 2>err
is "$?" 6 "the duration does not keep a command that ends earlier"

# A signal to cpi goes to the command; the profile is stored.
mkfifo ready
cpi record -o c.db -- sh -c 'trap "exit 5" TERM; echo go >ready; while :; do :; done' \
	2>err &
pid=$!
timeout 300 cat ready >/dev/null
kill -TERM $pid
wait $pid
is "$?" 5 "SIGTERM to cpi record reaches the command"
is "$(cpi epoch list --db c.db --format=csv | sed 1d | cut -d, -f7)" ended \
	"the profile is stored after SIGTERM"

# Also while cpi waits for the command, after the duration has ended the recording.
has_ended()
{
	cpi epoch list --db "$1" --format=csv 2>/dev/null | sed 1d | cut -d, -f7 |
		grep -qx ended
}
mkfifo told
cpi record -d 1 -o e.db -- sh -c 'sleep 900 & trap "echo told >told" TERM
	trap "kill $!; exit 7" HUP; echo go >ready; wait; wait; exit 9' 2>err &
pid=$!
timeout 300 cat ready >/dev/null
timeout 300 cat told >/dev/null
await has_ended e.db
kill -HUP $pid
wait $pid
is "$?" 7 "SIGHUP after the end of the duration reaches the command"

# Without privileges: the command's own processes.
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	skip 4 "needs root and setpriv to be somebody else"
elif [ "$paranoid" -gt 2 ]; then
	skip 4 "kernel.perf_event_paranoid is $paranoid"
elif chmod 777 . && ! as_nobody test -r "$tmp/target"; then
	skip 4 "another user may not enter $tmp"
else
	# Another user may not enter the folder of the build, either.
	cp "$(command -v cpi)" own-cpi
	as_nobody ./own-cpi record -o d.db -- ./target 400000000 >out 2>err
	like "$(cat err)" "samples of user mode in" \
		"an unprivileged user is told that the kernel is not sampled"
	is "$(cpi prof --db d.db --format=csv 2>/dev/null | sed -n 2p | cut -d, -f5)" \
		target_hot "an unprivileged user gets a profile of the command"
	chmod 640 b.db
	as_nobody ./own-cpi prof --db b.db >out 2>err
	like "$(cat err)" "b.db: Permission denied: readable by root only" \
		"a database of root: the message names the error, and who may read it"
	mkdir -m 700 closed
	CPI_SOCKET=closed/cpid.sock as_nobody ./own-cpi prof >out 2>err
	like "$(cat err)" "closed/cpid.sock: Permission denied: .* name the database with --db" \
		"a socket that the user may not use: the message says so"
fi

# Windows begin while the command runs, and follow what it has started before. The
# command ends when they have had time for it. What it has started computes from then on.
cpi record -v -w 100 -o w.db -- true 2>err
if ! grep -q 'windows/s per CPU' err; then
	skip 2 'there are no windows here'
else
	cat >until-windows <<-EOF
		"$builddir/t/programs/burn_c" 600000 >/dev/null &
		n=0
		until grep -q burn_c /proc/\$!/comm || [ \$n -gt 6000 ]; do
			sleep 0.01
			n=\$((n + 1))
		done
		kill -STOP \$!
		n=0
		until grep -q 'windows/s per CPU' err || [ \$n -gt 1500 ]; do
			sleep 0.2
			n=\$((n + 1))
		done
		kill -CONT \$!
		sleep 1
		kill \$!
	EOF
	cpi record -v -o w.db -- sh ./until-windows 2>err
	like "$(cat err)" 'windows/s per CPU' 'windows begin while the command runs'
	like "$(cpi cat --windows --db w.db --format=csv 2>/dev/null)" burn_c \
		'they follow a program that was started before'
fi
