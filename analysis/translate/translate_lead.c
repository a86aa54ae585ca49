/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_lead.c - lead-ins: what a window that begins inside vector code runs first
 *
 * An interrupt cannot read vector registers. But their contents often come from loads
 * and constants a few instructions earlier, and the registers and memory that these
 * used are still the same. A lead-in (abi/uop.h, CPI_UOP_LEAD) names the instruction
 * with which the window then begins to interpret, only to get vector registers.
 *
 * A line of instructions leads from the lead-in's first one to the window's first one:
 * each falls through to the next one, and conditional jumps between them were not
 * taken. These conditions make sure that the program executed them just before:
 *
 * L1  No other instruction falls through or jumps to one behind the first. All of the
 *     page is decoded to find direct jumps. Jumps from other pages are the caller's to
 *     look for (daemon/windows/windowleads.h), except for short ones: so there are no
 *     lead-ins near the page's ends. A page with an indirect jump has none, because its
 *     targets are not known.
 * L2  None of them stores, calls, pushes or pops.
 * L3  An integer register that one of them writes is unknown before it was written for
 *     the last time, and has its value of the window's start afterwards.
 * L4  Vectors that are 0 on all ways to the first instruction are known, too. Nothing
 *     is known of a place to which control comes from elsewhere, or to which no way
 *     leads. A place to which only jumps lead may be a procedure, which others call:
 *     only vectors that are no arguments are known there. zero[] of the page marks the
 *     places where some vector is known to be 0, so that the caller can look for jumps
 *     to them.
 *
 * A place has a lead-in only if an integer register or flag becomes known by it that a
 * vector decides.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "analysis/translate/translate_machine.h"

#define MOST_BACK  24  /* instructions of a lead-in */
#define MOST_UOPS  48  /* its micro-ops */
#define MOST_AHEAD 24  /* instructions in which a vector may decide something */
#define FROM_START 192 /* bytes: reach of short jumps, and 64 to fall into step */
#define FROM_END   128
#define NR_INTEGER 16 /* registers that a lead-in has bits for */

struct leads {
	struct cpi_code_page *page;
	size_t nr; /* micro-ops of code */
	bool indirect;
	bool entered[CPI_CODE_PAGE];    /* not only from the instruction before */
	uint16_t before[CPI_CODE_PAGE]; /* 1 + where that is; 0: none */
	bool wanted[CPI_CODE_PAGE];
	bool unknown[CPI_CODE_PAGE]; /* is entered from code that is not translated */
	bool padding[CPI_CODE_PAGE]; /* of nops, which no way leads to */
	bool visited[CPI_CODE_PAGE];
	bool changed;
	uint64_t zero[CPI_CODE_PAGE]; /* lanes of the first 16 vectors that are 0 */
};

/* What is known of registers; flags are one. */
struct known {
	uint64_t reg[CPI_NR_REGS / 64];
	bool flags;
};

static bool is_known(const struct known *k, unsigned int reg)
{
	return k->reg[reg / 64] >> reg % 64 & 1;
}

static void set_known(struct known *k, unsigned int reg, bool known)
{
	k->reg[reg / 64] &= ~(1ULL << reg % 64);
	k->reg[reg / 64] |= (uint64_t)known << reg % 64;
}

static const struct cpi_uop *first_uop(const struct leads *l, unsigned int offset)
{
	return &l->page->uop[l->page->index[offset] - 1];
}

/* The micro-op after u of the same instruction, or NULL. */
static const struct cpi_uop *next_uop(const struct leads *l, const struct cpi_uop *u)
{
	u++;
	if (u >= l->page->uop + l->nr || !(u->flags & CPI_UOP_MORE) ||
	    u->op == CPI_UOP_GOTO)
		return NULL;
	return u;
}

static unsigned int behind(const struct leads *l, unsigned int offset)
{
	return offset + cpi_uop_length(first_uop(l, offset));
}

