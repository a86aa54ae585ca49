/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsource.c - the common part of the kernel sides of windows
 */
#include "config.h"

#include "daemon/windows/windowsource.h"

#define RING_PER_CPU (256u << 10)
#define RING_MAX     (4u << 20)
#define WITH_ORIGINS 2 /* so many times the room: half a KiB is a usual origin */
#define MIN_CELLS    (1u << 17)
#define MAX_CELLS    (1u << 31)
#define FORMS_SHARE  5 /* of all memory */
#define USUAL_BYTES  (24u << 20)
#define WITH_FORMS   (16u << 20) /* the same: fewer pages are enough ... */
#define SMALL_RINGS  (2u << 20)  /* ... beside rings that are not larger */
#define MAX_FORMS    (1u << 20)

uint32_t windowsource_ring_bytes(uint32_t nr_cpus, bool with_origins)
{
	uint32_t bytes = RING_PER_CPU;

	while (bytes < RING_MAX && bytes < RING_PER_CPU * (uint64_t)nr_cpus)
		bytes *= 2;
	return with_origins ? WITH_ORIGINS * bytes : bytes;
}

void windowsource_size_forms(struct windowsource *ws, uint64_t rings)
{
	uint64_t bytes;

	if (!ws->cfg.max_bytes)
		ws->cfg.max_bytes = rings <= SMALL_RINGS ? WITH_FORMS : USUAL_BYTES;
	bytes = ws->cfg.max_bytes / FORMS_SHARE;
	ws->nr_forms = CPI_FORM_WAYS;
	while (ws->nr_forms < MAX_FORMS &&
	       2 * ws->nr_forms * sizeof(struct cpi_form) <= bytes)
		ws->nr_forms *= 2;
	ws->nr_form_cells = (uint32_t)(ws->nr_forms * sizeof(struct cpi_form) /
				       sizeof(union cpi_code_cell));
}

uint32_t windowsource_nr_cells(const struct windowsource_config *cfg, uint64_t others)
{
	const uint64_t tables =
		(uint64_t)cfg->nr_entries * sizeof(struct cpi_window_entry) +
		CPI_WINDOW_PROCESSES * sizeof(struct cpi_window_process) + others;
	const uint64_t bytes = cfg->max_bytes ? cfg->max_bytes : USUAL_BYTES;
	const uint64_t left =
		bytes > tables ? (bytes - tables) / sizeof(union cpi_code_cell) : 0;

	if (left > MAX_CELLS)
		return MAX_CELLS;
	return left > MIN_CELLS ? (uint32_t)left : MIN_CELLS;
}
