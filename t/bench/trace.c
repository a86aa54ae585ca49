/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file holds samples in the order in which they were drained. A CPU's
 * table sees only that CPU's samples, so they are put together here (a
 * counting sort), and tables can be simulated one after the other.
 */
#include "config.h"

#include "t/bench/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/entry.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/hash.h"
#include "daemon/collect/raw.h"

uint64_t trace_key(uint64_t word0, uint64_t who)
{
	return hash_u64(word0 ^ hash_u64(who));
}

static int check_header(const struct buf *file)
{
	struct raw_header h;

	if (file->len < sizeof(h))
		return -CPI_EFORMAT;
	memcpy(&h, file->data, sizeof(h));
	if (h.magic != RAW_MAGIC)
		return -CPI_EFORMAT;
	if (h.version > RAW_VERSION)
		return -CPI_EVERSION;
	if (h.version != RAW_VERSION || h.record_size != sizeof(struct raw_record))
		return -CPI_EFORMAT;
	if ((file->len - sizeof(h)) % sizeof(struct raw_record))
		return -CPI_ETRUNCATED;
	return file->len == sizeof(h) ? -CPI_EEMPTY : 0;
}

static struct raw_record get_record(const struct buf *file, size_t i)
{
	struct raw_record r;

	memcpy(&r, file->data + sizeof(struct raw_header) + i * sizeof(r), sizeof(r));
	return r;
}

static bool is_valid(const struct raw_record *r)
{
	return r->tgid <= CPI_MAX_TGID && r->event < CPI_MAX_EVENTS &&
	       r->outcome <= CPI_OUTCOME_UNREADABLE &&
	       r->generation <= CPI_MAX_GENERATION;
}

/* Makes first[c] the number of samples of CPUs below c. */
static int count_cpus(const struct buf *file, struct trace *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		struct raw_record r = get_record(file, i);

		if (!is_valid(&r))
			return -CPI_ECORRUPT;
		if (r.cpu >= t->nr_cpus)
			t->nr_cpus = r.cpu + 1u;
	}
	t->first = calloc(t->nr_cpus + 1, sizeof(*t->first));
	if (!t->first)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr; i++)
		t->first[get_record(file, i).cpu + 1]++;
	for (unsigned int c = 0; c < t->nr_cpus; c++)
		t->first[c + 1] += t->first[c];
	return 0;
}

static int sort_by_cpu(const struct buf *file, struct trace *t)
{
	size_t *next = calloc(t->nr_cpus, sizeof(*next));
	struct trace_sample *s;
	int err = 0;

	t->samples = calloc(t->nr, sizeof(*t->samples));
	if (!next || !t->samples) {
		err = -ENOMEM;
		goto out;
	}
	t->begin_ns = UINT64_MAX;
	for (size_t i = 0; i < t->nr; i++) {
		struct raw_record r = get_record(file, i);

		s = &t->samples[t->first[r.cpu] + next[r.cpu]];
		if (next[r.cpu]++ && r.time_ns < s[-1].time_ns) {
			err = -CPI_ECORRUPT;
			goto out;
		}
		s->time_ns = r.time_ns;
		s->word0 = cpi_entry_word0(r.pc, r.event, r.outcome);
		s->who = cpi_entry_who(r.tgid, r.generation);
		t->key_sum += trace_key(s->word0, s->who);
		if (r.time_ns < t->begin_ns)
			t->begin_ns = r.time_ns;
		if (r.time_ns > t->end_ns)
			t->end_ns = r.time_ns;
	}
out:
	free(next);
	return err;
}

int trace_load(const char *path, struct trace *out)
{
	struct trace t = { 0 };
	struct buf file = { 0 };
	int err;

	err = file_read_all(AT_FDCWD, path, TRACE_MAX_BYTES, &file);
	if (!err)
		err = check_header(&file);
	if (err)
		goto out;
	t.nr = (file.len - sizeof(struct raw_header)) / sizeof(struct raw_record);
	err = count_cpus(&file, &t);
	if (!err)
		err = sort_by_cpu(&file, &t);
	if (!err) {
		*out = t;
		t = (struct trace){ 0 };
	}
out:
	trace_fini(&t);
	buf_fini(&file);
	return err;
}

void trace_fini(struct trace *t)
{
	free(t->samples);
	free(t->first);
	*t = (struct trace){ 0 };
}
