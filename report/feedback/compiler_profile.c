/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile.c - gathers the builds of a program, and adds them
 *
 * Each procedure is explained once. Its executions are added to the tree of its build,
 * by function and line; their expected error is stored for --check. The trees of
 * several builds can be merged because they have no addresses.
 */
#include "config.h"

#include "report/feedback/compiler_profile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/path.h"

#define MAX_NAMES 6 /* of images that are named when one must be chosen */

/* The images of a selection; all should be builds of one program. */
struct choice {
	struct buf names; /* of the programs, ", " between */
	char *base;       /* of the first */
	int nr;
	int64_t last;
};

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct choice *c = ctx;
	const char *name = q->image.desc.name;

	if (q->image.desc.kind != IMAGE_FILE || q->image.id == c->last)
		return 0;
	c->last = q->image.id;
	if (c->base && strcmp(c->base, path_base(name)) == 0)
		return 0;
	if (!c->base && !(c->base = strdup(path_base(name))))
		return -ENOMEM;
	if (c->nr++ < MAX_NAMES)
		buf_printf(&c->names, "%s%s", c->nr > 1 ? ", " : "", name);
	return 0;
}

static int check_images(const struct scope *s)
{
	const char *asked = s->req->select.image;
	struct choice c = { .last = 0 };
	int err = query_profiles(s->sel.db, &s->sel.query, on_profile, &c, NULL);

	if (err) {
		select_failed(&s->sel, err);
	} else if (!c.nr) {
		log_err("no program%s%s has samples here: 'cpi prof --by=image' lists "
			"the images that have; only files make compiler profiles",
			asked ? " like " : "", asked ? asked : "");
		err = -CPI_EEMPTY;
	} else if (c.nr > 1) {
		log_err("say which program with --image: there are %s%s",
			buf_str(&c.names), c.nr > MAX_NAMES ? ", …" : "");
		err = -CPI_ETOOMANY;
	}
	free(c.base);
	buf_fini(&c.names);
	return err;
}

static struct compiler_profile_build *add_build(struct compiler_profile *f,
						const struct query_image *image)
{
	struct compiler_profile_build *b;

	for (size_t i = 0; i < f->nr_builds; i++) {
		if (f->build[i].image.id == image->id)
			return &f->build[i];
	}
	if (GROW(f->build, f->nr_builds))
		return NULL;
	b = &f->build[f->nr_builds];
	*b = (struct compiler_profile_build){ .image = *image };
	b->image.desc.name = strdup(image->desc.name);
	b->tree = feedback_new(f->plain);
	if (!b->image.desc.name || !b->tree) {
		free((char *)b->image.desc.name);
		feedback_free(b->tree);
		return NULL;
	}
	f->nr_builds++;
	return b;
}

/* Counts the classes that ran; all blocks of a class run equally often. */
static int count_classes(const struct explained *e)
{
	const struct freq *freq = e->freq;
	unsigned char *seen = calloc((size_t)freq->nr_classes + 1, 1);
	int nr = 0;

	for (int b = 0; seen && b < e->cfg->exit; b++) {
		const int class = freq->class[b];

		if (freq->block[b] > 0 && class >= 0 && class < freq->nr_classes &&
		    !seen[class]) {
			seen[class] = 1;
			nr++;
		}
	}
	free(seen);
	return nr ? nr : 1;
}

/* The misplaced share to expect of a log-normal count X of mean 1: E|X - 1| / 2. */
static double expected_miss(double sd)
{
	return erf(fabs(sd) / (2 * sqrt(2)));
}

/*
 * With n samples, the relative error of the share of one of nr classes is sqrt(nr / n).
 * Half of the errors are too high, and E|z| = 0.8.
 */
static double chance_miss(double n, int nr_classes)
{
	return fmin(1, 0.4 * sqrt(nr_classes / fmax(n, 1)));
}

