/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"

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

/* The clock rate at which cycles are converted: the highest that is announced. */
static uint64_t read_clock_hz(const char *cpuinfo)
{
	static const char *const khz_file[] = {
		"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
	};
	char text[64];

	for (size_t i = 0; i < sizeof(khz_file) / sizeof(khz_file[0]); i++) {
		read_line(khz_file[i], text, sizeof(text));
		if (strtoull(text, NULL, 10))
			return strtoull(text, NULL, 10) * 1000;
	}
	find_cpuinfo(cpuinfo, "cpu MHz", text, sizeof(text));
	return (uint64_t)(strtod(text, NULL) * 1e6);
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
	find_cpuinfo(buf_str(&cpuinfo), "model name", p->cpu, sizeof(p->cpu));
	if (!p->cpu[0])
		find_cpuinfo(buf_str(&cpuinfo), "CPU part", p->cpu, sizeof(p->cpu));
	p->desc = (struct platform_desc){
		.host = p->host,
		.arch = p->arch,
		.cpu = p->cpu,
		.release = p->release,
		.boot_id = p->boot_id,
		.clock_hz = read_clock_hz(buf_str(&cpuinfo)),
		.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN),
	};
	buf_fini(&cpuinfo);
}
