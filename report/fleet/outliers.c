/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outliers.c - sums as a table of rows and machines, its values, and their test
 */
#include "config.h"

#include "report/fleet/outliers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/log.h"

#define DEFAULT_RATE 0.05
#define MAX_CELLS    (16u << 20)
#define MIN_OTHERS   2 /* rows that a machine's size is known by */

/* A key of texts, and its index in an array. */
struct key {
	struct hnode node;
	const char *part[3];
	size_t index;
};

/* Keys in the order of their first appearance. */
struct keys {
	struct hmap map;
	struct key **key;
	size_t nr;
};

struct table {
	struct fleet_outliers *f;
	struct keys rows, members;
	struct fleet_amount *cell[2]; /* by event, then row, then member */
	size_t *group;                /* by member */
	struct outlier_value *value;
	double *size; /* of values, as a part of the machine's samples */
	struct outlier *out;
};

static uint64_t hash_of(const char *const part[3])
{
	uint64_t hash = 0;

	for (int i = 0; i < 3; i++)
		hash = hash_bytes(hash, part[i], strlen(part[i]));
	return hash;
}

/* By text, for the texts of two events are apart. */
static bool same_parts(const char *const a[3], const char *const b[3])
{
	for (int i = 0; i < 3; i++) {
		if (strcmp(a[i], b[i]) != 0)
			return false;
	}
	return true;
}

static int find_key(struct keys *k, const char *a, const char *b, const char *c,
		    size_t *index)
{
	const char *const part[3] = { a, b, c };
	const uint64_t hash = hash_of(part);
	struct hnode *n = hmap_first(&k->map, hash);
	struct key *key;

	for (; n; n = hmap_next(n)) {
		key = container_of(n, struct key, node);
		if (same_parts(key->part, part)) {
			*index = key->index;
			return 0;
		}
	}
	key = calloc(1, sizeof(*key));
	if (!key)
		return -ENOMEM;
	memcpy(key->part, part, sizeof(part));
	key->index = k->nr;
	if (GROW(k->key, k->nr) || hmap_insert(&k->map, &key->node, hash)) {
		free(key);
		return -ENOMEM;
	}
	k->key[k->nr++] = key;
	*index = key->index;
	return 0;
}

static void keys_fini(struct keys *k)
{
	hmap_fini(&k->map);
	for (size_t i = 0; i < k->nr; i++)
		free(k->key[i]);
	free(k->key);
}

static const char *row_name(const struct table *t, const struct fleet_sum *s)
{
	return t->f->by == FLEET_IMAGE ? s->image : s->procedure;
}

static int find_cell(struct table *t, const struct fleet_sum *s, size_t *row,
		     size_t *member)
{
	int err = find_key(&t->rows, row_name(t, s),
			   t->f->by == FLEET_IMAGE ? "" : s->image, "", row);

	return err ? err
		   : find_key(&t->members, s->host, s->cluster, s->machine, member);
}

static struct fleet_amount *cell_at(const struct table *t, int event, size_t row,
				    size_t member)
{
	return &t->cell[event][row * t->members.nr + member];
}

static int find_keys(struct table *t)
{
	size_t row, member;
	int err = 0;

	for (int event = 0; event < 2; event++) {
		const struct fleet_sums *s = &t->f->sums[event];

		for (size_t i = 0; !err && i < s->nr; i++)
			err = find_cell(t, &s->sum[i], &row, &member);
	}
	if (!err && t->rows.nr && t->members.nr > MAX_CELLS / t->rows.nr) {
		log_err("fleet: %zu rows of %zu machines are too many: choose fewer "
			"hosts, or --by image",
			t->rows.nr, t->members.nr);
		err = -CPI_ELIMIT;
	}
	return err;
}

static int fill_cells(struct table *t)
{
	const size_t nr = t->rows.nr * t->members.nr + 1;
	size_t row, member;
	int err = 0;

	for (int event = 0; event < 2; event++) {
		const struct fleet_sums *s = &t->f->sums[event];

		t->cell[event] = calloc(nr, sizeof(*t->cell[event]));
		if (!t->cell[event])
			return -ENOMEM;
		for (size_t i = 0; !err && i < s->nr; i++) {
			err = find_cell(t, &s->sum[i], &row, &member);
			if (!err)
				fleet_amount_add(cell_at(t, event, row, member),
						 s->sum[i].n, s->sum[i].amount);
		}
	}
	return err;
}

