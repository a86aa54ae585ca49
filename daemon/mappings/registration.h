/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * registration.h - code that a program loads by itself, told by cpi-register(1)
 *
 * DCPI's "dcpictl register". What is told is believed when the process's memory and
 * the file hold the same bytes. The file is what the asker has opened: whether bytes
 * are equal tells, in time, what they are, and nobody is to learn of a file that he
 * cannot read himself.
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
	uid_t uid;        /* who asks: root, or the process's own */
	const char *path; /* as the process finds it, through no symlink; "": what it
			     has mapped is to be read again, and the rest is unused */
	uint64_t base, size;
	uint64_t offset; /* of base in the file */
	pid_t asker;     /* who asks ... */
	int file;        /* ... and has the file open there, for reading */
};

/*
 * What costs nothing to find out: whether the asker may register something of that
 * process, and asks for no more than there can be. As registration_take().
 */
int registration_check(const struct registration *r, struct buf *text);

/*
 * Puts it into the process map, from since_ns on and until the process calls exec or
 * maps something else there. Returns 0 or -errno; what was
 * done, or is wrong, is a line in text.
 */
int registration_take(const struct registration *r, uint64_t since_ns,
		      struct procmap *pm, struct images *im, struct buf *text);

#endif