static int note_function(struct compiler_profile *f, const struct explanation *ex)
{
	const struct cfg *cfg = ex->e->cfg;
	const struct freq *freq = ex->e->freq;
	struct compiler_profile_function fn = { .samples = ex->samples };

	for (int b = 0; b < cfg->exit; b++) {
		const double work = fmax(0, freq->block[b]) * cfg->block[b].nr_insns;

		fn.work += work;
		fn.miss += work * expected_miss(freq->block_sd[b]);
		if (work > 0) {
			fn.range.low +=
				freq->block_range[b].low * cfg->block[b].nr_insns;
			fn.range.high +=
				freq->block_range[b].high * cfg->block[b].nr_insns;
		}
	}
	if (!(fn.work > 0))
		return 0;
	fn.range.likely = fn.work;
	fn.miss /= fn.work;
	fn.nr_classes = count_classes(ex->e);
	fn.chance = freq->counted ? fn.miss : chance_miss(fn.samples, fn.nr_classes);
	fn.name = strdup(ex->symbol->name);
	if (!fn.name)
		return -ENOMEM;
	f->nr_retired += freq->retired;
	buf_put(&f->functions, &fn, sizeof(fn));
	if (f->functions.err)
		free(fn.name);
	return f->functions.err;
}

static int add_procedure(struct compiler_profile *f, struct compiler_profile_build *b,
			 const struct explanation *ex)
{
	const struct explained *e = ex->e;
	struct edges *branches;
	int err = explainer_branches(f->x, &branches);

	if (err)
		return err;
	b->explained += ex->samples - ex->stray;
	traffic_reset(&f->one);
	err = traffic_add(&f->one, ex->im, e->cfg, e->freq, branches);
	if (!err)
		err = feedback_add(b->tree, ex->im, e->cfg, e->freq, &f->one);
	if (err)
		return err;
	err = traffic_append(&b->traffic, &f->one);
	return err ? err : note_function(f, ex);
}

static int on_explanation(void *ctx, const struct explanation *ex)
{
	struct compiler_profile *f = ctx;
	struct compiler_profile_build *b;

	if (ex->image->desc.kind != IMAGE_FILE)
		return 0;
	b = add_build(f, ex->image);
	if (!b)
		return -ENOMEM;
	b->samples += ex->samples;
	if (ex->state == EXPLAIN_DONE && ex->e)
		return add_procedure(f, b, ex);
	if (ex->err)
		b->err = ex->err;
	return 0;
}

int compiler_profile_gather(struct compiler_profile *f, struct explainer *x)
{
	const struct scope *s = explainer_scope(x);
	int err = scope_needs_time(s);

	f->x = x;
	if (!err)
		err = compiler_profile_open_to(f);
	if (!err)
		err = check_images(s);
	if (!err)
		err = explainer_each(x, on_explanation, f);
	if (!err && !f->nr_builds) {
		log_err("the program has no samples of time");
		err = -CPI_EEMPTY;
	}
	return err;
}

static void say_namesake(void *ctx, const struct feedback_function *dropped,
			 const struct feedback_function *kept)
{
	log_warn("%s of %s:%d: its counts are left out, because a function of the same "
		 "name, of %s:%d, runs more (-funique-internal-linkage-names tells "
		 "them apart)",
		 dropped->name, dropped->file ? dropped->file : "?", dropped->start,
		 kept->file ? kept->file : "?", kept->start);
}

int compiler_profile_finish(struct compiler_profile *f)
{
	int err = 0;

	f->tree = feedback_new(f->plain);
	if (!f->tree)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr_builds && !err; i++) {
		feedback_drop_namesakes(f->build[i].tree, say_namesake, NULL);
		err = feedback_merge(f->tree, f->build[i].tree);
		if (!err)
			err = traffic_finish(&f->build[i].traffic);
	}
	if (!err)
		err = compiler_profile_carry(f);
	if (err)
		return err;
	f->scale = feedback_scale(feedback_max(f->tree));
	return feedback_finish(f->tree, f->scale, &f->function, &f->nr_functions);
}

void compiler_profile_close(struct compiler_profile *f)
{
	size_t nr;
	const struct compiler_profile_function *fn = compiler_profile_functions(f, &nr);

	for (size_t i = 0; i < nr; i++)
		free(fn[i].name);
	for (size_t i = 0; i < f->nr_builds; i++) {
		free((char *)f->build[i].image.desc.name);
		feedback_free(f->build[i].tree);
		traffic_fini(&f->build[i].traffic);
	}
	free(f->build);
	image_close(f->to);
	buf_fini(&f->functions);
	traffic_fini(&f->one);
	feedback_free(f->tree);
}

const struct compiler_profile_function *
compiler_profile_functions(const struct compiler_profile *f, size_t *nr)
{
	*nr = f->functions.len / sizeof(struct compiler_profile_function);
	return (const struct compiler_profile_function *)f->functions.data;
}
