/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample.h - a PERF_RECORD_SAMPLE of our own events, as their kind has it
 *
 * From the fields that collectors ask for to a PC, a process, and what hardware
 * recorded of the instruction.
 */
#ifndef CPI_DAEMON_SAMPLE_H
#define CPI_DAEMON_SAMPLE_H

#include "decode/hwrecord.h"
#include "daemon/collect/event.h"

struct sample {
	uint64_t pc, time_ns;
	uint32_t pid, tid;
	const uint64_t
		*regs; /* of sample_regs(), in the record; NULL: there are none */
	const struct perf_branch_entry *branches; /* in the record, the newest first */
	size_t nr_branches;
	bool has_hw; /* whether hardware recorded something: */
	struct hw_record hw;
};

/* What to ask the kernel for: PERF_SAMPLE_*, and which interrupted registers. */
uint64_t sample_type(const struct event *e);
uint64_t sample_regs(const struct event *e);

/*
 * Reads one, which begins with its id when with_id. 0, or -EBADMSG when it is shorter
 * than its fields.
 */
int sample_read(const struct event *e, bool with_id, const struct perf_event_header *h,
		struct sample *out);

#endif
