/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowreplay.c - interprets a window again, and notes the operands of some micro-ops
 *
 * The code is hostile, and so may be what the window loaded. The interpreter stays
 * inside its state whatever they are (kmod/window.h, W4), and a replay ends: its steps
 * are bounded.
 */
#include "config.h"

#include "daemon/windows/windowreplay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/windows/codepack.h"
#include "daemon/windows/sizedcalls.h"

#define MOST_STEPS   1024 /* more than any kernel side's */
#define MOST_PAGES   (CPI_WINDOW_MAX + 1)
#define PAGE_SHIFT   16 /* micro-op number n of page p is p << PAGE_SHIFT | n */
#define FORM_IP      1  /* of a form's first micro-op */
#define MOST_ALIGNED 64 /* bytes; a larger alignment counts as this one */
#define MOST_STUB    5  /* instructions of an entry of the PLT */

/* Arguments in registers. */
struct arguments {
	uint64_t value[SIZEDCALLS_ARGS];
	uint8_t unknown[SIZEDCALLS_ARGS]; /* bytes */
};

struct windowreplay {
	struct cpi_window_state state;
	const struct cpi_window_origin *origin;
	const struct cpi_window *window;
	windowreplay_find_fn *find;
	walk_form_fn *form;
	void *ctx;
	struct walk_code filled; /* the micro-ops of the last form */
	struct sizedcalls *calls;
	const union cpi_code_cell *page[MOST_PAGES];
	uint32_t nr_pages;
	uint32_t nr_loads; /* done */
	uint32_t loader;   /* the instruction of the last operand of a load */
	uint32_t computed; /* the same of a division or multiplication */
	/* The last compare, if no other instruction has set the flags since. */
	struct replay_operand compared[2];
	int nr_compared;
	uint64_t caller; /* the address of the last call, ... */
	uint64_t back;   /* ... where it returns to, ... */
	uint32_t called; /* ... its number in the window; 0: none, or it has returned */
	uint32_t linked; /* the instruction that set AArch64's link register last */
	struct arguments arguments; /* of it */
	struct replay_operand operand[OPERANDS_MAX_WINDOW];
	int nr;
};

static int read_again(struct windowreplay *r, uint64_t *to)
{
	const uint32_t nr = r->nr_loads++;

	if (nr >= r->origin->nr_loads || nr >= CPI_WINDOW_LOADS)
		return -EFAULT;
	*to = r->origin->load[nr];
	return r->origin->failed[nr / 64] >> nr % 64 & 1 ? -EFAULT : 0;
}

static const struct cpi_uop *uop_at(const struct windowreplay *r, uint32_t ip)
{
	const uint32_t page = ip >> PAGE_SHIFT, cell = ip & ((1u << PAGE_SHIFT) - 1);

	if (r->state.form_end)
		return &r->filled.uop[ip - FORM_IP];
	if (page >= r->nr_pages || cell >= r->page[page]->head.nr_cells)
		return NULL;
	return &r->page[page][cell].uop;
}

/* Whether a form interpreted the next instruction. */
static bool is_by_form(const struct windowreplay *r)
{
	const uint32_t nr = r->state.window.nr;

	return nr < CPI_WINDOW_MAX && r->window->by_form[nr / 64] >> nr % 64 & 1;
}

static uint32_t find_form(struct windowreplay *r, uint32_t *ip, uint32_t *nr)
{
	if (!r->form || !is_by_form(r) || r->form(r->ctx, &r->filled))
		return CPI_WINDOW_NO_CODE;
	*ip = FORM_IP;
	*nr = r->filled.nr_uops;
	return 0;
}

static int find_code(struct windowreplay *r, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	const union cpi_code_cell *page = is_by_form(r) ? NULL : r->find(r->ctx, pc);
	const uint32_t cell = page ? codepack_find(page, pc % CPI_CODE_PAGE) : 0;
	uint32_t i = 0;

	while (i < r->nr_pages && r->page[i] != page)
		i++;
	if (!cell || i == MOST_PAGES)
		return -ENOENT;
	if (i == r->nr_pages)
		r->page[r->nr_pages++] = page;
	*base = i << PAGE_SHIFT;
	*ip = *base | cell;
	return 0;
}

