/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpus.c - reads which CPUs are online
 *
 * The kernel lists them as in "0-3,5".
 */
#include "config.h"

#include "daemon/os/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Reads a number that ends before stop or one of "-,\n". -1 when there is none. */
static long read_number(const char **pos)
{
	char *end;
	long v;

	if (**pos < '0' || **pos > '9')
		return -1;
	v = strtol(*pos, &end, 10);
	*pos = end;
	return v;
}

int cpus_parse(const char *list, struct cpus *out)
{
	static const struct cpus none = { .highest = -1 };
	struct cpus cpus = none;

	while (*list && *list != '\n') {
		long first = read_number(&list), last = first;

		if (*list == '-') {
			list++;
			last = read_number(&list);
		}
		if (first < 0 || last < first || last >= CPUS_MAX)
			return -EINVAL;
		for (long cpu = first; cpu <= last; cpu++) {
			cpus.nr += !cpus.online[cpu];
			cpus.online[cpu] = true;
		}
		if (last > cpus.highest)
			cpus.highest = last;
		if (*list == ',')
			list++;
		else if (*list && *list != '\n')
			return -EINVAL;
	}
	if (!cpus.nr)
		return -EINVAL;
	*out = cpus;
	return 0;
}

int cpus_online(struct cpus *out)
{
	struct buf text = { 0 };
	int err = file_read_all(AT_FDCWD, CPUS_ONLINE, 65536, &text);

	if (!err)
		err = cpus_parse(buf_str(&text), out);
	buf_fini(&text);
	return err;
}
