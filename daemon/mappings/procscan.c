/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procscan.c - reads /proc/PID/maps in a worker, and enters the mappings
 *
 * The worker sends binary records instead of text, and stops at the limit of mappings
 * for a process. The daemon makes ranges of them, and procmap_verify() compares all of
 * these with the process map at once.
 */
#include "config.h"

#include "daemon/mappings/procscan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/procmap/kernel.h"

#define SCAN_PATIENCE_MS   500  /* asks once for all processes */
#define TARGET_PATIENCE_MS 2000 /* the one process that matters, on a busy machine */

int procscan_parse(char *line, struct procscan_line *out)
{
	unsigned long long start, end, offset, inode;
	unsigned int major_nr, minor_nr;
	char perms[5];
	int used = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, perms,
		   &offset, &major_nr, &minor_nr, &inode, &used) < 7 ||
	    !used || start >= end)
		return -EINVAL;
	if (perms[2] != 'x')
		return -ENOENT;
	*out = (struct procscan_line){
		.range = { .start = start, .end = end, .bias = offset - start },
		.source = { .device = makedev(major_nr, minor_nr), .inode = inode },
		.name = line + used,
	};
	return 0;
}

/* ---- in the worker ---- */

/* A mapping; its name follows, with a NUL. */
struct found_mapping {
	uint64_t start, end, bias;
	uint64_t device, inode;
	uint32_t name_size;
};

/* The first part of an answer. */
struct found_process {
	char comm[PROCMAP_COMM_SIZE];
	uint32_t nr_mappings;
	bool has_secret;
	bool is_cut; /* there are more */
};

static void put_mapping(struct buf *out, const struct procscan_line *l)
{
	const struct found_mapping m = {
		.start = l->range.start,
		.end = l->range.end,
		.bias = l->range.bias,
		.device = l->source.device,
		.inode = l->source.inode,
		.name_size = (uint32_t)strlen(l->name) + 1,
	};

	buf_put(out, &m, sizeof(m));
	buf_put(out, l->name, m.name_size);
}

static void take_line(char *line, struct found_process *p, struct buf *out)
{
	struct procscan_line l;

	p->has_secret |= strstr(line, " /secretmem") != NULL;
	/* The kernel's own page at that address has no mapping record. */
	if (!out || procscan_parse(line, &l) || kernel_address(l.range.start))
		return;
	if (p->nr_mappings == PROCMAP_MAX_OWN) {
		p->is_cut = true;
		return;
	}
	put_mapping(out, &l);
	p->nr_mappings++;
}

/* Line by line, because the process decides how long the whole file is. */
static int read_maps(pid_t tgid, struct found_process *p, struct buf *out)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tgid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0)
		take_line(line, p, out);
	err = ferror(f) ? -EIO : 0;
	free(line);
	fclose(f);
	return err;
}

static int read_comm(pid_t tgid, char comm[PROCMAP_COMM_SIZE])
{
	struct buf name = { 0 };
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tgid);
	err = file_read_all(AT_FDCWD, path, 4096, &name);
	if (!err)
		snprintf(comm, PROCMAP_COMM_SIZE, "%.*s",
			 (int)strcspn(buf_str(&name), "\n"), buf_str(&name));
	buf_fini(&name);
	return err;
}

static int find_mappings(struct timed_child_job *job)
{
	const pid_t tgid = *(const pid_t *)job->question;
	struct found_process p = { 0 };
	int err = read_comm(tgid, p.comm);

	buf_put(&job->answer, &p, sizeof(p));
	if (!err)
		err = read_maps(tgid, &p, &job->answer);
	if (!err && !job->answer.err)
		memcpy(job->answer.data, &p, sizeof(p));
	return err;
}

static int find_name(struct timed_child_job *job)
{
	char comm[PROCMAP_COMM_SIZE] = "";
	int err = read_comm(*(const pid_t *)job->question, comm);

	buf_put(&job->answer, comm, sizeof(comm));
	return err;
}

static int find_secret(struct timed_child_job *job)
{
	struct found_process p = { 0 };
	int err = read_maps(*(const pid_t *)job->question, &p, NULL);

	buf_put(&job->answer, &p.has_secret, sizeof(p.has_secret));
	return err;
}

/* ---- in the daemon ---- */

/* Adds one executable mapping to the ranges that were found. */
static int add_mapping(struct rangemap *found, struct images *im,
		       const struct found_mapping *m, const char *name)
{
	const struct image_source source = { .device = m->device, .inode = m->inode };
	struct known_image *image = images_get(im, name, &source);
	struct range r = { .start = m->start,
			   .end = m->end,
			   .bias = m->bias,
			   .since = PROCMAP_ALWAYS,
			   .value = image };

	if (!image)
		return -ENOMEM;
	if (!strcmp(name, "[vdso]") || image->unknown != SAMPLE_KEPT)
		r.bias = -r.start; /* offsets count from the mapping itself, as there is
				      no file */
	return rangemap_insert(found, &r, NULL, NULL);
}

