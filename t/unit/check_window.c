/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random instructions from random states, on the machine and interpreted: whatever the
 * window says it knows must be what the machine got. Registers are partly unknown to
 * the window: there it has other values than the machine.
 */
#include "config.h"

#include <Zydis/Zydis.h>
#include <errno.h>

#include "abi/window.h"
#include "analysis/translate/translate.h"
#include "t/unit/native.h"

#define AT     64 /* where the instruction is in its page */
#define MIDDLE (NATIVE_MEMORY / 2)
#define NEAR   256 /* bytes on both sides of the middle that may be written */

struct subject {
	struct native n;
	struct translator *translator;
	struct cpi_code_page page;
	struct cpi_window_state w;
	uint64_t seed, random;
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t nr_compared;
	uint32_t by_mnemonic[ZYDIS_MNEMONIC_MAX_VALUE + 1];
};

static int read_memory(struct subject *t, uint64_t *to, uint32_t size, uint64_t address)
{
	const uint64_t memory = (uint64_t)(uintptr_t)t->n.memory;
	const uint64_t code = (uint64_t)(uintptr_t)t->n.code;

	if ((address - memory >= NATIVE_MEMORY ||
	     address - memory + size > NATIVE_MEMORY) &&
	    (address - code >= NATIVE_CODE || address - code + size > NATIVE_CODE))
		return -1;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return 0;
}

static int resolve(struct subject *t, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	const uint64_t offset = pc - (uint64_t)(uintptr_t)t->n.code;

	if (offset != AT || !t->page.index[AT])
		return -1;
	*ip = t->page.index[AT] - 1u;
	*base = ~0u; /* places, which jumps count from 1 on */
	return 0;
}

static const struct cpi_uop *uop_at(const struct subject *t, uint32_t ip)
{
	return ip < CPI_UOPS_PER_PAGE ? &t->page.uop[ip] : NULL;
}

#define CPI_WINDOW_CONTEXT                      struct subject *
#define CPI_WINDOW_READ(ctx, to, size, address) read_memory(ctx, to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)                 uop_at(ctx, ip)
#define CPI_WINDOW_RESOLVE(ctx, pc, ip, base)   resolve(ctx, pc, ip, base)
#include "kmod/window.h"

static uint64_t any(struct subject *t)
{
	return unit_random(&t->random);
}

static unsigned int below(struct subject *t, unsigned int limit)
{
	return (unsigned int)(any(t) >> 33) % limit;
}

/* Values that make flags and borders likely. */
static uint64_t interesting(struct subject *t)
{
	const uint64_t value = any(t);

	switch (below(t, 8)) {
	case 0:
		return value & 0xff;
	case 1:
		return ~(value & 0xff);
	case 2:
		return 1ULL << (value & 63);
	case 3:
		return (1ULL << (value & 63)) - 1;
	case 4:
		return value & 0x0101010101010101ULL;
	case 5:
		return 0;
	default:
		return value;
	}
}

/* Legacy, VEX and EVEX encodings, all without segments. Returns the length. */
static size_t make_bytes(struct subject *t, uint8_t *code)
{
	const unsigned int form = below(t, 4);
	size_t nr = 0;

	for (size_t i = 0; i < 24; i++)
		code[i] = (uint8_t)any(t);
	if (form == 2) {
		code[nr++] = 0xc4;
		code[nr] = (uint8_t)((code[nr] & 0xe0) | (1 + below(t, 3)));
		nr += 2;
	} else if (form == 3) {
		code[nr++] = 0x62;
		code[nr] = (uint8_t)((code[nr] & 0xf0) | (1 + below(t, 3)));
		code[nr + 1] |= 4;
		if (below(t, 2))
			code[nr + 2] &= 0x68; /* no mask, 128 or 256 bits */
		nr += 3;
	} else {
		if (!below(t, 4))
			code[nr++] = below(t, 2) ? 0x66 : below(t, 2) ? 0xf2 : 0xf3;
		if (below(t, 2))
			code[nr++] = (uint8_t)(0x40 | (any(t) & 15));
		if (form == 1) {
			code[nr++] = 0x0f;
			if (!below(t, 4))
				code[nr++] = below(t, 4) ? 0x38 : 0x3a;
		}
	}
	return nr + 2; /* opcode and ModRM: the decoder knows the rest */
}

static uint64_t *gpr_of(struct user_regs_struct *r, unsigned int number)
{
	unsigned long long *const regs[] = { &r->rax, &r->rcx, &r->rdx, &r->rbx,
					     &r->rsp, &r->rbp, &r->rsi, &r->rdi,
					     &r->r8,  &r->r9,  &r->r10, &r->r11,
					     &r->r12, &r->r13, &r->r14, &r->r15 };

	return (uint64_t *)regs[number & 15];
}

