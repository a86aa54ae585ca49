/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spelive.h - Arm's SPE on all CPUs, from AUX areas to entries
 *
 * Whose a sample is, its context packet says, which has the thread. Without one it is
 * whoever the record was written in, where the event follows a process; of a whole
 * system nobody knows, and user mode's samples are lost as of no process.
 */
#ifndef CPI_DAEMON_SPELIVE_H
#define CPI_DAEMON_SPELIVE_H

#include "abi/entry.h"
#include "daemon/collect/auxarea.h"
#include "daemon/os/timed_child.h"

struct spelive;

struct spelive_config {
	int event;                       /* its index */
	struct timed_child *timed_child; /* who asks which process a thread is of */
	bool follows_task;               /* else the whole system is sampled */
	/* Takes a sample, whose count is 0 and whose generation any, taken since. */
	void (*take)(void *ctx, const struct cpi_entry *e, const struct hw_record *hw,
		     uint64_t since_ns);
	/* So many samples at least are lost. */
	void (*lost)(void *ctx, enum loss loss, uint64_t n);
	void *ctx;
};

struct spelive *spelive_new(const struct spelive_config *cfg); /* NULL: no memory */
void spelive_free(struct spelive *s);                          /* accepts NULL */

/* The event is open on a CPU, or about to be closed. 0 or -errno. */
int spelive_opened(struct spelive *s, int cpu, int fd);
void spelive_closing(struct spelive *s, int cpu);

int spelive_event(const struct spelive *s);

/* As the collector's; running: it was not stopped. */
void spelive_snapshot(struct spelive *s, bool running);
void spelive_drain(struct spelive *s);
uint64_t spelive_progress(const struct spelive *s, int cpu);

/* The outcome that a record tells of its instruction. */
enum cpi_outcome spelive_outcome(const struct hw_record *hw);

#endif
