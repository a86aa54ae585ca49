/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the targets of indirect jumps. Compilers generate
 *
 *	cmp   index, bound; ja default
 *	load  entry, [table + index * size]
 *	add   entry, base                       (relative entries)
 *	jmp   entry
 *
 * with the parts in any order, hoisted, folded, or left out. So the instructions on a
 * path to the jump are evaluated with the values of cfg_value.h. If the jump's target
 * is an entry of a table, the table is found; a comparison of the index on the path
 * gives the number of its entries.
 *
 * A path is followed backwards along fall-throughs, else along the only or the first
 * jump. A register that was set before the path has a constant that the procedure
 * writes to it. Several paths and constants are tried. A result is accepted only if all
 * entries lead to instructions of the procedure.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/cfg/cfg_value.h"

#define MAX_PATH    96
#define MAX_TRIES   4
#define MIN_GUESSED 2

struct table_path {
	struct step step[MAX_PATH]; /* from the last backwards */
	int nr;
	bool has_more; /* there is a path by a further choice */
};

static bool is_on_path(const struct table_path *p, uint64_t address)
{
	for (int i = 0; i < p->nr; i++)
		if (p->step[i].insn.address == address)
			return true;
	return false;
}

/* What can be executed just before address, and is not on the path yet. */
static int find_before(struct code *c, const struct table_path *p, uint64_t address,
		       struct step out[MAX_TRIES])
{
	const struct code_jump *jump;
	int found = 0;
	size_t nr;

	if (code_falls_into(c, address, &out[0].insn) &&
	    !is_on_path(p, out[0].insn.address))
		out[found++].taken = false;
	if (!(code_state_at(c, address) & CODE_LEADER))
		return found;
	jump = code_jumps_to(c, address, &nr);
	for (size_t i = 0; i < nr && found < MAX_TRIES; i++) {
		if (is_on_path(p, jump[i].from))
			continue;
		code_insn_at(c, jump[i].from, &out[found].insn);
		out[found++].taken = true;
	}
	return found;
}

/*
 * Finds a path backwards from address. It enters the join nearest to address by the
 * choice-th predecessor, all others by the first.
 */
static void find_path(struct code *c, uint64_t address, int choice,
		      struct table_path *p)
{
	struct step before[MAX_TRIES];
	bool joined = false;
	int nr;

	p->nr = 0;
	p->has_more = false;
	while (p->nr < MAX_PATH && (nr = find_before(c, p, address, before))) {
		int pick = 0;

		if (nr > 1 && !joined) {
			joined = true;
			pick = choice < nr ? choice : 0;
			p->has_more = choice + 1 < nr;
		}
		p->step[p->nr++] = before[pick];
		address = before[pick].insn.address;
	}
}

/* Whether the table of another jump begins there, so that this table has ended. */
static bool is_other_table(const struct code *c, uint64_t address, uint64_t own)
{
	for (size_t i = 0; i < c->nr_indirects; i++)
		if (c->indirect[i].kind == INDIRECT_TABLE &&
		    c->indirect[i].table == address && address != own)
			return true;
	return false;
}

/* Data may be in another segment than code. */
static bool read_data(const struct code *c, uint64_t address, void *out, size_t size)
{
	uint64_t offset;

	return image_offset(c->im, address, &offset) &&
	       image_read(c->im, offset, out, size) == 0;
}

static uint64_t address_of_entry(const struct value *v, int64_t index)
{
	return (uint64_t)v->table + (uint64_t)v->scale * (uint64_t)index;
}

static bool read_entry(const struct code *c, const struct value *v, int64_t index,
		       uint64_t *target)
{
	const uint64_t at = address_of_entry(v, index);
	const unsigned int unused = 64 - 8 * v->size;
	uint8_t bytes[8];
	uint64_t entry = 0;

	if (v->size > 8 || !v->size || !read_data(c, at, bytes, v->size))
		return false;
	for (int i = v->size; i-- > 0;)
		entry = entry << 8 | bytes[i];
	if (v->is_signed)
		entry = (uint64_t)((int64_t)(entry << unused) >> unused);
	*target = (uint64_t)v->addend + (entry << v->shift);
	if (v->size == 4 && !v->addend && !v->shift)
		*target = (uint32_t)*target;
	return true;
}

/* certain: as code_is_inside() has it. */
static bool is_target(struct code *c, uint64_t address, bool certain)
{
	struct insn insn;
	size_t at;
	const struct code_part *p;

	if (!code_is_inside(c, address, certain))
		return false;
	p = code_part_at(c, address, &at);
	if (p->state[at] & CODE_START)
		return true;
	return !(p->state[at] & (CODE_INSIDE | CODE_BAD)) &&
	       isa_decode(c->isa, p->bytes + at, p->size - at, address, &insn) == 0 &&
	       !(insn.kind & INSN_BAD);
}

