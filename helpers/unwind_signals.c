/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_signals.c - replaces the calls that block signals, because workers handle none
 *
 * libunwind blocks all signals around each look-up in its cache. Its two system calls
 * take longer than the look-up. The dynamic linker finds the functions below first,
 * because the program comes before the libraries. A worker handles no signal: any
 * signal ends it.
 */
#include "config.h"

#include <signal.h>

#include "helpers/unwind.h"

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
