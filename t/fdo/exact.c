/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * exact FILE OBJECT DATABASE <CALLGRIND - exact counts as a database
 *
 * CALLGRIND is what callgrind writes with --dump-instr=yes --collect-jumps=yes
 * --compress-strings=no --compress-pos=no --skip-plt=no. Of it the counts of OBJECT, as
 * "ob=" names it, go into an epoch of a new DATABASE as those of FILE, which has its
 * code at the same addresses (valgrind may have run a stripped copy).
 *
 * They are stored as hardware's branch stacks would be that missed nothing: each branch
 * as often as it was taken, and runs of instructions between such, of one cycle per
 * instruction. Which of the ways into a run left it by which branch is not known, and
 * does not matter to how often its blocks ran: first in, first out. A sample of time is
 * an instruction, so that frequencies have one factor everywhere, 1.
 */
#include "config.h"

#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/times.h"
#include "db/store/store.h"

#define MAX_INSN 16

/* n executions of a run that began at the index-th instruction, and still go on. */
struct open_run {
	size_t index;
	uint64_t n;
};

struct reader {
	const char *object;
	struct image *im;
	struct isa *isa;
	bool here, callee_here;          /* the object, and that of the next call */
	struct profile *executed, *left; /* by instruction: all, and by branches */
	struct profile *samples;         /* executed, but a rep instruction once */
	struct edges *branches, *runs;
	struct buf open; /* struct open_run, from first on */
	size_t first;
};

/* What the next line with an address belongs to. */
enum pending { PENDING_NONE, PENDING_CALL, PENDING_JUMP, PENDING_CONDITIONAL };

struct pending_branch {
	enum pending kind;
	uint64_t n, target;
};

static void check(int error, const char *what)
{
	if (error)
		errx(EXIT_FAILURE, "%s: %s", what, err_str(error));
}

static void add(struct profile *p, uint64_t offset, uint64_t n)
{
	const struct count c = { .offset = offset, .n = n };

	if (n)
		check(profile_add(p, &c), "counts");
}

static void add_edge(struct edges *set, uint64_t from, uint64_t to, uint64_t n,
		     uint64_t cycles)
{
	const struct edge e = { .from = from,
				.to = to,
				.n = n,
				.cycles = cycles,
				.nr_timed = cycles ? n : 0 };

	if (n)
		check(edges_add(set, &e), "edges");
}

static struct insn decode(const struct reader *r, uint64_t offset)
{
	uint8_t code[MAX_INSN];
	size_t size = sizeof(code);
	struct insn insn = { .size = 1, .kind = INSN_BAD };

	while (size && image_read(r->im, offset, code, size))
		size--;
	if (isa_decode(r->isa, code, size, image_address(r->im, offset), &insn))
		return (struct insn){ .size = 1, .kind = INSN_BAD };
	insn.code = NULL;
	return insn;
}

/* A branch from the instruction at offset. */
static void take_branch(struct reader *r, const struct pending_branch *b,
			uint64_t offset)
{
	uint64_t target = b->target, to;

	if (b->kind == PENDING_CONDITIONAL)
		target = decode(r, offset).target;
	if (target && image_offset(r->im, target, &to) && to == offset)
		return; /* rep repeats itself */
	add(r->left, offset, b->n);
	if (target && image_offset(r->im, target, &to))
		add_edge(r->branches, offset, to, b->n, 0);
}

/* "0xADDRESS LINE [COST]" */
static void take_place(struct reader *r, char *line, struct pending_branch *b)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16), offset;

	if (r->here && image_offset(r->im, address, &offset)) {
		if (b->kind != PENDING_NONE)
			take_branch(r, b, offset);
		else if (strtoull(end, &end, 10), *end == ' ')
			add(r->executed, offset, strtoull(end, NULL, 10));
	}
	b->kind = PENDING_NONE;
}

static bool after(const char *line, const char *prefix, const char **rest)
{
	size_t len = strlen(prefix);

	*rest = line + len;
	return !strncmp(line, prefix, len);
}

static void take_line(struct reader *r, char *line, struct pending_branch *b)
{
	const char *rest;
	char *end;

	if (after(line, "0x", &rest)) {
		take_place(r, line, b);
	} else if (after(line, "ob=", &rest)) {
		r->here = r->callee_here = !strcmp(rest, r->object);
	} else if (after(line, "cob=", &rest)) {
		r->callee_here = !strcmp(rest, r->object);
	} else if (after(line, "calls=", &rest)) {
		*b = (struct pending_branch){ PENDING_CALL, strtoull(rest, &end, 10),
					      0 };
		if (r->callee_here)
			b->target = strtoull(end, NULL, 16);
		r->callee_here = r->here;
	} else if (after(line, "jump=", &rest)) {
		*b = (struct pending_branch){ PENDING_JUMP, strtoull(rest, &end, 10),
					      0 };
		b->target = strtoull(end, NULL, 16);
	} else if (after(line, "jcnd=", &rest)) {
		*b = (struct pending_branch){ PENDING_CONDITIONAL,
					      strtoull(rest, NULL, 10), 0 };
	}
}

static void read_counts(struct reader *r)
{
	struct pending_branch pending = { PENDING_NONE, 0, 0 };
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, stdin)) > 0) {
		line[strcspn(line, "\n")] = '\0';
		take_line(r, line, &pending);
	}
	free(line);
}

