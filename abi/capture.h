/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture.h - what a collector asks of cpi-capture, and what it hears back
 *
 * cpi-capture's standard input is a SOCK_SEQPACKET socket. A job is one message of one
 * byte with three descriptors: the request (a file, read from its start), the image,
 * and the pipe that the reply goes to. It ends when the pipe does. One at a time: the
 * next job is sent then. The socket's end is cpi-capture's.
 *
 * The reply comes from a process that read a file that may be anything: nothing in it
 * is to be trusted. Numbers are as the machine has them.
 */
#ifndef CPI_ABI_CAPTURE_H
#define CPI_ABI_CAPTURE_H

#include <stdint.h>

#define CPI_CAPTURE_MAGIC   0x63697063u /* "cpic" */
#define CPI_CAPTURE_OFFSETS 65536       /* most of a request */
#define CPI_CAPTURE_PATH    4096        /* longest path, with its NUL */
#define CPI_CAPTURE_COVERS  (1u << 20)  /* most bytes of it */

enum cpi_capture_fd {
	CPI_CAPTURE_REQUEST,
	CPI_CAPTURE_IMAGE,
	CPI_CAPTURE_REPLY,
	CPI_CAPTURE_NR_FDS,
};

struct cpi_capture_offset {
	uint64_t offset, samples;
};

/* Followed by nr_offsets struct cpi_capture_offset, ascending. */
struct cpi_capture_request {
	uint32_t magic;
	uint32_t nr_offsets;
	uint64_t max_bytes;      /* of the reply's data, before it is compressed */
	uint64_t size, mtime_ns; /* of the file */
	int64_t author; /* the user who alone may have written it; -1: not known. Of the
			 * files that it names nobody else's private ones are opened */
	uint8_t content[32]; /* what the file must have, as elfid_read() has it */
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint8_t all; /* procedures without samples too: there will be no second chance
		      */
	uint8_t reserved[2];
	char path[CPI_CAPTURE_PATH]; /* where its debug files are looked for */
};

/* Followed by the covers and the data, as the table "capture" has them: cpi-db(5). */
struct cpi_capture_reply {
	uint32_t magic;
	int32_t err; /* 0, or negative; then nothing follows. -EBUSY: there can be no
		      * worker now, which is none of the image's fault */
	uint32_t covers_size, data_size;
	uint32_t nr_procedures; /* that are kept whole */
	uint32_t nr_left_out;   /* of which there was room for the name alone */
};

_Static_assert(sizeof(struct cpi_capture_offset) == 16, "wire format");
_Static_assert(sizeof(struct cpi_capture_request) == 4192, "wire format");
_Static_assert(sizeof(struct cpi_capture_reply) == 24, "wire format");

#endif
