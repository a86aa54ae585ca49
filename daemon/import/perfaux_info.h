/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux_info.h - what a recording says of the processors that wrote AUX data
 */
#ifndef CPI_DAEMON_PERFAUX_INFO_H
#define CPI_DAEMON_PERFAUX_INFO_H

#include "daemon/import/perfdata.h"

struct perfaux_cpu {
	uint32_t number;
	uint64_t midr;
};

/* Starts as { 0 }. */
struct perfaux_info {
	bool is_spe;
	uint64_t midr;           /* of CPUs that are not told of; 0: not known */
	struct perfaux_cpu *cpu; /* of machines with several kinds */
	size_t nr_cpus;
};

/* cpuid is the header's, or NULL. 0 or -ENOMEM. */
int perfaux_info_read(const struct perf_aux_info *r, const char *cpuid,
		      struct perfaux_info *out);
void perfaux_info_fini(struct perfaux_info *info);

/* MIDR_EL1 of a CPU, or of any; 0: not known. */
uint64_t perfaux_info_midr(const struct perfaux_info *info, uint32_t cpu);

#endif
