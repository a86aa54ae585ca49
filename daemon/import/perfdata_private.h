/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_private.h - shared by the files that implement perfdata.h
 *
 *	perfdata.c		opens, and reads record after record
 *	perfdata_source.c	bytes of a file or pipe, by their offset
 *	perfdata_unpack.c	records in compressed records
 *	perfdata_header.c	the description of the machine and the events
 *	perfdata_attr.c		events, and the event of each record
 *	perfdata_sample.c	the kernel's layout of samples
 *	perfdata_record.c	the kernel's layout of other records
 *	perfdata_queue.c	order
 */
#ifndef CPI_DAEMON_PERFDATA_PRIVATE_H
#define CPI_DAEMON_PERFDATA_PRIVATE_H

#include <string.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/hmap.h"
#include "daemon/import/perfdata.h"

/* Since Linux 6.8; older kernel headers lack it. */
#define PERFDATA_BRANCH_COUNTERS (1u << 19)
#define PERFDATA_FORMAT_LOST     (1u << 4)

#define PERFDATA_RECORD_MAX 65536 /* the size field has 16 bits */

/*
 * Reads a record from its begin to its end. A value beyond the end is 0, and sets bad.
 */
struct perfdata_cursor {
	uint8_t *at, *end;
	bool swap, bad;
};

