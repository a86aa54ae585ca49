/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_none.c - defaults for operations that a collector does not support
 */
#include "config.h"

#include <errno.h>

#include "daemon/collect/collector.h"

bool collector_poll_always(struct collector *c)
{
	(void)c;
	return true;
}

void collector_no_preview(struct collector *c)
{
	(void)c;
}

void collector_no_sweep(struct collector *c)
{
	(void)c;
}

bool collector_never_quiet(const struct collector *c)
{
	(void)c;
	return false;
}

int collector_no_exec_id(struct collector *c, uint32_t tgid, uint32_t *id,
			 uint64_t *when_ns)
{
	(void)c, (void)tgid, (void)id, (void)when_ns;
	return -EOPNOTSUPP;
}

int collector_no_handler(const struct collector *c, int event, uint64_t *nr,
			 uint64_t *ns)
{
	(void)c, (void)event, (void)nr, (void)ns;
	return -EOPNOTSUPP;
}

int collector_no_device(const struct collector *c)
{
	(void)c;
	return -1;
}

int collector_no_pairs(const struct collector *c)
{
	(void)c;
	return -1;
}
