/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_windowreplay.c - a window that is interpreted again has the operands that it
 * had
 *
 * The test takes the kernel's place: it interprets micro-ops, and notes what they load.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

#include "abi/window_bpf.h"
#include "analysis/windows/codepack.h"
#include "daemon/windows/sizedcalls.h"
#include "daemon/windows/windowreplay.h"
#include "t/unit/unit.h"

#define CODE   UINT64_C(0x10000) /* address of the page */
#define MEMORY UINT64_C(0x20000)
#define MOST   8
#define KEY    UINT64_C(0x1b1d3f57c2e4a683)

struct kernel {
	struct cpi_code_page page;
	uint8_t code[CPI_CODE_PAGE];
	union cpi_code_cell packed[CPI_CODE_MAX_CELLS];
	uint32_t nr;
	uint64_t memory[4]; /* at MEMORY */
	struct cpi_window_state state;
	struct cpi_window_origin origin;
};

static int load(struct kernel *k, uint64_t *to, uint64_t address)
{
	const bool good = address >= MEMORY && address < MEMORY + sizeof(k->memory);
	const uint32_t nr = k->origin.nr_loads++;

	*to = good ? k->memory[(address - MEMORY) / 8] : 0;
	k->origin.load[nr] = *to;
	k->origin.failed[nr / 64] |= (uint64_t)!good << nr % 64;
	return good ? 0 : -1;
}

static int resolve(const struct kernel *k, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	const uint32_t cell = pc - CODE < CPI_CODE_PAGE
				      ? codepack_find(k->packed, (uint32_t)(pc - CODE))
				      : 0;

	*ip = cell;
	*base = 0;
	return cell ? 0 : -1;
}

#define CPI_WINDOW_CONTEXT                      struct kernel *
#define CPI_WINDOW_READ(ctx, to, size, address) ((void)(size), load(ctx, to, address))
#define CPI_WINDOW_UOP(ctx, ip) \
	((ip) < (ctx)->packed[0].head.nr_cells ? &(ctx)->packed[ip].uop : NULL)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base) resolve(ctx, pc, ip, base)
#include "kmod/window.h"

/* An instruction of four bytes, whose only micro-op has 64 bits. */
static struct cpi_uop *put(struct kernel *k, enum cpi_uop_op op, int dst, int left,
			   int src)
{
	struct cpi_uop *u = &k->page.uop[k->nr];

	*u = (struct cpi_uop){ .op = (uint8_t)op,
			       .dst = (uint8_t)dst,
			       .left = (uint8_t)left,
			       .src = (uint8_t)src,
			       .address = CPI_REG_ZERO | CPI_REG_ZERO << 6 | 3u << 14,
			       .flags = 3u << CPI_UOP_LENGTH_SHIFT |
					3u << CPI_UOP_SOURCE_SHIFT };
	k->page.index[4 * k->nr] = (uint16_t)(k->nr + 1);
	k->nr++;
	return u;
}

/* One whose operand is in memory, at MEMORY + disp. */
static struct cpi_uop *put_with_memory(struct kernel *k, enum cpi_uop_op op, int dst,
				       int src, uint32_t flag, int disp)
{
	struct cpi_uop *u = put(k, op, dst, CPI_REG_ZERO, src);

	u->flags |= (uint16_t)flag;
	u->disp = (int32_t)MEMORY + disp;
	return u;
}

/* Interprets a window of all instructions in the kernel. */
static const struct cpi_window *take(struct kernel *k, const uint64_t *reg)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < k->nr; i++)
		nr += !(k->page.uop[i].flags & CPI_UOP_MORE);
	codepack_page(&k->page, k->nr, k->code, sizeof(k->code), k->packed);
	cpi_window_begin(&k->state, nr, CPI_WINDOW_USER_READS);
	memset(&k->origin, 0, sizeof(k->origin));
	memcpy(k->origin.reg, reg, MOST * sizeof(*reg));
	memcpy(k->state.reg, k->origin.reg, sizeof(k->origin.reg));
	k->state.reg[CPI_REG_THREAD] = 0;
	k->state.unknown[CPI_REG_THREAD] = 0;
	k->state.flags = 0;
	if (!cpi_window_start(&k->state, k, CODE)) {
		while (!cpi_window_step(&k->state, k))
			;
	}
	cpi_window_finish(&k->state);
	return &k->state.window;
}

