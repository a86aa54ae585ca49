/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_weights.c - how much each window of a selection counts
 *
 * A place is a number with the image's number in its upper bits and the offset in its
 * lower bits. A piece is the code between two neighbouring jumps or targets. A window
 * passes a piece if control reaches the head of the piece.
 *
 * Windows that began in the same piece have the same weight. The weights are chosen so
 * that, for each piece, the sum of the weights of the windows that end there equals the
 * sum for those that begin there (window_balance.h says why). Windows that ended early
 * are left out of this.
 */
#include "config.h"

#include "analysis/windows/window_weights.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/math/weighted.h"
#include "analysis/math/window_balance.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/search.h"

#define OFFSET_BITS \
	63 /* offsets of code made at run time use all of them (daemon/jit/jit.h) */
#define MAX_IMAGE   0xffffu
#define CLIP        20.0 /* of weights, to both sides */
#define STARTS      1.0  /* the share of samples counts as so many windows */
#define PRIOR       0.2  /* windows, added to each share */
#define INSN_BYTES  4.0  /* mean size of an instruction */
#define HERE        0.4  /* deviation of log cycles per instruction, in one piece */
#define NEAR        0.6  /* ... and common to all pieces within NEAR_BYTES */
#define NEAR_BYTES  256
#define UNSEEN      0.3 /* passes, added before logarithms are compared */
#define FAST        0.1 /* share of instructions on paths that are called fast */
#define PIECE_BYTES 256 /* length limit of a piece whose end no window saw */

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

/*
 * A window with valid offsets. Its pieces are those in visits from first_visit on, up
 * to the first_visit of the next window.
 */
struct weighted_window {
	const struct window *w;
	uint32_t image;
	uint32_t start; /* piece */
	size_t first_visit;
	double worth;  /* windows that it stands for */
	double weight; /* of each of them */
	double part;   /* the part of them in the current draw: 0 to 2, 1 on average */
};

struct weighted_piece {
	place place;
	uint64_t bytes;
	double time, starts;    /* samples, and windows that begin here */
	double passed, squares; /* Σ weight of passes; Σ (that, by window)² */
	double error[WINDOW_WEIGHTS_DRAWS];
};

struct window_weights {
	struct buf starts, samples, places, windows, visits;
	struct weighted_piece *piece;
	size_t nr_pieces;
	uint64_t nr_windows;
	double time_per_insn;
	double fast; /* time per instruction on the fastest paths, over the mean */
};

#define ARRAY(ww, member, type)  ((type *)(ww)->member.data)
#define LENGTH(ww, member, type) ((ww)->member.len / sizeof(type))

static struct weighted_window *all_windows(const struct window_weights *ww)
{
	return (struct weighted_window *)ww->windows.data;
}

/* Equal windows are one, with their number n. */
static size_t nr_different(const struct window_weights *ww)
{
	return ww->windows.len / sizeof(struct weighted_window);
}

struct window_weights *window_weights_new(void)
{
	return calloc(1, sizeof(struct window_weights));
}

void window_weights_free(struct window_weights *ww)
{
	if (!ww)
		return;
	for (size_t i = 0; i < LENGTH(ww, starts, struct start); i++)
		windows_free(ARRAY(ww, starts, struct start)[i].set);
	buf_fini(&ww->starts);
	buf_fini(&ww->samples);
	buf_fini(&ww->places);
	buf_fini(&ww->windows);
	buf_fini(&ww->visits);
	free(ww->piece);
	free(ww);
}