static struct open_run *oldest(struct reader *r)
{
	struct open_run *run = (struct open_run *)r->open.data;

	return r->first < r->open.len / sizeof(*run) ? &run[r->first] : NULL;
}

/* n of the open runs end with instruction last. */
static void close_runs(struct reader *r, const struct count *count, size_t last,
		       uint64_t n)
{
	struct open_run *run;

	while (n && (run = oldest(r))) {
		uint64_t part = run->n < n ? run->n : n;

		add_edge(r->runs, count[run->index].offset, count[last].offset, part,
			 part * (last - run->index + 1));
		n -= part;
		run->n -= part;
		r->first += !run->n;
	}
	if (!oldest(r)) {
		buf_reset(&r->open);
		r->first = 0;
	}
}

/* How often control did not go on behind an instruction. */
static uint64_t nr_left(const struct reader *r, const struct insn *insn, uint64_t n,
			uint64_t offset)
{
	uint64_t left = profile_at(r->left, offset).n;

	if (insn->kind & INSN_COND)
		return left < n ? left : n;
	return insn->kind & (INSN_JUMP | INSN_CALL | INSN_RETURN) ? n : 0;
}

/* Instructions in ascending order; open is how many runs are at each. */
static void find_runs(struct reader *r)
{
	uint64_t open = 0, behind = 0;
	size_t nr;
	const struct count *count = profile_sorted(r->executed, &nr);

	for (size_t i = 0; i < nr; i++) {
		const struct insn insn = decode(r, count[i].offset);
		uint64_t n = count[i].n, left;

		if (count[i].offset != behind || open > n) {
			uint64_t rest = count[i].offset == behind ? n : 0;

			if (i)
				close_runs(r, count, i - 1, open - rest);
			open = rest;
		}
		behind = count[i].offset + insn.size;
		if (insn.kind & INSN_REPEAT && open)
			n = open; /* callgrind counts its rounds */
		if (n > open) {
			const struct open_run run = { i, n - open };

			buf_put(&r->open, &run, sizeof(run));
		}
		add(r->samples, count[i].offset, n);
		left = nr_left(r, &insn, n, count[i].offset);
		close_runs(r, count, i, left);
		open = n - left;
	}
	if (nr)
		close_runs(r, count, nr - 1, open);
}

static void store(struct reader *r, const struct image_desc *image, const char *path)
{
	const struct platform_desc platform = { .host = "exact",
						.arch = "x86_64",
						.cpu = "",
						.release = "",
						.boot_id = "exact",
						.clock_hz = NSEC_PER_SEC,
						.nr_cpus = 1 };
	const uint64_t now = time_real_ns();
	struct flush_stream stream = { .desc = { "cycles", "perf", "", "cycles", 1,
						 LANDING_PRECISE },
				       .received = profile_total(r->samples) };
	const struct flush_profile profile = { image, 0, "", r->samples };
	struct flush_edges edges[] = { { image, image, 0, EDGES_BRANCH, r->branches },
				       { image, image, 0, EDGES_RUN, r->runs } };
	const struct flush f = { .seq = 1,
				 .from_ns = now,
				 .to_ns = now + NSEC_PER_SEC,
				 .duration_ns = NSEC_PER_SEC,
				 .streams = &stream,
				 .nr_streams = 1,
				 .profiles = &profile,
				 .nr_profiles = 1,
				 .edges = edges,
				 .nr_edges = 2 };
	struct store *s;
	struct db *db;

	check(db_open(path, DB_COLLECT, &db), path);
	check(store_begin(db, &platform, now, &s), path);
	check(store_epoch(s, now, 0, "exact"), path);
	check(store_flush(s, &f), path);
	check(store_end(s, now + NSEC_PER_SEC), path);
	db_close(db);
}

int main(int argc, char **argv)
{
	struct reader r = { .executed = profile_new(),
			    .left = profile_new(),
			    .samples = profile_new(),
			    .branches = edges_new(),
			    .runs = edges_new() };
	struct image_desc image = { .kind = IMAGE_FILE };
	struct stat st;

	if (argc != 4)
		errx(EXIT_FAILURE, "usage: exact FILE OBJECT DATABASE <CALLGRIND");
	if (!r.executed || !r.left || !r.samples || !r.branches || !r.runs)
		errx(EXIT_FAILURE, "out of memory");
	image.name = argv[1];
	r.object = argv[2];
	if (stat(image.name, &st) < 0)
		err(EXIT_FAILURE, "%s", image.name);
	image.device = st.st_dev;
	image.inode = st.st_ino;
	image.size = st.st_size;
	image.mtime_ns = st.st_mtim.tv_sec * NSEC_PER_SEC + st.st_mtim.tv_nsec;
	check(image_open(&image, NULL, &r.im), image.name);
	check(isa_open(image_machine(r.im), &r.isa), image.name);
	read_counts(&r);
	if (!profile_total(r.executed))
		errx(EXIT_FAILURE, "no counts of %s", r.object);
	find_runs(&r);
	store(&r, &image, argv[3]);
	isa_close(r.isa);
	image_close(r.im);
	buf_fini(&r.open);
	profile_free(r.executed);
	profile_free(r.left);
	profile_free(r.samples);
	edges_free(r.branches);
	edges_free(r.runs);
	return EXIT_SUCCESS;
}
