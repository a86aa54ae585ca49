/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * geometry.c - caches from sysfs, or those of the CPU's family
 *
 * On x86 the CPU's name contains "(family 25, model 1)" (daemon/os/platform.c). The
 * sysfs of a virtual machine may show a cache that other machines share. More than
 * MOST_OF_CPU of the third level for each CPU is taken for such a cache, and the
 * family's size is used. (A few models with stacked caches do have more.)
 *
 * Cycles are those of an idle machine. In Intel's servers a mesh connects the cores
 * with the third level. Measured with a chain of loads on an Emerald Rapids of 2.9 GHz,
 * in a virtual machine that others kept busy: 12 cycles more for the second level than
 * for the first, 360 for the third, 370 for memory, and up to 460 for a walk.
 */
#include "config.h"

#include "report/explain/geometry.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

#define LINES(kib)  ((kib)*1024.0 / (1 << ACCESSES_LINE_BITS))
#define MAX_CACHES  16
#define MAX_FILE    4096
#define CPU0_CACHES "/sys/devices/system/cpu/cpu0/cache"

#define MOST_OF_CPU (8 << 10) /* KiB of the third level */
#define CORES                        \
	{ 20, 60, 320, 10, 30 },     \
	{                            \
		20, 60, 920, 10, 990 \
	}
#define MESH                          \
	{ 20, 200, 320, 10, 30 },     \
	{                             \
		20, 600, 920, 10, 990 \
	}

static const struct {
	const char *name; /* a part of the CPU's name; the last one is for all others */
	struct data_geometry geometry;
} families[] = {
	{ "family 26,", { { LINES(48), LINES(1024), LINES(32768), 96, 4096 }, CORES } },
	{ "family 25,", { { LINES(32), LINES(512), LINES(32768), 64, 2048 }, CORES } },
	{ "family 23,", { { LINES(32), LINES(512), LINES(16384), 64, 2048 }, CORES } },
	{ "family 6,", { { LINES(48), LINES(2048), LINES(32768), 64, 2048 }, MESH } },
	{ "", { { LINES(32), LINES(1024), LINES(32768), 48, 1280 }, MESH } },
};

/* Reads a small file without the newline at its end. */
static bool read_file(const char *folder, int index, const char *name, char *out,
		      size_t size)
{
	struct buf text = { 0 };
	char path[MAX_FILE];
	bool done;

	snprintf(path, sizeof(path), "%s/index%d/%s", folder, index, name);
	done = !file_read_all(AT_FDCWD, path, MAX_FILE, &text);
	snprintf(out, size, "%.*s", (int)strcspn(buf_str(&text), "\n"), buf_str(&text));
	buf_fini(&text);
	return done && *out;
}

/* The CPUs of a list such as 0-3,8. At least 1. */
static unsigned long count_cpus(const char *list)
{
	unsigned long nr = 0, first, last;
	char *end;

	for (const char *at = list; *at; at = *end == ',' ? end + 1 : "") {
		first = last = strtoul(at, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		nr += last - first + 1;
	}
	return nr ? nr : 1;
}

/* Whether CPUs that this machine does not see use the cache, too. */
static bool is_shared(const char *folder, int index, unsigned long kib)
{
	char list[MAX_FILE];

	return read_file(folder, index, "shared_cpu_list", list, sizeof(list)) &&
	       kib / MOST_OF_CPU > count_cpus(list);
}

void geometry_read(const char *folder, struct data_geometry *g)
{
	for (int i = 0; i < MAX_CACHES; i++) {
		char level[16], type[16], size[16], *end;
		unsigned long kib, at;

		if (!read_file(folder, i, "level", level, sizeof(level)) ||
		    !read_file(folder, i, "type", type, sizeof(type)) ||
		    !read_file(folder, i, "size", size, sizeof(size)))
			continue;
		at = strtoul(level, NULL, 10);
		kib = strtoul(size, &end, 10);
		if (at < 1 || at > 3 || *end != 'K' || !kib || kib > 1 << 24 ||
		    !strcmp(type, "Instruction") ||
		    (at == 3 && is_shared(folder, i, kib)))
			continue;
		g->entries[DATA_L1 + at - 1] = LINES((double)kib);
	}
}

static bool is_this_boot(const char *boot_id)
{
	struct buf text = { 0 };
	const size_t len = strlen(boot_id);
	bool same;

	same = !file_read_all(AT_FDCWD, "/proc/sys/kernel/random/boot_id", MAX_FILE,
			      &text) &&
	       len && !strncmp(buf_str(&text), boot_id, len) &&
	       (text.len == len || buf_str(&text)[len] == '\n');
	buf_fini(&text);
	return same;
}

void geometry_find(const char *cpu, const char *boot_id, struct data_geometry *out)
{
	size_t i = 0;

	while (!strstr(cpu, families[i].name))
		i++;
	*out = families[i].geometry;
	if (is_this_boot(boot_id))
		geometry_read(CPU0_CACHES, out);
}
