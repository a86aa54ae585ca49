/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain_policy.c - "minutely:6h,hourly:7d,daily:90d,size:2G"
 */
#include "config.h"

#include "db/retain/retain.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/times.h"

#define LEAST_BYTES (1 << 20)

static const struct part {
	const char *name;
	size_t field; /* of struct retain_policy */
	int (*parse)(const char *text, uint64_t *out);
	const char *example;
} parts[] = {
	{ "minutely", offsetof(struct retain_policy, minutely_ns), time_parse_duration,
	  "minutely:6h" },
	{ "hourly", offsetof(struct retain_policy, hourly_ns), time_parse_duration,
	  "hourly:7d" },
	{ "daily", offsetof(struct retain_policy, daily_ns), time_parse_duration,
	  "daily:90d" },
	{ "size", offsetof(struct retain_policy, bytes), number_parse_size, "size:2G" },
};

/* One "name:value", which is cut in two. */
static int parse_part(char *text, struct retain_policy *policy, struct buf *why)
{
	char *value = strchr(text, ':');
	uint64_t *field, parsed;

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strcmp(text, parts[i].name) != 0)
			continue;
		field = (uint64_t *)((char *)policy + parts[i].field);
		if (!value || parts[i].parse(value, &parsed) || !parsed) {
			buf_printf(why, "%s needs a value, as in %s", text,
				   parts[i].example);
			return -EINVAL;
		}
		if (*field) {
			buf_printf(why, "%s is given twice", text);
			return -EINVAL;
		}
		*field = parsed;
		return 0;
	}
	buf_printf(why,
		   "\"%s\" is none of minutely:TIME, hourly:TIME, daily:TIME, "
		   "size:SIZE, all",
		   text);
	return -EINVAL;
}

static int check(const struct retain_policy *p, struct buf *why)
{
	if (p->minutely_ns && p->hourly_ns && p->hourly_ns < p->minutely_ns)
		buf_puts(why, "hourly is shorter than minutely: hourly is the age at "
			      "which hours become days");
	else if (p->minutely_ns && p->daily_ns && p->daily_ns < p->minutely_ns)
		buf_puts(why, "daily is shorter than minutely: daily is the age at "
			      "which days are removed");
	else if (p->hourly_ns && p->daily_ns && p->daily_ns < p->hourly_ns)
		buf_puts(why, "daily is shorter than hourly: daily is the age at "
			      "which days are removed");
	else if (p->bytes && p->bytes < LEAST_BYTES)
		buf_puts(why, "size is less than 1M, too small for the counts of an "
			      "hour");
	else
		return 0;
	return -EINVAL;
}

int retain_parse(const char *text, struct retain_policy *out, struct buf *why)
{
	struct retain_policy policy = { 0 };
	char *copy, *rest, *part;
	int err = 0;

	if (!strcmp(text, "all")) {
		*out = policy;
		return 0;
	}
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	rest = copy;
	while (!err && (part = strsep(&rest, ",")))
		err = parse_part(part, &policy, why);
	if (!err)
		err = check(&policy, why);
	if (!err && policy.hourly_ns && !policy.minutely_ns)
		policy.minutely_ns = policy.hourly_ns < RETAIN_MINUTELY_NS
					     ? policy.hourly_ns
					     : RETAIN_MINUTELY_NS;
	if (!err)
		*out = policy;
	free(copy);
	return err;
}
