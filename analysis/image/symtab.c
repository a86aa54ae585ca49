/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A name is demangled at the first look-up of its procedure: large programs have 10^5
 * symbols, and a report shows a hundred.
 */
#include "config.h"

#include "analysis/image/symtab.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/demangle.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/search.h"

static void drop_procs(struct symtab *t)
{
	for (size_t i = 0; i < t->nr_procs; i++)
		free(t->proc[i].pretty);
	free(t->proc);
	free(t->list);
	cover_fini(&t->cover);
	t->proc = NULL;
	t->nr_procs = 0;
	t->list = NULL;
	t->pretty_bytes = 0;
}

void symtab_fini(struct symtab *t)
{
	drop_procs(t);
	for (size_t i = 0; i < t->nr_owned; i++)
		free(t->owned[i]);
	free(t->owned);
	free(t->entry);
	*t = (struct symtab){ 0 };
}

int symtab_add(struct symtab *t, const struct symtab_entry *e)
{
	if (t->nr_entries == SYMTAB_MAX || e->start >= e->limit)
		return 0;
	if (GROW(t->entry, t->nr_entries))
		return -ENOMEM;
	t->entry[t->nr_entries++] = *e;
	t->changed = true;
	return 0;
}

int symtab_add_named(struct symtab *t, const struct symtab_entry *e, const char *prefix,
		     const char *name, const char *suffix)
{
	struct symtab_entry named = *e;
	size_t size = strlen(prefix) + strlen(name) + strlen(suffix) + 1;
	char *text;

	if (t->nr_entries == SYMTAB_MAX || size > SYMTAB_MAX_OWNED - t->owned_bytes)
		return 0;
	if (GROW(t->owned, t->nr_owned))
		return -ENOMEM;
	text = malloc(size);
	if (!text)
		return -ENOMEM;
	stpcpy(stpcpy(stpcpy(text, prefix), name), suffix);
	t->owned[t->nr_owned++] = text;
	t->owned_bytes += size;
	named.raw = text;
	return symtab_add(t, &named);
}

