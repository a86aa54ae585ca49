/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/times.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

uint64_t time_mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t time_real_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

char *time_format(uint64_t real_ns, char out[TIME_TEXT_SIZE])
{
	time_t s = real_ns / NSEC_PER_SEC;
	struct tm tm;

	gmtime_r(&s, &tm);
	if (!strftime(out, TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm))
		out[0] = '\0';
	return out;
}

int time_parse(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	static const char *const form[] = { "%4d",  "-%2d", "-%2d",
					    "T%2d", ":%2d", ":%2d" };
	int field[6] = { 0, 1, 1, 0, 0, 0 };
	struct tm from, to;
	int nr, used;

	for (nr = 0; nr < 6; nr++) {
		/* A sign or a space would be taken by %d. */
		const char *digit = text + (nr > 0);

		if (!*text || *digit < '0' || *digit > '9')
			break;
		used = 0;
		if (sscanf(text, form[nr], &field[nr]) != 1)
			break;
		while (text[used] &&
		       (used == 0 || (text[used] >= '0' && text[used] <= '9')))
			used++;
		text += used;
	}
	if (*text == 'Z')
		text++;
	if (nr == 0 || *text || field[0] < 1970 || field[1] < 1 || field[1] > 12 ||
	    field[2] < 1 || field[2] > 31 || field[3] > 23 || field[4] > 59 ||
	    field[5] > 60)
		return -EINVAL;
	from = (struct tm){ .tm_year = field[0] - 1900,
			    .tm_mon = field[1] - 1,
			    .tm_mday = field[2],
			    .tm_hour = field[3],
			    .tm_min = field[4],
			    .tm_sec = field[5] };
	to = from;
	*(int *[]){ &to.tm_year, &to.tm_mon, &to.tm_mday,
		    &to.tm_hour, &to.tm_min, &to.tm_sec }[nr - 1] += 1;
	*from_ns = (uint64_t)timegm(&from) * NSEC_PER_SEC;
	*to_ns = (uint64_t)timegm(&to) * NSEC_PER_SEC;
	return 0;
}

int time_parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		double scale_ns;
	} unit[] = {
		{ "", 1e9 },   { "s", 1e9 },    { "ms", 1e6 },    { "us", 1e3 },
		{ "m", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
	};
	char *end;
	double v = strtod(text, &end);

	if (end == text || !(v >= 0) || v > 1e9)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		if (!strcmp(end, unit[i].suffix)) {
			*ns = (uint64_t)(v * unit[i].scale_ns);
			return 0;
		}
	}
	return -EINVAL;
}

int time_parse_relative(const char *text, uint64_t now_ns, uint64_t *from_ns,
			uint64_t *to_ns)
{
	const uint64_t day_ns = 86400 * NSEC_PER_SEC;
	const uint64_t today_ns = now_ns - now_ns % day_ns;
	uint64_t back_ns;

	if (!strcmp(text, "today")) {
		*from_ns = today_ns;
		*to_ns = today_ns + day_ns;
		return 0;
	}
	if (!strcmp(text, "yesterday")) {
		*from_ns = today_ns - day_ns;
		*to_ns = today_ns;
		return 0;
	}
	if (text[0] != '-' || text[1] < '0' || text[1] > '9' ||
	    !text[1 + strspn(text + 1, "0123456789.")] ||
	    time_parse_duration(text + 1, &back_ns) || back_ns > now_ns)
		return -EINVAL;
	*from_ns = now_ns - back_ns;
	*to_ns = now_ns;
	return 0;
}
