/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debugging information is read on demand, in three steps: the addresses of a unit's
 * procedures, at the first look-up in the unit; the tree of inlined functions of a
 * procedure, at the first look-up in it; the names of a node of the tree, when an
 * address is in the node.
 *
 * I1  Nodes are numbered in the order of a depth-first walk, so the cover prefers the
 *     inner one of two nodes with the same addresses.
 */
#include "config.h"

#include "analysis/image/inlines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/image/cover.h"
#include "analysis/image/demangle.h"
#include "analysis/image/discriminator.h"
#include "analysis/image/lines.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hmap.h"

#define MAX_DEPTH 128        /* of DIEs in DIEs */
#define MAX_NODES (1u << 22) /* of all trees */
#define NO_PARENT UINT32_MAX
/* In LLVM's DWARF; elfutils does not know it. */
#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif
#define NO_NAME "[inlined]"

/* A function that was inlined; or one that was not, nested in another. */
struct inline_node {
	Dwarf_Off die; /* 0: it was not inlined */
	uint32_t parent, depth;
	struct inlined *chain; /* depth of them; NULL: not asked for yet */
	struct origin *origin; /* its function, and where that was called; or NULL */
};

/* What was inlined into a procedure. */
struct tree {
	struct cover cover; /* ids are indices into node */
	struct inline_node *node;
	size_t nr;
};

struct proc {
	Dwarf_Off die;
	struct tree *tree;     /* NULL: not read yet */
	struct origin *origin; /* its function; NULL: not asked for yet */
};

struct unit {
	struct cover cover; /* ids are indices into proc */
	struct proc *proc;
	size_t nr;
	bool by_gcc; /* its discriminators are plain numbers */
};

struct pretty {
	struct hnode node;
	const char *raw; /* libdw's, so its address says it all */
	char *text;
};

struct inlines {
	struct debuginfo *debug;
	struct unit **unit; /* NULL: not read yet */
	size_t nr_nodes;
	struct hmap names; /* struct pretty */
};

/* Gathers ranges while a part of the DIEs is walked. */
struct inline_walk {
	struct inlines *in;
	uint32_t nr_unit;
	struct unit *unit; /* what is filled: this, */
	struct tree *tree; /* or this */
	struct cover_range *range;
	size_t nr;
};

struct inlines *inlines_new(struct debuginfo *d)
{
	struct inlines *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->debug = d;
	in->unit = calloc(debuginfo_nr_units(d) + 1, sizeof(*in->unit));
	if (in->unit)
		return in;
	free(in);
	return NULL;
}

static void tree_free(struct tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr; i++) {
		free(t->node[i].chain);
		free(t->node[i].origin);
	}
	free(t->node);
	cover_fini(&t->cover);
	free(t);
}

static void unit_free(struct unit *u)
{
	if (!u)
		return;
	for (size_t i = 0; i < u->nr; i++) {
		tree_free(u->proc[i].tree);
		free(u->proc[i].origin);
	}
	free(u->proc);
	cover_fini(&u->cover);
	free(u);
}

void inlines_free(struct inlines *in)
{
	struct hnode *n, *next;

	if (!in)
		return;
	for (size_t i = 0; i < debuginfo_nr_units(in->debug); i++)
		unit_free(in->unit[i]);
	free(in->unit);
	hmap_for_each (&in->names, n, next) {
		struct pretty *p = container_of(n, struct pretty, node);

		hmap_remove(&in->names, n);
		free(p->text);
		free(p);
	}
	hmap_fini(&in->names);
	free(in);
}

/* Returns how many ranges the DIE has, or -ENOMEM; they belong to id. */
static int add_ranges(struct inline_walk *w, Dwarf_Die *die, uint32_t id)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	int nr = 0;

	while (w->nr < MAX_NODES &&
	       (at = debuginfo_ranges(w->in->debug, w->nr_unit, die, at, &base, &start,
				      &end)) > 0) {

		if (GROW(w->range, w->nr))
			return -ENOMEM;
		w->range[w->nr++] = (struct cover_range){ start, end, id };
		nr += start < end;
	}
	return nr;
}

