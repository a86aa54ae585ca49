/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * announce.h - messages from a program's dynamic linker to cpid
 *
 * A message is a datagram to a unix socket: a head, then records. The size of a record
 * is a multiple of 8 bytes; numbers are in the machine's byte order. cpid sends no
 * answer. A message does not contain its sender or its time: the kernel adds these
 * (SCM_CREDENTIALS, SCM_TIMESTAMPNS), in any PID namespace. So no process can send a
 * message for another one.
 */
#ifndef CPI_ABI_ANNOUNCE_H
#define CPI_ABI_ANNOUNCE_H

#include <stdint.h>

#include "abi/control.h"

/*
 * The name of this socket is that of the control socket with this suffix. Every user
 * may write to it.
 */
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
	CPI_ANNOUNCE_BEGIN =
		1, /* the program's first message: it lists all loaded objects */
};

struct cpi_announce_head {
	uint32_t magic;
	uint16_t version;
	uint16_t flags; /* enum cpi_announce_flags */
};

enum cpi_announce_what {
	CPI_ANNOUNCE_LOADED = 1,
	CPI_ANNOUNCE_UNLOADED = 2, /* or will be at once */
};

/*
 * Followed by nr_segments struct cpi_announce_segment, build_id_size bytes of build
 * id, path_size bytes of path (no NUL; none for the program itself), and zeroes.
 */
struct cpi_announce_record {
	uint16_t size; /* of the record and all that follows */
	uint16_t path_size;
	uint8_t what; /* enum cpi_announce_what */
	uint8_t nr_segments;
	uint8_t build_id_size;
	uint8_t reserved;
	uint64_t base; /* address - base is an address in the file's headers */
};

/* An executable PT_LOAD segment. Objects larger than 4 GiB are not announced. */
struct cpi_announce_segment {
	uint32_t vaddr; /* its address is base + vaddr */
	uint32_t offset;
	uint32_t size; /* of the part that comes from the file */
};

_Static_assert(sizeof(struct cpi_announce_head) == 8, "wire format");
_Static_assert(sizeof(struct cpi_announce_record) == 16, "wire format");
_Static_assert(sizeof(struct cpi_announce_segment) == 12, "wire format");

#endif