int window_weights_add(struct window_weights *ww, uint32_t image, struct windows *set,
		       const uint32_t *map, uint32_t nr_map)
{
	struct start start = { image, windows_new(WINDOWS_LIMIT, image) };
	int err = start.set ? windows_merge(start.set, set, map, nr_map) : -ENOMEM;

	if (!err && image > MAX_IMAGE)
		err = -CPI_ELIMIT;
	if (!err) {
		buf_put(&ww->starts, &start, sizeof(start));
		err = ww->starts.err;
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

int window_weights_sample(struct window_weights *ww, uint32_t image, uint64_t offset,
			  double time)
{
	const struct sample s = { place_of(image, offset), time };

	if (!is_place(image, offset))
		return -CPI_ELIMIT;
	buf_put(&ww->samples, &s, sizeof(s));
	return ww->samples.err;
}

/* Offsets are hostile. (db/profile/windows.h has checked that runs are short.) */
static bool has_valid_offsets(const struct window *w)
{
	bool right = is_place(0, w->start) && is_place(0, w->end);

	for (uint32_t i = 0; i < w->nr_jumps; i++)
		right &= is_place(w->jump[i].image, w->jump[i].from) &&
			 is_place(w->jump[i].image, w->jump[i].to);
	return right;
}

/* A straight part of a window. */
struct window_run {
	uint32_t image;
	uint64_t from, to;              /* first and last instruction */
	const struct window_jump *jump; /* NULL at the end */
};

/* Part i of nr_jumps + 1. */
static struct window_run run_of(const struct weighted_window *win, uint32_t i)
{
	const struct window *w = win->w;

	return (struct window_run){
		.image = i ? w->jump[i - 1].image : win->image,
		.from = i ? w->jump[i - 1].to : w->start,
		.to = i < w->nr_jumps ? w->jump[i].from : w->end,
		.jump = i < w->nr_jumps ? &w->jump[i] : NULL,
	};
}

static void put_place(struct window_weights *ww, place at)
{
	buf_put(&ww->places, &at, sizeof(at));
}

static void add_window(struct window_weights *ww, const struct window *w,
		       uint32_t image, double worth)
{
	const struct weighted_window win = { .w = w, .image = image, .worth = worth };

	buf_put(&ww->windows, &win, sizeof(win));
	ww->nr_windows += w->n;
	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		const struct window_run run = run_of(&win, i);

		put_place(ww, place_of(run.image, run.to + 1));
		put_place(ww, place_of(run.jump->image, run.jump->to));
	}
}

static int gather_windows(struct window_weights *ww)
{
	for (size_t i = 0; i < LENGTH(ww, starts, struct start); i++) {
		const struct start *s = &ARRAY(ww, starts, struct start)[i];
		const double each =
			(double)windows_seen(s->set) / (double)windows_kept(s->set);
		size_t nr;
		const struct window *w = windows_sorted(s->set, &nr);

		for (size_t k = 0; k < nr; k++) {
			if (has_valid_offsets(&w[k]))
				add_window(ww, &w[k], s->image, each * (double)w[k].n);
		}
	}
	return ww->windows.err ? ww->windows.err : ww->places.err;
}

static int compare_places(const void *va, const void *vb)
{
	const place *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static int make_pieces(struct window_weights *ww)
{
	place *at = ARRAY(ww, places, place);
	size_t nr = LENGTH(ww, places, place);

	ww->piece = calloc(nr + 1, sizeof(*ww->piece));
	if (!ww->piece)
		return -ENOMEM;
	if (nr)
		qsort(at, nr, sizeof(*at), compare_places);
	for (size_t i = 0; i < nr; i++) {
		if (!i || at[i] != at[i - 1])
			ww->piece[ww->nr_pieces++].place = at[i];
	}
	for (size_t i = 0; i < ww->nr_pieces; i++) {
		const place bytes = i + 1 < ww->nr_pieces ? ww->piece[i + 1].place -
								    ww->piece[i].place
							  : PIECE_BYTES;

		ww->piece[i].bytes =
			bytes < PIECE_BYTES ? (uint64_t)bytes : PIECE_BYTES;
	}
	buf_fini(&ww->places);
	return 0;
}

/* The first piece at or after a place. */
static size_t piece_behind(const struct window_weights *ww, place at)
{
	return SEARCH(i, ww->nr_pieces, ww->piece[i].place >= at);
}

/* The piece that contains a place; nr_pieces if there is none. */
static size_t piece_at(const struct window_weights *ww, place at)
{
	const size_t behind = piece_behind(ww, at + 1);

	return behind ? behind - 1 : ww->nr_pieces;
}

/* The sampler chose the first instruction, so it does not count as passed. */
static int find_visits(struct window_weights *ww)
{
	for (size_t i = 0; i < nr_different(ww); i++) {
		struct weighted_window *win = &all_windows(ww)[i];

		win->weight = win->part = 1;
		win->start = piece_at(ww, place_of(win->image, win->w->start));
		win->first_visit = LENGTH(ww, visits, uint32_t);
		for (uint32_t k = 0; k <= win->w->nr_jumps; k++) {
			const struct window_run run = run_of(win, k);
			const place to = place_of(run.image, run.to);
			uint32_t p =
				piece_behind(ww, place_of(run.image, run.from) + !k);

			for (; p < ww->nr_pieces && ww->piece[p].place <= to; p++)
				buf_put(&ww->visits, &p, sizeof(p));
		}
	}
	return ww->visits.err;
}

static void place_samples(struct window_weights *ww)
{
	for (size_t i = 0; i < LENGTH(ww, samples, struct sample); i++) {
		const struct sample *s = &ARRAY(ww, samples, struct sample)[i];
		const size_t p = piece_at(ww, s->place);

		if (p < ww->nr_pieces && s->place - ww->piece[p].place < PIECE_BYTES)
			ww->piece[p].time += s->time;
	}
	buf_fini(&ww->samples);
}

static void place_starts(struct window_weights *ww)
{
	for (size_t p = 0; p < ww->nr_pieces; p++)
		ww->piece[p].starts = 0;
	for (size_t i = 0; i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];

		if (win->start < ww->nr_pieces)
			ww->piece[win->start].starts += win->part * win->worth;
	}
}

static size_t end_of_visits(const struct window_weights *ww, size_t win)
{
	return win + 1 < nr_different(ww) ? all_windows(ww)[win + 1].first_visit
					  : LENGTH(ww, visits, uint32_t);
}

/* Sums the current weights of the windows that pass each piece. */
static void sum_passes(struct window_weights *ww)
{
	for (size_t p = 0; p < ww->nr_pieces; p++)
		ww->piece[p].passed = 0;
	for (size_t i = 0; i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];

		for (size_t v = win->first_visit; v < end_of_visits(ww, i); v++)
			ww->piece[ARRAY(ww, visits, uint32_t)[v]].passed +=
				win->part * win->weight * win->worth;
	}
}

