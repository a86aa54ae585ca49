/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe.c - packets of Arm's Statistical Profiling Extension
 *
 * Arm ARM (DDI 0487) chapter D17. A header of one or two bytes has the packet's type,
 * its index and the length of the payload. The payload is little-endian.
 */
#include "config.h"

#include "decode/spe.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#define PADDING_MAX 16 /* bytes that are read as one packet */

/* Packets with a payload. read_one() handles the others. */
static const struct {
	uint8_t mask, bits;
	enum spe_type type;
	uint8_t index_mask;
} headers[] = {
	{ 0xff, 0x71, SPE_TIMESTAMP, 0 },   { 0xcf, 0x42, SPE_EVENTS, 0 },
	{ 0xcf, 0x43, SPE_DATA_SOURCE, 0 }, { 0xfc, 0x64, SPE_CONTEXT, 3 },
	{ 0xfc, 0x48, SPE_OPERATION, 3 },   { 0xf8, 0xb0, SPE_ADDRESS, 7 },
	{ 0xf8, 0x98, SPE_COUNTER, 7 },
};

#define NR_HEADERS    (sizeof(headers) / sizeof(headers[0]))
#define FIRST_INDEXED 5 /* from here on, types that may follow an extended header */

static bool is_extended(uint8_t header)
{
	return (header & 0xfc) == 0x20;
}

static uint64_t read_payload(const uint8_t *data, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, data, bytes);
	return le64toh(v);
}

/*
 * Reads a packet whose last header byte is data[0]. high has the upper bits of the
 * index. Only headers[first] and later may match.
 */
static int read_body(const uint8_t *data, size_t size, unsigned int high, size_t first,
		     struct spe_packet *out)
{
	const uint8_t header = data[0];
	const size_t bytes = 1u << (header >> 4 & 3);

	for (size_t i = first; i < NR_HEADERS; i++) {
		if ((header & headers[i].mask) != headers[i].bits)
			continue;
		if (size < 1 + bytes)
			return 0;
		out->type = headers[i].type;
		out->index = high << 3 | (header & headers[i].index_mask);
		out->bytes = bytes;
		out->payload = read_payload(data + 1, bytes);
		return 1 + bytes;
	}
	return -EBADMSG;
}

/* The length of an alignment packet at offset: it ends at the next aligned offset. */
static size_t alignment_length(uint8_t header, uint64_t offset)
{
	const uint64_t alignment = 2ULL << (header & 0xf);

	return alignment - (offset & (alignment - 1));
}

static int read_extended(const struct spe_stream *s, size_t at, struct spe_packet *out)
{
	const uint8_t *data = s->data + at;
	const size_t size = s->size - at;
	int length;

	if (size < 2)
		return 0;
	if (!data[1]) {
		length = alignment_length(data[0], s->offset + at);
		out->type = SPE_PAD;
		if (length < 2)
			return -EBADMSG;
		return (size_t)length > size ? 0 : length;
	}
	length = read_body(data + 1, size - 1, data[0] & 3, FIRST_INDEXED, out);
	return length > 0 ? length + 1 : length;
}

static int read_one(const struct spe_stream *s, size_t at, struct spe_packet *out)
{
	const uint8_t header = s->data[at];

	if (header <= 1) {
		out->type = header ? SPE_END : SPE_PAD;
		return 1;
	}
	if (is_extended(header))
		return read_extended(s, at, out);
	return read_body(s->data + at, s->size - at, 0, 0, out);
}

int spe_read_packet(const struct spe_stream *s, size_t at, struct spe_packet *out)
{
	struct spe_packet p = { .type = SPE_PAD };
	int length = 0;

	if (at < s->size)
		length = read_one(s, at, &p);
	if (length <= 0)
		return length;
	if (p.type == SPE_PAD) {
		while (length < PADDING_MAX && at + length < s->size &&
		       !s->data[at + length])
			length++;
	}
	*out = p;
	return length;
}
