/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/platform.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"
#include "daemon/arch.h"
#include "daemon/perfev.h"

#define MEASURE_NS       (5 * NSEC_PER_MSEC)
#define MEASURE_ROUND_HZ 50000000 /* boots shall agree on what they measure */
#define COUNTS           3
#define ADDS             16
#define ADD_ROUNDS       50000 /* some 0.3 ms: a time slice has room for it */

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
 * The processor's name. On x86 with its family and model, which tell what it is also
 * where a hypervisor gives it a name that does not.
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

/* The cycles that a busy thread counts, per second that it counted; 0: none. */
static double count_window(int fd)
{
	uint64_t begin = time_mono_ns(), count[2]; /* value, time running */

	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	while (time_mono_ns() - begin < MEASURE_NS)
		;
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ||
	    read(fd, count, sizeof(count)) != sizeof(count) || !count[1])
		return 0;
	return (double)count[0] * NSEC_PER_SEC / (double)count[1];
}

/* The cycles that adds in a row take, per second: with no counter. */
static double add_window(void)
{
	uint64_t begin = time_mono_ns();

	arch_native.add_in_turn(ADD_ROUNDS);
	return (double)ADD_ROUNDS * ARCH_ADDS * NSEC_PER_SEC /
	       (double)(time_mono_ns() - begin);
}

static double higher(double a, double b)
{
	return a > b ? a : b;
}

/* The highest of some: clocks speed up under load, and others take the CPU away. */
static uint64_t measure_clock_hz(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
	};
	int fd = perfev_open(&attr, 0, -1);
	double best = 0;

	for (int i = 0; fd >= 0 && i < COUNTS; i++)
		best = higher(best, count_window(fd));
	if (fd >= 0)
		close(fd);
	for (int i = 0; !best && arch_native.add_in_turn && i < ADDS; i++)
		best = higher(best, add_window());
	return (uint64_t)(best / MEASURE_ROUND_HZ + 0.5) * MEASURE_ROUND_HZ;
}

/*
 * The clock rate at which cycles are converted: the one that is measured, for what is
 * announced is often the lowest or the highest of many, in virtual machines of another
 * machine; where there is no way to measure, what is announced.
 */
static uint64_t read_clock_hz(const char *cpuinfo)
{
	static const char *const khz_file[] = {
		"/sys/devices/system/cpu/cpu0/cpufreq/base_frequency",
		"/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq",
	};
	uint64_t hz = measure_clock_hz();
	char text[64];

	for (size_t i = 0; !hz && i < sizeof(khz_file) / sizeof(khz_file[0]); i++) {
		read_line(khz_file[i], text, sizeof(text));
		hz = strtoull(text, NULL, 10) * 1000;
	}
	if (hz)
		return hz;
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
	find_cpu(buf_str(&cpuinfo), p->cpu, sizeof(p->cpu));
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
