/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One map finds functions and lines by their parent; lists are used to iterate. Each
 * name is stored once, so names can be compared by address.
 */
#include "config.h"

#include "analysis/feedback/feedback.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cfg/loops.h"
#include "base/arena.h"
#include "base/hash.h"

struct feedback_name {
	struct hnode node;
	char text[];
};

struct feedback {
	bool plain;
	struct arena memory;
	struct hmap names, functions, lines;
	struct feedback_function *first; /* that are inlined into none */
	struct feedback_tally tally;
};

struct feedback *feedback_new(bool plain)
{
	struct feedback *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->plain = plain;
	arena_init(&f->memory, 0);
	return f;
}

void feedback_free(struct feedback *f)
{
	if (!f)
		return;
	hmap_fini(&f->names);
	hmap_fini(&f->functions);
	hmap_fini(&f->lines);
	arena_fini(&f->memory);
	free(f);
}

const struct feedback_tally *feedback_tally(const struct feedback *f)
{
	return &f->tally;
}

struct feedback_function **feedback_list(struct feedback *f)
{
	return &f->first;
}

struct arena *feedback_arena(struct feedback *f)
{
	return &f->memory;
}

/*
 * Formats with a line per entry cannot hold names with spaces. GCC's format (plain)
 * has them, because GCC's names of templates have spaces.
 */
static bool is_name(const struct feedback *f, const char *s)
{
	if (f->plain || !*s)
		return *s;
	while ((unsigned char)*s > ' ' && *s != 0x7f)
		s++;
	return !*s;
}

/* What compilers append to the names of clones and parts. */
static size_t length_of_name(const char *raw)
{
	static const char *const suffixes[] = { ".llvm.", ".part.", ".constprop.",
						".isra.", ".cold",  ".lto_priv." };
	size_t len = strcspn(raw, "@");

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(raw, suffixes[i]);

		if (at && at > raw && (size_t)(at - raw) < len)
			len = (size_t)(at - raw);
	}
	return len;
}

/*
 * The name of the function that begins at an offset, as in the tree; without debug
 * information that of its symbol, as far as that is the source's, which cut keeps. NULL
 * when none begins there, or it is in another image.
 */
static const char *name_at(const struct feedback *f, struct image *im, uint64_t offset,
			   struct buf *cut)
{
	const struct symbol *s = image_symbol_at(im, offset);
	struct origin o[IMAGE_MAX_ORIGINS];

	if (!s || s->start != offset || *s->raw == '[' || strstr(s->raw, "@plt"))
		return NULL;
	if (image_origins_at(im, offset, o) && is_name(f, o->function))
		return o->function;
	buf_reset(cut);
	buf_put(cut, s->raw, length_of_name(s->raw));
	return !cut->err && is_name(f, buf_str(cut)) ? buf_str(cut) : NULL;
}

static uint64_t hash_name(const char *text)
{
	return hash_bytes(0, text, strlen(text) + 1);
}

const char *feedback_find_name(const struct feedback *f, const char *text)
{
	struct hnode *n = hmap_first(&f->names, hash_name(text));

	for (; n; n = hmap_next(n)) {
		const struct feedback_name *name =
			container_of(n, struct feedback_name, node);

		if (strcmp(name->text, text) == 0)
			return name->text;
	}
	return NULL;
}

/* The one copy of a text; NULL: out of memory. */
static const char *keep_text(struct feedback *f, const char *text)
{
	const char *found = feedback_find_name(f, text);
	const size_t size = strlen(text) + 1;
	struct feedback_name *name;

	if (found)
		return found;
	name = arena_alloc(&f->memory, sizeof(*name) + size);
	if (!name || hmap_insert(&f->names, &name->node, hash_name(text)))
		return NULL;
	memcpy(name->text, text, size);
	return name->text;
}

static uint64_t hash_of(const void *in, struct feedback_key at, const char *name)
{
	const uint64_t hash = hash_u64((uintptr_t)in ^ hash_u64((uintptr_t)name));

	return hash_u64(hash ^ ((uint64_t)at.line << 32 | at.discriminator));
}

static bool is_function(const struct feedback_function *a,
			const struct feedback_function *b)
{
	if (a->caller != b->caller || a->name != b->name)
		return false;
	return a->caller ? a->at.line == b->at.line &&
				   a->at.discriminator == b->at.discriminator
			 : a->file == b->file && a->start == b->start;
}

/*
 * Finds or adds the function with wanted's caller, place and name. Its strings must
 * be the tree's own copies.
 */
