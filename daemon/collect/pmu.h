/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu.h - a performance monitoring unit, as sysfs describes it
 *
 * Below SYSFS/bus/event_source/devices each has a folder: the type for
 * perf_event_attr, which bits of config each term is (format/), events with a name
 * (events/), and what the hardware can (caps/).
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
 * Finds the one of that name, or else NAME_N with the least N. 0, -ENOENT, -EBADMSG
 * where its type is no number, or -errno.
 */
int pmu_find(const char *sysfs, const char *name, struct pmu *out);

/*
 * Sets a term's bits. 0, -ENOENT (there is no such term), -ERANGE (it has fewer bits),
 * -EBADMSG (the format cannot be read), or -errno.
 */
int pmu_set_term(const struct pmu *p, const char *term, uint64_t value,
		 uint64_t config[PMU_CONFIGS]);

/*
 * Sets "TERM=N,TERM,EVENT,…"; a term without a value is 1, an event is what events/
 * says. The same errors; -EINVAL for what has another form.
 */
int pmu_set_terms(const struct pmu *p, const char *terms, uint64_t config[PMU_CONFIGS]);

/* A number from caps/; fallback where it is not there. */
uint64_t pmu_cap(const struct pmu *p, const char *name, uint64_t fallback);

#endif
