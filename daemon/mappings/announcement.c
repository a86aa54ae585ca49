/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announcement.c - parses a datagram without trusting any size in it
 *
 * Records are copied before they are read, because the datagram need not be aligned. A
 * record that is not sound ends the parsing: it does not say where the next one begins.
 */
#include "config.h"

#include "daemon/mappings/announcement.h"

#include <errno.h>
#include <string.h>

int announcements_open(const void *data, size_t size, struct announcements *out)
{
	struct cpi_announce_head head;

	if (size < sizeof(head) || size > CPI_ANNOUNCE_MAX)
		return -EBADMSG;
	memcpy(&head, data, sizeof(head));
	if (head.magic != CPI_ANNOUNCE_MAGIC || head.version != CPI_ANNOUNCE_VERSION)
		return -EBADMSG;
	*out = (struct announcements){
		.at = (const char *)data + sizeof(head),
		.left = size - sizeof(head),
		.is_begin = head.flags & CPI_ANNOUNCE_BEGIN,
	};
	return 0;
}

/* Whether the parts of the record fit into the record. */
static bool is_sound(const struct cpi_announce_record *r, size_t left)
{
	size_t parts = sizeof(*r) +
		       r->nr_segments * sizeof(struct cpi_announce_segment) +
		       r->build_id_size + r->path_size;

	return r->size <= left && !(r->size % sizeof(uint64_t)) && parts <= r->size &&
	       r->nr_segments > 0 && r->nr_segments <= CPI_ANNOUNCE_MAX_SEGMENTS &&
	       r->build_id_size <= CPI_ANNOUNCE_MAX_BUILD_ID &&
	       r->path_size <= CPI_ANNOUNCE_MAX_PATH &&
	       (r->what == CPI_ANNOUNCE_LOADED || r->what == CPI_ANNOUNCE_UNLOADED);
}

/* Whether every segment has bytes, and addresses below 2^64. */
static bool has_sound_segments(const struct announcement *s)
{
	for (int i = 0; i < s->nr_segments; i++) {
		const struct cpi_announce_segment *g = &s->segments[i];
		const uint64_t size = g->size;

		if (!size || g->vaddr > UINT64_MAX - size ||
		    s->base > UINT64_MAX - g->vaddr - size)
			return false;
	}
	return true;
}

int announcements_next(struct announcements *s, struct announcement *out)
{
	struct cpi_announce_record record;
	struct announcement next;
	const char *at = s->at + sizeof(record);
	size_t segments_size;

	if (!s->left)
		return 0;
	if (s->left < sizeof(record))
		return -EBADMSG;
	memcpy(&record, s->at, sizeof(record));
	if (!is_sound(&record, s->left))
		return -EBADMSG;
	next = (struct announcement){
		.what = record.what,
		.base = record.base,
		.nr_segments = record.nr_segments,
		.build_id_size = record.build_id_size,
		.path_size = record.path_size,
	};
	segments_size = record.nr_segments * sizeof(next.segments[0]);
	memcpy(next.segments, at, segments_size);
	next.build_id = (const uint8_t *)at + segments_size;
	next.path = at + segments_size + record.build_id_size;
	if (!has_sound_segments(&next))
		return -EBADMSG;
	*out = next;
	s->at += record.size;
	s->left -= record.size;
	return 1;
}
