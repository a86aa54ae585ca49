/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aarch64_machine.c - AArch64 instructions on the machine, and interpreted
 *
 * usage: aarch64_machine [instructions]
 *
 * Random instructions from random states: whatever a window says it knows must be what
 * the machine got. Registers are partly unknown to the window: there it has other
 * values than the machine. Runs on AArch64, or under its user emulation.
 *
 * A signal's handler may change all registers: the instruction is executed by returning
 * from the trap in front of it, and the trap or the fault behind it has what it did.
 * The handler has a stack of its own, for sp is as random as the others.
 */
#include "config.h"

#include <elf.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "analysis/translate/translate.h"
#include "analysis/translate/translate_aarch64.h"
#include "daemon/windows/translate_check.h"

#define AT         64u /* where the instruction is in its page */
#define MEMORY     98304u
#define MIDDLE     16384u
#define REACH      (129u << 20) /* of jumps, and more */
#define BRK        0xd4200000u
#define NR_RULES   512
#define GROUPS     16
#define GROUP_BITS (15u << 25)

/* Registers of the machine, as signals show them. */
struct machine {
	uint64_t x[31], sp, pc, pstate;
	__uint128_t v[32];
};

struct rule_count {
	const struct a64_rule *rule;
	unsigned int group;
	unsigned long nr_compared, nr_exact; /* without an unknown byte */
};

struct subject {
	struct machine before, now;
	struct translator *translator;
	struct cpi_code_page page;
	struct cpi_window_state w;
	uint64_t seed, random, nr_compared;
	uint32_t word;
	uint8_t *code, *memory, *was;
	uint32_t nr_rules;
	struct rule_count rule[NR_RULES];
};

static int read_memory(const struct subject *t, uint64_t *to, uint32_t size,
		       uint64_t address)
{
	const uint64_t offset = address - (uint64_t)(uintptr_t)t->memory;
	const uint64_t in_code = address - (uint64_t)(uintptr_t)t->code;

	if ((offset >= MEMORY || offset + size > MEMORY) &&
	    (in_code >= CPI_CODE_PAGE || in_code + size > CPI_CODE_PAGE))
		return -1;
	memcpy(to, (const void *)(uintptr_t)address, size);
	return 0;
}

static int resolve(const struct subject *t, uint64_t pc, uint32_t *ip, uint32_t *base)
{
	if (pc != (uint64_t)(uintptr_t)t->code + AT)
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

/* ---- the machine ---- */

static struct machine *volatile under_way; /* the handler's and its caller's */
static sigjmp_buf done;

static struct fpsimd_context *vectors_of(ucontext_t *u)
{
	struct _aarch64_ctx *c = (struct _aarch64_ctx *)u->uc_mcontext.__reserved;

	while (c->magic != FPSIMD_MAGIC)
		c = (struct _aarch64_ctx *)((char *)c + c->size);
	return (struct fpsimd_context *)c;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	static bool runs;
	ucontext_t *u = context;
	mcontext_t *m = &u->uc_mcontext;
	struct machine *now = under_way;

	if (!now) /* our own fault */
		_exit(2);
	if (!runs) {
		runs = true;
		memcpy(m->regs, now->x, sizeof(now->x));
		m->sp = now->sp;
		m->pc = now->pc;
		m->pstate = now->pstate;
		memcpy(vectors_of(u)->vregs, now->v, sizeof(now->v));
		return;
	}
	runs = false;
	under_way = NULL;
	memcpy(now->x, m->regs, sizeof(now->x));
	now->sp = m->sp;
	now->pc = m->pc;
	now->pstate = m->pstate;
	memcpy(now->v, vectors_of(u)->vregs, sizeof(now->v));
	siglongjmp(done, 1);
}

static void handle_signals(void)
{
	const struct sigaction action = { .sa_sigaction = on_signal,
					  .sa_flags = SA_SIGINFO | SA_ONSTACK |
						      SA_NODEFER };
	const stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };

	sigaltstack(&stack, NULL);
	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	sigaction(SIGILL, &action, NULL);
}

