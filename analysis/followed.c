/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Places of all images are in one order: an image's number above its offset. A piece is
 * what lies between two jumps or targets; it is passed when control comes to its head.
 *
 * The weight of a window is that of the piece that it began in: with it, as many
 * windows end in each piece as begin there (balance.h).
 */
#include "config.h"

#include "analysis/followed.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/balance.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"

#define OFFSET_BITS 63 /* code made at run time is anywhere in them (daemon/jit.h) */
#define MAX_IMAGE   0xffffu
#define CLIP        20.0 /* of weights, to both sides */
#define STARTS      1.0  /* windows, of the samples' word on where they begin */
#define PRIOR       0.2  /* windows, in each share */
#define INSN_BYTES  4.0  /* of an instruction, about */
#define HERE        0.4  /* deviation of log cycles per instruction, in a piece */
#define NEAR        0.6  /* ... and of what all have within so many */
#define NEAR_BYTES  256
#define UNSEEN      0.3 /* passes, added to what is compared */
#define PIECE_BYTES 256 /* a piece whose end nobody saw is not longer */

/* An image above an offset. */
typedef unsigned __int128 place;

struct start {
	uint32_t image;
	struct windows *set;
};

struct sample {
	place place;
	double time;
};

/* A window that counts: its pieces are visit[first_visit … of the next one). */
struct way {
	const struct window *w;
	uint32_t image;
	uint32_t start; /* piece */
	size_t first_visit;
	double worth;  /* windows that it stands for */
	double weight; /* of each */
	double part;   /* of them that a draw has: 0 to 2, on average 1 */
};

struct piece {
	place place;
	uint64_t bytes;
	double time, starts;    /* samples, and windows that begin here */
	double passed, squares; /* Σ weight of passes; Σ (that, by window)² */
	double error[FOLLOWED_DRAWS];
};

struct followed {
	struct buf starts, samples, places, ways, visits;
	struct piece *piece;
	size_t nr_pieces;
	uint64_t nr_windows;
};

#define ARRAY(f, member, type)  ((type *)(f)->member.data)
#define LENGTH(f, member, type) ((f)->member.len / sizeof(type))

struct followed *followed_new(void)
{
	return calloc(1, sizeof(struct followed));
}

void followed_free(struct followed *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < LENGTH(f, starts, struct start); i++)
		windows_free(ARRAY(f, starts, struct start)[i].set);
	buf_fini(&f->starts);
	buf_fini(&f->samples);
	buf_fini(&f->places);
	buf_fini(&f->ways);
	buf_fini(&f->visits);
	free(f->piece);
	free(f);
}

int followed_add(struct followed *f, uint32_t image, struct windows *set,
		 const uint32_t *map, uint32_t nr_map)
{
	struct start start = { image, windows_new(WINDOWS_LIMIT, image) };
	int err = start.set ? windows_merge(start.set, set, map, nr_map) : -ENOMEM;

	if (!err && image > MAX_IMAGE)
		err = -CPI_ELIMIT;
	if (!err) {
		buf_put(&f->starts, &start, sizeof(start));
		err = f->starts.err;
	}
	if (err)
		windows_free(start.set);
	return err;
}

static bool is_place(uint32_t image, uint64_t offset)
{
	return image <= MAX_IMAGE && offset >> OFFSET_BITS == 0;
}

static place place_of(uint32_t image, uint64_t offset)
{
	return (place)image << OFFSET_BITS | offset;
}

int followed_sample(struct followed *f, uint32_t image, uint64_t offset, double time)
{
	const struct sample s = { place_of(image, offset), time };

	if (!is_place(image, offset))
		return -CPI_ELIMIT;
	buf_put(&f->samples, &s, sizeof(s));
	return f->samples.err;
}

