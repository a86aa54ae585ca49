/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux_info.c - the words of PERF_RECORD_AUXTRACE_INFO, as Arm's SPE has them
 *
 * Until perf 6.12 there are two words: the PMU's type, and whether each CPU has a
 * buffer. Later versions begin with a header: version, number of the header's words,
 * type, and number of CPUs. Then each CPU has a mark, its number, and the number of
 * words that follow; the first of these is its MIDR_EL1.
 */
#include "config.h"

#include "daemon/import/perfaux_info.h"

#include <errno.h>
#include <stdlib.h>

#define OLD_WORDS  2
#define CPU_MARK   0x1010101010101010ULL
#define CPU_WORDS  3 /* mark, number, how many follow */
#define HEADER_MIN 4

static void read_cpus(const uint64_t *word, size_t nr, struct perfaux_info *info)
{
	for (size_t at = 0; nr - at > CPU_WORDS && word[at] == CPU_MARK;) {
		const uint64_t more = word[at + 2];

		if (!more || more > nr - at - CPU_WORDS)
			break;
		info->cpu[info->nr_cpus++] =
			(struct perfaux_cpu){ (uint32_t)word[at + 1],
					      word[at + CPU_WORDS] };
		at += CPU_WORDS + more;
	}
}

int perfaux_info_read(const struct perf_aux_info *r, const char *cpuid,
		      struct perfaux_info *out)
{
	struct perfaux_info info = { .is_spe = r->type == PERFDATA_AUX_ARM_SPE };

	if (cpuid)
		info.midr = strtoull(cpuid, NULL, 16);
	if (info.is_spe && r->nr > OLD_WORDS && r->nr >= HEADER_MIN &&
	    r->word[1] >= HEADER_MIN && r->word[1] < r->nr) {
		info.cpu = calloc(r->nr, sizeof(*info.cpu));
		if (!info.cpu)
			return -ENOMEM;
		read_cpus(r->word + r->word[1], r->nr - r->word[1], &info);
	}
	perfaux_info_fini(out);
	*out = info;
	return 0;
}

void perfaux_info_fini(struct perfaux_info *info)
{
	free(info->cpu);
	*info = (struct perfaux_info){ .is_spe = false };
}

uint64_t perfaux_info_midr(const struct perfaux_info *info, uint32_t cpu)
{
	for (size_t i = 0; i < info->nr_cpus; i++) {
		if (info->cpu[i].number == cpu)
			return info->cpu[i].midr;
	}
	return info->nr_cpus ? info->cpu[0].midr : info->midr;
}
