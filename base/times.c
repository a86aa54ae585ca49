/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * times.c - clocks, and moments and durations as people write them
 *
 * A moment that leaves fields out is an interval, so that a date selects its day.
 */
#include "config.h"

#include "base/times.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"

/*
 * One for the whole program, like the log's level: set once, before there are threads.
 */
static bool local;

#define NO_ZONE INT_MAX /* the program's zone */

/* Zones of the world: a "-" with more after it may have been meant as "to". */
#define LEAST_AHEAD_S (-12 * 3600)
#define MOST_AHEAD_S  (14 * 3600)

#define LAST_YEAR      2261 /* the last year whose end fits into 63 bits of nanoseconds */
#define MAX_DURATION_S (100 * 365.25 * 86400)

uint64_t time_clock_ns(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts))
		return 0;
	return time_to_ns(&ts);
}

uint64_t time_mono_ns(void)
{
	return time_clock_ns(CLOCK_MONOTONIC);
}

uint64_t time_boot_ns(void)
{
	return time_clock_ns(CLOCK_BOOTTIME);
}

uint64_t time_real_ns(void)
{
	return time_clock_ns(CLOCK_REALTIME);
}

static uint64_t system_mono_ns(const struct clock *c)
{
	return time_mono_ns();
}

static uint64_t system_boot_ns(const struct clock *c)
{
	return time_boot_ns();
}

static uint64_t system_real_ns(const struct clock *c)
{
	return time_real_ns();
}

const struct clock clock_system = {
	.mono_ns = system_mono_ns,
	.boot_ns = system_boot_ns,
	.real_ns = system_real_ns,
};

void time_use_local(void)
{
	tzset();
	local = true;
}

static void split(uint64_t real_ns, struct tm *tm)
{
	const time_t s = (time_t)(real_ns / NSEC_PER_SEC);

	if (!local || !localtime_r(&s, tm))
		gmtime_r(&s, tm);
}

/*
 * Converts a local time that is ahead_s ahead of UTC (or NO_ZONE). A field may be out
 * of its range by one.
 */
static time_t join(struct tm tm, int ahead_s)
{
	if (ahead_s != NO_ZONE)
		return timegm(&tm) - ahead_s;
	tm.tm_isdst = -1;
	return local ? mktime(&tm) : timegm(&tm);
}

char *time_format(uint64_t real_ns, char out[TIME_TEXT_SIZE])
{
	struct tm tm;
	long minutes;
	size_t len;

	split(real_ns, &tm);
	len = strftime(out, TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
	minutes = labs(tm.tm_gmtoff) / 60;
	if (!len)
		out[0] = '\0';
	else if (local) /* in the Z's place */
		snprintf(out + len - 1, TIME_TEXT_SIZE - len + 1, "%c%02ld:%02ld",
			 tm.tm_gmtoff < 0 ? '-' : '+', minutes / 60 % 100,
			 minutes % 60);
	return out;
}

char *time_format_near(uint64_t real_ns, uint64_t near_ns, char out[TIME_TEXT_SIZE])
{
	char near[TIME_TEXT_SIZE];
	char *clock;

	time_format(real_ns, out);
	time_format(near_ns, near);
	clock = strchr(out, 'T');
	if (clock && !strncmp(out, near, (size_t)(clock - out) + 1))
		memmove(out, clock + 1, strlen(clock + 1) + 1);
	return out;
}

char *time_format_duration(uint64_t ns, char out[DURATION_TEXT_SIZE])
{
	static const struct {
		unsigned long long seconds;
		const char *name;
	} units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	const unsigned long long s = (ns + NSEC_PER_SEC / 2) / NSEC_PER_SEC;
	unsigned long long rest;
	size_t i = 0;

	while (i < 3 && s < units[i].seconds)
		i++;
	rest = i < 3 ? s % units[i].seconds / units[i + 1].seconds : 0;
	if (rest)
		snprintf(out, DURATION_TEXT_SIZE, "%llu %s %llu %s",
			 s / units[i].seconds, units[i].name, rest, units[i + 1].name);
	else
		snprintf(out, DURATION_TEXT_SIZE, "%llu %s", s / units[i].seconds,
			 units[i].name);
	return out;
}

/* Formats of strptime(), and the last of the six fields that each one reads. */
struct form {
	const char *format;
	int last;
};

static const struct form dates[] = { { "%Y", 0 }, { "%Y-%m", 1 }, { "%Y-%m-%d", 2 } };
static const struct form clocks[] = { { "%H", 3 }, { "%H:%M", 4 }, { "%H:%M:%S", 5 } };

/*
 * Parses "", "Z", "+01:00" or "-0530" into *ahead_s, the seconds ahead of UTC, or
 * NO_ZONE.
 */
static bool is_zone(const char *text, int *ahead_s)
{
	struct tm tm = { 0 };
	const char *end;

	*ahead_s = *text ? 0 : NO_ZONE;
	if (!*text || !strcmp(text, "Z"))
		return true;
	end = *text == '+' || *text == '-' ? strptime(text, "%z", &tm) : NULL;
	*ahead_s = (int)tm.tm_gmtoff;
	return end && !*end && *ahead_s >= LEAST_AHEAD_S && *ahead_s <= MOST_AHEAD_S;
}

const char *time_zone(const char *text)
{
	const char *clock = strpbrk(text, "T :");
	const char *zone = clock ? strpbrk(clock, "Z+-") : NULL;
	int ahead_s;

	return zone && is_zone(zone, &ahead_s) ? zone : NULL;
}

/* The interval from a moment to the end of its last field: a date is its whole day. */
static int find_interval(struct tm from, int last, int ahead_s, uint64_t *from_ns,
			 uint64_t *to_ns)
{
	struct tm to = from;
	time_t from_s, to_s;

	*(int *[]){ &to.tm_year, &to.tm_mon, &to.tm_mday,
		    &to.tm_hour, &to.tm_min, &to.tm_sec }[last] += 1;
	from_s = join(from, ahead_s);
	to_s = join(to, ahead_s);
	if (from_s < 0 || to_s < from_s || from.tm_year > LAST_YEAR - 1900)
		return -EINVAL;
	*from_ns = (uint64_t)from_s * NSEC_PER_SEC;
	*to_ns = (uint64_t)to_s * NSEC_PER_SEC;
	return 0;
}

/*
 * Parses a time of day on the date in tm, with or without a zone; the hour is enough.
 */
static int parse_clock(const char *text, struct tm tm, uint64_t *from_ns,
		       uint64_t *to_ns)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		const char *end =
			*text != ' ' ? strptime(text, clocks[i].format, &tm) : NULL;
		int ahead_s;

		if (end && is_zone(end, &ahead_s))
			return find_interval(tm, clocks[i].last, ahead_s, from_ns,
					     to_ns);
	}
	return -EINVAL;
}