/* Machines of one cluster and type have one number. */
static int find_groups(struct table *t)
{
	struct keys groups = { 0 };
	int err = 0;

	t->group = calloc(t->members.nr + 1, sizeof(*t->group));
	if (!t->group)
		return -ENOMEM;
	for (size_t i = 0; !err && i < t->members.nr; i++)
		err = find_key(&groups, t->members.key[i]->part[1],
			       t->members.key[i]->part[2], "", &t->group[i]);
	keys_fini(&groups);
	return err;
}

/* ---- values ---- */

static void put_cpi(struct table *t)
{
	const size_t nr = t->rows.nr * t->members.nr;

	for (size_t i = 0; i < nr; i++) {
		const struct fleet_amount *c = &t->cell[0][i], *n = &t->cell[1][i];

		t->value[i] = (struct outlier_value){ NAN, 1 };
		t->size[i] = 1;
		if (c->n < FLEET_MIN_COUNT || n->n < FLEET_MIN_COUNT ||
		    !(c->amount > 0) || !(n->amount > 0))
			continue;
		t->value[i].y = log(c->amount / n->amount);
		t->value[i].variance =
			1 / fleet_amount_samples(c) + 1 / fleet_amount_samples(n);
	}
}

/* The share of a row on one machine, over the median of its peers'. */
struct ratio {
	double value, weight;
	size_t row;
};

/* The machines of one group. */
struct sizing {
	size_t *member, nr;
	double *unit;   /* by member: what a sample of the mean weight stands for */
	double *total;  /* by member: samples */
	double *median; /* by row: of the machines' shares; 0 for rows with few samples
			 */
	double *room;
	struct ratio *ratio;
	size_t nr_ratios;
};

static int by_real(const void *x, const void *y)
{
	const double a = *(const double *)x, b = *(const double *)y;

	return a < b ? -1 : a > b;
}

static int by_ratio(const void *x, const void *y)
{
	const struct ratio *a = x, *b = y;

	return a->value < b->value ? -1 : a->value > b->value;
}

/*
 * The samples of a row, in samples of the machine's mean weight: a machine's samples
 * differ in weight if its period or its part of sent samples has changed.
 */
static double count_of(const struct table *t, const struct sizing *z, size_t row,
		       size_t k)
{
	return cell_at(t, 0, row, z->member[k])->amount / z->unit[k];
}

/* The weight at which all samples of machine k have the relative error that they have.
 */
static double find_unit(const struct table *t, const struct sizing *z, size_t k)
{
	double amount = 0, variance = 0;

	for (size_t row = 0; row < t->rows.nr; row++) {
		amount += cell_at(t, 0, row, z->member[k])->amount;
		variance += cell_at(t, 0, row, z->member[k])->variance;
	}
	return amount > 0 ? variance / amount : 1;
}

static void find_median(const struct table *t, struct sizing *z, size_t row)
{
	double n = 0, all = 0;

	for (size_t k = 0; k < z->nr; k++) {
		z->room[k] = count_of(t, z, row, k) / fmax(z->total[k], 1);
		n += count_of(t, z, row, k);
		all += z->total[k];
	}
	qsort(z->room, z->nr, sizeof(*z->room), by_real);
	if (n >= FLEET_MIN_SHARE * all && n >= FLEET_MIN_COUNT * (double)z->nr)
		z->median[row] = z->room[z->nr / 2];
}

static int sizing_init(struct table *t, size_t group, struct sizing *z)
{
	z->member = calloc(t->members.nr + 1, sizeof(*z->member));
	z->unit = calloc(t->members.nr + 1, sizeof(*z->unit));
	z->total = calloc(t->members.nr + 1, sizeof(*z->total));
	z->room = calloc(t->members.nr + 1, sizeof(*z->room));
	z->median = calloc(t->rows.nr + 1, sizeof(*z->median));
	z->ratio = calloc(t->rows.nr + 1, sizeof(*z->ratio));
	if (!z->member || !z->unit || !z->total || !z->room || !z->median || !z->ratio)
		return -ENOMEM;
	for (size_t i = 0; i < t->members.nr; i++) {
		if (t->group[i] == group)
			z->member[z->nr++] = i;
	}
	for (size_t k = 0; k < z->nr; k++) {
		z->unit[k] = find_unit(t, z, k);
		for (size_t row = 0; row < t->rows.nr; row++)
			z->total[k] += count_of(t, z, row, k);
	}
	for (size_t row = 0; z->nr && row < t->rows.nr; row++)
		find_median(t, z, row);
	return 0;
}

static void sizing_fini(struct sizing *z)
{
	free(z->member);
	free(z->unit);
	free(z->total);
	free(z->room);
	free(z->median);
	free(z->ratio);
}