static inline void *perfdata_take(struct perfdata_cursor *c, uint64_t size)
{
	void *at = c->at;

	if (c->bad || size > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += size;
	return at;
}

static inline uint64_t perfdata_u64(struct perfdata_cursor *c)
{
	const void *at = perfdata_take(c, 8);
	uint64_t v = 0;

	if (at)
		memcpy(&v, at, 8);
	return c->swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t perfdata_u32(struct perfdata_cursor *c)
{
	const void *at = perfdata_take(c, 4);
	uint32_t v = 0;

	if (at)
		memcpy(&v, at, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t perfdata_u16(struct perfdata_cursor *c)
{
	const void *at = perfdata_take(c, 2);
	uint16_t v = 0;

	if (at)
		memcpy(&v, at, 2);
	return c->swap ? __builtin_bswap16(v) : v;
}

/*
 * Reads nr numbers, and converts them to this machine's byte order in place. NULL when
 * nr is 0.
 */
uint64_t *perfdata_words(struct perfdata_cursor *c, uint64_t nr);

/* Reads a text up to its NUL, which must be in the record. */
const char *perfdata_text(struct perfdata_cursor *c);

/* An address of the kernel, in the upper half of all addresses: see perfdata.h. */
static inline uint64_t perfdata_kernel_address(uint64_t address)
{
	return address <= UINT32_MAX ? address | (uint64_t)UINT32_MAX << 32 : address;
}

/*
 * Bits [at, at + width) of a C bit field, counted as the compiler of the recording
 * machine does.
 */
static inline unsigned int perfdata_bits(uint64_t v, bool is_big, int at, int width)
{
	return (v >> (is_big ? 64 - at - width : at)) & ((1u << width) - 1);
}

/* ---- bytes ---- */

struct perfdata_source {
	int fd;
	bool seekable;
	uint64_t size; /* of a regular file */
	uint8_t *data; /* a part of the file, ... */
	uint64_t at;   /* ... from this offset on */
	size_t len;
};

int perfdata_source_open(struct perfdata_source *s, int fd);
void perfdata_source_close(struct perfdata_source *s);

/*
 * Gets size bytes (at most PERFDATA_RECORD_MAX) at offset; in a pipe, offsets must not
 * decrease. They are valid until the next call. Returns 0, -CPI_ETRUNCATED or -errno.
 */
int perfdata_source_get(struct perfdata_source *s, uint64_t offset, size_t size,
			uint8_t **out);

/* Copies size bytes; the same. */
int perfdata_source_copy(struct perfdata_source *s, uint64_t offset, size_t size,
			 void *out);

/* ---- the file ---- */

struct perfdata_id {
	struct hnode node;
	uint64_t id;
	int event;
	uint64_t count; /* the count in its last sample */
};

/* The count in the last sample of a thread whose events are inherited. */
struct perfdata_thread_count {
	struct hnode node;
	uint64_t id;
	uint32_t tid;
	uint64_t count;
};

struct perfdata_section {
	uint64_t offset, size;
};

/* A record that waits for earlier ones. */
struct perfdata_waiting {
	uint64_t time, seq, offset;
	size_t size;
	uint64_t data[]; /* with its header */
};

struct perfdata_queue {
	struct perfdata_waiting **heap; /* the earliest record is first */
	size_t nr, bytes;
	uint64_t seq, newest,
		round; /* round: the value of newest when the last round ended */
};

struct perfdata {
	const char *name;
	struct perfdata_source source;
	struct perfdata_info info;
	bool swap;
	struct perfdata_section data;
	size_t nr_ids;
	struct hmap ids;    /* struct perfdata_id */
	struct hmap counts; /* struct perfdata_thread_count */
	uint8_t *record;    /* the current record, aligned */
	struct perfdata_queue queue;
	ZSTD_DStream *zstd;
	struct buf unpacked; /* the beginning of a record */
	perfdata_fn fn;
	void *ctx;
	bool stopped; /* fn has stopped the reading */
};

/* Logs an error at an offset; returns err. */
int perfdata_fail(const struct perfdata *pd, uint64_t offset, int err, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));

/* ---- what it says of itself ---- */

/* Reads the attributes and features of a file that was not written to a pipe. */
int perfdata_read_header(struct perfdata *pd);

/* Reads the data of a feature. Returns 0 or -ENOMEM; damage is noted in info. */
int perfdata_read_feature(struct perfdata *pd, unsigned int feature, uint8_t *data,
			  size_t size);

/* Adds a record of a build id; its header is not included. */
int perfdata_add_build_id(struct perfdata *pd, uint16_t misc,
			  struct perfdata_cursor *c);

/*
 * Adds an event, or finds it. Returns 0, -CPI_ECORRUPT, -CPI_ELIMIT or -ENOMEM.
 */
int perfdata_add_attr(struct perfdata *pd, uint8_t *attr, size_t size);
int perfdata_add_id(struct perfdata *pd, uint64_t id, int event);

/* These find the event of an id; NULL or -1 if there is none. */
struct perfdata_id *perfdata_get_id(const struct perfdata *pd, uint64_t id);
int perfdata_find_id(const struct perfdata *pd, uint64_t id);

/*
 * *out becomes the count in the last sample of the counter with this id: of the thread,
 * if threads inherit the counter. Returns 0, -CPI_ELIMIT or -ENOMEM.
 */
int perfdata_last_count(struct perfdata *pd, struct perfdata_id *id, uint32_t tid,
			uint64_t **out);
void perfdata_free_attrs(struct perfdata *pd);

/* ---- records ---- */

/* Takes a record: passes it on, or puts it into the queue. */
int perfdata_take_record(struct perfdata *pd, uint8_t *record, size_t size,
			 uint64_t offset);

/* Decodes a record and passes it on. */
int perfdata_hand_out(struct perfdata *pd, uint8_t *record, size_t size,
		      uint64_t offset);

/* Fills in event, id, time, pid and tid of r; for a sample, all members. */
int perfdata_decode_sample(const struct perfdata *pd, struct perfdata_cursor *c,
			   struct perf_record *r);
int perfdata_decode_record(const struct perfdata *pd, struct perfdata_cursor *c,
			   struct perf_record *r);

/* Decodes a record of a type that only files have. */
int perfdata_decode_own(const struct perfdata *pd, struct perfdata_cursor *c,
			struct perf_record *r);

/* The time of a record; UINT64_MAX if it has none. */
uint64_t perfdata_time(const struct perfdata *pd, uint8_t *record, size_t size);

/* The event of a sample, by the id at the position that all events use; -1: none. */
int perfdata_sample_event(const struct perfdata *pd, struct perfdata_cursor c,
			  uint64_t *id);

/* The ids at the end of other records. */
void perfdata_decode_trailer(const struct perfdata *pd, struct perfdata_cursor *c,
			     struct perf_record *r);

/* Decompresses a record, and takes the records in it. */
int perfdata_unpack(struct perfdata *pd, const void *data, size_t size,
		    uint64_t offset);

int perfdata_queue_add(struct perfdata *pd, uint64_t time, const uint8_t *record,
		       size_t size, uint64_t offset);
int perfdata_queue_round(struct perfdata *pd); /* a round has ended */
int perfdata_queue_end(struct perfdata *pd);   /* the file has ended */
void perfdata_queue_free(struct perfdata_queue *q);

#endif
