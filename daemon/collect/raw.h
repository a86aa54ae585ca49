/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw.h - file format of single samples, as cpi record --raw writes it
 *
 * A header is followed by samples in the order in which they were drained: sorted by
 * time within a CPU, not across CPUs. Numbers are in host byte order. The file is for
 * simulators of the interrupt handler (SOSP'97 section 5.4).
 */
#ifndef CPI_DAEMON_RAW_H
#define CPI_DAEMON_RAW_H

#include <stdint.h>

#define RAW_MAGIC   0x6377617269706321ULL
#define RAW_VERSION 1

struct raw_header {
	uint64_t magic;
	uint32_t version;
	uint32_t record_size;
};

struct raw_record {
	uint64_t time_ns; /* monotonic */
	uint64_t pc;
	uint32_t tgid;
	uint16_t cpu;
	uint8_t event;
	uint8_t outcome; /* enum cpi_outcome */
	uint16_t generation;
	uint16_t reserved[3];
};

_Static_assert(sizeof(struct raw_record) == 32, "file format");

#endif
