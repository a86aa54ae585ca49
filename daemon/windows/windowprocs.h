/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowprocs.h - the processes that windows can follow, and their mappings
 *
 * A process is added to the table after a window could not begin because it was
 * missing. Two kinds of its mappings are added with it: those where a window needed
 * code, and those whose image is open already; at most CPI_WINDOW_REGIONS in all.
 * Another mapping is added after a window needed its code. The mappings come from the
 * process map.
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

/* Applies changes of the process map since the last call. */
void windowprocs_follow_maps(struct windowprocs *wp);

/*
 * Adds the process of a record, which was missing, to the table. Returns whether it is
 * there now.
 */
bool windowprocs_enter(struct windowprocs *wp, const struct cpi_window_record *r);

/*
 * Notes that a window needed the code at pc, which was missing. Returns whether a
 * translation was requested.
 */
bool windowprocs_miss(struct windowprocs *wp, const struct cpi_window_record *r,
		      uint64_t pc);

/*
 * Notes that a window needed a form at pc, of the instruction at the begin of code.
 * Returns whether one was requested.
 */
bool windowprocs_lacks_form(struct windowprocs *wp, struct windowforms *forms,
			    const struct cpi_window_record *r, uint64_t pc,
			    const uint8_t code[CPI_FORM_BYTES]);

/* The table entry of the record's process; NULL if the entry was replaced since. */
const struct cpi_window_process *windowprocs_find(const struct windowprocs *wp,
						  const struct cpi_window_record *r);

/* The entry of the page with pc in a process, and the offset in it. 0 or -ENOENT. */
int windowprocs_entry(const struct cpi_window_process *p, uint64_t pc, uint32_t *entry,
		      uint32_t *offset);

/*
 * Whether the code that was interpreted at pc in a process is that of image, at
 * pc + bias. The process map shows image and bias for when_ns.
 */
bool windowprocs_followed(const struct windowprocs *wp,
			  const struct cpi_window_process *p, uint64_t pc,
			  uint64_t when_ns, const struct known_image *image,
			  uint64_t bias);

/*
 * Publishes finished translations of code made at run time, while the sequence of
 * its process is odd. Call it after the records of one turn of the daemon's loop were
 * walked, and before those of the next.
 */
void windowprocs_renew(struct windowprocs *wp);

/* Removes all processes. */
void windowprocs_forget(struct windowprocs *wp);

void windowprocs_status(const struct windowprocs *wp, struct buf *out);

#endif
