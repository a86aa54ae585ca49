/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_header.c - the description in a file: attributes, build ids, the machine
 *
 * The parts of the description are called features. In a file they are sections behind
 * the data; bits in the header tell which there are. In a pipe they are records. The
 * contents are the same.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/import/perfdata_private.h"

#define HEADER_SIZE      104
#define HEADER_SIZE_MIN  72 /* before there were features */
#define FEATURES         256
#define BUILD_ID_FIELD   24 /* bytes of it in a record */
#define BUILD_ID_DEFAULT 20
#define MISC_HAS_SIZE    (1u << 15) /* of a build id's record: a byte behind it */
#define SECTION_SIZE     16

enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_RELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NR_CPUS = 7,
	FEATURE_CPU = 8,
	FEATURE_CPUID = 9,
	FEATURE_COMMAND = 11,
	FEATURE_EVENTS = 12,
	FEATURE_PMUS = 16,
	FEATURE_CLOCK = 29,
};

#define WANTED                                                                     \
	(1u << FEATURE_BUILD_ID | 1u << FEATURE_HOSTNAME | 1u << FEATURE_RELEASE | \
	 1u << FEATURE_VERSION | 1u << FEATURE_ARCH | 1u << FEATURE_NR_CPUS |      \
	 1u << FEATURE_CPU | 1u << FEATURE_CPUID | 1u << FEATURE_COMMAND |         \
	 1u << FEATURE_EVENTS | 1u << FEATURE_PMUS | 1u << FEATURE_CLOCK)

static bool is_wanted(unsigned int feature)
{
	return feature < 32 && WANTED >> feature & 1;
}

/* Copies a string: its length, then bytes with a NUL. NULL: malformed, or no memory. */
static char *copy_string(struct perfdata_cursor *c)
{
	uint32_t size = perfdata_u32(c);
	const char *text = perfdata_take(c, size);
	char *copy;

	if (!text || !memchr(text, '\0', size) || strlen(text) > PERFDATA_MAX_STRING) {
		c->bad = true;
		return NULL;
	}
	copy = strdup(text);
	c->bad = !copy;
	return copy;
}

static void take_string(struct perfdata_cursor *c, char **to)
{
	char *text = copy_string(c);

	if (!text)
		return;
	free(*to);
	*to = text;
}

static void take_command(struct perfdata_cursor *c, char **to)
{
	uint32_t nr = perfdata_u32(c);
	struct buf all = { 0 };

	for (uint32_t i = 0; i < nr && !c->bad && all.len < PERFDATA_MAX_STRING; i++) {
		char *word = copy_string(c);

		if (all.len)
			buf_putc(&all, ' ');
		buf_puts(&all, word ? word : "");
		free(word);
	}
	if (!c->bad && all.len) {
		free(*to);
		*to = strdup(buf_str(&all));
	}
	buf_fini(&all);
}

static void take_name(struct perfdata *pd, size_t event, char *name)
{
	if (event >= pd->info.nr_events || !name) {
		free(name);
		return;
	}
	free(pd->info.event[event].name);
	pd->info.event[event].name = name;
}

static int take_events(struct perfdata *pd, struct perfdata_cursor *c)
{
	uint32_t nr = perfdata_u32(c), attr_size = perfdata_u32(c);
	int err = 0;

	for (uint32_t i = 0; i < nr && !c->bad && !err; i++) {
		uint32_t nr_ids;

		perfdata_take(c, attr_size);
		nr_ids = perfdata_u32(c);
		take_name(pd, i, copy_string(c));
		for (; nr_ids && !c->bad && !err; nr_ids--) {
			uint64_t id = perfdata_u64(c);

			if (!c->bad && i < pd->info.nr_events)
				err = perfdata_add_id(pd, id, (int)i);
		}
	}
	return err;
}

static int take_pmus(struct perfdata *pd, struct perfdata_cursor *c)
{
	struct perfdata_info *info = &pd->info;

	for (uint32_t nr = perfdata_u32(c); nr && !c->bad; nr--) {
		struct perfdata_pmu pmu = { .type = perfdata_u32(c) };

		pmu.name = copy_string(c);
		if (!pmu.name)
			break;
		if (GROW(info->pmu, info->nr_pmus)) {
			free(pmu.name);
			return -ENOMEM;
		}
		info->pmu[info->nr_pmus++] = pmu;
	}
	return 0;
}

