/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eventperiod.c - parses the period of EVENT@PERIOD
 */
#include "config.h"

#include "daemon/collect/eventperiod.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"

int eventperiod_read(const char *spec, uint64_t *out)
{
	const char *at = strchr(spec, '@');
	uint64_t period;

	if (!at) {
		*out = 0;
		return 0;
	}
	if (number_parse(at + 1, 10, &period) || !period || period > EVENT_MAX_PERIOD) {
		log_err("event: %s: a period is a number from 1 to %llu, as in "
			"page-faults@100",
			spec, EVENT_MAX_PERIOD);
		return -EINVAL;
	}
	*out = period;
	return 0;
}
