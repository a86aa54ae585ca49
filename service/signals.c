/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.c - receives signals through a descriptor
 *
 * Signals are events of the service's loop and never interrupt its work. So it ends, or
 * reads its options again, between two steps.
 */
#include "config.h"

#include "service/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

int signals_open(void)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a write then fails with EFBIG, as on a full disk */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

enum signals_request signals_take(int fd)
{
	enum signals_request wish = SIGNALS_NONE;
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGHUP)
			wish = SIGNALS_END;
		else if (wish == SIGNALS_NONE)
			wish = SIGNALS_RELOAD;
	}
	return wish;
}
