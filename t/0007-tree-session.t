#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# What runs programs that may hang (session.py) leaves none of their processes.
. "$srcdir/t/tap.sh"
need python3
plan 5

# A program with a child that has a process group of its own, as a unit test's case has.
cat >hangs.py <<'END'
import os, signal, sys
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    with open("began", "w") as out:
        print(os.getpid(), file=out)
    while True:
        signal.pause()
if sys.argv[1] == "ends":
    while not os.path.exists("began"):
        pass
    sys.exit(3)
signal.pause()
END
cat >runs.py <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import session
session.end_on_term()
print(session.run(["python3", "hangs.py", sys.argv[2]], float(sys.argv[3])))
END

# gone: whether the child has ended.
gone()
{
	[ -s began ] && ! kill -0 "$(cat began)" 2>/dev/null
}

is "$(python3 runs.py "$srcdir/t" ends 100)" 3 'a program that ends has its status'
try 'its child is killed' await gone
rm began
python3 runs.py "$srcdir/t" hangs 10 >limit.out
is "$(cat limit.out)" None 'a program that takes too long has none'
try 'its child is killed, too' await gone

rm -f began
python3 runs.py "$srcdir/t" hangs 100 >term.out 2>&1 &
runner=$!
tap_pids="$tap_pids $runner"
await test -s began || bail 'nothing runs'
kill "$runner"
wait "$runner"
try 'the same if SIGTERM ends the runner' await gone
