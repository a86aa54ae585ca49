/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading another process's mappings takes time in proportion to their number, which
 * is that process's choice, and holds up its own mmap(). So it is not done where the
 * process map says the same, as it does but for the moments when mapping records were
 * lost; and each process has a time quota of our time.
 *
 * A build id is compared where the file was read already, on behalf of a sample. It
 * is never what an image is known by: anybody can put any build id anywhere.
 */
#include "config.h"

#include "daemon/mappings/announced.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/mappings/announcement.h"
#include "daemon/mappings/procscan.h"

static const struct time_quota_limit limit = { 5, 50 * NSEC_PER_MSEC };

const char *announced_fate_name(enum announced_fate fate)
{
	static const char *const names[] = {
#define ANNOUNCED_FATE_NAME(name, text) [ANNOUNCED_##name] = (text),
		ANNOUNCED_FATES(ANNOUNCED_FATE_NAME)
#undef ANNOUNCED_FATE_NAME
	};

	return names[fate];
}

/* One datagram, while it is looked at. */
struct hearing {
	struct announced *announced;
	const struct announced_source *from;
	bool is_begin;
	bool is_read; /* unless it is gone, comm and found are what /proc says */
	bool is_verified;
	bool is_gone;
	char comm[PROCMAP_COMM_SIZE];
	struct rangemap found;
};

static bool is_at(const struct range *r, uint64_t address, uint64_t offset)
{
	const struct known_image *image = r ? r->value : NULL;

	return image && image->unknown == SAMPLE_KEPT && address + r->bias == offset;
}

static uint64_t segment_address(const struct announcement *st, int segment)
{
	return st->base + st->segments[segment].vaddr;
}

/* The live mapping that the process map has of a segment, or NULL. */
static const struct range *live(const struct hearing *h, const struct announcement *st,
				int segment)
{
	uint64_t address = segment_address(st, segment);
	const struct range *r =
		procmap_live(h->announced->procmap, h->from->tgid, address);

	return is_at(r, address, st->segments[segment].offset) ? r : NULL;
}

/* The same in what /proc says. */
static const struct range *mapped(const struct hearing *h,
				  const struct announcement *st, int segment)
{
	uint64_t address = segment_address(st, segment);
	const struct range *r = rangemap_find(&h->found, address);

	return is_at(r, address, st->segments[segment].offset) ? r : NULL;
}

static int nr_live(const struct hearing *h, const struct announcement *st)
{
	int nr = 0;

	for (int i = 0; i < st->nr_segments; i++)
		nr += live(h, st, i) != NULL;
	return nr;
}

/* Reads /proc once for all announcements of the datagram. TAKEN, or GONE. */
static enum announced_fate look_up_process(struct hearing *h)
{
	if (!h->is_read)
		h->is_gone = procscan_read(h->announced->images, (pid_t)h->from->tgid,
					   h->comm, &h->found) != 0;
	h->is_read = true;
	return h->is_gone ? ANNOUNCED_GONE : ANNOUNCED_TAKEN;
}

static bool has_other_build_id(const struct range *r, const struct announcement *st)
{
	const struct known_image *image = r->value;
	const struct image_desc *d = &image->desc;

	return image_is_resolved(image) && d->build_id_size && st->build_id_size &&
	       (d->build_id_size != st->build_id_size ||
		memcmp(d->build_id, st->build_id, st->build_id_size));
}

/* Whether what is stated is what /proc says. */
static enum announced_fate check(const struct hearing *h, const struct announcement *st)
{
	for (int i = 0; i < st->nr_segments; i++) {
		const struct range *r = mapped(h, st, i);

		if (!r)
			return ANNOUNCED_NOT_MAPPED;
		if (has_other_build_id(r, st))
			return ANNOUNCED_BUILD_ID;
	}
	return ANNOUNCED_TAKEN;
}

/*
 * Of a program that has just begun all is new, and what the process map may have of
 * the one before is not to stay.
 */
