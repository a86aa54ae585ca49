/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe.h - Arm's Statistical Profiling Extension: a stream of packets, and its records
 *
 * The CPU writes packets into memory; a timestamp or an end packet closes a record. A
 * stream may begin and end anywhere, and may have holes where a buffer was full.
 */
#ifndef CPI_ANALYSIS_SPE_H
#define CPI_ANALYSIS_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/hwrecord.h"

enum spe_type {
	SPE_PAD, /* also what fills up to an alignment */
	SPE_END,
	SPE_TIMESTAMP,
	SPE_EVENTS,
	SPE_DATA_SOURCE,
	SPE_CONTEXT,
	SPE_OPERATION,
	SPE_ADDRESS,
	SPE_COUNTER
};

/* Index of addresses and counters. */
enum { SPE_PC, SPE_TARGET, SPE_VIRTUAL, SPE_PHYSICAL, SPE_PREVIOUS_TARGET };
enum { SPE_TOTAL, SPE_ISSUE, SPE_TRANSLATION };
enum { SPE_OTHER, SPE_LOAD_STORE, SPE_BRANCH }; /* of operations */

struct spe_packet {
	enum spe_type type;
	uint8_t index;
	uint8_t bytes; /* of the payload; 0: it has none */
	uint64_t payload;
};

/* Bytes of a stream; data[0] was at offset in the buffer that the CPU wrote to. */
struct spe_stream {
	const uint8_t *data;
	size_t size;
	uint64_t offset;
};

/*
 * Reads the packet at `at`, adjacent padding as one of at most 16 bytes. Returns its
 * length; 0 at the end of the stream or where it cuts the packet off; -EBADMSG for
 * what is no packet.
 */
int spe_read_packet(const struct spe_stream *s, size_t at, struct spe_packet *out);

#define SPE_RECORD_MAX 2048 /* bytes of a record; the architecture's own bound */

struct spe_reader {
	struct spe_stream stream;
	bool common_sources; /* spe_has_common_sources() of the CPU that wrote it */
	bool damaged;        /* up to the next end of a record there is none */
	size_t at;           /* behind the last whole record */
	uint64_t skipped;    /* bytes that were no packets, or of a record with such */
	uint64_t nr_damaged; /* of those records */
};

/*
 * The next record; one that is damaged is left out. Returns whether there was one:
 * where not, the bytes from r->at on are the begin of a record whose end is not there
 * yet. A reader of these and what follows, with the same `damaged`, goes on.
 */
bool spe_next(struct spe_reader *r, struct hw_record *out);

/* Whether a CPU of this MIDR_EL1 numbers data sources as Arm's Neoverse cores do. */
bool spe_has_common_sources(uint64_t midr);

#endif
