/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First, code is explored from the entry: bytes that control reaches are certainly
 * code, but there may be data between them. Then the bytes that were not reached are
 * decoded, because they contain the targets of unresolved indirect jumps.
 *
 * Instructions never overlap. There is one exception, in the output of compilers and in
 * C libraries: a jump to the byte after a lock prefix. Then the prefix becomes a
 * separate instruction.
 */
#include "config.h"

#include "analysis/cfg/cfg_code.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/search.h"

#define MAX_ROUNDS     64 /* of resolving and sweeping */
#define MAX_PART_BYTES ((uint64_t)CFG_MAX_INSNS * 16)

struct code_part *code_part_at(const struct code *c, uint64_t address, size_t *at)
{
	for (int i = 0; i < c->nr_parts; i++) {
		if (address - c->part[i].start < c->part[i].size) {
			*at = (size_t)(address - c->part[i].start);
			return (struct code_part *)&c->part[i];
		}
	}
	return NULL;
}

uint8_t code_state_at(const struct code *c, uint64_t address)
{
	size_t at;
	const struct code_part *p = code_part_at(c, address, &at);

	return p ? p->state[at] : 0;
}

void code_insn_at(const struct code *c, uint64_t address, struct insn *out)
{
	size_t at, size = 1;
	const struct code_part *p = code_part_at(c, address, &at);

	assert(p);
	while (at + size < p->size && p->state[at + size] & CODE_INSIDE)
		size++;
	if (!isa_decode(c->isa, p->bytes + at, p->size - at, address, out) &&
	    out->size == size)
		return;
	/* A prefix that others jump behind. */
	*out = (struct insn){ .address = address,
			      .code = p->bytes + at,
			      .size = (uint16_t)size,
			      .kind = INSN_NOP };
}

/* Makes room for one more in an array of the arena. */
static void *more(struct code *c, void *array, size_t nr, size_t *cap, size_t size)
{
	const size_t want = *cap ? *cap * 2 : 64;
	void *bigger;

	if (nr < *cap)
		return array;
	bigger = arena_array(c->arena, want, size);
	if (!bigger)
		return NULL;
	if (nr)
		memcpy(bigger, array, nr * size);
	*cap = want;
	return bigger;
}

static int add_work(struct code *c, uint64_t address)
{
	uint64_t *work = more(c, c->work, c->nr_work, &c->cap_work, sizeof(*work));

	if (!work)
		return -ENOMEM;
	c->work = work;
	work[c->nr_work++] = address;
	return 0;
}

static int add_jump(struct code *c, uint64_t from, uint64_t to)
{
	struct code_jump *jump;

	jump = more(c, c->jump, c->nr_jumps, &c->cap_jumps, sizeof(*jump));
	if (!jump)
		return -ENOMEM;
	c->jump = jump;
	jump[c->nr_jumps++] = (struct code_jump){ from, to };
	c->sorted = false;
	return add_work(c, to);
}

static int add_indirect(struct code *c, uint64_t at)
{
	struct code_indirect *i;

	i = more(c, c->indirect, c->nr_indirects, &c->cap_indirects, sizeof(*i));
	if (!i)
		return -ENOMEM;
	c->indirect = i;
	i[c->nr_indirects++] = (struct code_indirect){ .at = at };
	return 0;
}

const struct code_indirect *code_indirect_at(const struct code *c, uint64_t address)
{
	for (size_t i = 0; i < c->nr_indirects; i++)
		if (c->indirect[i].at == address)
			return &c->indirect[i];
	return NULL;
}

static int compare_jumps(const void *va, const void *vb)
{
	const struct code_jump *a = va, *b = vb;

	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return a->from < b->from ? -1 : a->from > b->from;
}

const struct code_jump *code_jumps_to(struct code *c, uint64_t address, size_t *nr)
{
	size_t low;

	if (!c->sorted && c->nr_jumps)
		qsort(c->jump, c->nr_jumps, sizeof(*c->jump), compare_jumps);
	c->sorted = true;
	low = SEARCH(i, c->nr_jumps, c->jump[i].to >= address);
	for (*nr = 0; low + *nr < c->nr_jumps && c->jump[low + *nr].to == address;)
		++*nr;
	return *nr ? &c->jump[low] : NULL;
}

static int add_part(struct code *c, uint64_t offset, uint64_t size)
{
	struct code_part *p = &c->part[c->nr_parts];
	int err;

	if (c->nr_parts == CFG_MAX_PARTS || size > MAX_PART_BYTES)
		return -CPI_ELIMIT;
	p->bytes = arena_alloc(c->arena, size);
	p->state = arena_alloc(c->arena, size);
	if (!p->bytes || !p->state)
		return -ENOMEM;
	err = image_read(c->im, offset, p->bytes, size);
	if (err)
		return err;
	p->start = offset + c->bias;
	p->size = size;
	c->nr_parts++;
	return 0;
}

