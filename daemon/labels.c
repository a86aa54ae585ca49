/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An environment is memory of its process, which may let whoever reads it wait for as
 * long as it likes (userfaultfd, FUSE). So a process apart reads them, and says so of
 * each; when one takes too long, the next goes on behind that.
 */
#include "config.h"

#include "daemon/labels.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/apart.h"

#define PATIENCE_MS     100   /* with one process */
#define SCAN_MS         10000 /* with all */
#define MAX_HANGS       10
#define MAX_ENVIRONMENT (256u << 10)

static bool take(const char *text, size_t len, char label[CPI_LABEL_MAX + 1])
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
	return take(name + begin, len - begin - end, label);
}

bool labels_parse_environment(const char *data, size_t size,
			      char label[CPI_LABEL_MAX + 1])
{
	static const char before[] = CPI_LABEL_ENV "=";
	const size_t begin = sizeof(before) - 1;

	while (size) {
		size_t len = strnlen(data, size);

		if (len >= begin && !memcmp(data, before, begin))
			return take(data + begin, len - begin, label);
		len += len < size;
		data += len;
		size -= len;
	}
	return false;
}

/* What is said of a process; the label is "" when it has none. */
struct answer {
	uint32_t tgid;
	char label[CPI_LABEL_MAX + 1];
};

/* The processes to ask. */
struct scan {
	struct procmap *pm;
	uint64_t since_ns;
	uint32_t *tgid;
	size_t nr, cap;
};

static void add(void *ctx, uint32_t tgid)
{
	struct scan *s = ctx;
	const struct process *p = procmap_find(s->pm, tgid, 0, UINT64_MAX);
	uint32_t *grown;

	if (!p || (p->label && p->start_ns < s->since_ns))
		return;
	grown = grow(s->tgid, s->nr, &s->cap, sizeof(*grown));
	if (!grown)
		return;
	s->tgid = grown;
	s->tgid[s->nr++] = tgid;
}

static void ask(uint32_t tgid, struct answer *out)
{
	struct buf text = { 0 };
	char path[64];

	*out = (struct answer){ .tgid = tgid };
	snprintf(path, sizeof(path), "/proc/%u/environ", tgid);
	if (!file_read_all(AT_FDCWD, path, MAX_ENVIRONMENT, &text))
		labels_parse_environment(text.data, text.len, out->label);
	buf_fini(&text);
}

/* Where to begin. */
struct rest {
	const struct scan *scan;
	size_t from;
};

/* In a process apart. */
static void answer_all(void *ctx, int fd)
{
	const struct rest *r = ctx;
	struct answer a;

	for (size_t i = r->from; i < r->scan->nr; i++) {
		ask(r->scan->tgid[i], &a);
		if (file_write(fd, &a, sizeof(a)))
			break;
	}
}

/* Takes a child's answers from one on. Returns how many processes it spoke of. */
static size_t hear(const struct scan *s, size_t from, int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct answer a;
	size_t nr = 0;

	while (from + nr < s->nr && poll(&p, 1, PATIENCE_MS) > 0 &&
	       read(fd, &a, sizeof(a)) == sizeof(a)) {
		procmap_set_label(s->pm, a.tgid, *a.label ? a.label : NULL);
		nr++;
	}
	return nr;
}

/* Asks from one process on. Sets *done to the first that was not reached. */
static int ask_from(const struct scan *s, size_t from, size_t *done)
{
	struct rest rest = { s, from };
	int fd = apart_start(answer_all, &rest, SCAN_MS);

	if (fd < 0)
		return fd;
	*done = from + hear(s, from, fd);
	close(fd);
	return 0;
}

void labels_scan(struct procmap *pm, uint64_t since_ns)
{
	struct scan s = { .pm = pm, .since_ns = since_ns };
	size_t done = 0;
	int nr_hangs = 0, err = 0;

	procmap_for_each(pm, add, &s);
	while (done < s.nr && nr_hangs < MAX_HANGS) {
		err = ask_from(&s, done, &done);
		if (err)
			break;
		if (done < s.nr) { /* that one did not answer in time */
			log_debug("labels: process %u cannot be asked", s.tgid[done]);
			done++;
			nr_hangs++;
		}
	}
	if (done < s.nr)
		log_warn("labels: %zu processes could not be asked for theirs: %s",
			 s.nr - done, err ? err_str(err) : "others took too long");
	free(s.tgid);
}