static const struct cpi_uop *find_lead(const struct windowreplay *r, uint64_t pc,
				       uint32_t base)
{
	const union cpi_code_cell *page = r->page[base >> PAGE_SHIFT];
	const uint32_t cell = codepack_find_lead(page, pc % CPI_CODE_PAGE);
	const struct cpi_uop *u = cell ? uop_at(r, base | cell) : NULL;

	if (!u || u->op != CPI_UOP_LEAD || cpi_lead_offset(u) != pc % CPI_CODE_PAGE)
		return NULL;
	return u;
}

struct cpi_window_op;
static void note(struct windowreplay *r, const struct cpi_uop *u,
		 const struct cpi_window_op *o);

#define CPI_WINDOW_CONTEXT                      struct windowreplay *
#define CPI_WINDOW_READ(ctx, to, size, address) ((void)(address), read_again(ctx, to))
#define CPI_WINDOW_UOP(ctx, ip)                 uop_at(ctx, ip)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base)   find_code(ctx, pc, ip, base)
#define CPI_WINDOW_FORM(ctx, pc, ip, nr)        ((void)(pc), find_form(ctx, ip, nr))
#define CPI_WINDOW_LEAD(ctx, pc, base)          find_lead(ctx, pc, base)
#define CPI_WINDOW_NOTE(s, ctx, u, o)           note(ctx, u, o)
#include "kmod/window_alu.h"
#include "kmod/window.h"

/* ---- operands ---- */

static struct replay_operand make(const struct windowreplay *r, enum operand_kind kind,
				  unsigned int size, int64_t value, uint32_t unknown)
{
	return (struct replay_operand){ .at = r->state.reg[CPI_REG_PC],
					.kind = (uint8_t)kind,
					.size = (uint8_t)size,
					.known = !unknown,
					.value = unknown ? 0 : value };
}

static void add(struct windowreplay *r, struct replay_operand operand)
{
	if (r->nr < OPERANDS_MAX_WINDOW)
		r->operand[r->nr++] = operand;
}

static int significant_bits(uint64_t value)
{
	return value ? 64 - __builtin_clzll(value) : 0;
}

/* high:number, whose upper half only counts if it is no sign extension. */
static int dividend_bits(const struct cpi_uop *u, const struct cpi_window_op *o,
			 uint64_t high)
{
	const bool sign = u->op == CPI_UOP_DIVS || u->op == CPI_UOP_QUOTS;
	const bool wide = u->op == CPI_UOP_DIVU || u->op == CPI_UOP_DIVS;
	uint64_t number = o->a;

	if (wide && o->size == 2)
		number |= high << 32;
	else if (wide && o->size == 3 && high && high != ~0ULL)
		return 64 + significant_bits(sign && high >> 63 ? -high : high);
	if (sign && wide && (int64_t)number < 0)
		number = -number;
	else if (sign && !wide && cpi_sign_extend(number, o->size) < 0)
		number = -(uint64_t)cpi_sign_extend(number, o->size);
	return significant_bits(number);
}

/* Quotient and rest are two micro-ops of one instruction. */
static void note_division(struct windowreplay *r, const struct cpi_uop *u,
			  const struct cpi_window_op *o)
{
	const bool sign = u->op == CPI_UOP_DIVS || u->op == CPI_UOP_QUOTS;
	const bool wide = u->op == CPI_UOP_DIVU || u->op == CPI_UOP_DIVS;
	const unsigned int high = cpi_uop_base(u);

	if (r->computed == r->state.window.nr)
		return;
	r->computed = r->state.window.nr;
	add(r,
	    make(r, OPERAND_DIVISOR, o->size,
		 sign ? cpi_sign_extend(o->b, o->size) : (int64_t)o->b, o->unknown_b));
	add(r,
	    make(r, OPERAND_DIVIDEND, o->size, dividend_bits(u, o, r->state.reg[high]),
		 o->unknown_a | (wide ? r->state.unknown[high] : 0)));
}