int perfdata_add_build_id(struct perfdata *pd, uint16_t misc, struct perfdata_cursor *c)
{
	struct perfdata_info *info = &pd->info;
	struct perfdata_image image = { .misc = misc };
	const uint8_t *id;

	perfdata_u32(c); /* pid */
	id = perfdata_take(c, BUILD_ID_FIELD);
	image.build_id_size =
		id && misc & MISC_HAS_SIZE ? id[BUILD_ID_DEFAULT] : BUILD_ID_DEFAULT;
	if (!id || image.build_id_size > sizeof(image.build_id))
		return -CPI_ECORRUPT;
	if (info->nr_images == PERFDATA_MAX_IMAGES)
		return -CPI_ELIMIT;
	memcpy(image.build_id, id, image.build_id_size);
	image.name = strdup(perfdata_text(c));
	if (c->bad) {
		free(image.name);
		return -CPI_ECORRUPT;
	}
	if (!image.name || GROW(info->image, info->nr_images)) {
		free(image.name);
		return -ENOMEM;
	}
	info->image[info->nr_images++] = image;
	return 0;
}

static int take_build_ids(struct perfdata *pd, struct perfdata_cursor *c)
{
	int err = 0;

	while (!err && c->at < c->end) {
		uint8_t *record = c->at;
		struct perfdata_cursor one;
		uint16_t misc, size;

		perfdata_u32(c); /* type */
		misc = perfdata_u16(c);
		size = perfdata_u16(c);
		if (c->bad || size < sizeof(struct perf_event_header) ||
		    size > c->end - record)
			return -CPI_ECORRUPT;
		one = (struct perfdata_cursor){ c->at, record + size, c->swap, false };
		err = perfdata_add_build_id(pd, misc, &one);
		c->at = record + size;
	}
	return err;
}

static void take_clock(struct perfdata *pd, struct perfdata_cursor *c)
{
	uint64_t wall_ns, clock_ns;

	perfdata_u32(c); /* version */
	perfdata_u32(c); /* which clock */
	wall_ns = perfdata_u64(c);
	clock_ns = perfdata_u64(c);
	if (c->bad)
		return;
	pd->info.wall_ns = wall_ns;
	pd->info.clock_ns = clock_ns;
}

/*
 * Features describe the machine and its images; samples are whole without them. So one
 * that cannot be read is left out and noted. perf does so, too. Returns 0 or -ENOMEM.
 */
static int leave_out(struct perfdata *pd, unsigned int feature, int err)
{
	if (err && err != -ENOMEM) {
		if (feature < 64) /* no other is used */
			pd->info.damaged |= 1ULL << feature;
		err = 0;
	}
	return err;
}

int perfdata_read_feature(struct perfdata *pd, unsigned int feature, uint8_t *data,
			  size_t size)
{
	struct perfdata_cursor c = { data, data + size, pd->swap, false };
	struct perfdata_info *info = &pd->info;
	int err = 0;

	switch (feature) {
	case FEATURE_BUILD_ID:
		err = take_build_ids(pd, &c);
		break;
	case FEATURE_HOSTNAME:
		take_string(&c, &info->host);
		break;
	case FEATURE_RELEASE:
		take_string(&c, &info->release);
		break;
	case FEATURE_VERSION:
		take_string(&c, &info->version);
		break;
	case FEATURE_ARCH:
		take_string(&c, &info->arch);
		break;
	case FEATURE_NR_CPUS:
		info->nr_cpus = perfdata_u32(&c);
		break;
	case FEATURE_CPU:
		take_string(&c, &info->cpu);
		break;
	case FEATURE_CPUID:
		take_string(&c, &info->cpuid);
		break;
	case FEATURE_COMMAND:
		take_command(&c, &info->command);
		break;
	case FEATURE_EVENTS:
		err = take_events(pd, &c);
		break;
	case FEATURE_PMUS:
		err = take_pmus(pd, &c);
		break;
	case FEATURE_CLOCK:
		take_clock(pd, &c);
		break;
	}
	if (!err && c.bad)
		err = -CPI_ECORRUPT;
	return leave_out(pd, feature, err);
}

/* Reads a section of the header whole, into memory that the caller frees. */
static int read_section(struct perfdata *pd, const struct perfdata_section *s,
			uint8_t **out)
{
	uint8_t *data;
	int err;

	if (s->size > PERFDATA_MAX_FEATURE)
		return -CPI_ELIMIT;
	data = malloc(s->size + 1);
	if (!data)
		return -ENOMEM;
	err = perfdata_source_copy(&pd->source, s->offset, s->size, data);
	if (err) {
		free(data);
		return err;
	}
	*out = data;
	return 0;
}

static int cannot_read(const struct perfdata *pd, const struct perfdata_section *s,
		       const char *what, int err)
{
	return perfdata_fail(pd, s->offset, err, "%s of %llu bytes: %s", what,
			     (unsigned long long)s->size, err_str(err));
}

static struct perfdata_section take_section(struct perfdata_cursor *c)
{
	struct perfdata_section s;

	s.offset = perfdata_u64(c);
	s.size = perfdata_u64(c);
	return s;
}