static bool is_vector(unsigned int reg)
{
	return reg >= CPI_REG_V || (reg >= CPI_REG_K && reg < CPI_REG_K + 8);
}

/* ---- which instructions are reached only from the one before ---- */

static void enter(struct leads *l, int64_t offset)
{
	if (offset >= 0 && offset < CPI_CODE_PAGE)
		l->entered[offset] = true;
}

/* From code that is not translated. */
static void enter_gap(struct leads *l, int64_t offset)
{
	enter(l, offset);
	if (offset >= 0 && offset < CPI_CODE_PAGE)
		l->unknown[offset] = true;
}

static void fall_to(struct leads *l, unsigned int from, unsigned int to)
{
	if (to >= CPI_CODE_PAGE)
		return;
	l->entered[to] |= l->before[to] != 0;
	l->before[to] = (uint16_t)(from + 1);
}

/* Whether control never goes on behind it. */
static bool never_falls(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_JMP || u->op == CPI_UOP_JMPI || u->op == CPI_UOP_RET ||
	       u->op == CPI_UOP_STOP;
}

/* jmp [rip + …] is a jump to another procedure. */
static bool is_switch(const struct cpi_uop *u)
{
	return u->op == CPI_UOP_JMPI &&
	       !(u->flags & CPI_UOP_SRC_MEM && cpi_uop_base(u) == CPI_REG_PC &&
		 cpi_uop_index(u) == CPI_REG_ZERO);
}

static void note_uop(struct leads *l, const struct cpi_uop *u, unsigned int offset,
		     bool *falls)
{
	if (cpi_uop_is_direct(u))
		enter(l, (int64_t)offset + u->disp);
	l->indirect |= is_switch(u);
	*falls &= !never_falls(u);
}

static void note_translated(struct leads *l, unsigned int offset)
{
	bool falls = true;

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u))
		note_uop(l, u, offset, &falls);
	if (falls)
		fall_to(l, offset, behind(l, offset));
}

/*
 * An instruction in a gap between translated ones; *dead: no way leads to it. Returns
 * its length.
 */
static unsigned int note_gap(struct leads *l, const struct translate_machine *m,
			     const void *state, const uint8_t *code, size_t size,
			     unsigned int offset, bool *dead)
{
	struct translated one = { .ends = false };
	bool falls = true;

	m->instruction(state, code + offset, size - offset, &one);
	if (*dead && !l->entered[offset] && one.uop[0].op == CPI_UOP_NOP)
		return one.length; /* padding */
	for (unsigned int i = 0; i < one.nr; i++) {
		note_uop(l, &one.uop[i], offset, &falls);
		if (cpi_uop_is_direct(&one.uop[i]))
			enter_gap(l, (int64_t)offset + one.uop[i].disp);
	}
	if (falls)
		enter_gap(l, offset + one.length);
	*dead = !falls;
	return one.length;
}

static bool falls_through(const struct leads *l, unsigned int offset)
{
	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u))
		if (never_falls(u))
			return false;
	return true;
}

/* Whether no instruction falls to it, but for padding. */
static bool is_alone(const struct leads *l, unsigned int offset)
{
	return !l->before[offset] || l->padding[l->before[offset] - 1];
}

static void find_padding(struct leads *l)
{
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		l->padding[i] = l->page->index[i] && !l->entered[i] && is_alone(l, i) &&
				first_uop(l, i)->op == CPI_UOP_NOP;
}

static void find_entries(struct leads *l, const struct translate_machine *m,
			 const void *state, const uint8_t *code, size_t size)
{
	unsigned int offset = 0;
	bool dead = false;

	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		if (l->page->index[i])
			note_translated(l, i);
	while (offset < CPI_CODE_PAGE && offset < size) {
		if (!l->page->index[offset]) {
			offset += note_gap(l, m, state, code, size, offset, &dead);
			continue;
		}
		dead = !falls_through(l, offset);
		offset = behind(l, offset);
	}
	find_padding(l);
}