static int add_proc(struct inline_walk *w, Dwarf_Die *die)
{
	struct unit *u = w->unit;
	int nr = add_ranges(w, die, (uint32_t)u->nr);

	if (nr <= 0)
		return nr;
	if (GROW(u->proc, u->nr))
		return -ENOMEM;
	u->proc[u->nr++] = (struct proc){ .die = dwarf_dieoffset(die) };
	return 0;
}

static int add_node(struct inline_walk *w, Dwarf_Die *die, bool inlined,
		    uint32_t *parent)
{
	struct tree *t = w->tree;
	struct inline_node *node;
	int nr;

	if (GROW(t->node, t->nr))
		return -ENOMEM;
	node = &t->node[t->nr];
	*node = (struct inline_node){ .parent = NO_PARENT };
	if (inlined) {
		node->die = dwarf_dieoffset(die);
		node->parent = *parent;
		node->depth = 1;
		if (*parent != NO_PARENT)
			node->depth += t->node[*parent].depth;
	}
	*parent = (uint32_t)t->nr++;
	w->in->nr_nodes++;
	nr = add_ranges(w, die, *parent);
	return nr < 0 ? nr : 0;
}

/* Whether functions may be below such a DIE. */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	}
	return false;
}

static int walk_children(struct inline_walk *w, Dwarf_Die *of, uint32_t parent,
			 int depth);

static int walk_die(struct inline_walk *w, Dwarf_Die *die, uint32_t parent, int depth)
{
	const int tag = dwarf_tag(die);
	const bool inlined = tag == DW_TAG_inlined_subroutine;
	int err;

	if (w->unit && tag == DW_TAG_subprogram)
		return add_proc(w, die);
	if (w->tree && (inlined || tag == DW_TAG_subprogram)) {
		err = add_node(w, die, inlined, &parent);
		return err ? err : walk_children(w, die, parent, depth + 1);
	}
	return is_scope(tag) ? walk_children(w, die, parent, depth + 1) : 0;
}

static int walk_children(struct inline_walk *w, Dwarf_Die *of, uint32_t parent,
			 int depth)
{
	Dwarf_Die die, next;
	int err = 0;

	if (depth == MAX_DEPTH || dwarf_child(of, &die) != 0)
		return 0;
	while (!err && w->in->nr_nodes < MAX_NODES) {
		err = walk_die(w, &die, parent, depth);
		if (dwarf_siblingof(&die, &next) != 0)
			break;
		die = next;
	}
	return err;
}

static int walk_and_cover(struct inline_walk *w, Dwarf_Die *from, struct cover *cover)
{
	int err = walk_children(w, from, NO_PARENT, 0);

	if (!err)
		err = cover_build(w->range, w->nr, cover);
	free(w->range);
	return err;
}

static bool is_by_gcc(struct inlines *in, uint32_t unit, Dwarf_Die *die)
{
	static const char gcc[] = "GNU ";
	Dwarf_Attribute attr;
	const char *producer = NULL;

	if (dwarf_attr(die, DW_AT_producer, &attr))
		producer = debuginfo_string(in->debug, unit, &attr);
	return producer && strncmp(producer, gcc, sizeof(gcc) - 1) == 0;
}

static struct unit *read_unit(struct inlines *in, uint32_t nr)
{
	struct unit *u = calloc(1, sizeof(*u));
	struct inline_walk w = { .in = in, .nr_unit = nr, .unit = u };
	Dwarf_Die die;

	if (!u)
		return NULL;
	if (debuginfo_tree(in->debug, nr, &die)) {
		u->by_gcc = is_by_gcc(in, nr, &die);
		if (walk_and_cover(&w, &die, &u->cover)) {
			unit_free(u);
			return NULL;
		}
	}
	in->unit[nr] = u;
	return u;
}

static struct tree *read_tree(struct inlines *in, uint32_t unit, struct proc *proc,
			      Dwarf_Die *cu)
{
	struct tree *t = calloc(1, sizeof(*t));
	struct inline_walk w = { .in = in, .nr_unit = unit, .tree = t };
	Dwarf_Die die;

	if (!t)
		return NULL;
	if (dwarf_offdie(dwarf_cu_getdwarf(cu->cu), proc->die, &die) &&
	    walk_and_cover(&w, &die, &t->cover)) {
		tree_free(t);
		return NULL;
	}
	proc->tree = t;
	return t;
}