/* A hostile window's offsets may be anything; its runs are short (db/windows.h). */
static bool is_whole(const struct window *w)
{
	bool right = is_place(0, w->start) && is_place(0, w->end);

	for (uint32_t i = 0; i < w->nr_jumps; i++)
		right &= is_place(w->jump[i].image, w->jump[i].from) &&
			 is_place(w->jump[i].image, w->jump[i].to);
	return right;
}

/* A straight part of a window. */
struct run {
	uint32_t image;
	uint64_t from, to; /* of the jump, or of what control came to last */
	const struct window_jump *jump; /* NULL at the end */
};

/* Part i of nr_jumps + 1. */
static struct run run_of(const struct way *way, uint32_t i)
{
	const struct window *w = way->w;

	return (struct run){
		.image = i ? w->jump[i - 1].image : way->image,
		.from = i ? w->jump[i - 1].to : w->start,
		.to = i < w->nr_jumps ? w->jump[i].from : w->end,
		.jump = i < w->nr_jumps ? &w->jump[i] : NULL,
	};
}

static void put_place(struct followed *f, place at)
{
	buf_put(&f->places, &at, sizeof(at));
}

static void add_way(struct followed *f, const struct window *w, uint32_t image,
		    double worth)
{
	const struct way way = { .w = w, .image = image, .worth = worth };

	buf_put(&f->ways, &way, sizeof(way));
	f->nr_windows += w->n;
	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		const struct run run = run_of(&way, i);

		put_place(f, place_of(run.image, run.to + 1));
		put_place(f, place_of(run.jump->image, run.jump->to));
	}
}

static int gather_ways(struct followed *f)
{
	for (size_t i = 0; i < LENGTH(f, starts, struct start); i++) {
		const struct start *s = &ARRAY(f, starts, struct start)[i];
		const double each =
			(double)windows_seen(s->set) / (double)windows_kept(s->set);
		size_t nr;
		const struct window *w = windows_sorted(s->set, &nr);

		for (size_t k = 0; k < nr; k++) {
			if (is_whole(&w[k]))
				add_way(f, &w[k], s->image, each * (double)w[k].n);
		}
	}
	return f->ways.err ? f->ways.err : f->places.err;
}

static int compare_places(const void *va, const void *vb)
{
	const place *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static int make_pieces(struct followed *f)
{
	place *at = ARRAY(f, places, place);
	size_t nr = LENGTH(f, places, place);

	f->piece = calloc(nr + 1, sizeof(*f->piece));
	if (!f->piece)
		return -ENOMEM;
	if (nr)
		qsort(at, nr, sizeof(*at), compare_places);
	for (size_t i = 0; i < nr; i++) {
		if (!i || at[i] != at[i - 1])
			f->piece[f->nr_pieces++].place = at[i];
	}
	for (size_t i = 0; i < f->nr_pieces; i++) {
		const place bytes = i + 1 < f->nr_pieces
					    ? f->piece[i + 1].place - f->piece[i].place
					    : PIECE_BYTES;

		f->piece[i].bytes = bytes < PIECE_BYTES ? (uint64_t)bytes : PIECE_BYTES;
	}
	buf_fini(&f->places);
	return 0;
}

/* The first piece at or behind a place. */
static size_t piece_behind(const struct followed *f, place at)
{
	size_t low = 0, high = f->nr_pieces;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (f->piece[middle].place < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The piece that holds a place; nr_pieces where none does. */
static size_t piece_at(const struct followed *f, place at)
{
	const size_t behind = piece_behind(f, at + 1);

	return behind ? behind - 1 : f->nr_pieces;
}

/* The first instruction was not come to: it was chosen. */
static int find_visits(struct followed *f)
{
	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++) {
		struct way *way = &ARRAY(f, ways, struct way)[i];

		way->weight = way->part = 1;
		way->start = piece_at(f, place_of(way->image, way->w->start));
		way->first_visit = LENGTH(f, visits, uint32_t);
		for (uint32_t k = 0; k <= way->w->nr_jumps; k++) {
			const struct run run = run_of(way, k);
			const place to = place_of(run.image, run.to);
			uint32_t p =
				piece_behind(f, place_of(run.image, run.from) + !k);

			for (; p < f->nr_pieces && f->piece[p].place <= to; p++)
				buf_put(&f->visits, &p, sizeof(p));
		}
	}
	return f->visits.err;
}

static void place_samples(struct followed *f)
{
	for (size_t i = 0; i < LENGTH(f, samples, struct sample); i++) {
		const struct sample *s = &ARRAY(f, samples, struct sample)[i];
		const size_t p = piece_at(f, s->place);

		if (p < f->nr_pieces && s->place - f->piece[p].place < PIECE_BYTES)
			f->piece[p].time += s->time;
	}
	buf_fini(&f->samples);
}

static void place_starts(struct followed *f)
{
	for (size_t p = 0; p < f->nr_pieces; p++)
		f->piece[p].starts = 0;
	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];

		if (way->start < f->nr_pieces)
			f->piece[way->start].starts += way->part * way->worth;
	}
}

