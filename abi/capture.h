/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * capture.h - requests to cpi-capture and its replies
 *
 * cpi-capture's standard input is a SOCK_SEQPACKET socket. A job is one message of one
 * byte with three descriptors: the request (a file, read from its start), the image,
 * and the pipe for the reply. The job has ended when the pipe is closed; only then may
 * the next job be sent. cpi-capture ends when the socket is closed.
 *
 * The reply comes from a process that parsed a hostile file, so nothing in it may be
 * trusted. Numbers are in the machine's byte order.
 */
#ifndef CPI_ABI_CAPTURE_H
#define CPI_ABI_CAPTURE_H

#include <stdint.h>

#define CPI_CAPTURE_MAGIC   0x63697063u /* "cpic" */
#define CPI_CAPTURE_OFFSETS 65536       /* at most, in a request */
#define CPI_CAPTURE_PATH    4096        /* longest path, with its NUL */
#define CPI_CAPTURE_COVERS  (1u << 20)  /* at most, covers_size of a reply */

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
	int64_t author; /* the only user who can have written the image; -1: not known.
			   Of the debug files that the image names, private ones are
			   opened only if they belong to this user */
	uint8_t content[32]; /* the file's content hash, as elfid_read() computes it */
	uint8_t build_id[20];
	uint8_t build_id_size;
	uint8_t all; /* also procedures without samples, because the file will soon be
			gone */
	uint8_t reserved[2];
	char path[CPI_CAPTURE_PATH]; /* debug files are searched relative to it */
};

/*
 * Followed by the covers and the data, in the format of the table "capture"
 * (cpi-db(5)).
 */
struct cpi_capture_reply {
	uint32_t magic;
	int32_t err; /* 0, or a negative error; then nothing follows. -EBUSY: no worker
			could be started; the image is not the cause */
	uint32_t covers_size, data_size;
	uint32_t nr_procedures; /* that are stored completely */
	uint32_t nr_left_out;   /* of which only the name is stored, for lack of room */
};

_Static_assert(sizeof(struct cpi_capture_offset) == 16, "wire format");
_Static_assert(sizeof(struct cpi_capture_request) == 4192, "wire format");
_Static_assert(sizeof(struct cpi_capture_reply) == 24, "wire format");

#endif
