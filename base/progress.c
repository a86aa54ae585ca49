/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * progress.c - a line that erases itself
 *
 * It is shown late and seldom, so that a fast command shows nothing at all.
 */
#include "config.h"

#include "base/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/times.h"

#define DELAY_NS  (2 * NSEC_PER_SEC)
#define REPEAT_NS (NSEC_PER_SEC / 5)

#define ERASE_LINE "\r\033[K"

struct progress progress_begin(const char *what)
{
	return (struct progress){ what, time_mono_ns(), 0, isatty(STDERR_FILENO) };
}

void progress_update(struct progress *p, size_t done, size_t all)
{
	uint64_t now;

	if (!p->terminal)
		return;
	now = time_mono_ns();
	if (now - p->start_ns < DELAY_NS || now - p->shown_ns < REPEAT_NS)
		return;
	fprintf(stderr, ERASE_LINE "%s: %zu of %zu", p->what, done, all);
	fflush(stderr);
	p->shown_ns = now;
}

void progress_end(struct progress *p)
{
	if (p->shown_ns)
		fputs(ERASE_LINE, stderr);
	p->shown_ns = 0;
}
