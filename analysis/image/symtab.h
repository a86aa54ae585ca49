/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtab.h - the procedures of one image, from all sources of names
 *
 * Collectors add entries, symtab_build() makes procedures of them:
 *
 *  - Of several names at one start, the best one stands for all: one with a size, then
 *    not weak, then global, then with fewer leading underscores, then the longer, then
 *    the first in the alphabet. (This is perf's rule, so that the two agree.) The
 *    others are still found by name.
 *  - A label without a size inside a procedure that has one is part of it.
 *  - An entry without a size reaches to the next procedure or its limit.
 *  - Where procedures nest or overlap, the one that starts last has the offset.
 */
#ifndef CPI_ANALYSIS_SYMTAB_H
#define CPI_ANALYSIS_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/cover.h"
#include "analysis/image/image.h"

/* Limits that bound a hostile file's memory. What exceeds them is left out. */
#define SYMTAB_MAX        (1u << 22) /* entries */
#define SYMTAB_MAX_NAME   16384      /* bytes of a name in a file */
#define SYMTAB_MAX_OWNED  (1u << 28) /* bytes of names that no file holds */
#define SYMTAB_MAX_PRETTY (1u << 30) /* bytes of demangled names */

enum symtab_binding { SYMTAB_LOCAL, SYMTAB_WEAK, SYMTAB_GLOBAL };

struct symtab_entry {
	uint64_t start, size; /* size 0: not known */
	uint64_t limit;       /* it does not reach beyond this */
	const char *raw;      /* must stay as long as the table */
	uint8_t binding;      /* enum symtab_binding */
	bool label;           /* of no type: perhaps no procedure */
};

struct symtab_proc {
	struct symbol symbol; /* name is raw until somebody asks */
	char *pretty;         /* NULL: raw serves, or not asked yet */
	bool asked;
};

/* Starts as { 0 }. */
struct symtab {
	struct symtab_entry *entry;
	size_t nr_entries;
	bool changed;             /* since the last build */
	struct symtab_proc *proc; /* ascending starts, one each */
	size_t nr_procs;
	struct cover cover; /* ids are indices into proc */
	char **owned;       /* names that no file holds */
	size_t nr_owned;
	size_t owned_bytes;
	size_t pretty_bytes;        /* of demangled names */
	const struct symbol **list; /* what symtab_all() gave out */
};

void symtab_fini(struct symtab *t);

/* Copies e. Returns 0 or -ENOMEM. */
int symtab_add(struct symtab *t, const struct symtab_entry *e);

/*
 * The same with a name that the table keeps: prefix, name and suffix together. Adds
 * nothing if all such names would exceed SYMTAB_MAX_OWNED.
 */
int symtab_add_named(struct symtab *t, const struct symtab_entry *e, const char *prefix,
		     const char *name, const char *suffix);

/*
 * Fills the empty table with entries whose names are in `names`. There must be room for
 * the next power of two of entries (GROW()). Takes over both arrays, unless it returns
 * -ENOMEM; else it returns 0.
 */
int symtab_adopt(struct symtab *t, struct symtab_entry *entry, size_t nr, char *names);

/* Symbols given out before are gone. Returns 0 or -ENOMEM. */
int symtab_build(struct symtab *t);

/* As the functions of image.h, for a table that is built. */
const struct symbol *symtab_at(struct symtab *t, uint64_t offset);
int symtab_named(struct symtab *t, const char *name, const struct symbol **out);
const char *symtab_alias(const struct symtab *t, const struct symbol *s, size_t i);
bool symtab_is_local(const struct symtab *t, const struct symbol *s);
const struct symbol *const *symtab_all(struct symtab *t, size_t *nr);

#endif
