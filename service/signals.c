/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A service ends in order: the signals that ask it to are events of its loop, and
 * interrupt nothing.
 */
#include "config.h"

#include "service/signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int signals_open(void)
{
	sigset_t set;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
