/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_perfdata.c - any bytes are a perf.data file, or are refused
 *
 * Of each record that is handed out every byte is looked at, and lies in it.
 */
#include "config.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/import/perfdata.h"
#include "t/fuzz/fuzz.h"

struct walk {
	const struct perfdata *pd;
	uint64_t sum; /* of everything: it cannot be left out */
	uint64_t file_size;
};

static void look(struct walk *w, const void *data, size_t size)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < size; i++)
		w->sum += at[i];
}

static void look_at_sample(struct walk *w, const struct perf_sample *s)
{
	look(w, s->callchain, 8 * s->nr_callchain);
	look(w, s->raw, s->raw_size);
	fuzz_check(s->stack_size <= UINT16_MAX);
	for (size_t i = 0; i < s->nr_branches; i++)
		w->sum += perfdata_branch(w->pd, s, i).cycles;
	for (size_t i = 0; i < s->nr_reads; i++)
		w->sum += perfdata_read_value(s, i).value;
}

static int walk(void *ctx, const struct perf_record *r)
{
	const struct perfdata_info *info = perfdata_info(((struct walk *)ctx)->pd);
	struct walk *w = ctx;

	fuzz_check(r->event >= -1 && r->event < (int)info->nr_events);
	look(w, r->body, r->size);
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		if (r->event >= 0)
			w->sum += strlen(perfdata_pmu_name(w->pd, r->event));
		look_at_sample(w, &r->sample);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		w->sum += strlen(r->mmap.name);
		fuzz_check(r->mmap.build_id_size <= BUILD_ID_MAX);
		break;
	case PERF_RECORD_COMM:
		w->sum += strlen(r->comm);
		break;
	case PERF_RECORD_CGROUP:
		w->sum += strlen(r->cgroup.path);
		break;
	case PERFDATA_AUXTRACE_INFO:
		look(w, r->aux_info.word, 8 * r->aux_info.nr);
		break;
	case PERFDATA_AUXTRACE:
		fuzz_check(r->aux.at + r->aux.size <= w->file_size);
		break;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("perf.data", MFD_CLOEXEC);
	struct walk w = { .file_size = size };
	struct perfdata *pd;

	log_open("/dev/null");
	fuzz_check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!perfdata_open(fd, "input", &pd)) {
		w.pd = pd;
		perfdata_read(pd, walk, &w);
		for (size_t i = 0; i < perfdata_info(pd)->nr_images; i++)
			w.sum += strlen(perfdata_info(pd)->image[i].name);
		perfdata_close(pd);
	}
	close(fd);
	return 0;
}
