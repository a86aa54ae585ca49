/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * alert.c - when mapping events are read before the next sweep
 */
#include "config.h"

#include "daemon/session/alert.h"

#include "base/times.h"

static void wait_for(struct alert *a, uint64_t now_ns, int ms)
{
	a->wait_ms = ms < ALERT_MAX_MS ? ms : ALERT_MAX_MS;
	a->due_ns = now_ns + (uint64_t)a->wait_ms * NSEC_PER_MSEC;
}

void alert_begin(struct alert *a, uint64_t now_ns)
{
	a->until_ns = now_ns + ALERT_NS;
	wait_for(a, now_ns, ALERT_MS);
}

void alert_note_news(struct alert *a, uint64_t now_ns, bool has_notices)
{
	const int ms = has_notices ? ALERT_MAX_MS : ALERT_MS;
	const int left_ms = alert_wait_ms(a, now_ns);

	a->until_ns = now_ns + ALERT_NS;
	if (left_ms < 0 || left_ms > ms)
		wait_for(a, now_ns, ms);
}

void alert_note_reading(struct alert *a, uint64_t now_ns, bool has_notices)
{
	if (alert_is_due(a, now_ns))
		wait_for(a, now_ns, has_notices ? 10 * a->wait_ms : ALERT_MS);
}

int alert_wait_ms(const struct alert *a, uint64_t now_ns)
{
	if (now_ns >= a->until_ns)
		return -1;
	if (now_ns >= a->due_ns)
		return 0;
	return (int)((a->due_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

bool alert_is_due(const struct alert *a, uint64_t now_ns)
{
	return !alert_wait_ms(a, now_ns);
}