/* Not 31 February, which timegm() takes for a day in March. */
static bool is_date(struct tm tm)
{
	const int day = tm.tm_mday;

	timegm(&tm);
	return tm.tm_mday == day;
}

int time_parse(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
		struct tm tm = { .tm_mday = 1 };
		const char *end = strptime(text, dates[i].format, &tm);

		if (!end || strspn(text, "0123456789-") != (size_t)(end - text) ||
		    !is_date(tm))
			continue;
		if (!*end || !strcmp(end, "Z"))
			return find_interval(tm, dates[i].last, *end ? 0 : NO_ZONE,
					     from_ns, to_ns);
		if (dates[i].last == 2 && (*end == 'T' || *end == ' '))
			return parse_clock(end + 1, tm, from_ns, to_ns);
	}
	return -EINVAL;
}

int time_parse_duration(const char *text, uint64_t *ns)
{
	static const struct {
		const char *suffix;
		double scale_ns;
	} unit[] = {
		{ "s", 1e9 },    { "ms", 1e6 },   { "us", 1e3 },    { "m", 60e9 },
		{ "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
	};
	double v;

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++) {
		const double most = MAX_DURATION_S * 1e9 / unit[i].scale_ns;

		if (!number_parse_real(text, unit[i].suffix, 0, most, &v)) {
			*ns = (uint64_t)(v * unit[i].scale_ns);
			return 0;
		}
	}
	return -EINVAL;
}

/* Parses "today", "yesterday 14:00" or "10:15" relative to the day of now_ns. */
static int parse_day(const char *text, uint64_t now_ns, uint64_t *from_ns,
		     uint64_t *to_ns)
{
	static const char *const names[] = { "today", "yesterday" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *rest = text + strlen(names[i]);
		struct tm tm;

		split(now_ns, &tm);
		tm.tm_mday -= (int)i;
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		if (!i && isdigit((unsigned char)*text) && strchr(text, ':'))
			return parse_clock(text, tm, from_ns, to_ns);
		if (strncmp(text, names[i], strlen(names[i])) != 0)
			continue;
		if (!*rest)
			return find_interval(tm, 2, NO_ZONE, from_ns, to_ns);
		if (*rest == ' ' || *rest == 'T')
			return parse_clock(rest + 1, tm, from_ns, to_ns);
	}
	return -EINVAL;
}

/* Parses "hour" or "2 hours", of "last 2 hours". */
static int parse_last(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		uint64_t seconds;
	} units[] = {
		{ "minute", 60 },
		{ "hour", 3600 },
		{ "day", 86400 },
		{ "week", 604800 },
	};
	const size_t digits = strspn(text, "0123456789");
	const char *unit = digits ? text + digits + (text[digits] == ' ') : text;
	uint64_t n = digits && digits < 7 ? strtoul(text, NULL, 10) : !digits;

	for (size_t i = 0; n && i < sizeof(units) / sizeof(units[0]); i++) {
		const size_t length = strlen(units[i].name);

		if (!strncmp(unit, units[i].name, length) &&
		    !strcmp(unit + length, digits && n > 1 ? "s" : "")) {
			if ((double)n > MAX_DURATION_S / (double)units[i].seconds)
				return -EINVAL;
			*ns = n * units[i].seconds * NSEC_PER_SEC;
			return 0;
		}
	}
	return -EINVAL;
}

/* Parses "-2h". */
static int parse_back(const char *text, uint64_t *ns)
{
	if (text[1] < '0' || text[1] > '9' ||
	    !text[1 + strspn(text + 1, "0123456789.")])
		return -EINVAL;
	return time_parse_duration(text + 1, ns);
}

int time_parse_relative(const char *text, uint64_t now_ns, uint64_t *from_ns,
			uint64_t *to_ns)
{
	uint64_t back_ns = 0;

	if (strcmp(text, "now") != 0) {
		int err = !strncmp(text, "last ", 5) ? parse_last(text + 5, &back_ns)
			  : *text == '-'             ? parse_back(text, &back_ns)
						     : 1;

		if (err > 0)
			return parse_day(text, now_ns, from_ns, to_ns);
		if (err || back_ns > now_ns)
			return -EINVAL;
	}
	*from_ns = now_ns - back_ns;
	*to_ns = now_ns;
	return 0;
}
