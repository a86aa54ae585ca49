/* SPDX-License-Identifier: GPL-2.0-or-later */
/* platform.c - the machine that we run on, from uname() and /proc */
#include "config.h"

#include "daemon/os/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/os/clockrate.h"

/* Copies a file's first line. */
static void read_line(const char *path, char *out, size_t size)
{
	struct buf text = { 0 };

	out[0] = '\0';
	if (!file_read_all(AT_FDCWD, path, 65536, &text))
		snprintf(out, size, "%.*s", (int)strcspn(buf_str(&text), "\n"),
			 buf_str(&text));
	buf_fini(&text);
}

/* The value of a "name : value" line of /proc/cpuinfo, "" when there is none. */
static void find_cpuinfo(const char *text, const char *name, char *out, size_t size)
{
	const char *at = strstr(text, name), *end;

	out[0] = '\0';
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return;
	at += 1 + strspn(at + 1, " \t");
	end = at + strcspn(at, "\n");
	snprintf(out, size, "%.*s", (int)(end - at), at);
}

/*
 * The processor's name. On x86 also its family and model, because a hypervisor may
 * give it a name that does not identify it.
 */
static void find_cpu(const char *cpuinfo, char *out, size_t size)
{
	char family[16], model[16];
	size_t used;

	find_cpuinfo(cpuinfo, "model name", out, size);
	if (!out[0])
		find_cpuinfo(cpuinfo, "CPU part", out, size);
	find_cpuinfo(cpuinfo, "cpu family\t", family, sizeof(family));
	find_cpuinfo(cpuinfo, "model\t", model, sizeof(model));
	used = strlen(out);
	if (family[0] && model[0])
		snprintf(out + used, size - used, " (family %s, model %s)", family,
			 model);
}

void platform_read(struct platform *p)
{
	struct buf cpuinfo = { 0 };
	struct utsname uts;

	memset(p, 0, sizeof(*p));
	if (!uname(&uts)) {
		snprintf(p->host, sizeof(p->host), "%s", uts.nodename);
		snprintf(p->arch, sizeof(p->arch), "%s", uts.machine);
		snprintf(p->release, sizeof(p->release), "%s", uts.release);
	}
	read_line("/proc/sys/kernel/random/boot_id", p->boot_id, sizeof(p->boot_id));
	file_read_all(AT_FDCWD, "/proc/cpuinfo", 16 << 20, &cpuinfo);
	find_cpu(buf_str(&cpuinfo), p->cpu, sizeof(p->cpu));
	p->announced_hz = clockrate_announced(buf_str(&cpuinfo));
	p->desc = (struct platform_desc){
		.host = p->host,
		.arch = p->arch,
		.cpu = p->cpu,
		.release = p->release,
		.boot_id = p->boot_id,
		.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN),
	};
	buf_fini(&cpuinfo);
}