static size_t end_of_visits(const struct followed *f, size_t way)
{
	return way + 1 < LENGTH(f, ways, struct way)
		       ? ARRAY(f, ways, struct way)[way + 1].first_visit
		       : LENGTH(f, visits, uint32_t);
}

/* Adds up what windows pass with the weights that they have. */
static void pass(struct followed *f)
{
	for (size_t p = 0; p < f->nr_pieces; p++)
		f->piece[p].passed = 0;
	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];

		for (size_t v = way->first_visit; v < end_of_visits(f, i); v++)
			f->piece[ARRAY(f, visits, uint32_t)[v]].passed +=
				way->part * way->weight * way->worth;
	}
}

static double insns(const struct piece *p)
{
	return (double)p->bytes / INSN_BYTES;
}

/* Time and executed instructions, of pieces that were passed. */
static void add_up(const struct followed *f, double *time, double *executed)
{
	*time = *executed = 0;
	for (size_t p = 0; p < f->nr_pieces; p++) {
		if (!(f->piece[p].passed > 0))
			continue;
		*time += f->piece[p].time;
		*executed += f->piece[p].passed * insns(&f->piece[p]);
	}
}

/*
 * How many of all windows should begin in a piece: as many as its share of the samples,
 * which are more; but windows that begin elsewhere, by whatever fault, are believed.
 */
static double expected_starts(const struct piece *p, double time, double all)
{
	const double share = p->time / time * all + PRIOR;

	return share * (p->starts + STARTS) / (share + STARTS);
}

static double clipped(double x)
{
	return fmin(fmax(x, 1 / CLIP), CLIP);
}

/* Where a window ends: the piece that control came to last. */
static uint32_t last_visit(const struct followed *f, size_t way)
{
	const size_t end = end_of_visits(f, way);
	const struct way *w = &ARRAY(f, ways, struct way)[way];

	return end > w->first_visit ? ARRAY(f, visits, uint32_t)[end - 1] : w->start;
}

/* What ended early does not tell where it would have gone on to. */
static size_t find_steps(const struct followed *f, struct balance_step *step)
{
	size_t nr = 0;

	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];

		if (!way->w->reason && way->start < f->nr_pieces)
			step[nr++] =
				(struct balance_step){ way->start, last_visit(f, i),
						       way->part * (double)way->w->n,
						       way->part * way->weight *
							       way->worth };
	}
	return nr;
}

static int balance(struct followed *f, const double *guess, struct arena *arena,
		   double **log_factor)
{
	struct balance_step *step =
		arena_array(arena, LENGTH(f, ways, struct way), sizeof(*step));

	return step ? balance_find(step, find_steps(f, step), f->nr_pieces, guess,
				   arena, log_factor)
		    : -ENOMEM;
}

