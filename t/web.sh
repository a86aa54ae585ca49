# SPDX-License-Identifier: GPL-2.0-or-later
# web.sh - for tests of cpi-web: . "$srcdir/t/web.sh" behind t/tap.sh

command -v cpi-web >/dev/null || skip_all "cpi-web was not built"
need python3
# Where a server that is killed leaves its folder.
unset XDG_RUNTIME_DIR
CPI_WEB_CONFIG=/dev/null
TMPDIR=$tmp
export TMPDIR CPI_WEB_CONFIG

# web_start OPTION...: starts cpi-web; $url is its address, with a slash at the end.
web_start()
{
	mkfifo web.fifo
	cpi-web --cpi="$builddir/tools/cpi" "$@" >web.fifo 2>web.log &
	web_pid=$!
	tap_pids="$tap_pids $web_pid"
	read -r url <web.fifo || bail "cpi-web did not start: $(cat web.log)"
	rm web.fifo
}

# web_stop: ends it; its exit status.
web_stop()
{
	kill -TERM "$web_pid"
	wait "$web_pid"
}

# get PATH [HEADER:VALUE...]: prints the body; the status and headers are in web.head.
get()
{
	python3 "$srcdir/t/web_get.py" "$url" "$@"
}

# head_of NAME: a header of the last answer.
head_of()
{
	sed -n "s/^$1: //Ip" web.head
}

# status: of the last answer.
status()
{
	sed -n 1p web.head
}