/* The raw name serves where there is no other. */
static const char *pretty_name(struct inlines *in, const char *raw)
{
	const uint64_t hash = hash_u64((uintptr_t)raw);
	struct pretty *p;
	struct hnode *n;

	for (n = hmap_first(&in->names, hash); n; n = hmap_next(n)) {
		p = container_of(n, struct pretty, node);
		if (p->raw == raw)
			return p->text ? p->text : raw;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return raw;
	p->raw = raw;
	p->text = demangle(raw);
	if (hmap_insert(&in->names, &p->node, hash)) {
		free(p->text);
		free(p);
		return raw;
	}
	return p->text ? p->text : raw;
}

/* The linkage name, where there is one; or NULL. */
static const char *raw_name_of(struct inlines *in, uint32_t unit, Dwarf_Die *die)
{
	static const unsigned int from[] = { DW_AT_linkage_name,
					     DW_AT_MIPS_linkage_name, DW_AT_name };
	const char *name = NULL;
	Dwarf_Attribute attr;

	for (size_t i = 0; !(name && *name) && i < sizeof(from) / sizeof(from[0]);
	     i++) {
		if (dwarf_attr_integrate(die, from[i], &attr))
			name = debuginfo_string(in->debug, unit, &attr);
	}
	return name && *name ? name : NULL;
}

static const char *name_of(struct inlines *in, uint32_t unit, Dwarf_Die *die)
{
	const char *name = raw_name_of(in, unit, die);

	return name ? pretty_name(in, name) : NO_NAME;
}

static int number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &value) != 0 ||
	    value > INT32_MAX)
		return 0;
	return (int)value;
}

static void describe(struct inlines *in, uint32_t unit, Dwarf_Die *die,
		     struct inlined *out)
{
	const int file = number_of(die, DW_AT_call_file);
	const int line = number_of(die, DW_AT_call_line);
	Dwarf_Files *files = debuginfo_files(in->debug, unit);
	const char *name =
		files ? dwarf_filesrc(files, (size_t)file, NULL, NULL) : NULL;

	*out = (struct inlined){ .name = name_of(in, unit, die) };
	if (!name || !line || !dwarf_hasattr(die, DW_AT_call_file))
		return;
	out->call.file = debuginfo_full_name(in->debug, unit, name);
	out->call.line = out->call.file ? line : 0;
	out->column = out->call.file ? number_of(die, DW_AT_call_column) : 0;
}

/* The innermost first. */
static size_t chain_of(struct inlines *in, uint32_t unit, Dwarf_Die *cu, struct tree *t,
		       struct inline_node *node, const struct inlined **out)
{
	const struct inline_node *n = node;
	Dwarf_Die die;

	if (!node->chain && node->depth) {
		node->chain = calloc(node->depth, sizeof(*node->chain));
		for (uint32_t i = 0; node->chain && i < node->depth; i++) {
			node->chain[i].name = NO_NAME;
			if (dwarf_offdie(dwarf_cu_getdwarf(cu->cu), n->die, &die))
				describe(in, unit, &die, &node->chain[i]);
			n = &t->node[n->parent == NO_PARENT ? 0 : n->parent];
		}
	}
	*out = node->chain;
	return node->chain ? node->depth : 0;
}

/* What is around an address. */
struct around {
	uint32_t nr_unit;
	Dwarf_Die cu;
	struct unit *unit;
	struct proc *proc;
	struct tree *tree;
	struct inline_node *node; /* NULL: nothing was inlined there */
};

static bool find_around(struct inlines *in, uint64_t address, struct around *out)
{
	const struct cover_range *r;
	struct unit *u;
	struct tree *t;

	debuginfo_trim(in->debug);
	if (!debuginfo_unit_at(in->debug, address, &out->nr_unit) ||
	    !debuginfo_tree(in->debug, out->nr_unit, &out->cu))
		return false;
	u = in->unit[out->nr_unit] ? in->unit[out->nr_unit]
				   : read_unit(in, out->nr_unit);
	r = u ? cover_find(&u->cover, address) : NULL;
	if (!r)
		return false;
	out->unit = u;
	out->proc = &u->proc[r->id];
	t = out->proc->tree ? out->proc->tree
			    : read_tree(in, out->nr_unit, out->proc, &out->cu);
	r = t ? cover_find(&t->cover, address) : NULL;
	out->tree = t;
	out->node = r ? &t->node[r->id] : NULL;
	return t;
}

