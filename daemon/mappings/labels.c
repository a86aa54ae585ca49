/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * labels.c - finds labels in names of mappings and in environments
 *
 * The name of a mapping comes with its record. An environment has to be read from
 * /proc, which may block, so a worker with a deadline reads it.
 */
#include "config.h"

#include "daemon/mappings/labels.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/os/timed_child.h"

#define MAX_ENVIRONMENT (256u << 10)

static bool take_label(const char *text, size_t len, char label[CPI_LABEL_MAX + 1])
{
	if (!cpi_label_is_valid(text, len))
		return false;
	memcpy(label, text, len);
	label[len] = '\0';
	return true;
}

bool labels_parse_mapping(const char *name, char label[CPI_LABEL_MAX + 1])
{
	static const char before[] = CPI_LABEL_MAPPED, behind[] = " (deleted)";
	const size_t begin = sizeof(before) - 1, end = sizeof(behind) - 1;
	const size_t len = strlen(name);

	if (len < begin + end || strncmp(name, before, begin) ||
	    strcmp(name + len - end, behind))
		return false;
	return take_label(name + begin, len - begin - end, label);
}

bool labels_parse_environment(const char *data, size_t size,
			      char label[CPI_LABEL_MAX + 1])
{
	static const char before[] = CPI_LABEL_ENV "=";
	const size_t begin = sizeof(before) - 1;

	while (size) {
		size_t len = strnlen(data, size);

		if (len >= begin && !memcmp(data, before, begin))
			return take_label(data + begin, len - begin, label);
		len += len < size;
		data += len;
		size -= len;
	}
	return false;
}

/* The processes whose environments to read. */
struct scan {
	struct procmap *pm;
	uint64_t since_ns;
	uint32_t *tgid;
	size_t nr;
};

static void add_process(void *ctx, uint32_t tgid)
{
	struct scan *s = ctx;
	const struct process *p = procmap_find(s->pm, tgid, 0, UINT64_MAX);

	if (!p || (p->label && p->start_ns < s->since_ns))
		return;
	if (GROW(s->tgid, s->nr))
		return;
	s->tgid[s->nr++] = tgid;
}

/* In the worker. */
static int read_label(struct timed_child_job *job)
{
	const uint32_t tgid = *(const uint32_t *)job->question;
	char path[64], label[CPI_LABEL_MAX + 1] = "";
	struct buf text = { 0 };
	int err;

	snprintf(path, sizeof(path), "/proc/%u/environ", tgid);
	err = file_read_all(AT_FDCWD, path, MAX_ENVIRONMENT, &text);
	if (!err)
		labels_parse_environment(text.data, text.len, label);
	buf_put(&job->answer, label, sizeof(label));
	buf_fini(&text);
	return 0;
}

/*
 * Sets the label of a process by its environment; without one that can be read, it has
 * no label. Returns 0, or an error of timed_child_ask().
 */
static int ask(const struct scan *s, struct timed_child *a, uint32_t tgid)
{
	const struct timed_child_question q = { .fn = read_label,
						.data = &tgid,
						.size = sizeof(tgid),
						.tgid = (pid_t)tgid };
	char label[CPI_LABEL_MAX + 1];
	int err = timed_child_ask_for(a, &q, label, sizeof(label));

	if (!err)
		procmap_set_label(s->pm, tgid, *label ? label : NULL);
	return err;
}

void labels_scan(struct procmap *pm, struct timed_child *a, uint64_t since_ns)
{
	struct scan s = { .pm = pm, .since_ns = since_ns };
	size_t nr_failed = 0;

	procmap_for_each(pm, add_process, &s);
	for (size_t i = 0; i < s.nr; i++) {
		int err = ask(&s, a, s.tgid[i]);

		if (err)
			log_debug("labels: environment of process %u: %s", s.tgid[i],
				  err_str(err));
		nr_failed += err != 0;
	}
	if (nr_failed)
		log_warn("labels: the environments of %zu processes cannot be read",
			 nr_failed);
	free(s.tgid);
}
