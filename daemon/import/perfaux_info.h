/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux_info.h - the processors that wrote the AUX data of a recording
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
	uint64_t midr;           /* of all CPUs, if cpu is empty; 0: not known */
	struct perfaux_cpu *cpu; /* for machines with several kinds of CPU */
	size_t nr_cpus;
};

/* Reads the record. cpuid is from the header, or NULL. Returns 0 or -ENOMEM. */
int perfaux_info_read(const struct perf_aux_info *r, const char *cpuid,
		      struct perfaux_info *out);
void perfaux_info_fini(struct perfaux_info *info);

/*
 * MIDR_EL1 of the CPU; if it is not listed, that of the first listed CPU, or else of
 * all CPUs. 0: not known.
 */
uint64_t perfaux_info_midr(const struct perfaux_info *info, uint32_t cpu);

#endif