size_t inlines_at(struct inlines *in, uint64_t address, const struct inlined **out)
{
	struct around a;

	if (!find_around(in, address, &a) || !a.node)
		return 0;
	return chain_of(in, a.nr_unit, &a.cu, a.tree, a.node, out);
}

/* What a number in the line table means: LLVM packs three into it (discriminator.h). */
static void set_discriminator(const struct unit *u, unsigned int raw, struct origin *p)
{
	p->discriminator = u->by_gcc ? raw : discriminator_base(raw);
	p->copies = u->by_gcc ? 1 : discriminator_copies(raw);
}

/* NULL if the attribute is in another unit, which numbers its files differently. */
static const char *file_of(struct inlines *in, const struct around *a, Dwarf_Die *die)
{
	Dwarf_Files *files = debuginfo_files(in->debug, a->nr_unit);
	Dwarf_Attribute attr;
	const char *name = NULL;
	Dwarf_Word nr;

	if (files && dwarf_attr_integrate(die, DW_AT_decl_file, &attr) &&
	    attr.cu == die->cu && dwarf_formudata(&attr, &nr) == 0)
		name = dwarf_filesrc(files, nr, NULL, NULL);
	return name ? debuginfo_full_name(in->debug, a->nr_unit, name) : NULL;
}

/* A function, and of an inlined one the place of the call. */
static struct origin *describe_origin(struct inlines *in, const struct around *a,
				      Dwarf_Off offset)
{
	struct origin *p = calloc(1, sizeof(*p));
	Dwarf_Attribute attr;
	Dwarf_Die die;
	Dwarf_Word start;
	const char *name;

	if (!p || !dwarf_offdie(dwarf_cu_getdwarf(a->cu.cu), offset, &die))
		return p;
	name = raw_name_of(in, a->nr_unit, &die);
	p->function = name ? name : "";
	p->file = file_of(in, a, &die);
	if (dwarf_attr_integrate(&die, DW_AT_decl_line, &attr) &&
	    dwarf_formudata(&attr, &start) == 0 && start <= INT32_MAX)
		p->start = (int)start;
	p->line = number_of(&die, DW_AT_call_line);
	set_discriminator(a->unit,
			  (unsigned int)number_of(&die, DW_AT_GNU_discriminator), p);
	return p;
}

static const struct origin *origin_of(struct inlines *in, const struct around *a,
				      Dwarf_Off die, struct origin **kept)
{
	if (!*kept)
		*kept = describe_origin(in, a, die);
	return *kept;
}

static void set_position(struct origin *p, const struct origin *at)
{
	p->line = at->line;
	p->discriminator = at->discriminator;
	p->copies = at->copies;
}

size_t inlines_origins_at(struct inlines *in, uint64_t address,
			  struct origin out[IMAGE_MAX_ORIGINS])
{
	const struct origin *p;
	struct origin at = { .copies = 1 };
	unsigned int raw = 0;
	struct around a;
	struct inline_node *n;
	size_t depth;

	if (!find_around(in, address, &a))
		return 0;
	at.line = lines_number_at(in->debug, address, &raw);
	set_discriminator(a.unit, raw, &at);
	depth = a.node ? a.node->depth : 0;
	if (depth >= IMAGE_MAX_ORIGINS)
		return 0;
	n = a.node;
	for (size_t i = depth; i; i--) {
		p = origin_of(in, &a, n->die, &n->origin);
		if (!p || !p->function)
			return 0;
		out[i] = *p;
		set_position(&out[i], &at);
		at = *p;
		n = &a.tree->node[n->parent == NO_PARENT ? 0 : n->parent];
	}
	p = origin_of(in, &a, a.proc->die, &a.proc->origin);
	if (!p || !p->function)
		return 0;
	out[0] = *p;
	set_position(&out[0], &at);
	return depth + 1;
}