static const union cpi_code_cell *find_page(void *ctx, uint64_t address)
{
	const struct kernel *k = ctx;

	return address - CODE < CPI_CODE_PAGE ? k->packed : NULL;
}

static int replay(struct windowreplay *r, struct kernel *k,
		  const struct replay_operand **out)
{
	return windowreplay_run(r, &k->state.window, &k->origin, find_page, NULL, k,
				out);
}

static const struct {
	enum cpi_uop_op op;
	uint64_t dividend;
	int bits;
} divisions[] = {
	{ CPI_UOP_QUOTS, 1000, 10 },
	{ CPI_UOP_QUOTS, (uint64_t)-1000, 10 },
	{ CPI_UOP_QUOTS, (uint64_t)INT64_MIN, 64 },
	{ CPI_UOP_QUOTS, (uint64_t)INT64_MAX, 63 },
	{ CPI_UOP_QUOTU, (uint64_t)INT64_MIN, 64 },
	{ CPI_UOP_QUOTU, UINT64_MAX, 64 },
};

START_TEST(dividends_have_the_bits_of_their_magnitude)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	const uint64_t reg[MOST] = { divisions[_i].dividend, 7 };
	const struct replay_operand *o;

	memset(&k, 0, sizeof(k));
	put(&k, divisions[_i].op, 2, 0, 1);
	ck_assert_uint_eq(take(&k, reg)->nr, 1);
	ck_assert_int_eq(replay(r, &k, &o), 2);
	ck_assert_uint_eq(o[0].at, CODE);
	ck_assert_int_eq(o[0].kind, OPERAND_DIVISOR);
	ck_assert_int_eq(o[0].value, 7);
	ck_assert_int_eq(o[1].kind, OPERAND_DIVIDEND);
	ck_assert_int_eq(o[1].value, divisions[_i].bits);
	windowreplay_free(r);
}
END_TEST

/*
 * A mask is unknown when a window begins. Whatever an earlier window left there, both
 * sides read, or neither does. So the load behind it returns the same.
 */
START_TEST(unknown_masks_are_the_same_on_both_sides)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	const uint64_t reg[MOST] = { UINT64_MAX };
	const struct replay_operand *o;
	int nr;

	memset(&k, 0, sizeof(k));
	k.memory[0] = 111;
	k.memory[1] = 222;
	put(&k, CPI_UOP_OR, CPI_REG_K, 0, 0);
	take(&k, reg);
	ck_assert_int_eq(replay(r, &k, &o), 0);
	if (_i) /* the window before was of another CPU */
		memset(k.state.reg, 0, sizeof(k.state.reg));
	k.nr = 0;
	put_with_memory(&k, CPI_UOP_VSELECT, CPI_REG_LANE(0, 0), CPI_REG_K,
			CPI_UOP_LEFT_MEM, 0);
	put_with_memory(&k, CPI_UOP_OR, 3, CPI_REG_ZERO, CPI_UOP_LEFT_MEM, 8);
	ck_assert_uint_eq(take(&k, reg)->nr, 2);
	nr = replay(r, &k, &o);
	ck_assert_int_ge(nr, 1);
	ck_assert_int_eq(o[nr - 1].kind, OPERAND_LOADED);
	ck_assert_int_eq(o[nr - 1].value, 222);
	windowreplay_free(r);
}
END_TEST

