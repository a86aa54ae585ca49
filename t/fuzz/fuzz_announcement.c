/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_announcement.c - of any datagram announcements are read that lie inside of it
 */
#include "config.h"

#include "daemon/mappings/announcement.h"
#include "t/fuzz/fuzz.h"

static void look_at(const struct announcement *st, const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;

	fuzz_check(st->nr_segments > 0 && st->nr_segments <= CPI_ANNOUNCE_MAX_SEGMENTS);
	for (int i = 0; i < st->nr_segments; i++)
		fuzz_check(st->base + st->segments[i].vaddr >= st->base &&
			   st->segments[i].size);
	fuzz_check(st->build_id >= data &&
		   st->build_id_size <= (size_t)(end - st->build_id));
	fuzz_check((const uint8_t *)st->path >= data &&
		   st->path_size <= (size_t)(end - (const uint8_t *)st->path));
	fuzz_check(st->build_id_size <= CPI_ANNOUNCE_MAX_BUILD_ID &&
		   st->path_size <= CPI_ANNOUNCE_MAX_PATH);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct announcements all;
	struct announcement st;
	size_t nr = 0;

	if (announcements_open(data, size, &all))
		return 0;
	while (announcements_next(&all, &st) > 0) {
		look_at(&st, data, size);
		fuzz_check(++nr <= size / sizeof(struct cpi_announce_record));
	}
	return 0;
}