/* Whether a lead-in may execute it: L2. */
static bool is_harmless(const struct leads *l, unsigned int offset)
{
	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u)) {
		if (u->flags & CPI_UOP_STORE || never_falls(u) ||
		    u->op == CPI_UOP_PUSH || u->op == CPI_UOP_POP ||
		    u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI ||
		    u->op == CPI_UOP_BLUR)
			return false;
	}
	return true;
}

/* The only instruction before the one at offset; returns whether there is one. */
static bool step_back(const struct leads *l, unsigned int offset, unsigned int *out)
{
	const unsigned int before = l->before[offset];

	if (l->entered[offset] || !before || before - 1 < FROM_START ||
	    !is_harmless(l, before - 1))
		return false;
	*out = before - 1;
	return true;
}

/* The one after it, if it is translated and reached; returns whether. */
static bool step_on(const struct leads *l, unsigned int offset, unsigned int *out)
{
	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u))
		if (never_falls(u) || u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI)
			return false;
	offset = behind(l, offset);
	if (offset >= CPI_CODE_PAGE || !l->page->index[offset])
		return false;
	*out = offset;
	return true;
}

/* ---- vectors that are 0 ---- */

static bool is_lane(unsigned int reg)
{
	return reg >= CPI_REG_V && reg < CPI_REG_LANE(16, 0);
}

static uint64_t lane_bit(unsigned int reg)
{
	return is_lane(reg) ? 1ULL << (reg - CPI_REG_V) : 0;
}

/* Whether it sets dst to 0: "xor x, x" and the like are translated to this form. */
static bool gives_zero(const struct cpi_uop *u)
{
	return (u->op == CPI_UOP_XOR || u->op == CPI_UOP_VSUB ||
		u->op == CPI_UOP_VCMPGT || u->op == CPI_UOP_ANDN ||
		u->op == CPI_UOP_MOV) &&
	       u->left == CPI_REG_ZERO && u->src == CPI_REG_ZERO &&
	       !(u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM | CPI_UOP_SRC_IMM));
}

static uint64_t zeros_behind(const struct leads *l, unsigned int offset, uint64_t zero)
{
	const uint64_t upper = 0xccccccccccccccccULL; /* lanes 2 and 3 */

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u)) {
		if (u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI)
			return 0;
		if (u->op == CPI_UOP_VUPPER)
			zero &= ~upper;
		if (u->op <= CPI_UOP_RET || u->flags & CPI_UOP_STORE)
			continue;
		zero &= ~lane_bit(u->dst);
		if (gives_zero(u))
			zero |= lane_bit(u->dst);
		if (u->flags & CPI_UOP_ZERO_UPPER)
			zero |= lane_bit(u->dst | 2u) | lane_bit(u->dst | 3u);
		if (u->flags & CPI_UOP_ZERO_NEXT)
			zero |= lane_bit(u->dst | 1u);
	}
	return zero;
}

#define NO_ARGUMENTS 0xffffffff00000000ULL /* lanes of vectors 8 to 15 */

/* Control comes to offset, and these lanes are 0. */
static void meet(struct leads *l, int64_t offset, uint64_t zero)
{
	if (offset < 0 || offset >= CPI_CODE_PAGE || !l->page->index[offset])
		return;
	if (l->visited[offset])
		zero &= l->zero[offset];
	l->changed |= !l->visited[offset] || zero != l->zero[offset];
	l->visited[offset] = true;
	l->zero[offset] = zero;
}

static void jump_to(struct leads *l, int64_t offset, uint64_t zero)
{
	if (offset < 0 || offset >= CPI_CODE_PAGE)
		return;
	meet(l, offset, is_alone(l, (unsigned int)offset) ? zero & NO_ARGUMENTS : zero);
}

static void go_on(struct leads *l, unsigned int offset)
{
	const uint64_t zero = zeros_behind(l, offset, l->zero[offset]);
	bool falls = true;

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u)) {
		if (cpi_uop_is_direct(u))
			jump_to(l, (int64_t)offset + u->disp,
				u->op == CPI_UOP_CALL ? 0 : zero);
		falls &= !never_falls(u);
	}
	if (falls)
		meet(l, behind(l, offset), zero);
}

