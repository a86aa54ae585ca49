/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading another process's mappings takes time in proportion to their number, which
 * is that process's choice, and holds up its own mmap(). So it is not done where the
 * process map says the same, as it does but for the moments when mapping records were
 * lost; and each process has a ration of our time.
 *
 * A build id is compared where the file was read already, on behalf of a sample. It
 * is never what an image is known by: anybody can put any build id anywhere.
 */
#include "config.h"

#include "daemon/stated.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/procscan.h"
#include "daemon/statement.h"

static const struct ration_limit limit = { 5, 50 * NSEC_PER_MSEC };

const char *stated_fate_name(enum stated_fate fate)
{
	static const char *const names[] = {
#define STATED_FATE_NAME(name, text) [STATED_##name] = (text),
		STATED_FATES(STATED_FATE_NAME)
#undef STATED_FATE_NAME
	};

	return names[fate];
}

/* One datagram, while it is looked at. */
struct hearing {
	struct stated *stated;
	const struct stated_source *from;
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

static uint64_t segment_address(const struct statement *st, int segment)
{
	return st->base + st->segments[segment].vaddr;
}

/* The live mapping that the process map has of a segment, or NULL. */
static const struct range *live(const struct hearing *h, const struct statement *st,
				int segment)
{
	uint64_t address = segment_address(st, segment);
	const struct range *r =
		procmap_live(h->stated->procmap, h->from->tgid, address);

	return is_at(r, address, st->segments[segment].offset) ? r : NULL;
}

/* The same in what /proc says. */
static const struct range *mapped(const struct hearing *h, const struct statement *st,
				  int segment)
{
	uint64_t address = segment_address(st, segment);
	const struct range *r = rangemap_find(&h->found, address);

	return is_at(r, address, st->segments[segment].offset) ? r : NULL;
}

static int nr_live(const struct hearing *h, const struct statement *st)
{
	int nr = 0;

	for (int i = 0; i < st->nr_segments; i++)
		nr += live(h, st, i) != NULL;
	return nr;
}

/* Reads /proc once for all statements of the datagram. TAKEN, or GONE. */
static enum stated_fate look(struct hearing *h)
{
	if (!h->is_read)
		h->is_gone = procscan_read(h->stated->images, (pid_t)h->from->tgid,
					   h->comm, &h->found) != 0;
	h->is_read = true;
	return h->is_gone ? STATED_GONE : STATED_TAKEN;
}

static bool has_other_build_id(const struct range *r, const struct statement *st)
{
	const struct known_image *image = r->value;
	const struct image_desc *d = &image->desc;

	return image->resolved && d->build_id_size && st->build_id_size &&
	       (d->build_id_size != st->build_id_size ||
		memcmp(d->build_id, st->build_id, st->build_id_size));
}

/* Whether what is stated is what /proc says. */
static enum stated_fate check(const struct hearing *h, const struct statement *st)
{
	for (int i = 0; i < st->nr_segments; i++) {
		const struct range *r = mapped(h, st, i);

		if (!r)
			return STATED_NOT_MAPPED;
		if (has_other_build_id(r, st))
			return STATED_BUILD_ID;
	}
	return STATED_TAKEN;
}

/*
 * Of a program that has just begun all is new, and what the process map may have of
 * the one before is not to stay.
 */
static void enter(struct hearing *h, const struct statement *st, bool is_new)
{
	struct procmap *pm = h->stated->procmap;

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

static enum stated_fate take_loaded(struct hearing *h, const struct statement *st,
				    const struct process *p)
{
	enum stated_fate fate;

	if (!h->from->in_gap && nr_live(h, st) == st->nr_segments)
		return STATED_KNOWN;
	fate = look(h);
	if (fate == STATED_TAKEN)
		fate = check(h, st);
	if (fate == STATED_TAKEN)
		enter(h, st, !p || h->is_begin);
	return fate;
}

/*
 * The kernel has no record of an munmap(): without this a program that loads one thing
 * after the other would fill the process map.
 */
static enum stated_fate take_unloaded(struct hearing *h, const struct statement *st)
{
	enum stated_fate fate;

	if (!nr_live(h, st))
		return STATED_KNOWN;
	fate = look(h);
	if (fate != STATED_TAKEN)
		return fate;
	for (int i = 0; i < st->nr_segments; i++) {
		if (mapped(h, st, i))
			return STATED_STILL_MAPPED;
	}
	for (int i = 0; i < st->nr_segments; i++) {
		const struct range *r = live(h, st, i);

		if (r)
			procmap_unmap(h->stated->procmap, h->from->tgid, r->start,
				      r->end, h->from->when_ns);
	}
	return STATED_TAKEN;
}

static enum stated_fate hear(struct hearing *h, const struct statement *st)
{
	const struct process *p =
		procmap_find(h->stated->procmap, h->from->tgid, 0, UINT64_MAX);

	if (p && p->start_ns > h->from->when_ns)
		return STATED_STALE;
	if (st->what == CPI_ANNOUNCE_LOADED)
		return take_loaded(h, st, p);
	return take_unloaded(h, st);
}

static void note(struct hearing *h, const struct statement *st, enum stated_fate fate)
{
	h->stated->nr[fate]++;
	if (fate >= STATED_REFUSED)
		log_debug("statement: pid %u, %.*s at %#llx: refused: %s",
			  h->from->tgid, (int)st->path_size, st->path,
			  (unsigned long long)st->base, stated_fate_name(fate));
}

static void take(struct stated *s, const struct stated_source *from, const void *data,
		 size_t size)
{
	struct hearing h = { .stated = s, .from = from };
	struct statements statements;
	struct statement st;
	int more = statements_open(data, size, &statements);

	if (!more) {
		h.is_begin = statements.is_begin;
		while ((more = statements_next(&statements, &st)) > 0)
			note(&h, &st, hear(&h, &st));
	}
	if (more)
		s->nr[STATED_MALFORMED]++;
	rangemap_fini(&h.found);
}

void stated_take(struct stated *s, const struct stated_source *from, const void *data,
		 size_t size)
{
	struct ration *own = &s->by_process[hash_u64(from->tgid) % STATED_SLOTS];
	uint64_t begun_ns = time_mono_ns();

	if (!ration_has(own, &limit, begun_ns)) {
		s->nr[STATED_RATE]++;
		return;
	}
	take(s, from, data, size);
	ration_spend(own, time_mono_ns() - begun_ns);
}
