/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_src_fields.h - the fields of perf's data source (PERF_SAMPLE_DATA_SRC)
 *
 * Bits are taken out by hand: compilers lay bit-fields out by byte order.
 */
#ifndef CPI_DECODE_DATA_SRC_FIELDS_H
#define CPI_DECODE_DATA_SRC_FIELDS_H

#include <stdint.h>

/* name, lowest bit, number of bits */
#define DATA_SRC_FIELDS(X)   \
	X(OP, 0, 5)          \
	X(LEVEL, 5, 14)      \
	X(SNOOP, 19, 5)      \
	X(LOCK, 24, 2)       \
	X(TLB, 26, 7)        \
	X(NUMBER, 33, 4)     \
	X(REMOTE, 37, 1)     \
	X(SNOOP_MORE, 38, 2) \
	X(BLOCKED, 40, 3)    \
	X(HOPS, 43, 3)

enum data_src_field {
#define FIELD_ENUM(name, low, bits) SRC_##name,
	DATA_SRC_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
};

static inline unsigned int data_src_get(uint64_t data_src, enum data_src_field field)
{
	static const struct {
		uint8_t low, bits;
	} place[] = {
#define FIELD_PLACE(name, low, bits) { low, bits },
		DATA_SRC_FIELDS(FIELD_PLACE)
#undef FIELD_PLACE
	};

	return data_src >> place[field].low & ((1u << place[field].bits) - 1);
}

#endif