static void spread_zeros(struct leads *l)
{
	do {
		l->changed = false;
		for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
			if (l->page->index[i] && l->visited[i])
				go_on(l, i);
	} while (l->changed);
}

/*
 * Starts where nothing is known: where jumps and calls from elsewhere may lead, and
 * where nothing leads. Then continues with instructions that were not visited, such
 * as a loop without an entry.
 */
static void find_zeros(struct leads *l)
{
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		if (l->unknown[i] || i < FROM_START || i >= CPI_CODE_PAGE - FROM_END ||
		    (!l->entered[i] && is_alone(l, i) && !l->padding[i]))
			meet(l, i, 0);
	spread_zeros(l);
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		if (l->page->index[i] && !l->visited[i] && !l->padding[i])
			meet(l, i, 0);
	spread_zeros(l);
}

static void tell_zeros(const struct leads *l)
{
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++)
		if (l->page->index[i] && l->zero[i])
			l->page->zero[i / CPI_CODE_LINE] |= 1ULL << i % CPI_CODE_LINE;
}

/* ---- what becomes known ---- */

static bool knows_result(const struct known *k, const struct cpi_uop *u, bool a, bool b)
{
	switch (u->op) {
	case CPI_UOP_LEA:
		return is_known(k, cpi_uop_base(u)) && is_known(k, cpi_uop_index(u));
	case CPI_UOP_CONST:
		return true;
	case CPI_UOP_SETCC:
		return k->flags;
	case CPI_UOP_CMOV:
	case CPI_UOP_ADC:
	case CPI_UOP_SBB:
	case CPI_UOP_SBCN:
	case CPI_UOP_CCMP:
		return a && b && k->flags;
	case CPI_UOP_MOV:
	case CPI_UOP_SEXT:
	case CPI_UOP_BSWAP:
	case CPI_UOP_VDUP:
		return b;
	case CPI_UOP_VSHUF:
		return is_known(k, u->src & 0xfe) && is_known(k, u->src | 1);
	case CPI_UOP_VTERNARY:
		return a && b && is_known(k, u->dst);
	case CPI_UOP_VMASK:
		return b && (!(u->imm & 63) || is_known(k, u->dst));
	case CPI_UOP_KCMP:
		return a && b && (!(u->imm & 63) || is_known(k, u->dst)) &&
		       (!(u->imm >> 24 & 63) ||
			is_known(k, (unsigned int)u->imm >> 24 & 63));
	case CPI_UOP_VSELECT:
		return a && b && is_known(k, u->src);
	default:
		return a && b;
	}
}

/*
 * Whether the result is one that a vector decides: of an integer register or flags.
 */
static bool decides(const struct cpi_uop *u)
{
	const bool reads = (is_vector(u->left) && !(u->flags & CPI_UOP_LEFT_MEM)) ||
			   (is_vector(u->src) &&
			    !(u->flags & (CPI_UOP_SRC_MEM | CPI_UOP_SRC_IMM)));

	return reads && u->op > CPI_UOP_RET && !(u->flags & CPI_UOP_STORE) &&
	       (u->flags & CPI_UOP_FLAGS || u->dst < CPI_REG_ZERO);
}

static void set_result(struct known *k, const struct cpi_uop *u, bool result)
{
	if (u->flags & CPI_UOP_FLAGS)
		k->flags = result;
	if (u->op == CPI_UOP_UNFLAG)
		k->flags = false;
	for (unsigned int v = 0; u->op == CPI_UOP_VUPPER && v < 16; v++) {
		set_known(k, CPI_REG_LANE(v, 2), false);
		set_known(k, CPI_REG_LANE(v, 3), false);
	}
	if (u->op <= CPI_UOP_RET || u->flags & CPI_UOP_STORE)
		return;
	set_known(k, u->dst, result);
	if (u->flags & CPI_UOP_ZERO_UPPER) {
		set_known(k, u->dst | 2, true);
		set_known(k, u->dst | 3, true);
	}
	if (u->flags & CPI_UOP_ZERO_NEXT)
		set_known(k, u->dst | 1, true);
}