/* As many as samples say begin in a piece, in place of those that did. */
static double as_sampled(const struct followed *f, const struct way *way, double time,
			 double all)
{
	const struct piece *p = &f->piece[way->start];

	return way->start < f->nr_pieces && time > 0 && p->starts > 0
		       ? expected_starts(p, time, all) / p->starts
		       : 1;
}

static int weigh(struct followed *f, const double *guess)
{
	const size_t nr = LENGTH(f, ways, struct way);
	struct way *way = ARRAY(f, ways, struct way);
	double time, executed, sum = 0, all = 0, *log_factor;
	struct arena arena;
	int err;

	place_starts(f);
	for (size_t i = 0; i < nr; i++) {
		all += way[i].part * way[i].worth;
		way[i].weight = 1;
	}
	pass(f);
	add_up(f, &time, &executed);
	for (size_t i = 0; i < nr; i++)
		way[i].weight = as_sampled(f, &way[i], time, all);
	arena_init(&arena, 0);
	err = balance(f, guess, &arena, &log_factor);
	for (size_t i = 0; i < nr && !err; i++) {
		if (way[i].start < f->nr_pieces)
			way[i].weight =
				clipped(way[i].weight * exp(log_factor[way[i].start]));
		sum += way[i].part * way[i].weight * way[i].worth;
	}
	for (size_t i = 0; i < nr && !err && sum > 0; i++)
		way[i].weight *= all / sum;
	arena_fini(&arena);
	if (!err)
		pass(f);
	return err;
}

/* About normal, and the same for the same number. */
static double normal(uint64_t number)
{
	return (__builtin_popcountll(hash_u64(number)) - 32) / 4.0;
}

/* Each of n windows is there twice or not at all. */
static double random_part(uint64_t number, uint64_t n)
{
	const uint64_t few = n < 64 ? (1ull << n) - 1 : 0;

	if (!few)
		return fmax(1 + normal(number) / sqrt((double)n), 0);
	return 2.0 * __builtin_popcountll(hash_u64(number) & few) / (double)n;
}

/* For draws, which are always the same. */
static uint64_t number_of(const struct piece *p)
{
	const uint64_t offset = p->place & ((1ull << OFFSET_BITS) - 1);

	return (uint64_t)(p->place >> OFFSET_BITS) << 48 ^ offset;
}

/*
 * One draw: other windows might have come, and cycles per instruction, which are
 * guessed where windows do not tell, might be others, here and in the neighbourhood.
 */
static int draw(struct followed *f, int number, double *guess)
{
	const uint64_t seed = hash_u64(number + 1);
	struct way *way = ARRAY(f, ways, struct way);
	int err;

	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++)
		way[i].part = random_part(seed + i, way[i].w->n);
	for (size_t p = 0; p < f->nr_pieces; p++)
		guess[p] = HERE * normal(seed ^ hash_u64(number_of(&f->piece[p]))) +
			   NEAR * normal(seed ^ (number_of(&f->piece[p]) / NEAR_BYTES));
	err = weigh(f, guess);
	for (size_t p = 0; p < f->nr_pieces && !err; p++)
		f->piece[p].error[number] = log(f->piece[p].passed + UNSEEN);
	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++)
		way[i].part = 1;
	return err;
}

static int weigh_and_draw(struct followed *f)
{
	double *guess = calloc(f->nr_pieces + 1, sizeof(*guess));
	int err = guess ? 0 : -ENOMEM;

	for (int i = 0; i < FOLLOWED_DRAWS && !err; i++)
		err = draw(f, i, guess);
	free(guess);
	if (!err)
		err = weigh(f, NULL);
	for (size_t p = 0; p < f->nr_pieces && !err; p++)
		for (int i = 0; i < FOLLOWED_DRAWS; i++)
			f->piece[p].error[i] -= log(f->piece[p].passed + UNSEEN);
	return err;
}

