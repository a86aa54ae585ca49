/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announced.c - checks announcements against /proc/PID/maps
 *
 * A read of another process's mappings takes time in proportion to their number, which
 * that process chooses, and it holds up that process's mmap(). So there is no read if
 * the process map already says the same, which is so unless mapping records were lost.
 * And each process has a time quota.
 *
 * A build id is compared only if the file was already read for the sake of a sample. No
 * image is identified by an announced build id, because any process may announce any.
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

/* The state while one datagram is checked. */
struct hearing {
	struct announced *announced;
	const struct announced_source *from;
	bool is_begin;
	bool is_read; /* /proc was asked; if not is_gone, comm and found are its answer
		       */
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

/* The segment's live mapping in the process map, or NULL. */
static const struct range *live(const struct hearing *h, const struct announcement *st,
				int segment)
{
	uint64_t address = segment_address(st, segment);
	const struct range *r =
		procmap_live(h->announced->procmap, h->from->tgid, address);

	return is_at(r, address, st->segments[segment].offset) ? r : NULL;
}

/* The segment's mapping in the answer of /proc, or NULL. */
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

/* Reads /proc, once for all announcements of the datagram. Returns TAKEN or GONE. */
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

/* Compares an announcement with the answer of /proc. */
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
 * Enters what was announced. If the program has just begun, all mappings are entered
 * and replace those of the program before it.
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
 * The kernel writes no record of an munmap(). So without this, a program that loads one
 * library after another would fill the process map.
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