static struct feedback_function *get_function(struct feedback *f,
					      const struct feedback_function *wanted)
{
	const uint64_t hash = hash_of(wanted->caller, wanted->at, wanted->name);
	struct feedback_function *fn, **list;

	for (struct hnode *n = hmap_first(&f->functions, hash); n; n = hmap_next(n)) {
		fn = container_of(n, struct feedback_function, node);
		if (is_function(fn, wanted))
			return fn;
	}
	fn = arena_alloc(&f->memory, sizeof(*fn));
	if (!fn || hmap_insert(&f->functions, &fn->node, hash))
		return NULL;
	list = wanted->caller ? &wanted->caller->inlined : &f->first;
	fn->caller = wanted->caller;
	fn->at = wanted->at;
	fn->name = wanted->name;
	fn->file = wanted->file;
	fn->start = wanted->start;
	fn->next = *list;
	*list = fn;
	return fn;
}

static struct feedback_line *get_line(struct feedback *f, struct feedback_function *of,
				      struct feedback_key at)
{
	const uint64_t hash = hash_of(of, at, NULL);
	struct feedback_line *line;

	for (struct hnode *n = hmap_first(&f->lines, hash); n; n = hmap_next(n)) {
		line = container_of(n, struct feedback_line, node);
		if (line->of == of && line->at.line == at.line &&
		    line->at.discriminator == at.discriminator)
			return line;
	}
	line = arena_alloc(&f->memory, sizeof(*line));
	if (!line || hmap_insert(&f->lines, &line->node, hash))
		return NULL;
	line->of = of;
	line->at = at;
	line->next = of->lines;
	of->lines = line;
	return line;
}

static int add_target(struct feedback *f, struct feedback_line *line, const char *name,
		      double n)
{
	struct feedback_target *t;

	name = keep_text(f, name);
	if (!name)
		return -ENOMEM;
	for (t = line->targets; t && t->name != name; t = t->next)
		;
	if (!t) {
		t = arena_alloc(&f->memory, sizeof(*t));
		if (!t)
			return -ENOMEM;
		t->name = name;
		t->next = line->targets;
		line->targets = t;
	}
	t->n += n;
	return 0;
}

uint32_t feedback_line_of(const struct origin *p)
{
	return (uint32_t)(p->line - p->start) & 0xffff;
}

static struct feedback_key key_of(const struct feedback *f, const struct origin *p)
{
	return (struct feedback_key){ feedback_line_of(p),
				      f->plain ? 0 : p->discriminator };
}

/*
 * GCC may split a function after its first tests, to inline only these
 * (-fpartial-inlining). If the rest is inlined as well, debug information shows it
 * as called at the function's first line.
 */
static bool is_own_part(const struct origin *caller, const struct origin *p)
{
	return p->start && p->start == caller->start && p->start == caller->line &&
	       strcmp(p->function, caller->function) == 0;
}

/*
 * Like image_origins_at(), but without GCC's own splits: the compiler does not have
 * these in the stack when it reads the profile.
 */
static size_t origins_at(const struct feedback *f, struct image *im, uint64_t offset,
			 struct origin p[IMAGE_MAX_ORIGINS])
{
	const size_t all = image_origins_at(im, offset, p);
	size_t nr = 0;

	for (size_t i = 0; i < all; i++) {
		if (f->plain && nr && is_own_part(&p[nr - 1], &p[i]))
			nr--;
		p[nr++] = p[i];
	}
	return nr;
}

/* Returns the tally of what is missing in the stack; NULL if nothing is. */
static double *why_unknown(struct feedback *f, const struct origin *p, size_t nr)
{
	struct feedback_tally *t = &f->tally;

	for (size_t i = 0; i < nr; i++) {
		if (!is_name(f, p[i].function))
			return &t->no_function;
		if (!p[i].start)
			return &t->no_start;
		if (!p[i].line)
			return &t->no_line;
	}
	return nr ? NULL : &t->no_function;
}

/* The innermost function of a stack. */
static int find_function(struct feedback *f, const struct origin *p, size_t nr,
			 struct feedback_function **out)
{
	struct feedback_function wanted = { .caller = NULL }, *fn = NULL;