static int compare_visits(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* How often each window passes a piece, squared: windows are independent, not passes.
 */
static void square(struct followed *f)
{
	uint32_t *visit = ARRAY(f, visits, uint32_t);

	for (size_t i = 0; i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];
		const size_t end = end_of_visits(f, i);
		size_t v = way->first_visit, same;

		if (v < end)
			qsort(&visit[v], end - v, sizeof(*visit), compare_visits);
		for (; v < end; v += same) {
			const double n = (double)way->w->n;
			double each;

			for (same = 1; v + same < end && visit[v + same] == visit[v];)
				same++;
			each = way->weight * way->worth / n * (double)same;
			f->piece[visit[v]].squares += n * each * each;
		}
	}
}

int followed_weigh(struct followed *f)
{
	int err = gather_ways(f);

	if (!err)
		err = make_pieces(f);
	if (!err)
		err = find_visits(f);
	if (err)
		return err;
	place_samples(f);
	err = weigh_and_draw(f);
	if (err)
		return err;
	square(f);
	buf_fini(&f->visits);
	return 0;
}

uint64_t followed_nr(const struct followed *f)
{
	return f->nr_windows;
}

int followed_each(const struct followed *f, followed_fn fn, void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];

		err = fn(ctx, way->w, way->image, way->weight * way->worth);
	}
	return err;
}

static int add_edge(struct edges *set, uint64_t from, uint64_t to, double weight)
{
	const struct edge e = { .from = from,
				.to = to,
				.n = (uint64_t)llround(weight * FOLLOWED_UNIT) };

	return e.n ? edges_add(set, &e) : 0;
}

/* Of the first run, what it begins in was chosen: nobody came to its head. */
static int add_run(const struct way *way, uint32_t i, uint32_t image,
		   struct edges *runs, struct edges *branches)
{
	const struct run run = run_of(way, i);
	const double weight = way->weight * way->worth;
	const uint64_t from = run.from + (i == 0);
	int err = 0;

	if (run.image != image)
		return 0;
	if (from <= run.to)
		err = add_edge(runs, from, run.to, weight);
	if (!err && run.jump && run.jump->image == image)
		err = add_edge(branches, run.to, run.jump->to, weight);
	return err;
}

int followed_edges(const struct followed *f, uint32_t image, struct edges **runs,
		   struct edges **branches)
{
	struct edges *r = edges_new(), *b = edges_new();
	int err = r && b ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < LENGTH(f, ways, struct way); i++) {
		const struct way *way = &ARRAY(f, ways, struct way)[i];

		for (uint32_t k = 0; !err && k <= way->w->nr_jumps; k++)
			err = add_run(way, k, image, r, b);
	}
	if (err) {
		edges_free(r);
		edges_free(b);
		return err;
	}
	*runs = r;
	*branches = b;
	return 0;
}

/* The piece of an offset that windows passed, or NULL. */
static const struct piece *passed_piece(const struct followed *f, uint32_t image,
					uint64_t offset)
{
	const size_t p = is_place(image, offset) ? piece_at(f, place_of(image, offset))
						 : f->nr_pieces;

	return p < f->nr_pieces && f->piece[p].squares > 0 ? &f->piece[p] : NULL;
}

double followed_worth(const struct followed *f, uint32_t image, uint64_t offset)
{
	const struct piece *p = passed_piece(f, image, offset);

	return p ? p->passed * p->passed / p->squares : 0;
}

const double *followed_errors(const struct followed *f, uint32_t image, uint64_t offset)
{
	const struct piece *p = passed_piece(f, image, offset);

	return p ? p->error : NULL;
}

double followed_passed(const struct followed *f, uint32_t image, uint64_t offset)
{
	const struct piece *p = passed_piece(f, image, offset);

	return p ? p->passed : 0;
}

double followed_time_per_insn(const struct followed *f)
{
	double time, executed;

	add_up(f, &time, &executed);
	return executed > 0 ? time / executed : 0;
}