int symtab_adopt(struct symtab *t, struct symtab_entry *entry, size_t nr, char *names)
{
	if (GROW(t->owned, t->nr_owned))
		return -ENOMEM;
	t->owned[t->nr_owned++] = names;
	t->entry = entry;
	t->nr_entries = nr;
	t->changed = true;
	return 0;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* By start; of one start, the best name first. */
static int compare_entries(const void *a, const void *b)
{
	const struct symtab_entry *x = a, *y = b;
	size_t nx, ny;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if ((x->binding == SYMTAB_WEAK) != (y->binding == SYMTAB_WEAK))
		return x->binding == SYMTAB_WEAK ? 1 : -1;
	if (x->binding != y->binding)
		return x->binding > y->binding ? -1 : 1;
	nx = underscores(x->raw);
	ny = underscores(y->raw);
	if (nx != ny)
		return nx < ny ? -1 : 1;
	nx = strlen(x->raw);
	ny = strlen(y->raw);
	if (nx != ny)
		return nx > ny ? -1 : 1;
	return strcmp(x->raw, y->raw);
}

/* They are if they were kept from an earlier run. */
static bool are_sorted(const struct symtab *t)
{
	size_t i = 1;

	while (i < t->nr_entries &&
	       compare_entries(&t->entry[i - 1], &t->entry[i]) <= 0)
		i++;
	return i >= t->nr_entries;
}

static uint64_t end_of(const struct symtab_entry *e)
{
	return e->size < e->limit - e->start ? e->start + e->size : e->limit;
}

/* Fills proc with the chosen entries; those without a size end at their start. */
static void choose_procedures(struct symtab *t)
{
	uint64_t busy = 0; /* procedures with a size reach up to here */

	for (size_t i = 0; i < t->nr_entries; i++) {
		const struct symtab_entry *e = &t->entry[i];
		uint64_t end = end_of(e);

		if (i && e->start == t->entry[i - 1].start)
			continue;
		if (!e->size && e->label && e->start < busy)
			continue;
		t->proc[t->nr_procs++].symbol =
			(struct symbol){ e->start, end, e->raw, e->raw };
		if (end > busy)
			busy = end;
	}
}

/* The first entry with this start. */
static const struct symtab_entry *entry_at(const struct symtab *t, uint64_t start)
{
	const size_t low = SEARCH(i, t->nr_entries, t->entry[i].start >= start);

	return &t->entry[low];
}

static void stretch(struct symtab *t)
{
	uint64_t busy = 0;

	for (size_t i = 0; i < t->nr_procs; i++) {
		struct symbol *s = &t->proc[i].symbol;

		if (s->end > s->start) {
			if (s->end > busy)
				busy = s->end;
			continue;
		}
		s->end = entry_at(t, s->start)->limit;
		if (i + 1 < t->nr_procs && t->proc[i + 1].symbol.start < s->end)
			s->end = t->proc[i + 1].symbol.start;
		if (s->start < busy && busy < s->end)
			s->end = busy;
	}
}

int symtab_build(struct symtab *t)
{
	struct cover_range *range;
	int err;

	if (!t->changed)
		return 0;
	drop_procs(t);
	if (!are_sorted(t))
		qsort(t->entry, t->nr_entries, sizeof(*t->entry), compare_entries);
	t->proc = calloc(t->nr_entries, sizeof(*t->proc));
	range = calloc(t->nr_entries, sizeof(*range));
	if (!t->proc || !range) {
		err = -ENOMEM;
		goto out;
	}
	choose_procedures(t);
	stretch(t);
	for (size_t i = 0; i < t->nr_procs; i++)
		range[i] = (struct cover_range){ t->proc[i].symbol.start,
						 t->proc[i].symbol.end, (uint32_t)i };
	err = cover_build(range, t->nr_procs, &t->cover);
	if (!err)
		t->changed = false;
out:
	free(range);
	return err;
}

static bool is_plt(const char *raw)
{
	size_t len = strlen(raw);

	return len > 4 && strcmp(raw + len - 4, "@plt") == 0;
}

static char *append_plt(char *name)
{
	char *whole = realloc(name, strlen(name) + sizeof("@plt"));

	if (!whole) {
		free(name);
		return NULL;
	}
	return strcat(whole, "@plt");
}

/*
 * Without the version of "name@VERSION" and "name@@VERSION"; keeps "@plt".
 * NULL when that is raw itself.
 */
static char *prettify(const char *raw)
{
	const size_t len = strcspn(raw, "@");
	char *base, *pretty;

	if (!raw[len] || !len)
		return demangle(raw);
	base = strndup(raw, len);
	if (!base)
		return NULL;
	pretty = demangle(base);
	if (!is_plt(raw) && !pretty)
		return base;
	free(base);
	return pretty && is_plt(raw) ? append_plt(pretty) : pretty;
}

static const struct symbol *ask(struct symtab *t, struct symtab_proc *p)
{
	if (p->asked)
		return &p->symbol;
	p->asked = true;
	if (t->pretty_bytes < SYMTAB_MAX_PRETTY)
		p->pretty = prettify(p->symbol.raw);
	if (p->pretty) {
		p->symbol.name = p->pretty;
		t->pretty_bytes += strlen(p->pretty) + 1;
	}
	return &p->symbol;
}

const struct symbol *symtab_at(struct symtab *t, uint64_t offset)
{
	const struct cover_range *r = cover_find(&t->cover, offset);

	return r ? ask(t, &t->proc[r->id]) : NULL;
}

static struct symtab_proc *proc_starting_at(struct symtab *t, uint64_t start)
{
	const size_t low = SEARCH(i, t->nr_procs, t->proc[i].symbol.start >= start);

	if (low == t->nr_procs || t->proc[low].symbol.start != start)
		return NULL;
	return &t->proc[low];
}

/* As the file spells it, with or without a version. */
static bool is_raw(const char *raw, const char *name, size_t len)
{
	return strncmp(raw, name, len) == 0 &&
	       (!raw[len] || (raw[len] == '@' && !is_plt(raw)));
}

/*
 * Length of a demangled name without its argument list and what qualifies it:
 * "a::f(int) const" gives "a::f". Clones ("f() [clone .cold]") are others.
 */
static size_t bare_length(const char *name)
{
	const char *close = strrchr(name, ')'), *open;
	int depth = 0;

	if (!close || close[1 + strspn(close + 1, " &acdeilnostuv")])
		return strlen(name);
	for (open = close; open > name; open--) {
		depth += (*open == ')') - (*open == '(');
		if (!depth)
			break;
	}
	return (size_t)(open - name);
}

static bool is_pretty(const char *pretty, const char *name, size_t len)
{
	return strcmp(pretty, name) == 0;
}

static bool is_bare(const char *pretty, const char *name, size_t len)
{
	return strncmp(pretty, name, len) == 0 && bare_length(pretty) == len;
}

/*
 * A part of a name that its mangled form contains, too: the last identifier before the
 * argument list or the template arguments. Empty for names whose mangled form may lack
 * it: operators, lambdas, abbreviations of C++ (std::string), and letters beyond ASCII.
 */
static size_t kept_part(const char *name, const char **part)
{
	static const char *const lost[] = { "operator", "string",   "istream",
					    "ostream",  "iostream", "allocator" };
	const char *end = name + strcspn(name, "(<[{@ ");
	const char *start = end;

	while (start > name && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
		start--;
	*part = start;
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++) {
		if (memmem(start, (size_t)(end - start), lost[i], strlen(lost[i])))
			return 0;
	}
	for (const char *p = name; *p && *p != '('; p++) {
		if (*p == '{' || *p == ' ' || *p == '@' || !isascii((unsigned char)*p))
			return 0;
	}
	return (size_t)(end - start);
}

/* Notes one more match; false when it is another than before. */
static bool only(const struct symtab_proc **found, const struct symtab_proc *p)
{
	if (*found && p && *found != p)
		return false;
	if (p)
		*found = p;
	return true;
}

int symtab_named(struct symtab *t, const char *name, const struct symbol **out)
{
	static bool (*const match[])(const char *, const char *, size_t) = { is_pretty,
									     is_bare };
	const struct symtab_proc *found = NULL;
	const size_t len = strlen(name);
	const char *part;
	const size_t part_len = kept_part(name, &part);

	for (size_t i = 0; i < t->nr_entries; i++)
		if (is_raw(t->entry[i].raw, name, len) &&
		    !only(&found, proc_starting_at(t, t->entry[i].start)))
			return -CPI_ETOOMANY;
	for (size_t pass = 0; pass < 2 && !found; pass++)
		for (size_t i = 0; i < t->nr_procs; i++)
			if (memmem(t->proc[i].symbol.raw, strlen(t->proc[i].symbol.raw),
				   part, part_len) &&
			    match[pass](ask(t, &t->proc[i])->name, name, len) &&
			    !only(&found, &t->proc[i]))
				return -CPI_ETOOMANY;
	if (!found)
		return -CPI_ENOSYMBOL;
	*out = ask(t, proc_starting_at(t, found->symbol.start));
	return 0;
}

const char *symtab_alias(const struct symtab *t, const struct symbol *s, size_t i)
{
	const struct symtab_entry *e = entry_at(t, s->start) + i;

	return e < t->entry + t->nr_entries && e->start == s->start ? e->raw : NULL;
}

bool symtab_is_local(const struct symtab *t, const struct symbol *s)
{
	return entry_at(t, s->start)->binding == SYMTAB_LOCAL;
}

const struct symbol *const *symtab_all(struct symtab *t, size_t *nr)
{
	if (!t->list && t->nr_procs) {
		t->list = calloc(t->nr_procs, sizeof(*t->list));
		if (!t->list) {
			*nr = 0;
			return NULL;
		}
		for (size_t i = 0; i < t->nr_procs; i++)
			t->list[i] = ask(t, &t->proc[i]);
	}
	*nr = t->nr_procs;
	return t->list;
}
