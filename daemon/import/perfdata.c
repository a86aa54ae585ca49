/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata.c - opens a file, and reads it record by record
 *
 * A regular file has tables with the places of its records, and of the sections that
 * describe the machine. A pipe is a sequence of records, and some of these describe the
 * machine.
 */
#include "config.h"

#include "daemon/import/perfdata.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "daemon/import/perfdata_private.h"

#define MAGIC       0x32454c4946524550ull /* "PERFILE2" */
#define MAGIC_OLD   0x454c494646524550ull /* "PERFFILE" */
#define PIPE_SIZE   16 /* of a pipe's header, and where records begin */
#define UPDATE_NAME 2  /* kind of PERFDATA_EVENT_UPDATE */

int perfdata_fail(const struct perfdata *pd, uint64_t offset, int err, const char *fmt,
		  ...)
{
	char what[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	log_err("%s: at offset %#llx: %s", pd->name, (unsigned long long)offset, what);
	return err;
}

const struct perfdata_info *perfdata_info(const struct perfdata *pd)
{
	return &pd->info;
}

/* ---- opening ---- */

static int read_magic(struct perfdata *pd)
{
	struct perfdata_cursor c = { 0 };
	uint8_t header[PIPE_SIZE] = { 0 };
	uint64_t magic;
	int err = perfdata_source_copy(&pd->source, 0, sizeof(header), header);

	if (err && err != -CPI_ETRUNCATED)
		return perfdata_fail(pd, 0, err, "%s", err_str(err));
	memcpy(&magic, header, sizeof(magic));
	pd->swap = magic == __builtin_bswap64(MAGIC) ||
		   magic == __builtin_bswap64(MAGIC_OLD);
	if (err || (!pd->swap && magic != MAGIC && magic != MAGIC_OLD))
		return perfdata_fail(pd, 0, -CPI_EFORMAT,
				     "this is no perf.data file: its first bytes are "
				     "not PERFILE2");
	pd->info.is_big = pd->swap ^ (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = (struct perfdata_cursor){ header + 8, header + 16, pd->swap, false };
	pd->info.is_pipe = perfdata_u64(&c) == PIPE_SIZE;
	if (!pd->info.is_pipe && !pd->source.seekable)
		return perfdata_fail(pd, 8, -ESPIPE,
				     "perf wrote this recording to a file: it cannot "
				     "be read from a pipe; give the file's name");
	return 0;
}

static int read_header(struct perfdata *pd)
{
	if (!pd->info.is_pipe)
		return perfdata_read_header(pd);
	pd->data.offset = PIPE_SIZE;
	return 0;
}

int perfdata_open(int fd, const char *name, struct perfdata **out)
{
	struct perfdata *pd = calloc(1, sizeof(*pd));
	int err;

	if (!pd)
		return -ENOMEM;
	pd->name = name;
	pd->record = malloc(PERFDATA_RECORD_MAX);
	err = pd->record ? perfdata_source_open(&pd->source, fd) : -ENOMEM;
	if (err)
		log_err("%s: %s", name, err_str(err));
	if (!err)
		err = read_magic(pd);
	if (!err)
		err = read_header(pd);
	if (err) {
		perfdata_close(pd);
		return err;
	}
	*out = pd;
	return 0;
}

static void free_info(struct perfdata_info *info)
{
	for (size_t i = 0; i < info->nr_images; i++)
		free(info->image[i].name);
	for (size_t i = 0; i < info->nr_pmus; i++)
		free(info->pmu[i].name);
	free(info->image);
	free(info->pmu);
	free(info->host);
	free(info->release);
	free(info->arch);
	free(info->cpu);
	free(info->cpuid);
	free(info->command);
	free(info->version);
}

void perfdata_close(struct perfdata *pd)
{
	if (!pd)
		return;
	perfdata_free_attrs(pd);
	free_info(&pd->info);
	perfdata_queue_free(&pd->queue);
	perfdata_source_close(&pd->source);
	ZSTD_freeDStream(pd->zstd);
	buf_fini(&pd->unpacked);
	free(pd->record);
	free(pd);
}

/* ---- records about the file itself ---- */

static int take_attr(struct perfdata *pd, uint8_t *body, size_t size, uint64_t offset)
{
	struct perfdata_cursor c = { body, body + size, pd->swap, false };
	size_t attr_size;
	int err;

	perfdata_u32(&c);
	attr_size = perfdata_u32(&c);
	if (!attr_size)
		attr_size = PERF_ATTR_SIZE_VER0;
	if (c.bad || attr_size > size || attr_size < PERF_ATTR_SIZE_VER0)
		return perfdata_fail(pd, offset, -CPI_ECORRUPT,
				     "an attribute of %zu bytes", attr_size);
	err = perfdata_add_attr(pd, body, attr_size);
	c.at = body + attr_size;
	while (!err && c.end - c.at >= 8)
		err = perfdata_add_id(pd, perfdata_u64(&c),
				      (int)pd->info.nr_events - 1);
	if (err)
		perfdata_fail(pd, offset, err, "attributes: %s", err_str(err));
	return err;
}

/* In a pipe, a later record has the name of an event, which it identifies by an id. */
static int take_update(struct perfdata *pd, uint8_t *body, size_t size)
{
	struct perfdata_cursor c = { body, body + size, pd->swap, false };
	uint64_t kind = perfdata_u64(&c), id = perfdata_u64(&c);
	int event = perfdata_find_id(pd, id);
	const char *name;
	char *copy;

	if (kind != UPDATE_NAME || event < 0)
		return 0;
	name = perfdata_text(&c);
	if (c.bad)
		return 0; /* it is no more than a name */
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(pd->info.event[event].name);
	pd->info.event[event].name = copy;
	return 0;
}

static int take_own(struct perfdata *pd, uint32_t type, uint16_t misc, uint8_t *body,
		    size_t size, uint64_t offset)
{
	struct perfdata_cursor c = { body, body + size, pd->swap, false };
	uint64_t feature;
	int err;

	switch (type) {
	case PERFDATA_HEADER_ATTR:
		return take_attr(pd, body, size, offset);
	case PERFDATA_EVENT_UPDATE:
		return take_update(pd, body, size);
	case PERFDATA_BUILD_ID:
		err = perfdata_add_build_id(pd, misc, &c);
		if (err)
			perfdata_fail(pd, offset, err, "a build id: %s", err_str(err));
		return err;
	case PERFDATA_HEADER_FEATURE:
		feature = perfdata_u64(&c);
		if (c.bad || feature > UINT32_MAX)
			return 0;
		return perfdata_read_feature(pd, (unsigned int)feature, c.at,
					     (size_t)(c.end - c.at));
	case PERFDATA_FINISHED_ROUND:
		return perfdata_queue_round(pd);
	}
	return 1; /* not about the file: it is passed on */
}

/* ---- records ---- */

static int call(struct perfdata *pd, const struct perf_record *r)
{
	int err = pd->fn(pd->ctx, r);

	pd->stopped |= err != 0;
	return err;
}

/*
 * A sample with the counts of a group of events (:S) becomes one sample of each event.
 * Its period is what was counted since the event's previous sample, in the same thread
 * if threads inherit the events. A thread's count that fell is that of another thread
 * with the same number. An unknown id makes a sample of event -1.
 */
static int hand_out_reads(struct perfdata *pd, struct perf_record *r)
{
	int err = 0;

	for (size_t i = 0; !err && i < r->sample.nr_reads; i++) {
		struct perf_read read = perfdata_read_value(&r->sample, i);
		struct perfdata_id *id = perfdata_get_id(pd, read.id);
		uint64_t *last;

		if (!id) {
			r->event = -1; /* to be counted */
			err = call(pd, r);
			continue;
		}
		err = perfdata_last_count(pd, id, r->tid, &last);
		if (err)
			return perfdata_fail(pd, r->offset, err,
					     "counts of a group: %s", err_str(err));
		if (last != &id->count && read.value < *last)
			*last = 0;
		if (read.value == *last)
			continue;
		r->id = read.id;
		r->event = id->event;
		r->sample.period = read.value - *last;
		*last = read.value;
		err = call(pd, r);
	}
	return err;
}

int perfdata_hand_out(struct perfdata *pd, uint8_t *record, size_t size,
		      uint64_t offset)
{
	struct perfdata_cursor c = { record, record + size, pd->swap, false };
	struct perf_record r = { .offset = offset, .time = UINT64_MAX, .event = -1 };
	int err = 0;

	r.type = perfdata_u32(&c);
	r.misc = perfdata_u16(&c);
	perfdata_u16(&c); /* size */
	r.body = c.at;
	r.size = (size_t)(c.end - c.at);
	if (r.type == PERF_RECORD_SAMPLE)
		err = perfdata_decode_sample(pd, &c, &r);
	else if (r.type < PERFDATA_HEADER_ATTR)
		err = perfdata_decode_record(pd, &c, &r);
	else
		err = perfdata_decode_own(pd, &c, &r);
	if (err)
		return err;
	if (r.type == PERF_RECORD_SAMPLE && r.sample.read_format & PERF_FORMAT_ID)
		return hand_out_reads(pd, &r);
	return call(pd, &r);
}

int perfdata_take_record(struct perfdata *pd, uint8_t *record, size_t size,
			 uint64_t offset)
{
	struct perfdata_cursor c = { record, record + size, pd->swap, false };
	uint32_t type = perfdata_u32(&c);
	uint16_t misc = perfdata_u16(&c);
	uint64_t time;
	int err;

	perfdata_u16(&c); /* size */
	if (type >= PERFDATA_HEADER_ATTR) {
		err = take_own(pd, type, misc, c.at, (size_t)(c.end - c.at), offset);
		return err == 1 ? perfdata_hand_out(pd, record, size, offset) : err;
	}
	time = perfdata_time(pd, record, size);
	if (!time || time == UINT64_MAX)
		return perfdata_hand_out(pd, record, size, offset);
	return perfdata_queue_add(pd, time, record, size, offset);
}

/* Passes on the place of the AUX data, which follows its record in the file. */
static int take_aux(struct perfdata *pd, uint8_t *record, size_t size, uint64_t offset,
		    uint64_t *behind)
{
	struct perfdata_cursor c = { record + 8, record + size, pd->swap, false };
	struct perf_record r = { .offset = offset,
				 .type = PERFDATA_AUXTRACE,
				 .time = UINT64_MAX,
				 .event = -1,
				 .body = record + 8,
				 .size = size - 8 };
	struct perf_aux *a = &r.aux;

	a->size = perfdata_u64(&c);
	a->offset = perfdata_u64(&c);
	a->reference = perfdata_u64(&c);
	a->index = perfdata_u32(&c);
	a->tid = perfdata_u32(&c);
	a->cpu = perfdata_u32(&c);
	a->at = offset + size;
	if (c.bad || a->size > INT64_MAX - a->at)
		return perfdata_fail(pd, offset, -CPI_ECORRUPT, "a bad AUX record");
	if (pd->source.seekable && a->at + a->size > pd->source.size)
		return perfdata_fail(pd, offset, -CPI_ETRUNCATED,
				     "the file ends within AUX data");
	*behind = a->size;
	return call(pd, &r);
}

/* Unpacks a compressed record. The newer type has a size, because it is padded. */
static int take_compressed(struct perfdata *pd, uint32_t type, uint8_t *body,
			   size_t size, uint64_t offset)
{
	struct perfdata_cursor c = { body, body + size, pd->swap, false };
	uint64_t used = size;

	if (type == PERFDATA_COMPRESSED2) {
		used = perfdata_u64(&c);
		if (c.bad || used > (uint64_t)(c.end - c.at))
			return perfdata_fail(pd, offset, -CPI_ECORRUPT,
					     "a compressed record is cut");
	}
	return perfdata_unpack(pd, c.at, used, offset);
}

/* Takes the record at an offset. *behind is the number of data bytes that follow it. */
static int take_at(struct perfdata *pd, uint64_t offset, size_t size, uint64_t *behind)
{
	struct perfdata_cursor c;
	uint8_t *record;
	uint32_t type;
	int err = perfdata_source_get(&pd->source, offset, size, &record);

	*behind = 0;
	if (err)
		return perfdata_fail(pd, offset, err, "a record of %zu bytes: %s", size,
				     err_str(err));
	c = (struct perfdata_cursor){ record, record + size, pd->swap, false };
	type = perfdata_u32(&c);
	if (type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2)
		return take_compressed(pd, type, record + 8, size - 8, offset);
	memcpy(pd->record, record, size);
	if (type == PERFDATA_AUXTRACE)
		return take_aux(pd, pd->record, size, offset, behind);
	err = perfdata_take_record(pd, pd->record, size, offset);
	if (!err && type == PERFDATA_TRACING_DATA) {
		c.at = record + 8;
		*behind = ((uint64_t)perfdata_u32(&c) + 7) & ~7ull;
	}
	return err;
}

/* The size of the record at an offset, from its header. 1: the file ends here. */
static int peek(struct perfdata *pd, uint64_t offset, size_t *size)
{
	struct perfdata_cursor c;
	uint8_t *header;
	int err;

	if (pd->data.size && offset >= pd->data.offset + pd->data.size)
		return 1;
	if (!pd->data.size && pd->source.seekable && offset >= pd->source.size)
		return 1;
	err = perfdata_source_get(&pd->source, offset, 8, &header);
	if (err == -CPI_ETRUNCATED && pd->info.is_pipe &&
	    offset == pd->source.at + pd->source.len)
		return 1;
	if (err)
		return perfdata_fail(pd, offset, err, "a record's header: %s",
				     err_str(err));
	c = (struct perfdata_cursor){ header + 6, header + 8, pd->swap, false };
	*size = perfdata_u16(&c);
	if (*size < sizeof(struct perf_event_header))
		return perfdata_fail(pd, offset, -CPI_ECORRUPT, "a record of %zu bytes",
				     *size);
	return 0;
}

/* Takes in one record after the other: 1 at the end, or an error. */
static int take_all(struct perfdata *pd)
{
	uint64_t offset = pd->data.offset, behind;
	size_t size = 0;
	int err;

	while (!(err = peek(pd, offset, &size))) {
		err = take_at(pd, offset, size, &behind);
		if (err)
			return err;
		offset += size + behind;
	}
	if (err == 1 && pd->unpacked.len)
		return perfdata_fail(pd, offset, -CPI_ETRUNCATED,
				     "the file ends within a compressed record");
	return err;
}

int perfdata_read(struct perfdata *pd, perfdata_fn fn, void *ctx)
{
	int err, late;

	pd->fn = fn;
	pd->ctx = ctx;
	err = take_all(pd);
	if (pd->stopped)
		return err;
	late = perfdata_queue_end(pd); /* records before an error are passed on, too */
	return err == 1 ? late : err;
}

const char *perfdata_pmu_name(const struct perfdata *pd, int event)
{
	const struct perfdata_event *e = &pd->info.event[event];
	uint32_t type = e->type;

	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE)
		type = e->config >> 32; /* of machines with several kinds of cores */
	for (size_t i = 0; i < pd->info.nr_pmus; i++) {
		if (type && pd->info.pmu[i].type == type)
			return pd->info.pmu[i].name;
	}
	return "";
}