static bool is_gpr64(ZydisRegister r)
{
	return ZydisRegisterGetClass(r) == ZYDIS_REGCLASS_GPR64;
}

/* Makes an operand's address one near the middle. Returns whether it can be. */
static bool aim(struct subject *t, struct native_state *s, const ZydisDecodedOperand *o)
{
	const uint64_t middle = (uint64_t)(uintptr_t)t->n.memory + MIDDLE;
	uint64_t address = middle + below(t, NEAR / 2);

	if (o->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
		return true;
	if (!is_gpr64(o->mem.base) || o->mem.base == o->mem.index)
		return false;
	if (o->mem.disp.has_displacement)
		address -= (uint64_t)o->mem.disp.value;
	if (is_gpr64(o->mem.index)) {
		uint64_t *index =
			gpr_of(&s->regs,
			       (unsigned int)ZydisRegisterGetId(o->mem.index));

		*index = below(t, 1000);
		address -= *index * o->mem.scale;
	} else if (o->mem.index != ZYDIS_REGISTER_NONE) {
		return false;
	}
	*gpr_of(&s->regs, (unsigned int)ZydisRegisterGetId(o->mem.base)) = address;
	return true;
}

static bool is_string(const struct subject *t)
{
	return t->in.meta.category == ZYDIS_CATEGORY_STRINGOP;
}

/* Random registers with which the instruction stays in the memory. */
static bool make_state(struct subject *t, struct native_state *s)
{
	uint8_t *memory = t->n.memory + MIDDLE;

	for (unsigned int i = 0; i < 16; i++)
		*gpr_of(&s->regs, i) = interesting(t);
	s->regs.rsp = (uint64_t)(uintptr_t)memory + below(t, 64);
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int lane = 0; lane < 4; lane++)
			s->vector[v][lane] =
				below(t, 4) ? interesting(t) : s->vector[v / 2][lane];
	for (unsigned int k = 0; k < NATIVE_MASKS; k++)
		s->mask[k] = interesting(t);
	native_clear_absent(&t->n, s);
	for (int i = -NEAR; i < NEAR; i += 8) {
		uint64_t value = interesting(t);

		memcpy(memory + i, &value, 8);
	}
	for (unsigned int i = 0; i < t->in.operand_count; i++)
		if (t->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY && !aim(t, s, &t->op[i]))
			return false;
	if (is_string(t))
		s->regs.rcx = below(t, 5);
	s->regs.rip = (uint64_t)(uintptr_t)t->n.code + AT;
	s->regs.eflags = 0x202 | (any(t) & CPI_FLAG_ALL);
	s->regs.orig_rax = ~0ULL;
	return true;
}

static bool is_address(const struct subject *t, unsigned int number)
{
	for (unsigned int i = 0; i < t->in.operand_count; i++) {
		const ZydisDecodedOperand *o = &t->op[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    (ZydisRegisterGetId(o->mem.base) == (int)number ||
		     ZydisRegisterGetId(o->mem.index) == (int)number))
			return true;
	}
	return number == 4;
}

static uint64_t spoil(struct subject *t, unsigned int reg, uint64_t value)
{
	const uint64_t bits = cpi_byte_bits(t->w.unknown[reg]);

	return (value & ~bits) | (any(t) & bits);
}

/* The window's view of the state: some of it is unknown, and other than it is. */
static void show(struct subject *t, struct native_state *s)
{
	const bool spoils = below(t, 2);

	cpi_window_begin(&t->w, 1, 100);
	for (unsigned int i = 0; i < CPI_NR_REGS; i++) {
		if (i < 16)
			t->w.reg[i] = *gpr_of(&s->regs, i);
		else if (i >= CPI_REG_K && i < CPI_REG_K + NATIVE_MASKS)
			t->w.reg[i] = s->mask[i - CPI_REG_K];
		else if (i >= CPI_REG_V && i < CPI_REG_LANE(NATIVE_VECTORS, 0))
			t->w.reg[i] = s->vector[(i - CPI_REG_V) / 4][i % 4];
		else
			continue;
		t->w.unknown[i] = 0;
		if (!spoils || below(t, 4) || (i < 16 && is_address(t, i)))
			continue;
		t->w.unknown[i] = (uint8_t)(below(t, 2) ? 0xff : any(t));
		t->w.reg[i] = spoil(t, i, t->w.reg[i]);
	}
	t->w.flags = (uint32_t)s->regs.eflags;
	if (spoils && below(t, 2)) {
		t->w.unknown_flags = (uint32_t)any(t) & CPI_FLAG_ALL;
		t->w.flags ^= (uint32_t)any(t) & t->w.unknown_flags;
	}
}

