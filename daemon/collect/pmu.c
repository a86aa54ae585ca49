/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu.c - reads sysfs's description of a performance monitoring unit
 *
 * Nothing is cached, because events are parsed only at the start of a session.
 */
#include "config.h"

#include "daemon/collect/pmu.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/number.h"

#define DEVICES         "bus/event_source/devices"
#define MAX_FILE        4096 /* a file of sysfs is at most a page */
#define NAME_MAX_LENGTH 64

/* Whether text is a file name without a path. */
static bool is_name(const char *text)
{
	size_t length = strlen(text);

	return length && length < NAME_MAX_LENGTH && !strchr(text, '/') &&
	       text[0] != '.';
}

/* Reads the first line of PATH/FOLDER/NAME without the newline; folder may be "". */
static int read_file(const char *path, const char *folder, const char *name,
		     char out[MAX_FILE + 1])
{
	struct buf text = { 0 };
	char file[512];
	int err;

	if (!is_name(name))
		return -ENOENT;
	snprintf(file, sizeof(file), "%s/%s/%s", path, folder, name);
	err = file_read_all(AT_FDCWD, file, MAX_FILE, &text);
	if (!err)
		snprintf(out, MAX_FILE + 1, "%.*s", (int)strcspn(buf_str(&text), "\n"),
			 buf_str(&text));
	buf_fini(&text);
	return err;
}

static int read_number(const char *text, uint64_t *out)
{
	return number_parse(text, 0, out);
}

/* ---- finding ---- */

static int open_pmu(const char *sysfs, const char *name, struct pmu *out)
{
	char text[MAX_FILE + 1];
	struct pmu p;
	uint64_t type;
	int err;

	if (snprintf(p.path, sizeof(p.path), "%s/%s/%s", sysfs, DEVICES, name) >=
	    (int)sizeof(p.path))
		return -ENAMETOOLONG;
	err = read_file(p.path, ".", "type", text);
	if (err)
		return err;
	if (read_number(text, &type) || type > UINT32_MAX)
		return -EBADMSG;
	p.type = type;
	*out = p;
	return 0;
}

/* Returns the N of "NAME_N", or -1. */
static long number_of(const char *file, const char *name)
{
	const size_t length = strlen(name);
	uint64_t n;

	if (strncmp(file, name, length) != 0 || file[length] != '_' ||
	    read_number(file + length + 1, &n) || n > INT32_MAX)
		return -1;
	return n;
}

static int find_numbered(const char *sysfs, const char *name, struct pmu *out)
{
	char path[256], best_name[2 * NAME_MAX_LENGTH];
	struct dirent *file;
	long best = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", sysfs, DEVICES);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((file = readdir(dir))) {
		long n = number_of(file->d_name, name);

		if (n >= 0 && (best < 0 || n < best))
			best = n;
	}
	closedir(dir);
	if (best < 0)
		return -ENOENT;
	snprintf(best_name, sizeof(best_name), "%s_%ld", name, best);
	return open_pmu(sysfs, best_name, out);
}

int pmu_find(const char *sysfs, const char *name, struct pmu *out)
{
	int err = is_name(name) ? open_pmu(sysfs, name, out) : -ENOENT;

	return err == -ENOENT && is_name(name) ? find_numbered(sysfs, name, out) : err;
}

uint64_t pmu_cap(const struct pmu *p, const char *name, uint64_t fallback)
{
	char text[MAX_FILE + 1];
	uint64_t n;

	if (read_file(p->path, "caps", name, text) || read_number(text, &n))
		return fallback;
	return n;
}

/* ---- terms ---- */

/*
 * Parses "config", "config1:", …. Returns the index of the word, and moves *format past
 * it.
 */
static int read_word(const char **format)
{
	int word = 0;

	if (strncmp(*format, "config", 6) != 0)
		return -EBADMSG;
	*format += 6;
	if (isdigit((unsigned char)**format))
		word = *(*format)++ - '0';
	if (*(*format)++ != ':')
		return -EBADMSG;
	return word < PMU_CONFIGS ? word : -EBADMSG;
}

/* Moves the lowest bits of *value to bits [low, high] of *word. */
static void place_bits(uint64_t *value, unsigned int low, unsigned int high,
		       uint64_t *word)
{
	const unsigned int nr = high - low + 1;
	const uint64_t mask = nr < 64 ? (1ULL << nr) - 1 : UINT64_MAX;

	*word = (*word & ~(mask << low)) | (*value & mask) << low;
	*value = nr < 64 ? *value >> nr : 0;
}

/* Stores value in the bits that format ("config1:0-7,32") names. */
static int place(const char *format, uint64_t value, uint64_t config[PMU_CONFIGS])
{
	int word = read_word(&format);
	uint64_t placed;

	if (word < 0)
		return word;
	placed = config[word];
	for (;; format++) {
		char *end;
		unsigned long low = strtoul(format, &end, 10), high = low;

		if (!isdigit((unsigned char)*format))
			return -EBADMSG;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63)
			return -EBADMSG;
		place_bits(&value, low, high, &placed);
		format = end;
		if (!*format)
			break;
		if (*format != ',')
			return -EBADMSG;
	}
	if (value)
		return -ERANGE;
	config[word] = placed;
	return 0;
}

int pmu_set_term(const struct pmu *p, const char *term, uint64_t value,
		 uint64_t config[PMU_CONFIGS])
{
	char format[MAX_FILE + 1];
	int err = read_file(p->path, "format", term, format);

	return err ? err : place(format, value, config);
}

/* with_events: a name may be an event. An event's own terms contain no events. */
static int set_terms(const struct pmu *p, const char *terms, bool with_events,
		     uint64_t config[PMU_CONFIGS]);

static int set_one(const struct pmu *p, const char *term, bool with_events,
		   uint64_t config[PMU_CONFIGS])
{
	const char *equals = strchr(term, '=');
	char name[NAME_MAX_LENGTH], text[MAX_FILE + 1];
	uint64_t value = 1;
	int err;

	if (snprintf(name, sizeof(name), "%.*s",
		     (int)(equals ? (size_t)(equals - term) : strlen(term)),
		     term) >= (int)sizeof(name))
		return -ENOENT;
	if (equals && read_number(equals + 1, &value))
		return -EINVAL;
	err = pmu_set_term(p, name, value, config);
	if (err != -ENOENT || equals || !with_events)
		return err;
	err = read_file(p->path, "events", name, text);
	return err ? err : set_terms(p, text, false, config);
}

static int set_terms(const struct pmu *p, const char *terms, bool with_events,
		     uint64_t config[PMU_CONFIGS])
{
	char *copy = strdup(terms), *rest = copy, *term;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (term = strsep(&rest, ",")))
		err = set_one(p, term, with_events, config);
	free(copy);
	return err;
}

int pmu_set_terms(const struct pmu *p, const char *terms, uint64_t config[PMU_CONFIGS])
{
	uint64_t set[PMU_CONFIGS];
	int err;

	memcpy(set, config, sizeof(set));
	err = set_terms(p, terms, true, set);
	if (!err)
		memcpy(config, set, sizeof(set));
	return err;
}