/* Whether name is the procedure's symbol with ".cold" or ".cold.N" appended. */
static bool is_cold_name(const char *name, const char *procedure)
{
	const size_t len = strlen(procedure);

	return strncmp(name, procedure, len) == 0 &&
	       strncmp(name + len, ".cold", 5) == 0 &&
	       (!name[len + 5] || name[len + 5] == '.');
}

/*
 * Whether a jump to address, in s, stays in the procedure. Without names, s is a part
 * of the procedure if a jump enters its middle, or if the jump is conditional:
 * compilers do not enter other procedures in these ways.
 */
static bool is_cold_part(const struct code *c, const struct symbol *s, uint64_t offset,
			 bool certain)
{
	if (is_cold_name(s->raw, c->procedure->raw))
		return true;
	return s->raw[0] == '[' && (certain || offset != s->start);
}

bool code_is_inside(struct code *c, uint64_t address, bool certain)
{
	const uint64_t offset = address - c->bias;
	const struct symbol *s;
	size_t at;

	if (code_part_at(c, address, &at))
		return true;
	if (image_address(c->im, offset) != address)
		return false;
	s = image_symbol_at(c->im, offset);
	if (!s || s == c->procedure || !is_cold_part(c, s, offset, certain))
		return false;
	if (image_address(c->im, s->start) - s->start != c->bias ||
	    code_part_at(c, s->start + c->bias, &at))
		return false;
	return add_part(c, s->start, s->end - s->start) == 0;
}

/* Whether nothing but padding follows. */
static bool is_end(const struct code *c, uint64_t address)
{
	struct insn insn;
	size_t at;
	const struct code_part *p;

	while ((p = code_part_at(c, address, &at))) {
		if (isa_decode(c->isa, p->bytes + at, p->size - at, address, &insn) ||
		    insn.kind & INSN_BAD)
			return true;
		if (!(insn.kind & INSN_NOP))
			return false;
		address += insn.size;
	}
	return true;
}

static bool is_noreturn(const struct code *c, const struct insn *insn)
{
	const uint64_t offset = insn->target - c->bias;
	const struct symbol *s;

	if (is_end(c, insn->address + insn->size))
		return true;
	if (!insn->target || image_address(c->im, offset) != insn->target)
		return false;
	s = image_symbol_at(c->im, offset);
	return s && s->start == offset && code_is_noreturn(s->raw);
}

bool code_falls_through(const struct code *c, const struct insn *insn)
{
	if (insn->kind & (INSN_RETURN | INSN_TRAP))
		return false;
	if (insn->kind & INSN_JUMP)
		return insn->kind & INSN_COND;
	return !(code_state_at(c, insn->address) & CODE_NORETURN);
}

bool code_falls_into(const struct code *c, uint64_t address, struct insn *out)
{
	size_t at;
	const struct code_part *p = code_part_at(c, address, &at);

	if (!p || !at)
		return false;
	for (at--; at && p->state[at] & CODE_INSIDE;)
		at--;
	if (!(p->state[at] & CODE_START))
		return false;
	code_insn_at(c, p->start + at, out);
	return out->address + out->size == address && code_falls_through(c, out);
}

/* Decodes at address, unless that is no instruction, or overlaps one. */
static bool claim(struct code *c, struct code_part *p, size_t at, struct insn *insn)
{
	size_t size;

	if (isa_decode(c->isa, p->bytes + at, p->size - at, p->start + at, insn) ||
	    insn->kind & INSN_BAD) {
		p->state[at] |= CODE_BAD;
		return false;
	}
	for (size = 1; size < insn->size; size++)
		if (p->state[at + size] & CODE_START)
			break;
	if (size < insn->size && size != insn->nr_prefixes)
		return false;
	p->state[at] |= CODE_START;
	for (size_t i = 1; i < size; i++)
		p->state[at + i] |= CODE_INSIDE;
	c->nr_insns++;
	if (size < insn->size)
		code_insn_at(c, p->start + at, insn);
	return true;
}

/* Splits an instruction after its prefix, so that another can begin there. */
static void split_prefix(struct code_part *p, size_t at)
{
	size_t first = at;

	while (first && p->state[first] & CODE_INSIDE)
		first--;
	for (size_t i = first; i < at; i++)
		if (p->bytes[i] != 0xf0) /* lock */
			return;
	for (; at < p->size && p->state[at] & CODE_INSIDE; at++)
		p->state[at] &= (uint8_t)~CODE_INSIDE;
}

/* Handles an instruction that may end a run; *more: control continues after it. */
static int follow(struct code *c, const struct insn *insn, struct code_part *p,
		  size_t at, bool *more)
{
	const uint64_t next = insn->address + insn->size;
	int err = 0;

	*more = false;
	if (insn->kind & (INSN_RETURN | INSN_TRAP))
		return 0;
	if (insn->kind & INSN_CALL) {
		if (is_noreturn(c, insn))
			p->state[at] |= CODE_NORETURN;
		else
			*more = true;
		return 0;
	}
	if (!(insn->kind & INSN_JUMP)) {
		*more = true;
		return 0;
	}
	if (insn->kind & INSN_INDIRECT)
		return add_indirect(c, insn->address);
	if (code_is_inside(c, insn->target, insn->kind & INSN_COND))
		err = add_jump(c, insn->address, insn->target);
	if (!err && insn->kind & INSN_COND)
		err = add_work(c, next);
	return err;
}