static void note_factors(struct windowreplay *r, const struct cpi_uop *u,
			 const struct cpi_window_op *o)
{
	if (u->flags & CPI_UOP_SRC_IMM || r->computed == r->state.window.nr)
		return;
	r->computed = r->state.window.nr;
	add(r, make(r, OPERAND_MULTIPLIER, o->size, cpi_sign_extend(o->b, o->size),
		    o->unknown_b));
	add(r, make(r, OPERAND_MULTIPLICAND, o->size, cpi_sign_extend(o->a, o->size),
		    o->unknown_a));
}

static void note_shift(struct windowreplay *r, const struct cpi_uop *u,
		       const struct cpi_window_op *o)
{
	if (u->flags & CPI_UOP_SRC_IMM)
		return;
	add(r, make(r, OPERAND_SHIFT, o->size,
		    (int64_t)(o->b & (o->size == 3 ? 63 : 31)), o->unknown_b & 1));
}

/* Flags that a compare may set, and nothing else is written. */
static bool is_compare(const struct cpi_uop *u)
{
	return u->flags & CPI_UOP_FLAGS && u->dst == CPI_REG_NONE &&
	       !(u->flags & CPI_UOP_STORE) &&
	       (u->op == CPI_UOP_SUB || u->op == CPI_UOP_SUBN || u->op == CPI_UOP_AND);
}

static void note_compare(struct windowreplay *r, const struct cpi_uop *u,
			 const struct cpi_window_op *o)
{
	r->compared[0] = make(r, OPERAND_COMPARED, o->size,
			      cpi_sign_extend(o->a, o->size), o->unknown_a);
	r->compared[1] = make(r, OPERAND_COMPARED_WITH, o->size,
			      cpi_sign_extend(o->b, o->size), o->unknown_b);
	/* test with itself, and constants, need no second one */
	r->nr_compared =
		u->flags & CPI_UOP_SRC_IMM ||
				(u->op == CPI_UOP_AND && u->left == u->src &&
				 !(u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM)))
			? 1
			: 2;
}

static void add_compared(struct windowreplay *r, bool taken)
{
	for (int i = 0; i < r->nr_compared; i++) {
		r->compared[i].taken = taken;
		add(r, r->compared[i]);
	}
	r->nr_compared = 0;
}

static void note_jump(struct windowreplay *r, const struct cpi_uop *u,
		      const struct cpi_window_op *o)
{
	uint32_t taken;

	if (u->op == CPI_UOP_JCC) {
		taken = cpi_window_cond(&r->state, u->imm);
	} else {
		taken = o->unknown_b ? 2 : (u->op == CPI_UOP_JZ) == !o->b;
		r->compared[0] = make(r, OPERAND_COMPARED, o->size,
				      cpi_sign_extend(o->b, cpi_uop_source_size(u)),
				      o->unknown_b);
		r->nr_compared = 1;
	}
	if (taken < 2)
		add_compared(r, taken);
}

/* Of integer registers; of an instruction only the first one. */
static void note_load(struct windowreplay *r, const struct cpi_uop *u,
		      const struct cpi_window_op *o)
{
	const bool left = u->flags & CPI_UOP_LEFT_MEM;

	if (!(u->flags & (CPI_UOP_LEFT_MEM | CPI_UOP_SRC_MEM)) ||
	    u->flags & CPI_UOP_STORE || !cpi_uop_is_data(u) || u->dst >= CPI_REG_K ||
	    r->loader == r->state.window.nr)
		return;
	r->loader = r->state.window.nr;
	add(r, make(r, OPERAND_LOADED, o->size, (int64_t)(left ? o->a : o->b),
		    left ? o->unknown_a : o->unknown_b));
}

static int alignment(uint64_t address)
{
	const uint64_t bit = address & -address;

	return bit && bit < MOST_ALIGNED ? (int)bit : MOST_ALIGNED;
}

/*
 * The copy of rep movs and rep stos: b bytes to a. An interrupt may come in the middle
 * of it. So where a window begins, only a rest may be left.
 */