static void disagree(const struct subject *t, const char *what, uint64_t want,
		     uint64_t got)
{
	char text[256] = "?", bytes[64] = "";
	ZydisDisassembledInstruction d;

	for (unsigned int i = 0; i < t->in.length; i++)
		snprintf(bytes + 3 * i, 4, " %02x", t->n.code[AT + i]);
	if (ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, 0,
					       t->n.code + AT, t->in.length, &d)))
		snprintf(text, sizeof(text), "%s", d.text);
	ck_abort_msg("seed %#llx:%s %s: %s is %#llx, the window has %#llx",
		     (unsigned long long)t->seed, bytes, text, what,
		     (unsigned long long)want, (unsigned long long)got);
}

static void compare_register(const struct subject *t, const char *what,
			     unsigned int number, uint64_t native, unsigned int reg)
{
	const uint64_t known = ~cpi_byte_bits(t->w.unknown[reg]);
	char name[32];

	if (!((native ^ t->w.reg[reg]) & known))
		return;
	snprintf(name, sizeof(name), "%s %u", what, number);
	disagree(t, name, native & known, t->w.reg[reg] & known);
}

static void compare_registers(const struct subject *t, struct native_state *s)
{
	const uint32_t known = CPI_FLAG_ALL & ~t->w.unknown_flags;

	for (unsigned int i = 0; i < 16; i++)
		compare_register(t, "register", i, *gpr_of(&s->regs, i), i);
	if ((s->regs.eflags ^ t->w.flags) & known)
		disagree(t, "flags", s->regs.eflags & known, t->w.flags & known);
	for (unsigned int v = 0; v < NATIVE_VECTORS; v++)
		for (unsigned int lane = 0; lane < 4; lane++)
			compare_register(t, "lane", v * 10 + lane, s->vector[v][lane],
					 (unsigned int)CPI_REG_LANE(v, lane));
	for (unsigned int k = 0; k < NATIVE_MASKS; k++)
		compare_register(t, "mask", k, s->mask[k], CPI_REG_K + k);
}

/* What the window would read there, byte by byte. */
static void compare_memory(struct subject *t, const uint8_t *before)
{
	uint8_t *memory = t->n.memory + MIDDLE - NEAR;

	for (unsigned int i = 0; i < 2 * NEAR; i++) {
		const uint64_t address = (uint64_t)(uintptr_t)memory + i;
		const struct cpi_window_own own = cpi_window_own(&t->w, address, 0);
		const uint8_t has = own.valid ? (uint8_t)own.value : before[i];

		if (own.unknown || cpi_window_blurred(&t->w, address, 0))
			continue;
		if (has != memory[i])
			disagree(t, "memory", memory[i], has);
	}
}

/* Decodes and translates. Returns whether windows go on behind it. */
static bool prepare(struct subject *t)
{
	const uint16_t wanted = AT;

	make_bytes(t, t->n.code + AT);
	if (ZYAN_FAILED(ZydisDecoderDecodeFull(&t->decoder, t->n.code + AT, 15, &t->in,
					       t->op)))
		return false;
	translator_page(t->translator, t->n.code, AT + t->in.length, &wanted, 1,
			&t->page);
	return t->page.index[AT] &&
	       t->page.uop[t->page.index[AT] - 1].op != CPI_UOP_STOP;
}

static void try_one(struct subject *t, struct native_state *s)
{
	uint8_t before[2 * NEAR];
	int steps = 64, sent;

	if (!prepare(t) || !make_state(t, s))
		return;
	show(t, s);
	memcpy(before, t->n.memory + MIDDLE - NEAR, sizeof(before));
	if (!cpi_window_start(&t->w, t, s->regs.rip))
		while (steps-- && !cpi_window_step(&t->w, t)) {}
	if (steps < 0)
		disagree(t, "micro-ops", 64, 65);
	if (t->w.window.end != CPI_WINDOW_NO_CODE && t->w.window.end != CPI_WINDOW_TRAP)
		return;
	sent = native_step(&t->n, s);
	if (t->w.window.end == CPI_WINDOW_TRAP && !sent)
		disagree(t, "signal", 0, 1);
	if (t->w.window.end == CPI_WINDOW_TRAP || sent)
		return; /* what the machine has not got, or faults */
	if (s->regs.rip != t->w.window.next)
		disagree(t, "next", s->regs.rip, t->w.window.next);
	compare_registers(t, s);
	compare_memory(t, before);
	t->nr_compared++;
	t->by_mnemonic[t->in.mnemonic]++;
}

static struct subject *subject_new(void)
{
	struct subject *t = calloc(1, sizeof(*t));

