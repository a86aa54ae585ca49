/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_dump FILE - the records of a perf.data file, for the tests
 *
 * A line for each sample, "s EVENT PID/TID TIME PERIOD IP ADDR WEIGHT DATA_SRC", and
 * for each of its branches, "b FROM/TO/FLAGS/CYCLES" as perf has them, and "c IP ..."
 * for its chain of callers; "r TYPE" for each other record.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/import/perfdata.h"

static void print_branches(const struct perfdata *pd, const struct perf_sample *s)
{
	for (size_t i = 0; i < s->nr_branches; i++) {
		struct perf_branch b = perfdata_branch(pd, s, i);

		printf("b 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%u\n", b.from, b.to,
		       b.mispredicted ? 'M'
		       : b.predicted  ? 'P'
				      : '-',
		       b.in_transaction ? 'X' : '-', b.abort ? 'A' : '-', b.cycles);
	}
}

/* Without what says which mode the frames behind it are of. */
static void print_chain(const struct perf_sample *s)
{
	bool any = false;

	for (size_t i = 0; i < s->nr_callchain; i++) {
		if (s->callchain[i] >= PERF_CONTEXT_MAX)
			continue;
		printf(any ? " %" PRIx64 : "c %" PRIx64, s->callchain[i]);
		any = true;
	}
	if (any)
		printf("\n");
}

static int print_record(void *ctx, const struct perf_record *r)
{
	const struct perfdata *pd = ctx;
	const struct perf_sample *s = &r->sample;

	if (r->type != PERF_RECORD_SAMPLE) {
		printf("r %u\n", r->type);
		return 0;
	}
	printf("s %s %d/%d %" PRIu64 ".%09" PRIu64 " %" PRIu64 " %" PRIx64 " %" PRIx64
	       " %" PRIu64 " %" PRIx64 "\n",
	       r->event < 0 ? "?" : perfdata_info(pd)->event[r->event].name,
	       (int)r->pid, (int)r->tid, r->time / 1000000000, r->time % 1000000000,
	       s->period, s->ip, s->addr, s->weight, s->data_source);
	print_branches(pd, s);
	print_chain(s);
	return 0;
}

int main(int argc, char **argv)
{
	struct perfdata *pd;
	int fd, err;

	if (argc != 2)
		return 2;
	fd = strcmp(argv[1], "-") ? open(argv[1], O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	err = perfdata_open(fd, argv[1], &pd);
	if (err)
		return 1;
	err = perfdata_read(pd, print_record, pd);
	perfdata_close(pd);
	return err ? 1 : 0;
}