static void note_copy(struct windowreplay *r, const struct cpi_window_op *o)
{
	if (r->state.window.nr == 1)
		return;
	add(r, make(r, OPERAND_SIZE, 3, (int64_t)o->b, o->unknown_b));
	add(r, make(r, OPERAND_ALIGNMENT, 3, alignment(o->a), o->unknown_a & 1));
}

/* Unknown bytes are 0. */
static struct arguments arguments_of(const struct windowreplay *r)
{
	struct arguments a;

	memset(&a, 0, sizeof(a));
	for (unsigned int i = 0; i < SIZEDCALLS_ARGS; i++) {
		const unsigned int reg = sizedcalls_register(i);

		a.unknown[i] = r->state.unknown[reg];
		for (int b = 0; b < 8; b++) {
			if (!(a.unknown[i] >> b & 1))
				a.value[i] |= r->state.reg[reg] & 0xffULL << 8 * b;
		}
	}
	return a;
}

static const struct sizedcall *sizedcall_at(const struct windowreplay *r, uint64_t pc)
{
	const union cpi_code_cell *page = r->find(r->ctx, pc);
	const uint8_t *code =
		page ? codepack_bytes(page, pc % CPI_CODE_PAGE, SIZEDCALLS_BYTES)
		     : NULL;

	return code ? sizedcalls_find(r->calls, code) : NULL;
}

static void add_arguments(struct windowreplay *r, uint64_t at,
			  const struct sizedcall *call, const struct arguments *a)
{
	static const enum operand_kind kind[] = { OPERAND_ALIGNMENT,
						  OPERAND_ALIGNMENT_2 };
	struct replay_operand o =
		make(r, OPERAND_SIZE, 3, (int64_t)a->value[call->size],
		     a->unknown[call->size]);

	o.at = at;
	add(r, o);
	for (int i = 0; i < call->pointers; i++) {
		o = make(r, kind[i], 3, alignment(a->value[i]), a->unknown[i] & 1);
		o.at = at;
		add(r, o);
	}
}

/*
 * To a function of the C library that takes a size. A jump from the PLT belongs to the
 * call that led there: the arguments are still the same.
 */
static void note_call(struct windowreplay *r, const struct cpi_uop *u,
		      const struct cpi_window_op *o)
{
	const uint64_t pc = r->state.reg[CPI_REG_PC];
	const bool direct = u->op == CPI_UOP_CALL || u->op == CPI_UOP_JMP;
	const bool calls = u->op == CPI_UOP_CALL || u->op == CPI_UOP_CALLI ||
			   r->linked == r->state.window.nr;
	const struct arguments a = arguments_of(r);
	const struct sizedcall *call;

	if (!direct && o->unknown_b)
		return;
	if (u->op == CPI_UOP_JMPI && !calls && o->b == r->back)
		r->called = 0; /* AArch64's ret */
	if (calls) {
		r->caller = pc;
		r->back = pc + cpi_uop_length(u);
		r->called = r->state.window.nr;
		r->arguments = a;
	}
	call = sizedcall_at(r, direct ? pc + (uint64_t)(int64_t)u->disp : o->b);
	if (!call)
		return;
	if (r->called && r->state.window.nr - r->called <= MOST_STUB &&
	    !memcmp(&r->arguments, &a, sizeof(a)))
		add_arguments(r, r->caller, call, &a);
	else
		add_arguments(r, pc, call, &a);
	r->called = 0;
}

