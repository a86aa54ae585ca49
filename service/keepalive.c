/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keepalive.c - notifies the service manager's watchdog (sd_notify(3))
 */
#include "config.h"

#include "service/keepalive.h"

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "service/notify.h"

#define EXTEND_NS (5 * NSEC_PER_SEC) /* between two EXTEND_TIMEOUT_USEC */
#define EXTEND_S  60                 /* the timeout that each of them asks for */

static void tell(struct keepalive *k, int err)
{
	if (err && !k->err)
		log_warn("notify: cannot tell the service manager: %s", err_str(err));
	k->err = err;
}

void keepalive_run(struct keepalive *k)
{
	k->running = true;
	k->interval_ns = notify_watchdog_ns() / 2;
	k->next_ns = 0;
}

void keepalive_stop(struct keepalive *k)
{
	k->running = false;
	k->next_ns = 0;
}

void keepalive_beat(struct keepalive *k)
{
	uint64_t now_ns = time_mono_ns();

	if (now_ns < k->next_ns || (k->running && !k->interval_ns))
		return;
	if (k->running)
		tell(k, notify_send("WATCHDOG=1"));
	else
		tell(k, notify_send("EXTEND_TIMEOUT_USEC=%d000000", EXTEND_S));
	k->next_ns = now_ns + (k->running ? k->interval_ns : EXTEND_NS);
}

int keepalive_wait_ms(const struct keepalive *k)
{
	uint64_t now_ns = time_mono_ns();

	if (!k->running || !k->interval_ns)
		return -1;
	if (k->next_ns <= now_ns)
		return 0;
	return (int)((k->next_ns - now_ns) / NSEC_PER_MSEC) + 1;
}
