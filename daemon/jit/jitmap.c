/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitmap.c - a sorted array of code objects
 *
 * It is sorted again when code was added, because look-ups outnumber changes, and a
 * process may add a hundred thousand lines at once, in any order and nested. A look-up
 * goes down from the last code object that starts at or below the address, while the
 * reach says that a lower one may contain it. A process could make that slow, so
 * MAX_STEPS bounds it.
 */
#include "config.h"

#include "daemon/jit/jitmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/search.h"

#define MAX_STEPS       256
#define MAX_NAMES_BYTES (32u << 20)

void jitmap_fini(struct jitmap *m)
{
	free(m->code);
	free(m->reach);
	buf_fini(&m->names);
	memset(m, 0, sizeof(*m));
}

static int grow(struct jitmap *m)
{
	size_t cap = m->cap ? m->cap * 2 : 64;
	struct jit_code *code;
	uint64_t *reach;

	if (m->nr < m->cap)
		return 0;
	code = realloc(m->code, cap * sizeof(*code));
	if (!code)
		return -ENOMEM;
	m->code = code;
	reach = realloc(m->reach, cap * sizeof(*reach));
	if (!reach)
		return -ENOMEM;
	m->reach = reach;
	m->cap = cap;
	return 0;
}

int jitmap_add(struct jitmap *m, const struct jit_code *code, const char *name,
	       size_t len)
{
	struct jit_code c = *code;
	int err;

	if (c.start >= c.end || c.end >> 63)
		return -EINVAL;
	if (m->nr == JITMAP_MAX_CODES || m->names.len > MAX_NAMES_BYTES)
		return -CPI_ELIMIT;
	err = grow(m);
	if (err)
		return err;
	len = strnlen(name, len < JITMAP_MAX_NAME ? len : JITMAP_MAX_NAME);
	c.name = m->names.len;
	c.order = m->order++;
	buf_put(&m->names, name, len);
	buf_putc(&m->names, '\0');
	if (m->names.err)
		return m->names.err;
	m->code[m->nr++] = c;
	return 0;
}

const char *jitmap_name(const struct jitmap *m, const struct jit_code *code)
{
	return m->names.data + code->name;
}

static int by_start(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool same_code(const struct jitmap *m, const struct jit_code *a,
		      const struct jit_code *b)
{
	return a->start == b->start && a->end == b->end && a->bytes_at == b->bytes_at &&
	       !strcmp(jitmap_name(m, a), jitmap_name(m, b));
}

/* Whether b, which was added later, replaced all of a before the horizon. */
static bool has_replaced(const struct jit_code *b, const struct jit_code *a,
			 uint64_t horizon_ns)
{
	return a->start == b->start && a->end <= b->end && b->known_ns < horizon_ns;
}

static void tidy(struct jitmap *m, uint64_t horizon_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->nr; i++) {
		struct jit_code *last = kept ? &m->code[kept - 1] : NULL;
		struct jit_code *c = &m->code[i];

		if (last && same_code(m, last, c)) {
			last->order = c->order; /* told twice */
			continue;
		}
		if (last && has_replaced(c, last, horizon_ns))
			kept--;
		m->code[kept++] = *c;
	}
	m->nr = kept;
}

int jitmap_build(struct jitmap *m, uint64_t horizon_ns)
{
	uint64_t reach = 0;

	if (m->names.err)
		return m->names.err;
	if (m->nr_built == m->nr)
		return 0;
	qsort(m->code, m->nr, sizeof(*m->code), by_start);
	tidy(m, horizon_ns);
	for (size_t i = 0; i < m->nr; i++) {
		if (m->code[i].end > reach)
			reach = m->code[i].end;
		m->reach[i] = reach;
	}
	m->nr_built = m->nr;
	return 0;
}

/* How many pieces start at pc or below it. */
static size_t nr_below(const struct jitmap *m, uint64_t pc)
{
	return SEARCH(i, m->nr_built, m->code[i].start > pc);
}