static double insns(const struct weighted_piece *p)
{
	return (double)p->bytes / INSN_BYTES;
}

/* Sums time and executed instructions over the pieces that windows passed. */
static void sum_time(const struct window_weights *ww, double *time, double *executed)
{
	*time = *executed = 0;
	for (size_t p = 0; p < ww->nr_pieces; p++) {
		if (!(ww->piece[p].passed > 0))
			continue;
		*time += ww->piece[p].time;
		*executed += ww->piece[p].passed * insns(&ww->piece[p]);
	}
}

/*
 * How many of all windows should begin in a piece. The piece's share of the samples
 * decides, because there are more samples than windows. The more windows began there,
 * the more they count compared with the samples.
 */
static double expected_starts(const struct weighted_piece *p, double time, double all)
{
	const double share = p->time / time * all + PRIOR;

	return share * (p->starts + STARTS) / (share + STARTS);
}

static double clipped(double x)
{
	return fmin(fmax(x, 1 / CLIP), CLIP);
}

/* The piece in which a window ends. */
static uint32_t last_visit(const struct window_weights *ww, size_t win)
{
	const size_t end = end_of_visits(ww, win);
	const struct weighted_window *w = &all_windows(ww)[win];

	return end > w->first_visit ? ARRAY(ww, visits, uint32_t)[end - 1] : w->start;
}

/* Windows that ended early are left out, because their normal end is not known. */
static size_t find_steps(const struct window_weights *ww, struct window_step *step)
{
	size_t nr = 0;

	for (size_t i = 0; i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];

		if (!win->w->reason && win->start < ww->nr_pieces)
			step[nr++] =
				(struct window_step){ win->start, last_visit(ww, i),
						      win->part * (double)win->w->n,
						      win->part * win->weight *
							      win->worth };
	}
	return nr;
}

static int balance_windows(struct window_weights *ww, const double *guess,
			   struct arena *arena, double **log_factor)
{
	struct window_step *step = arena_array(arena, nr_different(ww), sizeof(*step));

	return step ? window_balance_solve(step, find_steps(ww, step), ww->nr_pieces,
					   guess, arena, log_factor)
		    : -ENOMEM;
}

/* The weight that makes the starts of windows in the piece agree with its samples. */
static double as_sampled(const struct window_weights *ww,
			 const struct weighted_window *win, double time, double all)
{
	const struct weighted_piece *p = &ww->piece[win->start];

	return win->start < ww->nr_pieces && time > 0 && p->starts > 0
		       ? expected_starts(p, time, all) / p->starts
		       : 1;
}

static int find_weights(struct window_weights *ww, const double *guess)
{
	const size_t nr = nr_different(ww);
	struct weighted_window *win = all_windows(ww);
	double time, executed, sum = 0, all = 0, *log_factor;
	struct arena arena;
	int err;

	place_starts(ww);
	for (size_t i = 0; i < nr; i++) {
		all += win[i].part * win[i].worth;
		win[i].weight = 1;
	}
	sum_passes(ww);
	sum_time(ww, &time, &executed);
	for (size_t i = 0; i < nr; i++)
		win[i].weight = as_sampled(ww, &win[i], time, all);
	arena_init(&arena, 0);
	err = balance_windows(ww, guess, &arena, &log_factor);
	for (size_t i = 0; i < nr && !err; i++) {
		if (win[i].start < ww->nr_pieces)
			win[i].weight =
				clipped(win[i].weight * exp(log_factor[win[i].start]));
		sum += win[i].part * win[i].weight * win[i].worth;
	}
	for (size_t i = 0; i < nr && !err && sum > 0; i++)
		win[i].weight *= all / sum;
	arena_fini(&arena);
	if (!err)
		sum_passes(ww);
	return err;
}