/*
 * Executes an instruction of the lead-in, or (once NULL) of the window. Returns how
 * many of its results are known and depend on a vector.
 */
static unsigned int execute(const struct leads *l, unsigned int offset, struct known *k,
			    const uint32_t *once)
{
	unsigned int nr = 0;

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u)) {
		const bool address =
			is_known(k, cpi_uop_base(u)) && is_known(k, cpi_uop_index(u));
		const bool a =
			u->flags & CPI_UOP_LEFT_MEM ? address : is_known(k, u->left);
		const bool b = u->flags & CPI_UOP_SRC_IMM   ? true
			       : u->flags & CPI_UOP_SRC_MEM ? address
							    : is_known(k, u->src);
		const bool before = is_known(k, u->dst);
		const bool result = knows_result(k, u, a, b);

		nr += result && decides(u);
		set_result(k, u, result);
		if (once && u->dst < NR_INTEGER && u->op > CPI_UOP_RET)
			set_known(k, u->dst, before || *once >> u->dst & 1);
	}
	return nr;
}

/*
 * Integer registers that instructions write: once, and more than once. Halves of
 * vectors that are 0 before them.
 */
struct writes {
	uint32_t once, often, zero;
};

/* Of lanes: both of a half. */
static uint32_t halves(uint64_t lanes)
{
	uint32_t out = 0;

	for (unsigned int v = 0; v < 16; v++) {
		out |= (uint32_t)((lanes >> 4 * v & 3) == 3) << v;
		out |= (uint32_t)((lanes >> 4 * v & 12) == 12) << (16 + v);
	}
	return out;
}

static void add_writes(const struct leads *l, unsigned int offset, struct writes *w)
{
	uint32_t all = 0;

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u))
		if (u->op > CPI_UOP_RET && u->dst < NR_INTEGER)
			all |= 1u << u->dst;
	w->often |= w->once & all;
	w->once = (w->once | all) & ~w->often;
}

/* All integer registers, and what is constant. */
static struct known start_of_window(void)
{
	struct known k = { .reg[0] = (1ULL << CPI_REG_TEMP) - 1, .flags = true };

	set_known(&k, CPI_REG_UNKNOWN, false);
	return k;
}

static unsigned int decided_from(const struct leads *l, unsigned int offset,
				 struct known *k)
{
	unsigned int nr = 0;

	for (int i = 0; i < MOST_AHEAD; i++) {
		nr += execute(l, offset, k, NULL);
		if (!step_on(l, offset, &offset))
			break;
	}
	return nr;
}

/*
 * How many results become known by a lead-in of the last nr instructions before
 * offset. line[] has these instructions, the last one first.
 */
static unsigned int gain(const struct leads *l, const uint16_t *line, unsigned int nr,
			 unsigned int offset, struct writes *w)
{
	struct known k = start_of_window(), window = k;

	*w = (struct writes){ 0 };
	for (unsigned int i = nr; i-- > 0;)
		add_writes(l, line[i], w);
	k.reg[0] &= ~(uint64_t)(w->once | w->often);
	k.flags = false;
	w->zero = halves(l->zero[nr ? line[nr - 1] : offset]);
	for (unsigned int i = 0; i < 4 * 16; i++)
		set_known(&k, CPI_REG_V + i, w->zero >> (i / 4 + 16 * (i / 2 % 2)) & 1);
	for (unsigned int i = nr; i-- > 0;)
		execute(l, line[i], &k, &w->once);
	memcpy(window.reg + 1, k.reg + 1, sizeof(k.reg) - sizeof(k.reg[0]));
	window.reg[0] |= k.reg[0] & 0xffULL << CPI_REG_K;
	return decided_from(l, offset, &window);
}