/* Decodes from address to the end of a run. */
static int explore_run(struct code *c, uint64_t address)
{
	struct code_part *p;
	struct insn insn;
	bool more = true;
	size_t at;
	int err = 0;

	p = code_part_at(c, address, &at);
	if (!p)
		return 0;
	if (p->state[at] & CODE_INSIDE)
		split_prefix(p, at);
	if (p->state[at] & CODE_INSIDE)
		return 0;
	p->state[at] |= CODE_LEADER;
	while (more && !err && at < p->size &&
	       !(p->state[at] & (CODE_START | CODE_INSIDE | CODE_BAD))) {
		if (!claim(c, p, at, &insn))
			break;
		if (c->nr_insns > CFG_MAX_INSNS)
			return -CPI_ELIMIT;
		err = follow(c, &insn, p, at, &more);
		at += insn.size;
	}
	return err;
}

static int explore_all(struct code *c)
{
	int err = 0;

	while (c->nr_work && !err)
		err = explore_run(c, c->work[--c->nr_work]);
	return err;
}

static int resolve_all(struct code *c)
{
	int err = 0;

	for (size_t i = 0; i < c->nr_indirects && !err; i++) {
		struct code_indirect found = c->indirect[i];

		if (found.kind == INDIRECT_TABLE)
			continue;
		err = code_resolve(c, &found);
		c->indirect[i] = found;
		for (int k = 0; k < found.nr_targets && !err; k++)
			err = add_jump(c, found.at, found.target[k]);
	}
	return err;
}

/* If padding begins here, returns its end. */
static size_t skip_padding(const struct code *c, const struct code_part *p, size_t at)
{
	struct insn insn;

	while (at < p->size && !(p->state[at] & CODE_START)) {
		if (isa_decode(c->isa, p->bytes + at, p->size - at, p->start + at,
			       &insn))
			return p->size;
		if (!(insn.kind & (INSN_NOP | INSN_TRAP)))
			break;
		at += insn.size;
	}
	return at;
}

/* Explores the next bytes that were not reached; *found: there were such bytes. */
static int sweep_part(struct code *c, int part, size_t *from, bool *found)
{
	const struct code_part *p = &c->part[part];
	size_t at = *from;

	while (at < p->size) {
		const bool seen = p->state[at] & (CODE_START | CODE_INSIDE | CODE_BAD);
		const size_t end = seen ? at + 1 : skip_padding(c, p, at);

		if (end == at) {
			*found = true;
			*from = at + 1;
			return explore_run(c, p->start + at);
		}
		at = end;
	}
	*from = at;
	return 0;
}

static int sweep(struct code *c)
{
	size_t from[CFG_MAX_PARTS] = { 0 };
	int err = 0;

	for (int i = 0; i < c->nr_parts && !err; i++) {
		bool found = true;

		while (found && !err) {
			found = false;
			err = sweep_part(c, i, &from[i], &found);
			if (!err)
				err = explore_all(c);
		}
	}
	return err;
}

static int add_landing_pads(struct code *c, struct code_part *p)
{
	const uint64_t *pad;
	size_t nr;
	int err;

	err = image_landing_pads(c->im, p->start - c->bias,
				 p->start - c->bias + p->size, &pad, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		const uint64_t address = pad[i] + c->bias;

		p->state[address - p->start] |= CODE_LANDING;
		err = add_work(c, address);
	}
	return err;
}

static size_t nr_tables(const struct code *c)
{
	size_t nr = 0;

	for (size_t i = 0; i < c->nr_indirects; i++)
		nr += c->indirect[i].kind == INDIRECT_TABLE;
	return nr;
}

/* Repeats, because code found in one round may resolve jumps in the next. */
static int explore_round(struct code *c, int *nr_parts)
{
	int err = 0;

	for (; *nr_parts < c->nr_parts && !err; ++*nr_parts)
		err = add_landing_pads(c, &c->part[*nr_parts]);
	if (!err)
		err = explore_all(c);
	if (!err)
		err = resolve_all(c);
	if (!err)
		err = explore_all(c);
	return err;
}

int code_explore(struct code *c)
{
	const struct symbol *s = c->procedure;
	int nr_parts = 0, err;

	c->bias = image_address(c->im, s->start) - s->start;
	err = add_part(c, s->start, s->end - s->start);
	if (!err)
		err = add_work(c, s->start + c->bias);
	for (int round = 0; round < MAX_ROUNDS && !err; round++) {
		const size_t insns = c->nr_insns, tables = nr_tables(c);

		err = explore_round(c, &nr_parts);
		if (!err && insns == c->nr_insns && tables == nr_tables(c))
			err = sweep(c);
		if (insns == c->nr_insns && tables == nr_tables(c))
			break;
	}
	return err ? err : c->nr_insns ? 0 : -CPI_ENOCODE;
}
