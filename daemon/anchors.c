/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchors.c - visits, one after the other
 *
 * Hits are saved up, as in a bucket that is filled at the rate of the budget: a visit
 * begins when the bucket has all that it may use, and takes out what it did use.
 */
#include "config.h"

#include "daemon/anchors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/attribute_private.h"
#include "daemon/breakpoint.h"
#include "daemon/windowexclude.h"

#define THREADS       64 /* that ran lately, of which one is drawn */
#define LATELY_NS     (15 * NSEC_PER_SEC)
#define IDLE_MS       60000
#define COSTS         9 /* measurements of a hit, of which the median counts */
#define COST_EVERY    8 /* visits there is a new one */
#define SOONEST_NS    (10 * NSEC_PER_MSEC)  /* after the end of the one before */
#define AFTER_IDLE_NS (100 * NSEC_PER_MSEC) /* ... that nobody ran in */

struct thread {
	uint32_t tgid, tid;
};

struct visit {
	int fd;                     /* -1: it was closed */
	struct anchor_place *place; /* NULL: there is no visit */
	struct thread thread;
	uint64_t address;
	uint64_t begun_ns, ended_ns; /* 0: it has not */
	struct breakpoint_counts counts;
	int err;
};

struct anchors {
	struct anchors_config cfg;
	struct anchortally *tally;
	double hit_ns, cost[COSTS];
	uint64_t nr_costs, cost_due; /* the latter in visits */
	struct thread thread[THREADS];
	uint32_t nr_threads;
	uint64_t offered_ns; /* the last of them */
	uint64_t random;
	double bucket;
	uint64_t filled_ns, next_ns;
	struct visit visit;
};

static int compare_costs(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/*
 * Hits cost more on a busy machine, and where caches are cold: what others' do is known
 * from as many of our own, measured as they come.
 */
static int measure_cost(struct anchors *a)
{
	double sorted[COSTS];
	int err = breakpoint_measure(ANCHORS_HITS, &a->cost[a->nr_costs % COSTS]);

	if (err)
		return err;
	a->nr_costs++;
	a->bucket -= ANCHORS_HITS;
	if (a->nr_costs >= COSTS) {
		memcpy(sorted, a->cost, sizeof(sorted));
		qsort(sorted, COSTS, sizeof(*sorted), compare_costs);
		a->hit_ns = sorted[COSTS / 2];
	}
	return 0;
}

int anchors_open(const struct anchors_config *cfg, struct anchors **out)
{
	struct anchors *a = calloc(1, sizeof(*a));
	int err = a ? 0 : -ENOMEM;

	for (int i = 0; !err && i < COSTS; i++)
		err = measure_cost(a);
	if (!err) {
		a->bucket = 0;
		a->cfg = *cfg;
		a->visit.fd = -1;
		a->cost_due = COST_EVERY;
		a->random = a->filled_ns = time_mono_ns();
		a->tally = anchortally_new();
		err = a->tally ? 0 : -ENOMEM;
	}
	if (err) {
		log_warn("anchors: not available: breakpoints: %s", err_str(err));
		free(a);
		return err;
	}
	log_info("anchors: at most %.0f hits/s, of %.1f us each", cfg->hits_per_s,
		 a->hit_ns / 1000);
	*out = a;
	return 0;
}

void anchors_close(struct anchors *a)
{
	struct breakpoint_counts last;

	if (!a)
		return;
	if (a->visit.fd >= 0)
		breakpoint_close(a->visit.fd, &last);
	anchortally_free(a->tally);
	free(a);
}

static uint64_t draw(struct anchors *a, uint64_t below)
{
	a->random += 0x9e3779b97f4a7c15ULL;
	return hash_u64(a->random) % below;
}

/* Each of the last ones by the same chance, more or less. */
void anchors_offer(struct anchors *a, uint32_t tgid, uint32_t tid)
{
	const bool full = a->nr_threads == THREADS;

	a->thread[full ? draw(a, THREADS) : a->nr_threads++] =
		(struct thread){ tgid, tid };
	a->offered_ns = time_mono_ns();
}

/* Where nothing runs, there are no windows, and nobody is woken up for visits. */
static bool has_threads(const struct anchors *a, uint64_t now)
{
	return a->nr_threads && now < a->offered_ns + LATELY_NS;
}

/* One that is gone, or has no place. */
static void withdraw(struct anchors *a, const struct thread *gone)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < a->nr_threads; i++) {
		if (a->thread[i].tid != gone->tid)
			a->thread[left++] = a->thread[i];
	}
	a->nr_threads = left;
}

void anchors_see(struct anchors *a, uint32_t tgid, uint64_t address,
		 struct known_image *image, uint64_t offset)
{
	struct procmap *pm = a->cfg.attribution->procmap;
	const struct range *r = procmap_live(pm, tgid, address);
	struct anchor_place like = { .image = image, .offset = offset };

	if (!r || !r->value || image->desc.kind != IMAGE_FILE ||
	    address + r->bias != offset)
		return;
	like.mapped = r->value;
	memccpy(like.comm,
		attribute_comm(procmap_find(pm, tgid, 0, time_mono_ns()), tgid), 0,
		sizeof(like.comm) - 1);
	anchortally_see(a->tally, &like);
}

/* When the bucket has enough for another visit. */
static uint64_t next_visit(const struct anchors *a)
{
	const double lacks = ANCHORS_HITS - a->bucket;
	const double ns = lacks / a->cfg.hits_per_s * NSEC_PER_SEC;
	const uint64_t full = a->filled_ns + (ns > 0 ? (uint64_t)ns : 0);

	return full > a->next_ns ? full : a->next_ns;
}