	for (size_t i = 0; i < nr; i++) {
		wanted.name = keep_text(f, p[i].function);
		wanted.file = p[i].file ? keep_text(f, p[i].file) : NULL;
		wanted.start = p[i].start;
		if (!wanted.name || (p[i].file && !wanted.file))
			return -ENOMEM;
		if (i)
			wanted.at = key_of(f, &p[i - 1]);
		fn = get_function(f, &wanted);
		if (!fn)
			return -ENOMEM;
		wanted.caller = fn;
	}
	*out = fn;
	return 0;
}

static int find_line(struct feedback *f, const struct origin *p, size_t nr,
		     struct feedback_line **out)
{
	struct feedback_function *fn;
	int err = find_function(f, p, nr, &fn);

	if (err)
		return err;
	*out = get_line(f, fn, key_of(f, &p[nr - 1]));
	return *out ? 0 : -ENOMEM;
}

static void tally_line(struct feedback *f, const struct origin *p,
		       const struct feedback_line *line, double n)
{
	f->tally.nr_mixed += n > 0 && line->n > 0 && n != line->n;
	f->tally.nr_discriminators += p->discriminator || p->copies > 1;
}

/* An instruction's line, in a loop or in none. */
struct turn {
	struct feedback_line *line; /* NULL: not known */
	int loop;
	double n;
};

/* Its line and count become out's. */
static int add_instruction(struct feedback *f, struct image *im, uint64_t offset,
			   double n, struct turn *out)
{
	struct origin p[IMAGE_MAX_ORIGINS];
	const size_t nr = origins_at(f, im, offset, p);
	double *why = why_unknown(f, p, nr);
	int err;

	f->tally.all += n;
	if (why) {
		*why += n;
		return 0;
	}
	err = find_line(f, p, nr, &out->line);
	if (err)
		return err;
	tally_line(f, &p[nr - 1], out->line, n);
	out->n = f->plain ? n : n * p[nr - 1].copies;
	out->line->n = fmax(out->line->n, out->n);
	return 0;
}

static int compare_turns(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->loop != y->loop)
		return x->loop < y->loop ? -1 : 1;
	return (x->n < y->n) - (x->n > y->n);
}

/*
 * Of conditional jumps. After loop inversion, two jumps do a loop's test, one inside
 * the loop and one outside: their counts add up. Jumps of a line in the same loop
 * may be parts of one test: only the most frequent one counts.
 */
static void take_turns(struct turn *turn, size_t nr)
{
	double sum = 0;

	qsort(turn, nr, sizeof(*turn), compare_turns);
	for (size_t i = 0; i < nr; i++) {
		const bool same = i && turn[i].line == turn[i - 1].line;

		if (!same)
			sum = 0;
		if (!same || turn[i].loop != turn[i - 1].loop)
			sum += turn[i].n;
		turn[i].line->n = fmax(turn[i].line->n, sum);
	}
}

static int add_blocks(struct feedback *f, struct image *im, const struct cfg *cfg,
		      const struct freq *freq, const int *loop, struct buf *turns)
{
	int err = 0;

	for (int b = 0; b < cfg->exit && !err; b++) {
		const struct cfg_block *block = &cfg->block[b];
		const double n = isfinite(freq->block[b]) ? freq->block[b] : 0;

		for (int i = 0; i < block->nr_insns && !err; i++) {
			const struct insn *insn = &cfg->insn[block->first_insn + i];
			struct turn turn = { .loop = loop[b] };

			err = add_instruction(f, im, insn->address - cfg->bias, n,
					      &turn);
			if (!err && turn.line && insn->kind & INSN_COND)
				buf_put(turns, &turn, sizeof(turn));
		}
	}
	return err ? err : turns->err;
}

static int add_lines(struct feedback *f, struct image *im, const struct cfg *cfg,
		     const struct freq *freq)
{
	struct buf turns = { 0 };
	struct arena arena;
	const int *loop;
	int err;

	arena_init(&arena, 0);
	loop = loops_find(cfg, &arena);
	err = loop ? add_blocks(f, im, cfg, freq, loop, &turns) : -ENOMEM;
	if (!err && turns.len)
		take_turns((struct turn *)turns.data, turns.len / sizeof(struct turn));
	arena_fini(&arena);
	buf_fini(&turns);
	return err;
}

static int add_call(struct feedback *f, struct image *im,
		    const struct traffic_jump *jump, struct buf *cut)
{
	const char *name = name_at(f, im, jump->to, cut);
	struct origin p[IMAGE_MAX_ORIGINS];
	const size_t nr = name ? origins_at(f, im, jump->from, p) : 0;
	struct feedback_line *line;
	int err;

	if (why_unknown(f, p, nr))
		return 0;
	err = find_line(f, p, nr, &line);
	return err ? err : add_target(f, line, name, jump->n);
}

