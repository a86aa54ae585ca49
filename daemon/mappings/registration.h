/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registration.h - registers code that a program loads by itself (cpi-register(1))
 *
 * This is DCPI's "dcpictl register". A registration is accepted if the process's memory
 * equals the file. The client must have opened the file itself: the answer says whether
 * bytes are equal, and repeated questions would disclose a file that its user may not
 * read.
 */
#ifndef CPI_DAEMON_REGISTRATION_H
#define CPI_DAEMON_REGISTRATION_H

#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

#define REGISTRATION_MAX (16u << 20) /* bytes of one */

struct registration {
	pid_t tgid;
	uid_t uid; /* the client's user: root, or the owner of the process */
	/*
	 * As the process sees it, without symlinks. "" asks to read the mappings of the
	 * process again; then the other fields are ignored.
	 */
	const char *path;
	uint64_t base, size;
	uint64_t offset; /* the file offset of base */
	pid_t asker;     /* the client's process ... */
	int file;        /* ... and its descriptor of the file, open for reading */
};

/*
 * The checks that cost nothing: whether the client's user may register code of that
 * process, and whether the numbers are possible. Returns as registration_take() does.
 */
int registration_check(const struct registration *r, struct buf *text);

/*
 * Enters the code into the process map, from since_ns on, until the process calls exec
 * or maps something else there. Returns 0 or -errno; text is a line that says what was
 * done or what is wrong.
 */
int registration_take(const struct registration *r, uint64_t since_ns,
		      struct procmap *pm, struct images *im, struct buf *text);

#endif
