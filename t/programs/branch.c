/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * branch MS - conditional jumps of known direction, for MS of CPU time
 *
 * In each round branch_taken is taken, branch_not_taken is not, and
 * branch_some is taken in seven rounds of eight. The symbols are at the jumps, but
 * branch_pair is at a compare; the jump behind it is taken in three rounds of four.
 */
#include <stdlib.h>
#include <time.h>

#define BURST 1000000

#ifdef __x86_64__

void branch_rounds(unsigned long rounds);

/*
 * Between each compare and its jump stands a chain of loads from a pointer to
 * itself: samples land on what waits behind them, and compare and jump are not
 * fused into one instruction that cannot be interrupted. Of branch_pair they may be.
 */
__asm__(".text\n"
	".globl branch_rounds, branch_taken, branch_not_taken, branch_some, "
	"branch_pair\n"
	".type branch_rounds, @function\n"
	"branch_rounds:\n"
	"	lea -8(%rsp), %rsi\n"
	"	mov %rsi, (%rsi)\n"
	"0:	cmp %rsi, %rsi\n"
	"	mov (%rsi), %rsi\n"
	"	mov (%rsi), %rsi\n"
	".type branch_taken, @function\n"
	"branch_taken:\n"
	"	je 1f\n"
	"	ud2\n"
	"1:	cmp %rsp, %rsi\n"
	"	mov (%rsi), %rsi\n"
	"	mov (%rsi), %rsi\n"
	".type branch_not_taken, @function\n"
	"branch_not_taken:\n"
	"	je 3f\n"
	"	test $7, %dil\n"
	"	mov (%rsi), %rsi\n"
	"	mov (%rsi), %rsi\n"
	".type branch_some, @function\n"
	"branch_some:\n"
	"	jne 2f\n"
	"	nop\n"
	"2:	mov (%rsi), %rsi\n"
	"	mov (%rsi), %rsi\n"
	".type branch_pair, @function\n"
	"branch_pair:\n"
	"	test $3, %dil\n"
	"	jne 4f\n"
	"	nop\n"
	"4:	sub $1, %rdi\n"
	"	jnz 0b\n"
	"	ret\n"
	"3:	ud2\n"
	".size branch_rounds, . - branch_rounds\n"
	".section .note.GNU-stack, \"\", @progbits\n"
	".text\n");

#elif defined(__aarch64__)

void branch_rounds(unsigned long rounds);

/* The same, with what jumps on registers: their outcome needs no flags. */
__asm__(".text\n"
	".globl branch_rounds, branch_taken, branch_not_taken, branch_some, "
	"branch_pair\n"
	".type branch_rounds, %function\n"
	"branch_rounds:\n"
	"	sub sp, sp, 16\n"
	"	mov x1, sp\n"
	"	str x1, [x1]\n"
	"0:	and x2, x0, 7\n"
	"	ldr x1, [x1]\n"
	"	ldr x1, [x1]\n"
	".type branch_taken, %function\n"
	"branch_taken:\n"
	"	cbnz x1, 1f\n"
	"	brk 0\n"
	"1:	ldr x1, [x1]\n"
	"	ldr x1, [x1]\n"
	".type branch_not_taken, %function\n"
	"branch_not_taken:\n"
	"	tbnz x1, 0, 3f\n"
	"	ldr x1, [x1]\n"
	"	ldr x1, [x1]\n"
	".type branch_some, %function\n"
	"branch_some:\n"
	"	cbnz x2, 2f\n"
	"	nop\n"
	"2:	ldr x1, [x1]\n"
	"	ldr x1, [x1]\n"
	".type branch_pair, %function\n"
	"branch_pair:\n"
	"	tst x0, 3\n"
	"	b.ne 4f\n"
	"	nop\n"
	"4:	sub x0, x0, 1\n"
	"	cbnz x0, 0b\n"
	"	add sp, sp, 16\n"
	"	ret\n"
	"3:	brk 0\n"
	".size branch_rounds, . - branch_rounds\n"
	".section .note.GNU-stack, \"\", %progbits\n"
	".text\n");

#else

static void branch_rounds(unsigned long rounds)
{
	exit(77); /* written for x86-64 and AArch64 */
}

#endif

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	const double end = cpu_ms() + (argc > 1 ? atof(argv[1]) : 0);

	while (cpu_ms() < end)
		branch_rounds(BURST);
	return 0;
}