static int add_head(struct feedback *f, struct image *im, uint64_t offset, double n)
{
	struct origin p[IMAGE_MAX_ORIGINS];
	struct feedback_function *fn;
	int err;

	if (!image_origins_at(im, offset, p) || !is_name(f, p->function) || !p->start)
		return 0;
	err = find_function(f, p, 1, &fn);
	if (!err)
		fn->head = fmax(fn->head, n);
	return err;
}

int feedback_add(struct feedback *f, struct image *im, const struct cfg *cfg,
		 const struct freq *freq, const struct traffic *t)
{
	struct buf cut = { 0 };
	const struct traffic_jump *jump;
	size_t nr;
	int err = add_lines(f, im, cfg, freq);

	jump = traffic_jumps(t, &nr);
	for (size_t i = 0; i < nr && !err; i++)
		err = jump[i].enters ? add_call(f, im, &jump[i], &cut) : 0;
	if (!err)
		err = add_head(f, im, cfg->block[0].start, traffic_entries(cfg, freq));
	buf_fini(&cut);
	return err;
}

static double sum_of(const struct feedback_function *fn)
{
	double sum = 0;

	for (const struct feedback_line *l = fn->lines; l; l = l->next)
		sum += l->n;
	for (const struct feedback_function *c = fn->inlined; c; c = c->next)
		sum += sum_of(c);
	return sum;
}

static bool is_more(const struct feedback_function *a,
		    const struct feedback_function *b)
{
	const double x = sum_of(a), y = sum_of(b);

	if (x != y)
		return x > y;
	if (a->start != b->start)
		return a->start < b->start;
	return strcmp(a->file ? a->file : "", b->file ? b->file : "") < 0;
}

static const struct feedback_function *find_namesake(const struct feedback *f,
						     const struct feedback_function *fn)
{
	const struct feedback_function *best = fn;

	for (struct hnode *n = hmap_first(&f->functions, fn->node.hash); n;
	     n = hmap_next(n)) {
		const struct feedback_function *other =
			container_of(n, struct feedback_function, node);

		if (!other->caller && other->name == fn->name && is_more(other, best))
			best = other;
	}
	return best;
}

void feedback_drop_namesakes(struct feedback *f, feedback_namesake_fn fn, void *ctx)
{
	struct feedback_function **at = &f->first, *one;
	const struct feedback_function *best;

	while ((one = *at)) {
		best = find_namesake(f, one);
		if (best == one) {
			at = &one->next;
			continue;
		}
		if (fn)
			fn(ctx, one, best);
		hmap_remove(&f->functions, &one->node);
		*at = one->next;
	}
}

static int merge_line(struct feedback *f, struct feedback_function *to,
		      const struct feedback_line *from)
{
	struct feedback_line *line = get_line(f, to, from->at);
	int err = line ? 0 : -ENOMEM;

	if (line)
		line->n += from->n;
	for (const struct feedback_target *t = from->targets; t && !err; t = t->next)
		err = add_target(f, line, t->name, t->n);
	return err;
}

static int merge_function(struct feedback *f, struct feedback_function *caller,
			  const struct feedback_function *from)
{
	struct feedback_function wanted = { .caller = caller, .at = from->at }, *fn;
	int err = 0;

	wanted.name = keep_text(f, from->name);
	if (!wanted.name)
		return -ENOMEM;
	fn = get_function(f, &wanted);
	if (!fn)
		return -ENOMEM;
	fn->head += from->head;
	for (const struct feedback_line *l = from->lines; l && !err; l = l->next)
		err = merge_line(f, fn, l);
	for (const struct feedback_function *c = from->inlined; c && !err; c = c->next)
		err = merge_function(f, fn, c);
	return err;
}

/* Paths and lines of builds differ: after that, a function is its name alone. */
int feedback_merge(struct feedback *f, const struct feedback *from)
{
	struct feedback_tally *t = &f->tally;
	int err = 0;

	for (const struct feedback_function *fn = from->first; fn && !err;
	     fn = fn->next)
		err = merge_function(f, NULL, fn);
	t->all += from->tally.all;
	t->no_function += from->tally.no_function;
	t->no_start += from->tally.no_start;
	t->no_line += from->tally.no_line;
	t->nr_mixed += from->tally.nr_mixed;
	t->nr_discriminators += from->tally.nr_discriminators;
	return err;
}
