/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample.h - parses a PERF_RECORD_SAMPLE of an event that a collector opened
 *
 * Its fields become a PC, a process, and the hardware's record of the instruction.
 */
#ifndef CPI_DAEMON_SAMPLE_H
#define CPI_DAEMON_SAMPLE_H

#include "decode/hwrecord.h"
#include "daemon/collect/event.h"

struct sample {
	uint64_t pc, time_ns;
	uint32_t pid, tid;
	const uint64_t *regs; /* those of sample_regs(), in the record; NULL: none */
	const struct perf_branch_entry *branches; /* in the record, the newest first */
	size_t nr_branches;
	bool has_hw; /* hw is valid */
	struct hw_record hw;
};

/*
 * Return the sample_type (PERF_SAMPLE_*) and the mask of interrupted registers for e.
 */
uint64_t sample_type(const struct event *e);
uint64_t sample_regs(const struct event *e);

/*
 * Parses the sample h. with_id: it begins with the event's id. out points into h.
 * Returns 0, or -EBADMSG if the record is shorter than its fields.
 */
int sample_read(const struct event *e, bool with_id, const struct perf_event_header *h,
		struct sample *out);

#endif