static unsigned int nr_uops(const struct leads *l, unsigned int offset)
{
	unsigned int nr = 0;

	for (const struct cpi_uop *u = first_uop(l, offset); u; u = next_uop(l, u))
		nr++;
	return nr;
}

static unsigned int find_line(const struct leads *l, unsigned int offset,
			      uint16_t *line)
{
	unsigned int nr = 0, uops = 0;

	while (nr < MOST_BACK && step_back(l, offset, &offset)) {
		uops += nr_uops(l, offset);
		if (uops > MOST_UOPS)
			break;
		line[nr++] = (uint16_t)offset;
	}
	return nr;
}

/*
 * Finds the shortest lead-in that makes as much known as the longest one. Returns
 * its number of instructions, or -1 if no lead-in makes anything known.
 */
static int find_lead(const struct leads *l, unsigned int offset, uint16_t *line,
		     struct writes *w)
{
	struct known k = start_of_window();
	const unsigned int without = decided_from(l, offset, &k);
	const unsigned int nr = find_line(l, offset, line);
	const unsigned int most = gain(l, line, nr, offset, w);

	for (unsigned int i = 0; most > without && i <= nr; i++)
		if (gain(l, line, i, offset, w) >= most)
			return (int)i;
	return -1;
}

/* ---- all of a page ---- */

static bool any_decides(const struct leads *l)
{
	for (size_t i = 0; i < l->nr; i++)
		if (decides(&l->page->uop[i]))
			return true;
	return false;
}

/* Places from which a vector may decide something. */
static void find_wanted(struct leads *l)
{
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i++) {
		unsigned int at = i;
		bool does = false;

		if (!l->page->index[i])
			continue;
		for (const struct cpi_uop *u = first_uop(l, i); u; u = next_uop(l, u))
			does |= decides(u);
		for (int n = 0; does && n < MOST_AHEAD; n++) {
			l->wanted[at] = true;
			if (l->entered[at] || !l->before[at])
				break;
			at = l->before[at] - 1u;
		}
	}
}

/* Whether a packed page has room to note the lead-in of an instruction. */
static bool can_note(const struct leads *l, unsigned int offset)
{
	unsigned int nr = 0;

	for (unsigned int i = offset - offset % CPI_CODE_LINE; i < offset; i++)
		nr += l->page->index[i] != 0;
	return nr < CPI_CODE_LEADS;
}

static size_t add_lead(const struct leads *l, size_t nr, unsigned int offset,
		       unsigned int first, const struct writes *w)
{
	struct cpi_uop *u = &l->page->uop[nr];
	const unsigned int back = offset - first;

	*u = (struct cpi_uop){
		.op = CPI_UOP_LEAD,
		.dst = (uint8_t)offset,
		.left = (uint8_t)(offset >> 8 | back << 4),
		.src = (uint8_t)(back >> 4),
		.address = l->page->index[first],
		.disp = (int32_t)(w->once | w->often << 16),
		.imm = (int32_t)w->zero,
	};
	return nr + 1;
}

size_t translated_leads(const struct translate_machine *m, const void *state,
			const uint8_t *code, size_t size, struct cpi_code_page *page,
			size_t nr)
{
	struct leads l = { .page = page, .nr = nr };
	uint16_t line[MOST_BACK];
	struct writes w;

	if (!any_decides(&l))
		return nr;
	find_entries(&l, m, state, code, size);
	if (l.indirect)
		return nr;
	find_wanted(&l);
	find_zeros(&l);
	for (unsigned int i = FROM_START; i < CPI_CODE_PAGE - FROM_END; i++) {
		int length;

		if (!l.wanted[i] || nr >= CPI_UOPS_PER_PAGE || !can_note(&l, i))
			continue;
		length = find_lead(&l, i, line, &w);
		if (length >= 0)
			nr = add_lead(&l, nr, i, length ? line[length - 1] : i, &w);
	}
	tell_zeros(&l);
	return nr;
}