/* The record of an instruction with two loads says another number of them. */
START_TEST(windows_with_another_number_of_loads_have_no_operands)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	const uint64_t reg[MOST] = { 0 };
	const struct replay_operand *o;

	memset(&k, 0, sizeof(k));
	put_with_memory(&k, CPI_UOP_OR, 3, CPI_REG_ZERO, CPI_UOP_LEFT_MEM, 0);
	put_with_memory(&k, CPI_UOP_OR, 3, CPI_REG_ZERO, CPI_UOP_LEFT_MEM, 8)->flags |=
		CPI_UOP_MORE;
	k.page.index[4] = 0;
	take(&k, reg);
	ck_assert_int_eq(k.origin.nr_loads, 2);
	ck_assert_int_eq(replay(r, &k, &o), 1);
	for (int nr = 0; nr <= 4; nr++) {
		k.origin.nr_loads = (uint16_t)nr;
		ck_assert_int_eq(replay(r, &k, &o), nr == 2 ? 1 : -EBADMSG);
	}
	windowreplay_free(r);
}
END_TEST

/* The first bytes of a function of the C library, at instruction number at. */
static void put_code(struct kernel *k, const char *name, int at)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	const void *code;

	ck_assert_ptr_nonnull(libc);
	code = dlsym(libc, name);
	ck_assert_ptr_nonnull(code);
	memcpy(k->code + 4 * (size_t)at, code, SIZEDCALLS_BYTES);
	dlclose(libc);
}

/* BY_LINKED_STUB: by AArch64's call, which sets the link register, and jumps */
enum { BY_CALL, BY_STUB, BY_LINKED_STUB, BY_JUMP, BY_POINTER, BY_CHANGING_STUB };

static const struct {
	const char *name;
	int how;
	int nr;        /* operands */
	uint64_t at;   /* instruction */
	int64_t value; /* of the size */
} calls[] = {
	{ "memcpy", BY_CALL, 3, CODE, 40 },
	{ "memcpy", BY_STUB, 3, CODE, 40 },
	{ "memcpy", BY_LINKED_STUB, 3, CODE, 40 },
	{ "memcpy", BY_JUMP, 3, CODE, 40 },
	{ "memcpy", BY_POINTER, 3, CODE, 40 },
	{ "memcpy", BY_CHANGING_STUB, 3, CODE + 8, 41 },
	{ "memset", BY_STUB, 2, CODE, 40 },
	{ "strnlen", BY_CALL, 2, CODE, 0x1004 },
	{ "strlen", BY_STUB, 0, 0, 0 },
	{ "strcmp", BY_CALL, 0, 0, 0 },
};

#define FUNCTION 32 /* number of the instruction at which it begins */
#define RAX      0

/*
 * Instruction 0 calls the stub behind it, which jumps to the function, or calls or
 * jumps there itself.
 */