/*
 * Returns the newest piece around pc that was added at `when` or before, and before
 * the piece `limit` (unless NULL). With later: the oldest that was added after
 * `when`.
 */
static struct jit_code *pick(struct jitmap *m, uint64_t pc, uint64_t when, bool later,
			     const struct jit_code *limit)
{
	struct jit_code *best = NULL;
	size_t at = nr_below(m, pc);

	for (int step = 0; step < MAX_STEPS && at && m->reach[at - 1] > pc; step++) {
		struct jit_code *c = &m->code[--at];

		if (c->end <= pc || (c->since_ns > when) != later ||
		    (limit && c->order >= limit->order))
			continue;
		if (!best || (c->order > best->order) != later)
			best = c;
	}
	return best;
}

int jitmap_find(struct jitmap *m, uint64_t pc, uint64_t t0, uint64_t t1,
		struct jit_code **out)
{
	struct jit_code *c = pick(m, pc, t1, false, NULL), *older;

	if (!c)
		c = pick(m, pc, t1, true, NULL);
	if (!c)
		return -ENOENT;
	/* If it was added after t0, the code that it replaced may have run since t0. */
	for (older = c; older && older->known_ns > t0 && older->since_ns <= t1;) {
		older = pick(m, pc, t1, false, older);
		if (older && (older->start != c->start ||
			      strcmp(jitmap_name(m, older), jitmap_name(m, c))))
			return -EEXIST;
	}
	*out = c;
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct jit_code *const *x = a, *const *y = b;

	return ((*x)->order > (*y)->order) - ((*x)->order < (*y)->order);
}

size_t jitmap_overlapping(const struct jitmap *m, uint64_t start, uint64_t end,
			  const struct jit_code **out, size_t nr)
{
	size_t at = nr_below(m, end - 1), found = 0;

	for (size_t step = 0; at && m->reach[at - 1] > start; step++) {
		const struct jit_code *c = &m->code[--at];

		if (step == nr)
			return 0;
		if (c->end > start)
			out[found++] = c;
	}
	qsort(out, found, sizeof(*out), by_order);
	return found;
}

const struct jit_code *jitmap_newest(const struct jitmap *m, uint64_t start)
{
	const struct jit_code *newest = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		const struct jit_code *c = &m->code[i];

		if (c->start == start && (!newest || c->order > newest->order))
			newest = c;
	}
	return newest;
}

size_t jitmap_memory(const struct jitmap *m)
{
	return m->cap * (sizeof(*m->code) + sizeof(*m->reach)) + m->names.cap;
}

/* A number at *at, before end; with or without "0x". 0 or -EINVAL. */
static int parse_hex(const char **at, const char *end, uint64_t *out)
{
	const char *p = *at, *first;
	uint64_t v = 0;

	if (end - p > 2 && p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
		p += 2;
	for (first = p; p < end; p++) {
		unsigned int digit;

		if (*p >= '0' && *p <= '9')
			digit = *p - '0';
		else if ((*p | 0x20) >= 'a' && (*p | 0x20) <= 'f')
			digit = (*p | 0x20) - 'a' + 10;
		else
			break;
		if (v >> 60)
			return -EINVAL;
		v = v << 4 | digit;
	}
	if (p == first)
		return -EINVAL;
	*at = p;
	*out = v;
	return 0;
}

static const char *skip_spaces(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p;
}

int jitmap_parse(const char *line, size_t len, struct jit_code *code, const char **name,
		 size_t *name_len)
{
	const char *end = line + len, *p = line;
	uint64_t start, size;

	if (parse_hex(&p, end, &start) || p == end || *p != ' ')
		return -EINVAL;
	p = skip_spaces(p, end);
	if (parse_hex(&p, end, &size) || p == end || *p != ' ')
		return -EINVAL;
	p = skip_spaces(p, end);
	if (p == end || !*p || !size || size > UINT64_MAX - start)
		return -EINVAL;
	code->start = start;
	code->end = start + size;
	*name = p;
	*name_len = end - p;
	return 0;
}