static void note(struct windowreplay *r, const struct cpi_uop *u,
		 const struct cpi_window_op *o)
{
	if (r->state.lead)
		return;
	if (cpi_uop_is_link(u))
		r->linked = r->state.window.nr;
	note_load(r, u, o);
	switch (u->op) {
	case CPI_UOP_DIVU:
	case CPI_UOP_DIVS:
	case CPI_UOP_QUOTU:
	case CPI_UOP_QUOTS:
		note_division(r, u, o);
		break;
	case CPI_UOP_MUL:
	case CPI_UOP_MULHU:
	case CPI_UOP_MULHS:
		note_factors(r, u, o);
		break;
	case CPI_UOP_SHL:
	case CPI_UOP_SHR:
	case CPI_UOP_SAR:
	case CPI_UOP_ROL:
	case CPI_UOP_ROR:
		note_shift(r, u, o);
		break;
	case CPI_UOP_BLUR:
		note_copy(r, o);
		break;
	case CPI_UOP_JMP:
	case CPI_UOP_JMPI:
	case CPI_UOP_CALL:
	case CPI_UOP_CALLI:
		note_call(r, u, o);
		return;
	case CPI_UOP_RET:
		r->called = 0;
		return;
	case CPI_UOP_JCC:
	case CPI_UOP_JZ:
	case CPI_UOP_JNZ:
		note_jump(r, u, o);
		return;
	default:
		break;
	}
	if (is_compare(u))
		note_compare(r, u, o);
	else if (u->flags & CPI_UOP_FLAGS)
		r->nr_compared = 0;
}

/* ---- a window ---- */

struct windowreplay *windowreplay_new(void)
{
	struct windowreplay *replay = calloc(1, sizeof(*replay));

	if (!replay)
		return NULL;
	replay->calls = sizedcalls_new();
	if (!replay->calls) {
		free(replay);
		replay = NULL;
	}
	return replay;
}

void windowreplay_free(struct windowreplay *replay)
{
	if (!replay)
		return;
	sizedcalls_free(replay->calls);
	explicit_bzero(replay, sizeof(*replay));
	free(replay);
}

void windowreplay_forget(struct windowreplay *r)
{
	const uint32_t generation = r->state.generation;
	struct sizedcalls *calls = r->calls;

	explicit_bzero(r, sizeof(*r));
	r->state.generation = generation;
	r->calls = calls;
}

static void begin(struct windowreplay *r, const struct cpi_window *w)
{
	struct cpi_window_state *s = &r->state;
	const struct cpi_window_origin *from = r->origin;

	cpi_window_begin(s, w->nr, CPI_WINDOW_USER_READS);
	memcpy(s->reg, from->reg, sizeof(from->reg));
	s->reg[CPI_REG_THREAD] = from->thread;
	s->unknown[CPI_REG_THREAD] = (uint8_t)from->unknown_thread;
	s->flags = from->flags;
	r->nr_pages = 0;
	r->nr_loads = 0;
	r->loader = 0;
	r->computed = 0;
	r->nr_compared = 0;
	r->called = 0;
	r->linked = 0;
	r->nr = 0;
}

/*
 * The end may differ: what ended the window there is not known here. So may the loads
 * of the last instruction, if the kernel side had no more steps.
 */
static bool agrees(const struct windowreplay *r, const struct cpi_window *w)
{
	const struct cpi_window *mine = &r->state.window;

	if (r->nr_loads != r->origin->nr_loads &&
	    (w->end != CPI_WINDOW_STEPS || r->nr_loads < r->origin->nr_loads))
		return false;
	return mine->last == w->last && mine->nr == w->nr &&
	       mine->nr_jumps == w->nr_jumps && mine->nr_targets == w->nr_targets &&
	       mine->nr_data == w->nr_data &&
	       !memcmp(mine->taken, w->taken, sizeof(w->taken)) &&
	       !memcmp(mine->target, w->target, sizeof(w->target));
}

int windowreplay_run(struct windowreplay *r, const struct cpi_window *w,
		     const struct cpi_window_origin *origin, windowreplay_find_fn *find,
		     walk_form_fn *form, void *ctx, const struct replay_operand **out)
{
	uint32_t steps = MOST_STEPS;
	bool good;

	r->origin = origin;
	r->window = w;
	r->find = find;
	r->form = form;
	r->ctx = ctx;
	begin(r, w);
	if (!cpi_window_start(&r->state, r, w->start)) {
		while (steps-- && !cpi_window_step(&r->state, r))
			;
	}
	cpi_window_finish(&r->state);
	good = agrees(r, w);
	*out = r->operand;
	return good ? r->nr : -EBADMSG;
}