static void enter_announcement(struct hearing *h, const struct announcement *st,
			       bool is_new)
{
	struct procmap *pm = h->announced->procmap;

	if (is_new) {
		if (!h->is_verified)
			procmap_verify(pm, h->from->tgid, h->comm, &h->found,
				       h->from->when_ns);
		h->is_verified = true;
		return;
	}
	for (int i = 0; i < st->nr_segments; i++) {
		struct range r = *mapped(h, st, i);

		r.since = h->from->when_ns;
		procmap_map(pm, h->from->tgid, &r);
	}
}

static enum announced_fate take_loaded(struct hearing *h, const struct announcement *st,
				       const struct process *p)
{
	enum announced_fate fate;

	if (!h->from->in_gap && nr_live(h, st) == st->nr_segments)
		return ANNOUNCED_KNOWN;
	fate = look_up_process(h);
	if (fate == ANNOUNCED_TAKEN)
		fate = check(h, st);
	if (fate == ANNOUNCED_TAKEN)
		enter_announcement(h, st, !p || h->is_begin);
	return fate;
}

/*
 * The kernel has no record of an munmap(): without this a program that loads one thing
 * after the other would fill the process map.
 */
static enum announced_fate take_unloaded(struct hearing *h,
					 const struct announcement *st)
{
	enum announced_fate fate;

	if (!nr_live(h, st))
		return ANNOUNCED_KNOWN;
	fate = look_up_process(h);
	if (fate != ANNOUNCED_TAKEN)
		return fate;
	for (int i = 0; i < st->nr_segments; i++) {
		if (mapped(h, st, i))
			return ANNOUNCED_STILL_MAPPED;
	}
	for (int i = 0; i < st->nr_segments; i++) {
		const struct range *r = live(h, st, i);

		if (r)
			procmap_unmap(h->announced->procmap, h->from->tgid, r->start,
				      r->end, h->from->when_ns);
	}
	return ANNOUNCED_TAKEN;
}

static enum announced_fate hear(struct hearing *h, const struct announcement *st)
{
	const struct process *p =
		procmap_find(h->announced->procmap, h->from->tgid, 0, UINT64_MAX);

	if (p && p->start_ns > h->from->when_ns)
		return ANNOUNCED_STALE;
	if (st->what == CPI_ANNOUNCE_LOADED)
		return take_loaded(h, st, p);
	return take_unloaded(h, st);
}

static void note(struct hearing *h, const struct announcement *st,
		 enum announced_fate fate)
{
	h->announced->nr[fate]++;
	if (fate >= ANNOUNCED_REFUSED)
		log_debug("statement: pid %u, %.*s at %#llx: refused: %s",
			  h->from->tgid, (int)st->path_size, st->path,
			  (unsigned long long)st->base, announced_fate_name(fate));
}

static void take_announcement(struct announced *s, const struct announced_source *from,
			      const void *data, size_t size)
{
	struct hearing h = { .announced = s, .from = from };
	struct announcements announcements;
	struct announcement st;
	int more = announcements_open(data, size, &announcements);

	if (!more) {
		h.is_begin = announcements.is_begin;
		while ((more = announcements_next(&announcements, &st)) > 0)
			note(&h, &st, hear(&h, &st));
	}
	if (more)
		s->nr[ANNOUNCED_MALFORMED]++;
	rangemap_fini(&h.found);
}

void announced_take(struct announced *s, const struct announced_source *from,
		    const void *data, size_t size)
{
	struct time_quota *own = &s->by_process[hash_u64(from->tgid) % ANNOUNCED_SLOTS];
	uint64_t begun_ns = time_mono_ns();

	if (!time_quota_has(own, &limit, begun_ns)) {
		s->nr[ANNOUNCED_RATE]++;
		return;
	}
	take_announcement(s, from, data, size);
	time_quota_spend(own, time_mono_ns() - begun_ns);
}