static void put_call(struct kernel *k, int how)
{
	struct cpi_uop *u;

	if (how == BY_JUMP || how == BY_POINTER) {
		put(k, how == BY_JUMP ? CPI_UOP_JMPI : CPI_UOP_CALLI, CPI_REG_NONE,
		    CPI_REG_ZERO, RAX);
	} else if (how == BY_LINKED_STUB) {
		u = put(k, CPI_UOP_LEA, CPI_REG_AARCH64_LINK, CPI_REG_ZERO,
			CPI_REG_ZERO);
		u->address = CPI_REG_PC | CPI_REG_ZERO << 6 | 3u << 14;
		u->disp = 4;
		u = put(k, CPI_UOP_JMP, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
		u->address = 0;
		u->flags |= CPI_UOP_MORE;
		u->disp = 8;
		k->page.index[4] = 0;
	} else {
		u = put(k, CPI_UOP_CALL, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
		u->address = 0;
		u->disp = how == BY_CALL ? 4 * FUNCTION : 4;
	}
	if (how == BY_CHANGING_STUB) {
		u = put(k, CPI_UOP_ADD, (int)sizedcalls_register(2),
			(int)sizedcalls_register(2), 0);
		u->flags |= CPI_UOP_SRC_IMM;
		u->imm = 1;
	}
	put(k, CPI_UOP_JMPI, CPI_REG_NONE, CPI_REG_ZERO, RAX);
	while (k->nr <= FUNCTION)
		put(k, CPI_UOP_NOP, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
}

START_TEST(sizes_that_are_passed_belong_to_the_call)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	uint64_t reg[MOST] = { CODE + 4 * FUNCTION };
	const struct replay_operand *o;

	memset(&k, 0, sizeof(k));
	reg[sizedcalls_register(0)] = 0x10018;
	reg[sizedcalls_register(1)] = 0x1004;
	reg[sizedcalls_register(2)] = 40;
	reg[CPI_REG_SP % MOST] = MEMORY + 16;
	put_code(&k, calls[_i].name, FUNCTION);
	put_call(&k, calls[_i].how);
	take(&k, reg);
	ck_assert_int_eq(replay(r, &k, &o), calls[_i].nr);
	for (int i = 0; i < calls[_i].nr; i++) {
		ck_assert_uint_eq(o[i].at, calls[_i].at);
		ck_assert(o[i].known);
	}
	if (calls[_i].nr) {
		ck_assert_int_eq(o[0].kind, OPERAND_SIZE);
		ck_assert_int_eq(o[0].value, calls[_i].value);
		ck_assert_int_eq(o[1].kind, OPERAND_ALIGNMENT);
		ck_assert_int_eq(o[1].value, 8);
	}
	if (calls[_i].nr == 3) {
		ck_assert_int_eq(o[2].kind, OPERAND_ALIGNMENT_2);
		ck_assert_int_eq(o[2].value, 4);
	}
	windowreplay_free(r);
}
END_TEST

/*
 * The callee returns, by x86's or by AArch64's instruction. So the jump behind the call
 * is a call itself.
 */
START_TEST(sizes_that_are_passed_after_a_return_belong_to_the_jump)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	uint64_t reg[MOST] = { CODE + 4 * FUNCTION };
	const struct replay_operand *o;
	struct cpi_uop *u;

	memset(&k, 0, sizeof(k));
	reg[sizedcalls_register(2)] = 40;
	reg[CPI_REG_X86_RSP] = MEMORY + 16;
	put_code(&k, "memcpy", FUNCTION);
	u = put(&k, CPI_UOP_CALL, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
	u->address = 0;
	u->disp = 8;
	put(&k, CPI_UOP_JMPI, CPI_REG_NONE, CPI_REG_ZERO, RAX);
	put(&k, CPI_UOP_NOP, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
	u = put(&k, _i ? CPI_UOP_JMPI : CPI_UOP_RET, CPI_REG_NONE, CPI_REG_ZERO, 5);
	if (!_i) {
		u->address = CPI_REG_X86_RSP | CPI_REG_ZERO << 6 | 3u << 14;
		u->flags |= CPI_UOP_SRC_MEM;
	}
	reg[5] = k.memory[1] = CODE + 4;
	while (k.nr <= FUNCTION)
		put(&k, CPI_UOP_NOP, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
	take(&k, reg);
	ck_assert_int_eq(replay(r, &k, &o), 3);
	ck_assert_int_eq(o[0].kind, OPERAND_SIZE);
	ck_assert_int_eq(o[0].value, 40);
	ck_assert_uint_eq(o[0].at, CODE + 4);
	windowreplay_free(r);
}
END_TEST

/* A pointer of which only the lowest byte is known, as after "mov dil, bpl". */
START_TEST(the_lowest_byte_of_a_pointer_has_its_alignment)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	uint64_t reg[MOST] = { CODE + 4 * FUNCTION };
	const struct replay_operand *o;
	const int pointer = (int)sizedcalls_register(0);
	struct cpi_uop *u;

	memset(&k, 0, sizeof(k));
	reg[5] = 0x18;
	reg[sizedcalls_register(1)] = 0x1004;
	put_code(&k, "memcpy", FUNCTION);
	put(&k, CPI_UOP_OR, pointer, CPI_REG_ZERO, CPI_REG_UNKNOWN);
	u = put(&k, CPI_UOP_OR, pointer, CPI_REG_ZERO, 5);
	u->address &= (uint16_t) ~(3u << 14);
	u->flags &= (uint16_t) ~(3u << CPI_UOP_SOURCE_SHIFT);
	put(&k, CPI_UOP_JMPI, CPI_REG_NONE, CPI_REG_ZERO, RAX);
	while (k.nr <= FUNCTION)
		put(&k, CPI_UOP_NOP, CPI_REG_NONE, CPI_REG_ZERO, CPI_REG_ZERO);
	take(&k, reg);
	ck_assert_int_eq(replay(r, &k, &o), 3);
	ck_assert_int_eq(o[1].kind, OPERAND_ALIGNMENT);
	ck_assert(o[1].known);
	ck_assert_int_eq(o[1].value, 8);
	windowreplay_free(r);
}
END_TEST

/* The first copy may have begun before the window. */
START_TEST(a_copy_where_a_window_begins_has_no_size)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	const uint64_t reg[MOST] = { MEMORY + 8, 24 };
	const struct replay_operand *o;

	memset(&k, 0, sizeof(k));
	for (int i = 0; i < 2; i++) {
		put(&k, CPI_UOP_SHL, CPI_REG_TEMP, 1, CPI_REG_ZERO)->flags |=
			CPI_UOP_SRC_IMM;
		put(&k, CPI_UOP_BLUR, CPI_REG_NONE, 0, CPI_REG_TEMP)->flags |=
			CPI_UOP_MORE;
		k.page.index[4 * (2 * i + 1)] = 0;
	}
	k.page.index[4] = 3;
	k.page.index[8] = 0;
	ck_assert_uint_eq(take(&k, reg)->nr, 2);
	ck_assert_int_eq(replay(r, &k, &o), 2);
	ck_assert_uint_eq(o[0].at, CODE + 4);
	ck_assert_int_eq(o[0].kind, OPERAND_SIZE);
	ck_assert_int_eq(o[0].value, 24);
	ck_assert_int_eq(o[1].kind, OPERAND_ALIGNMENT);
	ck_assert_int_eq(o[1].value, 8);
	windowreplay_free(r);
}
END_TEST

static bool has_key(const void *memory, size_t size)
{
	const uint64_t key = KEY;

	return memmem(memory, size, &key, sizeof(key));
}

/* A key in a register, that is loaded, stored, divided by, and compared. */
START_TEST(what_was_replayed_is_erased)
{
	static struct kernel k;
	struct windowreplay *r = windowreplay_new();
	const uint64_t reg[MOST] = { KEY, 3, MEMORY };
	const size_t size = malloc_usable_size(r);
	const struct replay_operand *o;

	memset(&k, 0, sizeof(k));
	k.memory[0] = KEY;
	put_with_memory(&k, CPI_UOP_OR, 3, CPI_REG_ZERO, CPI_UOP_LEFT_MEM, 0);
	put(&k, CPI_UOP_QUOTU, 4, 1, 0);
	put(&k, CPI_UOP_SUB, CPI_REG_NONE, 3, 1)->flags |= CPI_UOP_FLAGS;
	put_with_memory(&k, CPI_UOP_OR, CPI_REG_NONE, 0, CPI_UOP_STORE, 16);
	take(&k, reg);
	ck_assert_int_eq(replay(r, &k, &o), 3);
	ck_assert(has_key(r, size));
	windowreplay_forget(r);
	ck_assert(!has_key(r, size));
	ck_assert_int_eq(replay(r, &k, &o), 3);
	windowreplay_free(r);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("windowreplay");
	TCase *t = tcase_create("windowreplay");

	tcase_add_loop_test(t, dividends_have_the_bits_of_their_magnitude, 0,
			    (int)NR(divisions));
	tcase_add_loop_test(t, unknown_masks_are_the_same_on_both_sides, 0, 2);
	tcase_add_test(t, windows_with_another_number_of_loads_have_no_operands);
	tcase_add_loop_test(t, sizes_that_are_passed_belong_to_the_call, 0,
			    (int)NR(calls));
	tcase_add_loop_test(t, sizes_that_are_passed_after_a_return_belong_to_the_jump,
			    0, 2);
	tcase_add_test(t, the_lowest_byte_of_a_pointer_has_its_alignment);
	tcase_add_test(t, a_copy_where_a_window_begins_has_no_size);
	tcase_add_test(t, what_was_replayed_is_erased);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