static int compare_addresses(const void *va, const void *vb)
{
	const uint64_t *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static int nr_unique(uint64_t *a, int nr)
{
	int kept = 0;

	qsort(a, (size_t)nr, sizeof(*a), compare_addresses);
	for (int i = 0; i < nr; i++)
		if (!kept || a[kept - 1] != a[i])
			a[kept++] = a[i];
	return kept;
}

/* Reads the table of v. Returns 1; 0 if v is not an entry of a table; or -ENOMEM. */
static int read_table(struct evaluation *e, const struct value *v,
		      struct code_indirect *jump)
{
	const struct symbol_value *s = &e->symbol[v->symbol];
	const uint64_t first = address_of_entry(v, s->low);
	uint64_t *target, to;
	int nr = 0;

	if (!v->is_entry || s->high < s->low || s->high - s->low >= VALUE_MAX_ENTRIES)
		return 0;
	/* Most wrong constants fail here, before they take memory of the arena. */
	if (!read_entry(e->c, v, s->low, &to) || !is_target(e->c, to, s->exact))
		return 0;
	target = arena_array(e->c->arena, (size_t)(s->high - s->low + 1),
			     sizeof(*target));
	if (!target)
		return -ENOMEM;
	for (int64_t i = s->low; i <= s->high; i++) {
		if (!s->exact && is_other_table(e->c, address_of_entry(v, i), first))
			break;
		if (!read_entry(e->c, v, i, &to) || !is_target(e->c, to, s->exact)) {
			if (s->exact)
				return 0;
			break;
		}
		target[nr++] = to;
	}
	if (!s->exact && nr < MIN_GUESSED)
		return 0;
	jump->kind = INDIRECT_TABLE;
	jump->table = first;
	jump->nr_targets = nr_unique(target, nr);
	jump->target = target;
	return 1;
}

/* Returns the value of the jump's operand at the end of the path. */
static struct value value_of_jump(struct evaluation *e, const struct insn *jump)
{
	if (jump->kind & INSN_LOAD && jump->memory.size)
		return value_of_memory(e, jump, jump->memory.size, false);
	for (unsigned int i = 0; i < VALUE_NR_GENERAL; i++)
		if (isa_has(&jump->reads, ISA_GENERAL + i))
			return e->reg[i];
	return (struct value){ 0 };
}

/* Whether the frame is removed before the jump, as before a tail call. */
static bool has_epilogue(const struct code *c, const struct table_path *p)
{
	const unsigned int sp = image_machine(c->im) == MACHINE_X86_64 ? 4 : 31;

	for (int i = 0; i < p->nr; i++) {
		const struct insn *insn = &p->step[i].insn;

		if (insn->kind & (INSN_JUMP | INSN_CALL))
			break;
		if (isa_has(&insn->writes, ISA_GENERAL + sp))
			return true;
	}
	return false;
}

/* Whether the procedure begins by making a frame. */
static bool has_frame(const struct code *c)
{
	const unsigned int sp = image_machine(c->im) == MACHINE_X86_64 ? 4 : 31;
	uint64_t address = c->part[0].start;
	struct insn insn;

	for (; code_state_at(c, address) & CODE_START; address += insn.size) {
		code_insn_at(c, address, &insn);
		if (insn.kind & (INSN_JUMP | INSN_CALL | INSN_RETURN))
			break;
		if (isa_has(&insn.writes, ISA_GENERAL + sp))
			return true;
	}
	return false;
}

/*
 * Whether the jump stays in the procedure: it uses an index, or the frame still exists,
 * which is not the case for a tail call.
 */
static bool is_local(const struct evaluation *e, const struct table_path *p,
		     const struct insn *jump, const struct value *v)
{
	if (has_epilogue(e->c, p))
		return false;
	if (has_frame(e->c))
		return true;
	return jump->memory.index || v->is_entry || e->symbol[v->symbol].indexed;
}

static int try_path(struct evaluation *e, const struct table_path *p,
		    const struct insn *insn, struct code_indirect *jump, bool *local)
{
	struct value v;

	for (int i = p->nr; i-- > 0;)
		value_step(e, &p->step[i]);
	v = value_of_jump(e, insn);
	*local |= is_local(e, p, insn, &v);
	return read_table(e, &v, jump);
}

/* Evaluates one path, with each constant that it may need. */
static int try_constants(struct evaluation *e, const struct table_path *p,
			 const struct insn *insn, struct code_indirect *jump,
			 bool *local)
{
	struct code *c = e->c;
	int found = 0;

	for (int k = 0; k < CODE_MAX_CONSTANTS && !found; k++) {
		value_begin(e, c, insn->address, k);
		found = try_path(e, p, insn, jump, local);
		if (k >= e->nr_constants)
			break;
	}
	return found;
}

int code_resolve(struct code *c, struct code_indirect *jump)
{
	struct evaluation *e = malloc(sizeof(*e));
	struct table_path *p = malloc(sizeof(*p));
	bool local = false, more = true;
	struct insn insn;
	int found = 0;

	if (!e || !p) {
		found = -ENOMEM;
		goto out;
	}
	code_insn_at(c, jump->at, &insn);
	e->c = c;
	for (int choice = 0; choice < MAX_TRIES && more && !found; choice++) {
		find_path(c, jump->at, choice, p);
		more = p->has_more;
		found = try_constants(e, p, &insn, jump, &local);
	}
	if (!found)
		jump->kind = local ? INDIRECT_UNKNOWN : INDIRECT_LEAVES;
out:
	free(p);
	free(e);
	return found < 0 ? found : 0;
}