/* A nearly normal deviate; equal seeds give equal deviates. */
static double normal(uint64_t number)
{
	return (__builtin_popcountll(hash_u64(number)) - 32) / 4.0;
}

/* A bootstrap: each of the n windows counts twice or not at all. */
static double random_part(uint64_t number, uint64_t n)
{
	const uint64_t few = n < 64 ? (1ull << n) - 1 : 0;

	if (!few)
		return fmax(1 + normal(number) / sqrt((double)n), 0);
	return 2.0 * __builtin_popcountll(hash_u64(number) & few) / (double)n;
}

/* Seeds the draws of a piece, so that every run draws the same. */
static uint64_t seed_of(const struct weighted_piece *p)
{
	const uint64_t offset = p->place & ((1ull << OFFSET_BITS) - 1);

	return (uint64_t)(p->place >> OFFSET_BITS) << 48 ^ offset;
}

/*
 * Draws one alternative result: with resampled windows and, where windows do not
 * determine the cycles per instruction, with other cycles in the piece and in its
 * neighbourhood.
 */
static int draw_errors(struct window_weights *ww, int number, double *guess)
{
	const uint64_t seed = hash_u64(number + 1);
	struct weighted_window *win = all_windows(ww);
	int err;

	for (size_t i = 0; i < nr_different(ww); i++)
		win[i].part = random_part(seed + i, win[i].w->n);
	for (size_t p = 0; p < ww->nr_pieces; p++)
		guess[p] = HERE * normal(seed ^ hash_u64(seed_of(&ww->piece[p]))) +
			   NEAR * normal(seed ^ (seed_of(&ww->piece[p]) / NEAR_BYTES));
	err = find_weights(ww, guess);
	for (size_t p = 0; p < ww->nr_pieces && !err; p++)
		ww->piece[p].error[number] = log(ww->piece[p].passed + UNSEEN);
	for (size_t i = 0; i < nr_different(ww); i++)
		win[i].part = 1;
	return err;
}

static int find_weights_and_errors(struct window_weights *ww)
{
	double *guess = calloc(ww->nr_pieces + 1, sizeof(*guess));
	int err = guess ? 0 : -ENOMEM;

	for (int i = 0; i < WINDOW_WEIGHTS_DRAWS && !err; i++)
		err = draw_errors(ww, i, guess);
	free(guess);
	if (!err)
		err = find_weights(ww, NULL);
	for (size_t p = 0; p < ww->nr_pieces && !err; p++)
		for (int i = 0; i < WINDOW_WEIGHTS_DRAWS; i++)
			ww->piece[p].error[i] -= log(ww->piece[p].passed + UNSEEN);
	return err;
}

static int compare_visits(const void *va, const void *vb)
{
	const uint32_t *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* Passes per window, squared: windows are independent of each other, passes are not. */
static void sum_squares(struct window_weights *ww)
{
	uint32_t *visit = ARRAY(ww, visits, uint32_t);

	for (size_t i = 0; i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];
		const size_t end = end_of_visits(ww, i);
		size_t v = win->first_visit, same;

		if (v < end)
			qsort(&visit[v], end - v, sizeof(*visit), compare_visits);
		for (; v < end; v += same) {
			const double n = (double)win->w->n;
			double each;

			for (same = 1; v + same < end && visit[v + same] == visit[v];)
				same++;
			each = win->weight * win->worth / n * (double)same;
			ww->piece[visit[v]].squares += n * each * each;
		}
	}
}

/*
 * A window's path: its time per instruction, and as weight how many windows it stands
 * for; 0 if it passed nothing.
 */
static struct weighted_value pace_of(const struct window_weights *ww, size_t i)
{
	const struct weighted_window *win = &all_windows(ww)[i];
	double time = 0, executed = 0;

	for (size_t v = win->first_visit; v < end_of_visits(ww, i); v++) {
		const struct weighted_piece *p =
			&ww->piece[ARRAY(ww, visits, uint32_t)[v]];

		if (!(p->passed > 0))
			continue;
		time += p->time / p->passed;
		executed += insns(p);
	}
	return executed > 0 ? (struct weighted_value){ time / executed,
						       win->weight * win->worth }
			    : (struct weighted_value){ 0, 0 };
}

