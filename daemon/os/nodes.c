/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nodes.c - which CPUs share memory that is near to them
 *
 * A node's folder has a link cpuN for each present CPU. Its file cpulist has only
 * online CPUs, so it would miss those that come online later.
 */
#include "config.h"

#include "daemon/os/nodes.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define NO_NODE UINT16_MAX

/* The number behind prefix in name, below limit; or -1. */
static int number_of(const char *name, const char *prefix, int limit)
{
	size_t len = strlen(prefix);
	char *end;
	long n;

	if (strncmp(name, prefix, len) || name[len] < '0' || name[len] > '9')
		return -1;
	n = strtol(name + len, &end, 10);
	return *end || n >= limit ? -1 : (int)n;
}

/* Only of nodes that are online is there memory to be had. */
static int read_online(int dirfd, struct cpus *out)
{
	struct buf text = { 0 };
	int err = file_read_all(dirfd, "online", 65536, &text);

	if (!err)
		err = cpus_parse(buf_str(&text), out);
	buf_fini(&text);
	return err;
}

/* Adds the node, if it has CPUs that no other has. */
static void read_node(int dirfd, int id, int nr_cpus, struct nodes *out)
{
	char name[32];
	struct dirent *d;
	bool any = false;
	DIR *dir;
	int fd;

	snprintf(name, sizeof(name), "node%d", id);
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		int cpu = number_of(d->d_name, "cpu", nr_cpus);

		if (cpu < 0 || out->cpu[cpu].node != NO_NODE)
			continue;
		out->cpu[cpu].node = out->nr;
		any = true;
	}
	closedir(dir);
	if (any)
		out->id[out->nr++] = id;
}

static void read_nodes(const char *dir, int nr_cpus, struct nodes *out)
{
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cpus online = { .highest = -1 };

	if (dirfd < 0)
		return;
	if (!read_online(dirfd, &online))
		for (int id = 0; id <= online.highest && out->nr < NODES_MAX; id++)
			if (online.online[id])
				read_node(dirfd, id, nr_cpus, out);
	close(dirfd);
}

void nodes_read(const char *dir, int nr_cpus, struct nodes *out)
{
	memset(out, 0, sizeof(*out));
	for (int i = 0; i < nr_cpus; i++)
		out->cpu[i].node = NO_NODE;
	read_nodes(dir, nr_cpus, out);
	if (!out->nr)
		out->id[out->nr++] = -1;
	for (int i = 0; i < nr_cpus; i++) {
		if (out->cpu[i].node == NO_NODE)
			out->cpu[i].node = 0;
		out->cpu[i].slot = out->nr_cpus[out->cpu[i].node]++;
	}
}