/* Rows of many samples say more, but no row outvotes all others. */
static void find_ratios(const struct table *t, struct sizing *z, size_t k)
{
	z->nr_ratios = 0;
	for (size_t row = 0; row < t->rows.nr; row++) {
		const double expected = z->median[row] * z->total[k];

		if (expected >= FLEET_MIN_COUNT)
			z->ratio[z->nr_ratios++] =
				(struct ratio){ count_of(t, z, row, k) / expected,
						sqrt(expected), row };
	}
	qsort(z->ratio, z->nr_ratios, sizeof(*z->ratio), by_ratio);
}

/* The size of machine k for a row: its samples times its other rows' median ratio. */
static double size_for(const struct sizing *z, size_t k, size_t row)
{
	double all = 0, before = 0;
	size_t others = 0;

	for (size_t i = 0; i < z->nr_ratios; i++) {
		const bool is_other = z->ratio[i].row != row;

		all += is_other ? z->ratio[i].weight : 0;
		others += is_other;
	}
	if (others < MIN_OTHERS)
		return fmax(z->total[k], 1);
	for (size_t i = 0; i < z->nr_ratios; i++) {
		const struct ratio *r = &z->ratio[i];

		before += r->row != row ? r->weight : 0;
		if (r->row != row && 2 * before >= all)
			return fmax(z->total[k] * r->value, 1);
	}
	return fmax(z->total[k], 1);
}

/* Of the logarithm of n, the count plus a half, whose own variance is a half. */
static double variance_of(const struct table *t, const struct sizing *z, size_t row,
			  size_t k, double n)
{
	const struct fleet_amount *c = cell_at(t, 0, row, z->member[k]);

	return (c->variance / z->unit[k] / z->unit[k] + 0.5) / (n * n);
}

/* The logarithms of a machine's counts over its size. */
static void put_member(struct table *t, struct sizing *z, size_t k)
{
	find_ratios(t, z, k);
	for (size_t row = 0; row < t->rows.nr; row++) {
		const size_t at = row * t->members.nr + z->member[k];
		const double n = count_of(t, z, row, k) + 0.5;
		double size;

		if (z->median[row] * z->total[k] < FLEET_MIN_COUNT &&
		    (n < FLEET_MIN_COUNT || !(z->median[row] > 0)))
			continue;
		size = size_for(z, k, row);
		t->size[at] = size / fmax(z->total[k], 1);
		t->value[at] = (struct outlier_value){ log(n / size),
						       variance_of(t, z, row, k, n) };
	}
}

static int put_group(struct table *t, size_t group)
{
	struct sizing z = { 0 };
	int err = sizing_init(t, group, &z);

	for (size_t k = 0; !err && k < z.nr; k++)
		put_member(t, &z, k);
	sizing_fini(&z);
	return err;
}

static int put_shares(struct table *t)
{
	size_t groups = 0;
	int err = 0;

	for (size_t i = 0; i < t->rows.nr * t->members.nr; i++)
		t->value[i] = (struct outlier_value){ NAN, 1 };
	for (size_t i = 0; i < t->members.nr; i++)
		groups = t->group[i] + 1 > groups ? t->group[i] + 1 : groups;
	for (size_t g = 0; !err && g < groups; g++)
		err = put_group(t, g);
	return err;
}

/* Rows with little of the total are not tested: they are many, and tell little. */
static void drop_small(struct table *t)
{
	double all = 0;

	for (size_t i = 0; i < t->f->sums[0].nr; i++)
		all += t->f->sums[0].sum[i].amount;
	for (size_t row = 0; row < t->rows.nr; row++) {
		double amount = 0;

		for (size_t k = 0; k < t->members.nr; k++)
			amount += cell_at(t, 0, row, k)->amount;
		if (amount >= FLEET_MIN_SHARE * all)
			continue;
		for (size_t k = 0; k < t->members.nr; k++)
			t->value[row * t->members.nr + k].y = NAN;
	}
}

static int make_values(struct table *t)
{
	const size_t nr = t->rows.nr * t->members.nr + 1;
	int err = find_groups(t);

	t->value = calloc(nr, sizeof(*t->value));
	t->size = calloc(nr, sizeof(*t->size));
	t->out = calloc(nr, sizeof(*t->out));
	if (!err && (!t->value || !t->size || !t->out))
		err = -ENOMEM;
	if (!err && t->f->measure == FLEET_CPI)
		put_cpi(t);
	else if (!err)
		err = put_shares(t);
	if (!err)
		drop_small(t);
	return err;
}