/*
 * Finds how fast the fastest paths are: the share FAST of all instructions is on faster
 * ones. A window has about a hundred instructions, enough for a loop and its waits, so
 * few paths are much faster than the machine's usual best. If the result is 0, because
 * the fastest paths have no samples, it is not known.
 */
static int find_fast(struct window_weights *ww)
{
	const size_t nr = nr_different(ww);
	struct weighted_value *all = calloc(nr + 1, sizeof(*all));
	double time, executed, fast = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		all[i] = pace_of(ww, i);
	sum_time(ww, &time, &executed);
	if (nr && time > 0)
		fast = weighted_quantile(all, nr, FAST) * executed / time;
	ww->time_per_insn = executed > 0 ? time / executed : 0;
	ww->fast = fast > 0 ? fast : 1;
	free(all);
	return 0;
}

int window_weights_solve(struct window_weights *ww)
{
	int err = gather_windows(ww);

	if (!err)
		err = make_pieces(ww);
	if (!err)
		err = find_visits(ww);
	if (err)
		return err;
	place_samples(ww);
	err = find_weights_and_errors(ww);
	if (!err)
		err = find_fast(ww);
	if (err)
		return err;
	sum_squares(ww);
	buf_fini(&ww->visits);
	return 0;
}

uint64_t window_weights_nr(const struct window_weights *ww)
{
	return ww->nr_windows;
}

int window_weights_each(const struct window_weights *ww, window_weights_fn fn,
			void *ctx)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];

		err = fn(ctx, win->w, win->image, win->weight * win->worth);
	}
	return err;
}

static int add_edge(struct edges *set, uint64_t from, uint64_t to, double weight)
{
	const struct edge e = { .from = from,
				.to = to,
				.n = (uint64_t)llround(weight * WINDOW_WEIGHTS_UNIT) };

	return e.n ? edges_add(set, &e) : 0;
}

/* The first run leaves out its first instruction, which the sampler chose. */
static int add_run(const struct weighted_window *win, uint32_t i, uint32_t image,
		   struct edges *runs, struct edges *branches)
{
	const struct window_run run = run_of(win, i);
	const double weight = win->weight * win->worth;
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

int window_weights_edges(const struct window_weights *ww, uint32_t image,
			 struct edges **runs, struct edges **branches)
{
	struct edges *r = edges_new(), *b = edges_new();
	int err = r && b ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < nr_different(ww); i++) {
		const struct weighted_window *win = &all_windows(ww)[i];

		for (uint32_t k = 0; !err && k <= win->w->nr_jumps; k++)
			err = add_run(win, k, image, r, b);
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

/* The piece at an offset, if windows passed it, or NULL. */
static const struct weighted_piece *passed_piece(const struct window_weights *ww,
						 uint32_t image, uint64_t offset)
{
	const size_t p = is_place(image, offset) ? piece_at(ww, place_of(image, offset))
						 : ww->nr_pieces;

	return p < ww->nr_pieces && ww->piece[p].squares > 0 ? &ww->piece[p] : NULL;
}

double window_weights_worth(const struct window_weights *ww, uint32_t image,
			    uint64_t offset)
{
	const struct weighted_piece *p = passed_piece(ww, image, offset);

	return p ? p->passed * p->passed / p->squares : 0;
}

const double *window_weights_errors(const struct window_weights *ww, uint32_t image,
				    uint64_t offset)
{
	const struct weighted_piece *p = passed_piece(ww, image, offset);

	return p ? p->error : NULL;
}

void window_weights_bytes(const struct window_weights *ww, uint32_t image,
			  void (*fn)(void *ctx, const void *data, size_t size),
			  void *ctx)
{
	const size_t first = piece_behind(ww, place_of(image, 0));
	const size_t from = first ? first - 1 : 0; /* piece_at() may return it */
	const size_t to = piece_behind(ww, place_of(image + 1, 0));
	const double all[] = { (double)ww->nr_windows, ww->time_per_insn, ww->fast };

	fn(ctx, all, sizeof(all));
	for (size_t p = from; p < to; p++) {
		const struct weighted_piece *piece = &ww->piece[p];
		const uint64_t at = piece->place & ((1ull << OFFSET_BITS) - 1);
		const double passed[] = { piece->passed, piece->squares };

		fn(ctx, &at, sizeof(at)); /* images are numbered anew in each run */
		fn(ctx, passed, sizeof(passed));
		fn(ctx, piece->error, sizeof(piece->error));
	}
}

double window_weights_time_per_insn(const struct window_weights *ww)
{
	return ww->time_per_insn;
}

double window_weights_fast(const struct window_weights *ww)
{
	return ww->fast;
}