static int read_ids(struct perfdata *pd, const struct perfdata_section *s, int event)
{
	struct perfdata_cursor c;
	uint8_t *data;
	int err = read_section(pd, s, &data);

	if (err)
		return cannot_read(pd, s, "an event's ids", err);
	c = (struct perfdata_cursor){ data, data + s->size, pd->swap, false };
	while (!err && c.end - c.at >= 8)
		err = perfdata_add_id(pd, perfdata_u64(&c), event);
	free(data);
	return err;
}

static int read_attrs(struct perfdata *pd, const struct perfdata_section *s,
		      uint64_t attr_size)
{
	uint8_t *data;
	int err;

	if (attr_size < 64 + SECTION_SIZE || attr_size > 4096)
		return perfdata_fail(pd, 16, -CPI_ECORRUPT, "attributes of %llu bytes",
				     (unsigned long long)attr_size);
	err = read_section(pd, s, &data);
	if (err)
		return cannot_read(pd, s, "attributes", err);
	for (uint64_t at = 0; !err && at + attr_size <= s->size; at += attr_size) {
		uint8_t *ids = data + at + attr_size - SECTION_SIZE;
		struct perfdata_cursor c = { ids, ids + SECTION_SIZE, pd->swap, false };
		struct perfdata_section section = take_section(&c);

		err = perfdata_add_attr(pd, data + at, attr_size - SECTION_SIZE);
		if (!err)
			err = read_ids(pd, &section, (int)pd->info.nr_events - 1);
		if (err)
			perfdata_fail(pd, s->offset + at, err, "attributes: %s",
				      err_str(err));
	}
	free(data);
	return err;
}

/*
 * The bits of the features. The word size of the recording machine matters in the other
 * byte order. The right one is that with which the bit of the host name is set, because
 * every file has this feature.
 */
static void read_bits(struct perfdata_cursor *c, uint64_t bits[FEATURES / 64])
{
	for (int i = 0; i < FEATURES / 64; i++)
		bits[i] = perfdata_u64(c);
	if (!c->swap || bits[0] & 1u << FEATURE_HOSTNAME)
		return;
	for (int i = 0; i < FEATURES / 64; i++)
		bits[i] = bits[i] >> 32 | bits[i] << 32;
}

static int read_features(struct perfdata *pd, const uint64_t bits[FEATURES / 64])
{
	uint64_t at = pd->data.offset + pd->data.size;
	uint8_t section[SECTION_SIZE], *data;
	int err = 0;

	for (unsigned int f = 0; f < FEATURES && !err; f++) {
		struct perfdata_cursor c = { section, section + SECTION_SIZE, pd->swap,
					     false };
		struct perfdata_section s;

		if (!(bits[f / 64] >> (f % 64) & 1))
			continue;
		err = perfdata_source_copy(&pd->source, at, SECTION_SIZE, section);
		if (err) /* the table ends here */
			return leave_out(pd, f, err);
		at += SECTION_SIZE;
		s = take_section(&c);
		if (!is_wanted(f))
			continue;
		err = read_section(pd, &s, &data);
		if (err) {
			err = leave_out(pd, f, err);
			continue;
		}
		err = perfdata_read_feature(pd, f, data, s.size);
		free(data);
	}
	return err;
}

int perfdata_read_header(struct perfdata *pd)
{
	uint8_t header[HEADER_SIZE] = { 0 };
	struct perfdata_cursor c = { header, header + sizeof(header), pd->swap, false };
	uint64_t bits[FEATURES / 64], size, attr_size;
	struct perfdata_section attrs;
	int err;

	err = perfdata_source_copy(&pd->source, 0, HEADER_SIZE_MIN, header);
	if (err)
		return perfdata_fail(pd, 0, err, "the header: %s", err_str(err));
	perfdata_u64(&c); /* magic */
	size = perfdata_u64(&c);
	attr_size = perfdata_u64(&c);
	attrs = take_section(&c);
	pd->data = take_section(&c);
	take_section(&c); /* names of events, long ago */
	if (size >= HEADER_SIZE)
		err = perfdata_source_copy(&pd->source, 0, HEADER_SIZE, header);
	if (err)
		return perfdata_fail(pd, 0, err, "the header: %s", err_str(err));
	read_bits(&c, bits);
	err = read_attrs(pd, &attrs, attr_size);
	if (err)
		return err;
	if (pd->data.offset > INT64_MAX || pd->data.size > INT64_MAX)
		return perfdata_fail(pd, 40, -CPI_ECORRUPT,
				     "the place of the data is beyond 2^63 bytes");
	if (pd->data.size)
		return read_features(pd, bits);
	log_warn("%s: perf did not end cleanly: the file does not describe the machine",
		 pd->name);
	return 0;
}
