/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * control.h - requests of cpi to cpid, and the replies
 *
 * A SOCK_SEQPACKET unix socket: one request message, one reply message, then the daemon
 * closes. The daemon trusts only the peer's credentials, which come from the kernel,
 * and nothing in the request.
 */
#ifndef CPI_ABI_CONTROL_H
#define CPI_ABI_CONTROL_H

#include <stdint.h>

#define CPI_CONTROL_SOCKET  "/run/cpi/cpid.sock"
#define CPI_CONTROL_MAGIC   0x31697063u /* "cpi1" */
#define CPI_CONTROL_VERSION 1
#define CPI_CONTROL_TEXT    64    /* longest argument, with its NUL */
#define CPI_CONTROL_PATH    1024  /* longest path, with its NUL */
#define CPI_CONTROL_REPLY   65536 /* longest reply */

enum cpi_control_op {
	CPI_CONTROL_STATUS = 1, /* for every user who can connect */
	CPI_CONTROL_FLUSH =
		2, /* this and the next ones: only for the daemon's user and root */
	CPI_CONTROL_EPOCH = 3, /* text: label of the epoch that begins, may be "" */
	CPI_CONTROL_RATE = 4,  /* text: samples per second and CPU, or "budget" */
	CPI_CONTROL_QUIT = 5,
	CPI_CONTROL_REGISTER = 6,  /* also for the process's user; see below */
	CPI_CONTROL_MARK = 7,      /* text: what happens now; not "" */
	CPI_CONTROL_CONTAINER = 8, /* see below */
};

struct cpi_control_request {
	uint32_t magic;
	uint16_t version;
	uint16_t op; /* enum cpi_control_op */
	char text[CPI_CONTROL_TEXT];
};

/*
 * CPI_CONTROL_REGISTER: size bytes at base in a process's memory are a copy of the file
 * at offset. With an empty path: the daemon reads the process's mappings again.
 */
struct cpi_control_register {
	struct cpi_control_request head; /* no text */
	int32_t pid;
	int32_t file; /* the client's descriptor of path, open for reading. So a client
			 gets information only on files that it can read itself */
	uint64_t base, size, offset;
	char path[CPI_CONTROL_PATH]; /* in the process's own root */
};

/*
 * CPI_CONTROL_CONTAINER: a container runtime has a container of this id and name. The
 * next flush stores it.
 */
#define CPI_CONTAINER_DIGITS       64 /* of a container's id; hexadecimal */
#define CPI_CONTROL_CONTAINER_ID   (CPI_CONTAINER_DIGITS + 1) /* with the NUL */
#define CPI_CONTROL_CONTAINER_NAME 448 /* longest name, with its NUL */
struct cpi_control_container {
	struct cpi_control_request head; /* no text */
	char id[CPI_CONTROL_CONTAINER_ID];
	char name[CPI_CONTROL_CONTAINER_NAME];
	char reserved[3];
};

/* Followed by size bytes of text: lines "name value", the value may hold spaces. */
struct cpi_control_reply {
	uint32_t magic;
	uint16_t version;
	uint16_t reserved;
	int32_t status; /* 0, or a negative errno; then the text says why */
	uint32_t size;
};

_Static_assert(sizeof(struct cpi_control_request) == 72, "wire format");
_Static_assert(sizeof(struct cpi_control_register) == 1128, "wire format");
_Static_assert(sizeof(struct cpi_control_container) == 588, "wire format");
_Static_assert(sizeof(struct cpi_control_reply) == 16, "wire format");

#endif