int anchors_wait_ms(const struct anchors *a)
{
	const uint64_t now = time_mono_ns();
	const uint64_t at =
		a->visit.place ? a->visit.begun_ns + ANCHORS_VISIT_NS : next_visit(a);

	if (!a->visit.place && !has_threads(a, now))
		return IDLE_MS;
	if (at <= now)
		return 0;
	return at - now < IDLE_MS * NSEC_PER_MSEC
		       ? (int)((at - now) / NSEC_PER_MSEC) + 1
		       : IDLE_MS;
}

bool anchors_end(struct anchors *a, bool now)
{
	struct visit *v = &a->visit;
	const uint64_t ns = time_mono_ns();

	if (!v->place || (!now && ns < v->begun_ns + ANCHORS_VISIT_NS))
		return false;
	v->err = breakpoint_close(v->fd, &v->counts);
	v->fd = -1;
	v->ended_ns = time_mono_ns();
	return true;
}

/* The place is where it was all the time, or it told of nothing. */
static bool stayed(struct anchors *a)
{
	const struct visit *v = &a->visit;
	const struct batch at = { .from_ns = v->begun_ns, .to_ns = v->ended_ns };
	const struct place place = attribute_user_place(a->cfg.attribution, &at,
							v->address, v->thread.tgid, 0);

	return place.loss == SAMPLE_KEPT && place.image == v->place->image &&
	       v->address + place.bias == v->place->offset;
}

/* What it cost is not known of a breakpoint that the kernel gave up. */
static enum anchor_loss count(struct anchors *a)
{
	struct visit *v = &a->visit;

	a->bucket -= v->err ? ANCHORS_HITS : (double)v->counts.hits;
	if (v->err)
		return anchortally_lose(a->tally, ANCHOR_GONE);
	if (!stayed(a))
		return anchortally_lose(a->tally, ANCHOR_MOVED);
	return anchortally_visit(a->tally, v->place, v->ended_ns - v->begun_ns,
				 v->counts.running_ns, v->counts.hits, a->hit_ns);
}

void anchors_settle(struct anchors *a)
{
	const enum anchor_loss loss = count(a);

	if (loss == ANCHOR_GONE)
		withdraw(a, &a->visit.thread);
	a->visit.place = NULL;
	a->next_ns =
		a->visit.ended_ns + (loss == ANCHOR_IDLE ? AFTER_IDLE_NS : SOONEST_NS);
}

static void fill(struct anchors *a, uint64_t now)
{
	a->bucket += (double)(now - a->filled_ns) / NSEC_PER_SEC * a->cfg.hits_per_s;
	if (a->bucket > ANCHORS_HITS)
		a->bucket = ANCHORS_HITS;
	a->filled_ns = now;
}

static enum anchor_loss loss_of(int err)
{
	switch (-err) {
	case ESRCH:
		return ANCHOR_GONE;
	case EBUSY:
		return ANCHOR_DEBUGGED;
	case ENOSPC:
		return ANCHOR_NO_SLOT;
	default:
		return ANCHOR_REFUSED;
	}
}

static uint64_t nr_visits(const struct anchors *a)
{
	return a->tally->now.visits + a->tally->before.visits;
}

/* Whose turn it is in the thread that is next. */
static bool choose(struct anchors *a, struct visit *v)
{
	const struct process *p;

	v->thread = a->thread[draw(a, a->nr_threads)];
	p = procmap_find(a->cfg.attribution->procmap, v->thread.tgid, 0,
			 time_mono_ns());
	if (!p || windowexclude_matches(a->cfg.exclude, a->cfg.nr_excluded, p))
		return false;
	v->place = anchortally_choose(a->tally, p, attribute_comm(p, v->thread.tgid),
				      &v->address);
	return v->place;
}

void anchors_begin(struct anchors *a)
{
	struct visit *v = &a->visit;
	const uint64_t now = time_mono_ns();
	int err;

	if (v->place || !has_threads(a, now) || now < next_visit(a))
		return;
	fill(a, now);
	a->next_ns = now + SOONEST_NS;
	if (nr_visits(a) >= a->cost_due) {
		a->cost_due = nr_visits(a) + COST_EVERY;
		measure_cost(a); /* or the old ones count */
		return;
	}
	if (!choose(a, v)) {
		withdraw(a, &v->thread);
		return;
	}
	v->begun_ns = time_mono_ns();
	err = breakpoint_open((pid_t)v->thread.tid, v->address, ANCHORS_HITS, &v->fd);
	if (!err)
		return;
	v->place = NULL;
	anchortally_lose(a->tally, loss_of(err));
	withdraw(a, &v->thread);
}

double anchors_cost(const struct anchors *a)
{
	return a->cfg.hits_per_s * a->hit_ns / NSEC_PER_SEC;
}

struct anchortally *anchors_tally(const struct anchors *a)
{
	return a->tally;
}

void anchors_status(const struct anchors *a, struct buf *out)
{
	const struct anchor_counts *now = &a->tally->now, *before = &a->tally->before;

	buf_printf(out, "anchors_hits_per_s %.1f\n", a->cfg.hits_per_s);
	buf_printf(out, "anchors_hit_ns %.0f\n", a->hit_ns);
	buf_printf(out, "anchors_visits %llu\n", (unsigned long long)nr_visits(a));
	buf_printf(out, "anchors_hits %llu\n",
		   (unsigned long long)(now->hits + before->hits));
	buf_printf(out, "anchors_places %zu\n", a->tally->places.nr);
	for (int l = 0; l < ANCHOR_NR_LOSSES; l++) {
		const uint64_t n = now->lost[l] + before->lost[l];

		if (n)
			buf_printf(out, "anchors_lost.%s %llu\n", anchor_loss_name(l),
				   (unsigned long long)n);
	}
}