/* Executes the instruction that *m is at. */
static void execute(struct machine *m)
{
	under_way = m;
	if (!sigsetjmp(done, 0))
		__asm__ volatile("brk #0" ::: "memory");
}

/* ---- states ---- */

static uint64_t any(struct subject *t)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return t->random * 0x2545f4914f6cdd1dULL;
}

static unsigned int below(struct subject *t, unsigned int limit)
{
	return (unsigned int)(any(t) >> 33) % limit;
}

/* Values that make flags, borders and addresses likely. */
static uint64_t interesting(struct subject *t)
{
	const uint64_t value = any(t);

	switch (below(t, 12)) {
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
	case 6:
		return (uint64_t)(int64_t)(int32_t)value;
	case 7:
		return value & 0x8080808080808080ULL;
	case 8:
	case 9:
	case 10:
		return (uint64_t)(uintptr_t)t->memory + MIDDLE + (value & 0x1f0);
	default:
		return value;
	}
}

static void make_state(struct subject *t)
{
	struct machine *m = &t->before;

	for (unsigned int i = 0; i < 31; i++)
		m->x[i] = interesting(t);
	m->sp = (uint64_t)(uintptr_t)t->memory + MIDDLE + 16 * below(t, 32);
	m->pc = (uint64_t)(uintptr_t)t->code + AT;
	m->pstate = (any(t) & 15) << 28;
	for (unsigned int v = 0; v < 32; v++) {
		m->v[v] = (__uint128_t)interesting(t) << 64 | interesting(t);
		if (!below(t, 3))
			m->v[v] = m->v[v / 2];
	}
	for (unsigned int i = 0; i < 1024; i += 8) {
		const uint64_t value = interesting(t);

		memcpy(t->memory + MIDDLE - 256 + i, &value, 8);
	}
}

static uint32_t flags_of(uint64_t pstate)
{
	return cpi_flags_of_nzcv((uint32_t)(pstate >> 28));
}

static uint64_t lane_of(const struct machine *m, unsigned int v, unsigned int lane)
{
	return (uint64_t)(m->v[v] >> 64 * lane);
}

static void show(struct subject *t, unsigned int reg, uint64_t value, bool spoils)
{
	uint64_t bits;

	t->w.unknown[reg] = 0;
	if (spoils && !below(t, 3))
		t->w.unknown[reg] = (uint8_t)(below(t, 2) ? 0xff : any(t));
	bits = cpi_byte_bits(t->w.unknown[reg]);
	t->w.reg[reg] = (value & ~bits) | (any(t) & bits);
}

/* The window's view of the state: some of it is unknown, and other than it is. */
static void show_state(struct subject *t)
{
	const bool spoils = below(t, 2);
	const struct machine *m = &t->before;
	uint64_t thread;

	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
	cpi_window_begin(&t->w, 1, 100);
	for (unsigned int i = 0; i < 31; i++)
		show(t, i, m->x[i], spoils);
	for (unsigned int i = 0; i < 64; i++)
		show(t, CPI_REG_LANE(i / 2, i % 2), lane_of(m, i / 2, i % 2), spoils);
	t->w.reg[CPI_REG_AARCH64_SP] = m->sp;
	t->w.reg[CPI_REG_THREAD] = thread;
	t->w.flags = flags_of(m->pstate);
	if (spoils && below(t, 2)) {
		t->w.unknown_flags = (uint32_t)any(t) & CPI_FLAG_ALL;
		t->w.flags ^= (uint32_t)any(t) & t->w.unknown_flags;
	}
}

/* ---- comparing ---- */

static void disagree(const struct subject *t, const char *what, unsigned int number,
		     uint64_t want, uint64_t got)
{
	printf("# seed %#llx: %08x: %s %u is %#llx, the window has %#llx\n",
	       (unsigned long long)t->seed, t->word, what, number,
	       (unsigned long long)want, (unsigned long long)got);
	exit(1);
}

static bool compare_register(const struct subject *t, const char *what,
			     unsigned int number, uint64_t native, unsigned int reg)
{
	const uint64_t known = ~cpi_byte_bits(t->w.unknown[reg]);

	if ((native ^ t->w.reg[reg]) & known)
		disagree(t, what, number, native & known, t->w.reg[reg] & known);
	return !t->w.unknown[reg];
}

