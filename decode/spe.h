/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe.h - Arm's Statistical Profiling Extension: a stream of packets, and its records
 *
 * The CPU writes packets into memory; a timestamp or an end packet closes a record. A
 * stream may begin and end within a packet, and may have gaps where a buffer was full.
 */
#ifndef CPI_DECODE_SPE_H
#define CPI_DECODE_SPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/hwrecord.h"

enum spe_type {
	SPE_PAD, /* also used to align the next packet */
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
	uint8_t bytes; /* of the payload; 0: no payload */
	uint64_t payload;
};

/* A part of a stream; data[0] was at offset in the buffer that the CPU wrote to. */
struct spe_stream {
	const uint8_t *data;
	size_t size;
	uint64_t offset;
};

/*
 * Reads the packet at `at`; adjacent padding is one packet of at most 16 bytes. Returns
 * its length; 0 at the end of the stream, or if the packet is not complete; -EBADMSG
 * for an invalid packet.
 */
int spe_read_packet(const struct spe_stream *s, size_t at, struct spe_packet *out);

#define SPE_RECORD_MAX 2048 /* bytes of a record; a limit of the architecture */

struct spe_reader {
	struct spe_stream stream;
	bool common_sources; /* spe_has_common_sources() of the CPU that wrote it */
	bool damaged;        /* packets up to the next end of a record are ignored */
	size_t at;           /* after the last complete record */
	uint64_t skipped;    /* bytes of damaged records */
	uint64_t nr_damaged; /* damaged records */
};

/*
 * Reads the next record, and skips damaged ones. Returns whether there was one. If not,
 * the bytes from r->at on begin a record whose end has not arrived. To continue, pass
 * these bytes and the following ones to a reader with the same `damaged`.
 */
bool spe_next(struct spe_reader *r, struct hw_record *out);

/*
 * Whether a CPU with this MIDR_EL1 uses the data source codes of Arm's Neoverse cores.
 */
bool spe_has_common_sources(uint64_t midr);

#endif
