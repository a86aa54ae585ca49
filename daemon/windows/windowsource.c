/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/windows/windowsource.h"

#define RING_PER_CPU (256u << 10)
#define RING_MAX     (4u << 20)
#define SLOT_BYTES   (sizeof(struct cpi_code_page) + sizeof(struct cpi_code_bytes))
#define MIN_SLOTS    64
#define MAX_SLOTS    ((1u << (32 - CPI_UOP_INDEX_BITS)) - 1) /* cpi_uop_ip() */

uint32_t windowsource_ring_bytes(uint32_t nr_cpus)
{
	uint32_t bytes = RING_PER_CPU;

	while (bytes < RING_MAX && bytes < RING_PER_CPU * (uint64_t)nr_cpus)
		bytes *= 2;
	return bytes;
}

uint32_t windowsource_nr_slots(const struct windowsource_config *cfg, uint64_t others)
{
	const uint64_t tables =
		(uint64_t)cfg->nr_entries * sizeof(struct cpi_window_entry) +
		CPI_WINDOW_PROCESSES * sizeof(struct cpi_window_process) + others;
	const uint64_t left =
		cfg->max_bytes > tables ? (cfg->max_bytes - tables) / SLOT_BYTES : 0;

	if (left > MAX_SLOTS)
		return MAX_SLOTS;
	return left > MIN_SLOTS ? (uint32_t)left : MIN_SLOTS;
}
