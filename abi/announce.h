/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * announce.h - what a program's dynamic linker tells cpid of itself
 *
 * Datagrams to a unix socket: a head, then records, each of a multiple of 8 bytes,
 * numbers as the machine has them. Nothing is answered. Who speaks and when is not
 * in it: that the kernel says (SCM_CREDENTIALS, SCM_TIMESTAMPNS), whatever PID
 * namespace the speaker lives in, and so nobody speaks of another process.
 */
#ifndef CPI_ABI_ANNOUNCE_H
#define CPI_ABI_ANNOUNCE_H

#include <stdint.h>

#include "abi/control.h"

/* Beside the control socket, for everybody to write to. */
#define CPI_ANNOUNCE_SUFFIX ".announce"
#define CPI_ANNOUNCE_SOCKET CPI_CONTROL_SOCKET CPI_ANNOUNCE_SUFFIX
#define CPI_ANNOUNCE_ENV    "CPI_ANNOUNCE" /* names another socket */

#define CPI_ANNOUNCE_MAGIC        0x61697063u /* "cpia" */
#define CPI_ANNOUNCE_VERSION      1
#define CPI_ANNOUNCE_MAX          32768 /* bytes of a datagram */
#define CPI_ANNOUNCE_MAX_SEGMENTS 8     /* of a record */
#define CPI_ANNOUNCE_MAX_PATH     4095
#define CPI_ANNOUNCE_MAX_BUILD_ID 64

enum cpi_announce_flags {
	CPI_ANNOUNCE_BEGIN = 1, /* the program's first: these objects are all it has */
};

struct cpi_announce_head {
	uint32_t magic;
	uint16_t version;
	uint16_t flags; /* enum cpi_announce_flags */
};

enum cpi_announce_what {
	CPI_ANNOUNCE_LOADED = 1,
	CPI_ANNOUNCE_UNLOADED = 2, /* or about to be */
};

/*
 * Followed by nr_segments struct cpi_announce_segment, build_id_size bytes of build
 * id, path_size bytes of path (no NUL; none for the program itself), and zeroes.
 */
struct cpi_announce_record {
	uint16_t size; /* of the record with all of that */
	uint16_t path_size;
	uint8_t what; /* enum cpi_announce_what */
	uint8_t nr_segments;
	uint8_t build_id_size;
	uint8_t reserved;
	uint64_t base; /* address - base is an address in the file's headers */
};

/* An executable PT_LOAD; objects beyond 4 GiB are not told of. */
struct cpi_announce_segment {
	uint32_t vaddr; /* base + vaddr is its address */
	uint32_t offset;
	uint32_t size; /* of what comes from the file */
};

_Static_assert(sizeof(struct cpi_announce_head) == 8, "wire format");
_Static_assert(sizeof(struct cpi_announce_record) == 16, "wire format");
_Static_assert(sizeof(struct cpi_announce_segment) == 12, "wire format");

#endif
