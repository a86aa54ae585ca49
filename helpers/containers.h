/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers.h - the names of containers, as their runtimes have them
 *
 *	containers_main.c	forks a worker for each runtime, and tells cpid
 *	containers_ask.c	gets a runtime's answer
 *	containers_read.c	finds the names in an answer
 *
 * Whoever starts a container chooses parts of an answer, so only a process that is
 * locked in reads one.
 */
#ifndef CPI_HELPERS_CONTAINERS_H
#define CPI_HELPERS_CONTAINERS_H

#include <sqlite3.h>
#include <stddef.h>

#include "abi/control.h"
#include "base/buf.h"
#include "db/clickhouse/curlcall.h"

#define CONTAINERS_MAX    4096       /* of one runtime; more are left out */
#define CONTAINERS_ANSWER (16 << 20) /* bytes; kubelet takes as much */

enum containers_kind {
	CONTAINERS_CRI,    /* a socket of Kubernetes' container runtime interface */
	CONTAINERS_DOCKER, /* a socket of Docker, or of Podman's service */
	CONTAINERS_STORAGE /* Podman's file containers.json */
};

struct container_row {
	char id[CPI_CONTROL_CONTAINER_ID];
	char name[CPI_CONTROL_CONTAINER_NAME];
};

/* What a runtime said. Only CONTAINERS_CRI has pods. */
struct containers_answer {
	struct buf containers, pods;
};

/*
 * Gets an answer from a socket or file, within wait_s seconds for each request. Returns
 * 0 or a negative error, logged; the caller frees the answer in both cases.
 */
int containers_ask(const struct curlcall *call, enum containers_kind kind,
		   const char *path, unsigned int wait_s,
		   struct containers_answer *out);

/* Takes a row; returns 0 or an error, which ends the reading. */
typedef int (*container_row_fn)(void *ctx, const struct container_row *row);

/*
 * Calls fn for each container that has an id of 64 hexadecimal digits and a harmless
 * name, for at most CONTAINERS_MAX. json is a connection to an empty database, because
 * SQLite reads JSON. Returns 0, -EBADMSG if the answer is malformed, -ENOMEM, -ENOSYS
 * if this kind cannot be read by this build, or fn's error.
 */
int containers_read(enum containers_kind kind, const struct containers_answer *answer,
		    sqlite3 *json, container_row_fn fn, void *ctx);

#endif
