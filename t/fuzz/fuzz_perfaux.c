/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_perfaux.c - AUX buffers of any recording, in both readings
 *
 * The second one hands out as many samples as the first, none newer than the records
 * that told of it. The input is a whole file: the corpus of fuzz_perfdata is of use.
 */
#include "config.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/import/perfaux.h"
#include "t/fuzz/fuzz.h"

struct readings {
	struct perfdata *pd;
	struct perfaux *aux;
	uint64_t noted, taken, now_ns;
	bool failed;
};

static int count_noted(void *ctx, const struct perfaux_sample *s)
{
	struct readings *r = ctx;

	fuzz_check(s->event >= 0 && (size_t)s->event < perfdata_info(r->pd)->nr_events);
	r->noted++;
	return 0;
}

static int count_taken(void *ctx, const struct perfaux_sample *s)
{
	struct readings *r = ctx;

	fuzz_check(s->time_ns <= r->now_ns);
	r->taken++;
	return 0;
}

static int note(void *ctx, const struct perf_record *record)
{
	struct readings *r = ctx;
	int err = perfaux_note(r->aux, r->pd, record);

	r->failed |= err != 0;
	return err;
}

static int take(void *ctx, const struct perf_record *record)
{
	struct readings *r = ctx;
	int err;

	if (record->time != UINT64_MAX && record->time > r->now_ns)
		r->now_ns = record->time;
	err = perfaux_take(r->aux, record, r->now_ns, count_taken, r);
	r->failed |= err != 0;
	return err;
}

static int read_once(int fd, struct readings *r, perfdata_fn fn)
{
	if (perfdata_open(fd, "input", &r->pd))
		return -1;
	perfdata_read(r->pd, fn, r);
	if (fn == note && !r->failed)
		r->failed = perfaux_each(r->aux, count_noted, r) != 0;
	perfdata_close(r->pd);
	return r->failed ? -1 : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct readings r = { .aux = perfaux_new(fd) };

	log_open("/dev/null");
	fuzz_check(r.aux && fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!read_once(fd, &r, note) && !read_once(fd, &r, take)) {
		fuzz_check(!perfaux_end(r.aux, count_taken, &r));
		fuzz_check(r.noted == r.taken);
	}
	perfaux_free(r.aux);
	close(fd);
	return 0;
}