/* ---- the answer ---- */

static int add_found(struct table *t, size_t row, size_t member)
{
	const size_t at = row * t->members.nr + member;
	const struct key *r = t->rows.key[row], *m = t->members.key[member];
	struct fleet_outliers *f = t->f;

	if (GROW(f->found, f->nr))
		return -ENOMEM;
	f->found[f->nr++] = (struct fleet_outlier){
		.host = m->part[0],
		.cluster = m->part[1],
		.machine = m->part[2],
		.name = r->part[0],
		.image = r->part[1],
		.value = exp(t->value[at].y) * t->size[at],
		.peers = exp(t->out[at].peers) * t->size[at],
		.change = t->value[at].y - t->out[at].peers,
		.q = t->out[at].q,
	};
	return 0;
}

static int by_sureness(const void *x, const void *y)
{
	const struct fleet_outlier *a = x, *b = y;
	const double p = fabs(a->change), q = fabs(b->change);
	int order;

	if (a->q != b->q)
		return a->q < b->q ? -1 : 1;
	if (p != q)
		return p > q ? -1 : 1;
	order = strcmp(a->host, b->host);
	return order ? order : strcmp(a->name, b->name);
}

static int collect(struct table *t)
{
	struct fleet_outliers *f = t->f;
	int err = 0;

	f->nr_rows = t->rows.nr;
	f->nr_members = t->members.nr;
	for (size_t k = 0; k < t->members.nr; k++) {
		size_t tested = 0;

		for (size_t row = 0; !err && row < t->rows.nr; row++) {
			const struct outlier *o = &t->out[row * t->members.nr + k];

			tested += !isnan(o->p);
			if (o->found)
				err = add_found(t, row, k);
		}
		f->nr_tested += tested;
		f->nr_alone += !tested;
	}
	if (f->nr)
		qsort(f->found, f->nr, sizeof(*f->found), by_sureness);
	return err;
}

int fleet_outliers_find(struct fleet_outliers *f, double fdr)
{
	struct table t = { .f = f };
	struct outlier_input in = { .rate = fdr > 0 ? fdr : DEFAULT_RATE };
	int err = find_keys(&t);

	if (!err)
		err = fill_cells(&t);
	if (!err)
		err = make_values(&t);
	in.value = t.value;
	in.nr_rows = t.rows.nr;
	in.nr_members = t.members.nr;
	in.group = t.group;
	if (!err)
		err = outliers_find(&in, t.out);
	if (!err)
		err = collect(&t);
	keys_fini(&t.rows);
	keys_fini(&t.members);
	free(t.cell[0]);
	free(t.cell[1]);
	free(t.group);
	free(t.value);
	free(t.size);
	free(t.out);
	return err;
}

static int read_sums(const char *url, const struct fleet_outliers_request *req,
		     struct fleet_outliers *f)
{
	struct storesums_ask ask = {
		.choice = req->fleet.choice,
		.times = req->fleet.times,
		.event = req->fleet.event,
		.by_image = true,
		.by_host = true,
		.by_cluster = true,
		.by_machine = true,
		.by_offset = req->fleet.by == FLEET_PROCEDURE,
		.exact = req->fleet.exact,
	};
	int err;

	if (f->measure == FLEET_SHARE)
		return fleet_sums_read(url, &ask, &f->sums[0]);
	ask.any_event = true;
	ask.event = "cycles";
	err = fleet_sums_read(url, &ask, &f->sums[0]);
	/* Of the same epochs: "the newest day" may be another one meanwhile. */
	ask.from_ns = f->sums[0].scope.asked_from_ns;
	ask.to_ns = f->sums[0].scope.asked_to_ns;
	ask.event = "instructions";
	return err ? err : fleet_sums_read(url, &ask, &f->sums[1]);
}

int fleet_outliers_read(const char *url, const struct fleet_outliers_request *req,
			struct fleet_outliers *out)
{
	struct fleet_outliers f = { .measure = req->measure, .by = req->fleet.by };
	int err = read_sums(url, req, &f);

	f.scope = f.sums[0].scope;
	if (!err)
		err = fleet_outliers_find(&f, req->fdr);
	if (err)
		fleet_outliers_fini(&f);
	else
		*out = f;
	return err;
}

void fleet_outliers_fini(struct fleet_outliers *f)
{
	free(f->found);
	fleet_sums_fini(&f->sums[0]);
	fleet_sums_fini(&f->sums[1]);
	memset(f, 0, sizeof(*f));
}