	ck_assert_ptr_nonnull(t);
	native_open(&t->n);
	ck_assert_int_eq(translator_open(EM_X86_64, &t->translator), 0);
	ZydisDecoderInit(&t->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	t->seed = unit_seed();
	t->random = t->seed | 1;
	return t;
}

static void subject_free(struct subject *t)
{
	translator_close(t->translator);
	native_close(&t->n);
	free(t);
}

/* $WINDOWS: how many to try; $VERBOSE: what was compared. */
START_TEST(what_a_window_knows_is_what_the_machine_gets)
{
	struct subject *t = subject_new();
	const char *count = getenv("WINDOWS");
	struct native_state s = { 0 };

	ck_assert_int_eq(ptrace(PTRACE_GETREGS, t->n.pid, 0, &s.regs), 0);
	for (uint64_t i = count ? strtoull(count, NULL, 0) : 40000; i; i--) {
		struct native_state now = s;

		try_one(t, &now);
	}
	for (unsigned int m = 0; getenv("VERBOSE") && m <= ZYDIS_MNEMONIC_MAX_VALUE;
	     m++)
		if (t->by_mnemonic[m])
			printf("# %s %u\n", ZydisMnemonicGetString(m),
			       t->by_mnemonic[m]);
	fflush(stdout);
	ck_assert_uint_gt(t->nr_compared, 100);
	subject_free(t);
}
END_TEST

/* What mask k1 chooses of the memory at rdi, and that mask. */
static const struct {
	const char *bytes;
	uint64_t mask;
	bool unknown, told;
} masked[] = {
	{ "\x62\xf1\x7f\xa9\x6f\x07", 1, false,
	  true }, /* vmovdqu8 ymm0{k1}{z}, [rdi] */
	{ "\x62\xf1\x7f\xa9\x6f\x07", 0, false, false },
	{ "\x62\xf1\x7f\xa9\x6f\x07", 1, true, false },
	{ "\x62\xf1\x7f\x29\x7f\x07", 1, false, true }, /* vmovdqu8 [rdi]{k1}, ymm0 */
	{ "\x62\xf1\x7f\x29\x7f\x07", 0, false, false },
	{ "\x62\xf1\x7f\x29\x7f\x07", 1, true, false },
	/* vpcmpub k2{k1}, ymm0, [rdi], 4 */
	{ "\x62\xf3\x7d\x29\x3e\x17\x04", 0x80, false, true },
	{ "\x62\xf3\x7d\x29\x3e\x17\x04", 0x100, false, false },
	{ "\x62\xf3\x7d\x29\x3e\x17\x04", 1, true, false },
	/* vpcmpud k2{k1}, ymm0, [rdi], 4: two elements in the first 8 bytes */
	{ "\x62\xf3\x7d\x29\x1e\x17\x04", 2, false, true },
	{ "\x62\xf3\x7d\x29\x1e\x17\x04", 4, false, false },
	/* vpcmpub k2, ymm0, [rdi], 4: without a mask */
	{ "\x62\xf3\x7d\x28\x3e\x17\x04", 0, false, true },
	/* Not followed: vmovups [rdi]{k1}, ymm0; vmaskmovps [rdi], ymm0, ymm1;
	 * vmaskmovdqu xmm0, xmm1 */
	{ "\x62\xf1\x7c\x29\x11\x07", 1, false, false },
	{ "\xc4\xe2\x7d\x2e\x0f", 1, false, false },
	{ "\xc5\xf9\xf7\xc1", 1, false, false },
};

START_TEST(address_of_nothing_is_not_told)
{
	struct subject *t = subject_new();
	const uint64_t address = (uint64_t)(uintptr_t)t->n.memory + MIDDLE;
	const uint16_t wanted = AT;
	int steps = 64;

	memset(t->n.code + AT, 0x90, 24);
	memcpy(t->n.code + AT, masked[_i].bytes, strlen(masked[_i].bytes));
	translator_page(t->translator, t->n.code, NATIVE_CODE, &wanted, 1, &t->page);
	cpi_window_begin(&t->w, 1, 100);
	t->w.reg[7] = address; /* rdi */
	t->w.reg[CPI_REG_K + 1] = masked[_i].mask;
	t->w.unknown[CPI_REG_K + 1] = masked[_i].unknown ? 0xff : 0;
	ck_assert(!cpi_window_start(&t->w, t, (uint64_t)(uintptr_t)t->n.code + AT));
	while (steps-- && !cpi_window_step(&t->w, t)) {}
	ck_assert_uint_eq(t->w.window.nr_data, 1);
	ck_assert_uint_eq(t->w.window.data[CPI_WINDOW_DATA - 1],
			  masked[_i].told ? (uint32_t)address : CPI_WINDOW_NO_DATA);
	subject_free(t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("window");
	TCase *c = tcase_create("machine");

	tcase_set_timeout(c, 0);
	tcase_add_test(c, what_a_window_knows_is_what_the_machine_gets);
	tcase_add_loop_test(c, address_of_nothing_is_not_told, 0,
			    sizeof(masked) / sizeof(*masked));
	suite_add_tcase(suite, c);
	return suite;
}

UNIT_MAIN(make_suite)
