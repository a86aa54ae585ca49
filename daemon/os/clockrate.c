/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * clockrate.c - the clock rate that converts cycles to time
 *
 * The announced rate is often the lowest or the highest of many rates. In a
 * virtual machine it may be the rate of another host. So it is measured: with a
 * cycle counter, else by the time that a row of dependent additions takes, one
 * cycle each. Clocks speed up under load, and other threads take the CPU away. So
 * the rate is measured many times for a short time; the highest value counts once
 * several measurements agree with it.
 */
#include "config.h"

#include "daemon/os/clockrate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/os/arch.h"
#include "daemon/os/perfev.h"

#define COUNT_NS   (2 * NSEC_PER_MSEC)
#define ROUND_HZ   50000000 /* boots should agree on what they measure */
#define ADD_ROUNDS 50000    /* some 0.3 ms: a time slice has room for it */
#define WINDOWS    64       /* at most */
#define AGAIN      6        /* windows, if the rate is known already */
#define AGREEING   4        /* windows, with the highest */
#define AGREE      0.01
#define CREDIBLE   (2.0 / 3) /* of what is announced */

/* The cycles that a busy thread counts, per second that it counted; 0: none. */
static double count_window(int fd)
{
	uint64_t begin = time_mono_ns(), count[2]; /* value, time running */

	if (ioctl(fd, PERF_EVENT_IOC_RESET, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return 0;
	while (time_mono_ns() - begin < COUNT_NS)
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

static double highest(const double *hz, size_t nr)
{
	double best = 0;

	for (size_t i = 0; i < nr; i++) {
		if (hz[i] > best)
			best = hz[i];
	}
	return best;
}

bool clockrate_enough_agree(const double *hz, size_t nr)
{
	const double best = highest(hz, nr);
	size_t agreeing = 0;

	for (size_t i = 0; i < nr; i++)
		agreeing += hz[i] >= best * (1 - AGREE);
	return best > 0 && agreeing >= AGREEING;
}

static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
		.disabled = 1,
	};

	return perfev_open(&attr, 0, -1);
}

static double measure(size_t max_windows)
{
	const int fd = open_counter();
	double hz[WINDOWS];
	size_t nr = 0;

	while (nr < max_windows && !clockrate_enough_agree(hz, nr)) {
		hz[nr] = fd >= 0 ? count_window(fd) : 0;
		if (!hz[nr] && arch_native.add_in_turn)
			hz[nr] = add_window();
		if (!hz[nr++])
			break;
	}
	if (fd >= 0)
		close(fd);
	return highest(hz, nr);
}

/* The number at the beginning of a file; 0: there is none. */
static double read_number(const char *path)
{
	struct buf text = { 0 };
	double n = 0;

	if (!file_read_all(AT_FDCWD, path, 64, &text))
		n = strtod(buf_str(&text), NULL);
	buf_fini(&text);
	return n;
}

double clockrate_announced(const char *cpuinfo)
{
	const char *at = strstr(cpuinfo, "cpu MHz");
	double khz = read_number("/sys/devices/system/cpu/cpu0/cpufreq/base_frequency");

	if (khz > 0)
		return khz * 1e3;
	at = at ? strchr(at, ':') : NULL;
	if (at)
		return strtod(at + 1, NULL) * 1e6;
	return read_number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq") *
	       1e3;
}

double clockrate_choose(double measured_hz, double announced_hz)
{
	return measured_hz >= announced_hz * CREDIBLE ? measured_hz : announced_hz;
}

uint64_t clockrate_read(double announced_hz, uint64_t known_hz)
{
	const double hz =
		clockrate_choose(measure(known_hz ? AGAIN : WINDOWS), announced_hz);

	return clockrate_of_boot(known_hz, (uint64_t)(hz / ROUND_HZ + 0.5) * ROUND_HZ);
}

uint64_t clockrate_of_boot(uint64_t known_hz, uint64_t measured_hz)
{
	return (double)measured_hz > (double)known_hz * (1 + CLOCKRATE_SAME)
		       ? measured_hz
		       : known_hz;
}