/* Returns whether all is known. */
static bool compare_registers(const struct subject *t)
{
	const struct machine *m = &t->now;
	const uint32_t known = CPI_FLAG_ALL & ~CPI_FLAG_P & ~t->w.unknown_flags;
	bool all = !(t->w.unknown_flags & ~CPI_FLAG_P);

	for (unsigned int i = 0; i < 31; i++)
		all &= compare_register(t, "register", i, m->x[i], i);
	all &= compare_register(t, "sp", 0, m->sp, CPI_REG_AARCH64_SP);
	for (unsigned int i = 0; i < 64; i++)
		all &= compare_register(t, "lane", i, lane_of(m, i / 2, i % 2),
					CPI_REG_LANE(i / 2, i % 2));
	if ((flags_of(m->pstate) ^ t->w.flags) & known)
		disagree(t, "flags", 0, flags_of(m->pstate) & known,
			 t->w.flags & known);
	return all;
}

/* What the window would read, byte by byte where it is another than it was. */
static void compare_memory(struct subject *t)
{
	for (unsigned int i = 0; i < MEMORY; i += 8) {
		const uint64_t address = (uint64_t)(uintptr_t)t->memory + i;
		const struct cpi_window_own own = cpi_window_own(&t->w, address, 3);
		const uint64_t known = ~cpi_byte_bits(own.unknown);
		uint64_t has, is;

		memcpy(&has, t->was + i, 8);
		memcpy(&is, t->memory + i, 8);
		has = (has & ~cpi_byte_bits(own.valid)) | own.value;
		if ((has ^ is) & known)
			disagree(t, "memory", i, is & known, has & known);
	}
}

/* ---- instructions ---- */

/* Of some rules, several groups have instructions. */
static bool can_have(const struct a64_rule *rule, unsigned int group)
{
	return !((group << 25 ^ rule->value) & rule->mask & GROUP_BITS);
}

static void find_rules(struct subject *t)
{
	for (unsigned int group = 0; group < GROUPS; group++)
		for (const struct a64_rule *r = a64_rules_of(group); r->translate; r++)
			if (can_have(r, group) && t->nr_rules < NR_RULES)
				t->rule[t->nr_rules++] =
					(struct rule_count){ .rule = r,
							     .group = group };
}

/* With fields that have cases of their own, and are rare at random; registers are 0. */
static const uint32_t rare[] = {
	0x13001c00, 0x13003c00, 0x93403c00, 0x93407c00, /* sxtb, sxth, sxth, sxtw */
	0x53001c00, 0x53003c00, 0xd3407c00,             /* uxtb, uxth, ubfx 0, 32 */
};

/* What some rule has, a rare one, or anything. */
static uint32_t make_word(struct subject *t)
{
	const struct rule_count *c = &t->rule[below(t, t->nr_rules)];
	uint32_t word = (uint32_t)any(t);

	if (!below(t, 64))
		return rare[below(t, sizeof(rare) / sizeof(*rare))] | (word & 0x3ff);
	if (!below(t, 8))
		return word;
	word = (word & ~c->rule->mask) | c->rule->value;
	return (word & ~GROUP_BITS) | c->group << 25;
}

static struct rule_count *count_of(struct subject *t, uint32_t word)
{
	const struct a64_rule *rule = a64_rule_of(word);
	unsigned int i = 0;

	while (t->rule[i].rule != rule || t->rule[i].group != (word >> 25 & 15))
		i++;
	return &t->rule[i];
}

/* What is signed has to be, which random numbers are not. */
static bool checks_signature(const struct a64_rule *rule)
{
	return rule->translate == a64_strip || rule->translate == a64_strip_register ||
	       rule->translate == a64_br_signed || rule->translate == a64_blr_signed;
}

/* Not what waits, what signs, nor what would change the test itself. */
static bool may_execute(uint32_t word)
{
	const struct a64_rule *rule = a64_rule_of(word);

	return rule && rule->translate != a64_set_thread && !checks_signature(rule) &&
	       (word & 0xfff00000) != 0xd5100000 && (word & ~0x360u) != 0xd503201f;
}

