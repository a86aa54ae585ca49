/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowprocs.h - the processes that windows may follow, and what they have mapped
 *
 * A process is entered when a window wanted to follow it: with the code that has been
 * sampled, or has been opened for another reason; more of it when a window has missed
 * it. What is mapped is what the process map says.
 */
#ifndef CPI_DAEMON_WINDOWPROCS_H
#define CPI_DAEMON_WINDOWPROCS_H

#include "abi/window_bpf.h"
#include "daemon/attribute/attribute.h"
#include "daemon/windows/windowpages.h"

struct windowprocs_config {
	struct cpi_window_process *process; /* shared: CPI_WINDOW_PROCESSES */
	struct windowpages *pages;
	struct attribution *attribution;
	const char *const *exclude; /* windowexclude.h; the owner's */
	int nr_excluded;
};

struct windowprocs;

struct windowprocs *windowprocs_new(const struct windowprocs_config *cfg);
void windowprocs_free(struct windowprocs *wp); /* accepts NULL */

/* Follows what the process map has learned since the last time. */
void windowprocs_follow_maps(struct windowprocs *wp);

/* A sample of a process that was not there. Whether it is now. */
bool windowprocs_enter(struct windowprocs *wp, const struct cpi_window_record *r);

/* A window of a process could not go on at pc. Whether that can be learnt. */
bool windowprocs_miss(struct windowprocs *wp, const struct cpi_window_record *r,
		      uint64_t pc);

/* The process of a record, as the program saw it; NULL: it is another one by now. */
const struct cpi_window_process *windowprocs_find(const struct windowprocs *wp,
						  const struct cpi_window_record *r);

/* The entry of a process's page, and the offset in it. 0 or -ENOENT. */
int windowprocs_entry(const struct cpi_window_process *p, uint64_t pc, uint32_t *entry,
		      uint32_t *offset);

/*
 * Whether the code that was followed at pc, in a process that has it, is an image's,
 * with bias to be added for the offset, as somebody says of that moment.
 */
bool windowprocs_followed(const struct windowprocs *wp,
			  const struct cpi_window_process *p, uint64_t pc,
			  uint64_t when_ns, const struct known_image *image,
			  uint64_t bias);

/*
 * Gives code that was made at run time to those who made it: between the records of one
 * round, which were walked without it, and those of the next.
 */
void windowprocs_renew(struct windowprocs *wp);

/* Nobody is entered any more. */
void windowprocs_forget(struct windowprocs *wp);

void windowprocs_status(const struct windowprocs *wp, struct buf *out);

#endif
