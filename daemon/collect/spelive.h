/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spelive.h - samples Arm's SPE on all CPUs: from AUX areas to entries
 *
 * If a sample has a context packet, the thread id in it gives the process. Without this
 * packet: if the event follows one process, the sample belongs to the process that ran
 * when the PERF_RECORD_AUX was written. If the whole system is sampled, the process is
 * unknown (CPI_MAX_TGID), and a sample in user mode is counted as unknown (no_process
 * or map_gap).
 */
#ifndef CPI_DAEMON_SPELIVE_H
#define CPI_DAEMON_SPELIVE_H

#include "abi/entry.h"
#include "daemon/collect/auxarea.h"
#include "daemon/os/timed_child.h"

struct spelive;

struct spelive_config {
	int event;                       /* its index */
	struct timed_child *timed_child; /* finds the process of a thread */
	bool follows_task;               /* else the whole system is sampled */
	/*
	 * Receives a sample that was taken after since_ns. e has count 0 and generation
	 * 0.
	 */
	void (*take)(void *ctx, const struct cpi_entry *e, const struct hw_record *hw,
		     uint64_t since_ns);
	/* At least n samples are lost. */
	void (*lost)(void *ctx, enum loss loss, uint64_t n);
	void *ctx;
};

struct spelive *spelive_new(const struct spelive_config *cfg); /* NULL: no memory */
void spelive_free(struct spelive *s);                          /* accepts NULL */

/*
 * Call these after the event was opened on a CPU, and before it is closed.
 * spelive_opened() returns 0 or -errno.
 */
int spelive_opened(struct spelive *s, int cpu, int fd);
void spelive_closing(struct spelive *s, int cpu);

int spelive_event(const struct spelive *s);

/* As in struct collector_ops. running: sampling was not stopped. */
void spelive_snapshot(struct spelive *s, bool running);
void spelive_drain(struct spelive *s);
uint64_t spelive_progress(const struct spelive *s, int cpu);

/*
 * Returns the outcome of a record's instruction: whether a conditional branch was
 * taken.
 */
enum cpi_outcome spelive_outcome(const struct hw_record *hw);

#endif
