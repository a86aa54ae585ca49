/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/procscan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/times.h"
#include "daemon/kernel.h"

#define MAPS_MAX_BYTES (16u << 20) /* 65,530 mappings with long names */

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

/* Adds one executable mapping to the ranges that were found. */
static int add_line(struct rangemap *found, struct images *im, struct procscan_line *l)
{
	struct known_image *image = images_get(im, l->name, &l->source);

	if (!image)
		return -ENOMEM;
	l->range.value = image;
	l->range.since = PROCMAP_ALWAYS;
	if (!strcmp(l->name, "[vdso]") || image->unknown != SAMPLE_KEPT)
		l->range.bias = -l->range.start; /* there is no file to count in */
	return rangemap_insert(found, &l->range, NULL, NULL);
}

static int scan_maps(const char *text, struct images *im, struct rangemap *found)
{
	char *copy = strdup(text), *line, *rest = copy;
	int err = copy ? 0 : -ENOMEM;

	while (!err && (line = strsep(&rest, "\n"))) {
		struct procscan_line l;

		/* The kernel's own page there is in no mapping record. */
		if (!procscan_parse(line, &l) && !kernel_address(l.range.start))
			err = add_line(found, im, &l);
	}
	free(copy);
	return err;
}

int procscan_read(struct images *im, pid_t tgid, char comm[PROCMAP_COMM_SIZE],
		  struct rangemap *found)
{
	struct buf name = { 0 }, maps = { 0 };
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tgid);
	err = file_read_all(AT_FDCWD, path, 4096, &name);
	if (err)
		goto out;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)tgid);
	err = file_read_all(AT_FDCWD, path, MAPS_MAX_BYTES, &maps);
	if (!err)
		err = scan_maps(buf_str(&maps), im, found);
	if (!err)
		snprintf(comm, PROCMAP_COMM_SIZE, "%.*s",
			 (int)strcspn(buf_str(&name), "\n"), name.data);
out:
	buf_fini(&name);
	buf_fini(&maps);
	return err;
}

int procscan_one(struct procmap *pm, struct images *im, pid_t tgid)
{
	char comm[PROCMAP_COMM_SIZE];
	struct rangemap found = { 0 };
	uint64_t when = time_mono_ns();
	int err = procscan_read(im, tgid, comm, &found);

	if (!err)
		procmap_verify(pm, tgid, comm, &found, when);
	rangemap_fini(&found);
	return err;
}

int procscan_all(struct procmap *pm, struct images *im, int *nr_denied)
{
	struct dirent *d;
	DIR *dir;

	*nr_denied = 0;
	dir = opendir("/proc");
	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		char *end;
		long tgid = strtol(d->d_name, &end, 10);
		int err;

		if (*end || tgid <= 0)
			continue;
		err = procscan_one(pm, im, tgid);
		*nr_denied += err == -EACCES || err == -EPERM;
	}
	closedir(dir);
	return 0;
}
