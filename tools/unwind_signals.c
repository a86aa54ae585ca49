/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_signals.c - no signals are blocked where none are handled
 *
 * libunwind blocks all of them around each look into its cache, with two system calls
 * that take longer than the look. Its calls come here, as the program comes before the
 * libraries. A worker handles no signal: what comes ends it.
 */
#include "config.h"

#include <signal.h>

#include "tools/unwind.h"

static int nothing(sigset_t *old)
{
	return old ? sigemptyset(old) : 0;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	return nothing(old);
}

int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	return nothing(old);
}