/* Returns whether windows go on behind it. */
static bool translate(struct subject *t)
{
	const uint16_t wanted = AT;
	size_t nr;

	memcpy(t->code + AT, &t->word, 4);
	__builtin___clear_cache((char *)t->code + AT, (char *)t->code + AT + 4);
	nr = translator_page(t->translator, t->code, AT + 4, &wanted, 1, &t->page);
	if (translate_check_page(&t->page, (uint32_t)nr))
		disagree(t, "check", 0, 0, 1);
	return t->page.uop[t->page.index[AT] - 1].op != CPI_UOP_STOP;
}

static void interpret(struct subject *t)
{
	int steps = 64;

	show_state(t);
	if (!cpi_window_start(&t->w, t, t->before.pc))
		while (steps-- && !cpi_window_step(&t->w, t)) {}
	if (steps < 0)
		disagree(t, "micro-ops", 0, 64, 65);
}

/* A target's upper byte is not part of the address. */
static bool is_next(const struct subject *t)
{
	return !((t->now.pc ^ t->w.window.next) << 8);
}

static void try_one(struct subject *t)
{
	struct rule_count *count;

	t->word = make_word(t);
	if (!translate(t) || !may_execute(t->word))
		return;
	make_state(t);
	interpret(t);
	if (t->w.window.end != CPI_WINDOW_NO_CODE)
		return;
	memcpy(t->was, t->memory, MEMORY);
	t->now = t->before;
	execute(&t->now);
	if (t->now.pc == t->before.pc)
		return; /* what the machine has not got, or faults, or jumps to itself
			 */
	if (!is_next(t))
		disagree(t, "next", 0, t->now.pc, t->w.window.next);
	count = count_of(t, t->word);
	count->nr_exact += compare_registers(t);
	compare_memory(t);
	count->nr_compared++;
	t->nr_compared++;
}

static void *map(size_t size, int protection)
{
	return mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		    -1, 0);
}

/* Nothing is mapped where a direct jump may lead. */
static bool map_all(struct subject *t)
{
	uint8_t *around = map(2 * REACH, PROT_NONE);
	const uint32_t brk = BRK;

	t->memory = map(MEMORY, PROT_READ | PROT_WRITE);
	t->was = malloc(MEMORY);
	if (around == MAP_FAILED || t->memory == MAP_FAILED || !t->was)
		return false;
	t->code = around + REACH;
	if (mprotect(t->code, CPI_CODE_PAGE, PROT_READ | PROT_WRITE | PROT_EXEC))
		return false;
	for (unsigned int i = 0; i < CPI_CODE_PAGE; i += 4)
		memcpy(t->code + i, &brk, 4);
	return true;
}

static int report(const struct subject *t)
{
	unsigned int never = 0, loose = 0;

	for (unsigned int i = 0; i < t->nr_rules; i++) {
		const struct rule_count *c = &t->rule[i];

		if (c->rule->translate == a64_stop || !may_execute(c->rule->value))
			continue;
		if (getenv("VERBOSE") || !c->nr_compared)
			printf("# %08x %08x group %u: %lu compared, %lu exact\n",
			       c->rule->mask, c->rule->value, c->group, c->nr_compared,
			       c->nr_exact);
		never += !c->nr_compared;
		loose += !c->nr_exact;
	}
	printf("compared %llu rules %u never %u loose %u seed %#llx\n",
	       (unsigned long long)t->nr_compared, t->nr_rules, never, loose,
	       (unsigned long long)t->seed);
	return 0;
}

int main(int argc, char **argv)
{
	struct subject *t = calloc(1, sizeof(*t));
	const char *seed = getenv("SEED");
	unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;

	if (!t || translator_open(EM_AARCH64, &t->translator) || !map_all(t))
		return 2;
	t->seed = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 2654435761u;
	t->random = t->seed * 2 + 1;
	handle_signals();
	find_rules(t);
	while (nr--)
		try_one(t);
	return report(t);
}