static int take_mappings(const struct buf *answer, struct images *im,
			 struct found_process *p, struct rangemap *found)
{
	size_t at = sizeof(*p);
	int err = 0;

	if (answer->len < at)
		return -CPI_ECORRUPT;
	memcpy(p, answer->data, sizeof(*p));
	for (uint32_t i = 0; !err && i < p->nr_mappings; i++) {
		struct found_mapping m;
		const char *name;

		if (answer->len - at < sizeof(m))
			return -CPI_ECORRUPT;
		memcpy(&m, answer->data + at, sizeof(m));
		at += sizeof(m);
		name = answer->data + at;
		if (!m.name_size || answer->len - at < m.name_size ||
		    name[m.name_size - 1])
			return -CPI_ECORRUPT;
		at += m.name_size;
		err = add_mapping(found, im, &m, name);
	}
	return err ? err : p->is_cut ? -EFBIG : 0;
}

static int read_process(struct images *im, pid_t tgid, unsigned int patience_ms,
			char comm[PROCMAP_COMM_SIZE], struct rangemap *found)
{
	const struct timed_child_question q = { .fn = find_mappings,
						.data = &tgid,
						.size = sizeof(tgid),
						.tgid = tgid,
						.patience_ms = patience_ms };
	struct found_process p;
	struct buf answer = { 0 };
	int err = timed_child_ask(images_timed_child(im), &q, &answer);

	if (!err)
		err = take_mappings(&answer, im, &p, found);
	if (!err)
		memcpy(comm, p.comm, PROCMAP_COMM_SIZE);
	buf_fini(&answer);
	return err;
}

int procscan_read(struct images *im, pid_t tgid, char comm[PROCMAP_COMM_SIZE],
		  struct rangemap *found)
{
	return read_process(im, tgid, TIMED_CHILD_PATIENCE_MS, comm, found);
}

int procscan_secret(struct timed_child *a, pid_t tgid, pid_t parent, bool *has_secret)
{
	const struct timed_child_question q = { .fn = find_secret,
						.data = &tgid,
						.size = sizeof(tgid),
						.tgid = tgid,
						.parent = parent };

	return timed_child_ask_for(a, &q, has_secret, sizeof(*has_secret));
}

static bool is_gone(int err)
{
	return err == -ENOENT || err == -ESRCH;
}

static int scan_one(struct procmap *pm, struct images *im, pid_t tgid,
		    unsigned int patience_ms)
{
	char comm[PROCMAP_COMM_SIZE];
	struct rangemap found = { 0 };
	uint64_t when = time_mono_ns();
	int err = read_process(im, tgid, patience_ms, comm, &found);

	if (!err)
		procmap_verify(pm, tgid, comm, &found, when);
	else if (!is_gone(err) && err != -EACCES && err != -EPERM)
		procmap_give_up(pm, tgid, when);
	rangemap_fini(&found);
	return err;
}

int procscan_one(struct procmap *pm, struct images *im, pid_t tgid)
{
	return scan_one(pm, im, tgid, TIMED_CHILD_PATIENCE_MS);
}

int procscan_target(struct procmap *pm, struct images *im, pid_t tgid)
{
	return scan_one(pm, im, tgid, TARGET_PATIENCE_MS);
}

static void note_denied(struct images *im, struct procscan_result *out, pid_t tgid)
{
	const struct timed_child_question q = {
		.fn = find_name, .data = &tgid, .size = sizeof(tgid), .tgid = tgid
	};

	if (out->nr_denied++)
		return;
	out->denied = tgid;
	if (timed_child_ask_for(images_timed_child(im), &q, out->denied_comm,
				sizeof(out->denied_comm)))
		out->denied_comm[0] = '\0';
}

int procscan_all(struct procmap *pm, struct images *im, struct procscan_result *out)
{
	struct dirent *d;
	DIR *dir;

	*out = (struct procscan_result){ 0 };
	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		char *end;
		long tgid = strtol(d->d_name, &end, 10);
		int err;

		if (*end || tgid <= 0)
			continue;
		err = scan_one(pm, im, (pid_t)tgid, SCAN_PATIENCE_MS);
		if (err == -EACCES || err == -EPERM)
			note_denied(im, out, (pid_t)tgid);
		else if (err && !is_gone(err))
			out->nr_no_answer++;
	}
	closedir(dir);
	return 0;
}
