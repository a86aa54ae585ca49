/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu.h - reads sysfs's description of a performance monitoring unit
 *
 * Each PMU has a folder below SYSFS/bus/event_source/devices. It contains the type for
 * perf_event_attr, the config bits of each term (format/), named events (events/), and
 * the hardware's capabilities (caps/).
 */
#ifndef CPI_DAEMON_PMU_H
#define CPI_DAEMON_PMU_H

#include <stdint.h>

#define PMU_SYSFS   "/sys"
#define PMU_CONFIGS 3 /* config, config1, config2 */

struct pmu {
	char path[256];
	uint32_t type;
};

/*
 * Finds the PMU with this name, or else NAME_N with the smallest N. Returns 0, -ENOENT,
 * -EBADMSG if its type is not a number, or another -errno.
 */
int pmu_find(const char *sysfs, const char *name, struct pmu *out);

/*
 * Sets the bits of a term in config. Returns 0, -ENOENT (no such term), -ERANGE (value
 * has more bits than the term), -EBADMSG (the format cannot be parsed), or another
 * -errno.
 */
int pmu_set_term(const struct pmu *p, const char *term, uint64_t value,
		 uint64_t config[PMU_CONFIGS]);

/*
 * Sets all of "TERM=N,TERM,EVENT,…" in config. A term without a value is 1; an event
 * stands for the terms in its file in events/. Returns the same errors, and -EINVAL if
 * terms has another form.
 */
int pmu_set_terms(const struct pmu *p, const char *terms, uint64_t config[PMU_CONFIGS]);

/* Reads a number from caps/; returns fallback if it is not there. */
uint64_t pmu_cap(const struct pmu *p, const char *name, uint64_t fallback);

#endif
