/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landing_kernels KERNEL MS - a loop in which one instruction takes the time, for MS of
 * CPU time
 *
 * Of kernel NAME, symbols NAME_cause and NAME_end enclose the instructions that the
 * loop waits for; what else it does is done meanwhile. Without arguments, the names.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES (1u << 20) /* of 64 bytes: more than caches hold, and the TLB knows */

struct line {
	struct line *next;
	uint64_t number;
	uint64_t padding[6];
};

/* Each returns after so many rounds; line is any of a cycle of all. */
typedef struct line *kernel_fn(uint64_t rounds, struct line *line);

#if defined(__x86_64__)

/* rdi: rounds, rsi: line; rsi is returned. */
#define KERNEL(name, text)                                                      \
	__asm__(".text\n.globl " #name ", " #name "_cause, " #name "_end\n"     \
		".type " #name ", @function\n.p2align 6\n" #name ":\n\t" text   \
		"\n\tmov %rsi, %rax\n\tret\n.size " #name ", . - " #name "\n"); \
	kernel_fn name

#define AGAIN     "\n\tsub $1, %rdi\n\tjnz 0b"
#define CAUSE(of) "\n" #of "_cause:\n\t"
#define END(of)   "\n" #of "_end:\n\t"
#define FILL      "add $1, %r8\n\tadd $1, %r9\n\tadd $1, %r10\n\tadd $1, %r11\n\t"

KERNEL(divide, "mov $3, %ecx\n0:\tmov $-1, %rax\n\txor %edx, %edx" CAUSE(
		       divide) "div %rcx" END(divide) FILL FILL AGAIN);
KERNEL(miss, "0:\t" FILL CAUSE(miss) "mov (%rsi), %rsi" END(miss) FILL FILL AGAIN);
KERNEL(chain,
       "mov $3, %eax\n0:\t" CAUSE(
	       chain) "imul %rax, %rax\n\timul %rax, %rax\n\timul %rax, %rax" END(chain)
	       FILL FILL AGAIN);
/* Bits of a multiplicative generator; which way is known late, and to nobody before. */
KERNEL(mispredict,
       "mov $88172645463325252, %rax\n\tmov $6364136223846793005, %rcx\n"
       "0:\timul %rcx, %rax\n\tadd $12345, %rax\n\tmov %rax, %rdx\n\tshr $60, "
       "%rdx" CAUSE(mispredict) "test $1, %dl\n\tjnz 1f" END(mispredict) FILL
       "1:\t" FILL AGAIN);
/* Nothing can land between the two behind the miss. */
KERNEL(fused, "mov $-1, %rcx\n0:" CAUSE(fused) "mov (%rsi), %rsi" END(
		      fused) "cmp %rcx, %rsi\n\tje 1f\n\t" FILL FILL AGAIN "\n1:");
/* The miss is a block's last but the jump, and the block behind has another way in. */
KERNEL(head, "0:\ttest $1, %dil\n\tjnz 1f\n\t" FILL "jmp 2f\n1:\t" FILL "jmp 2f\n"
	     "\t.p2align 4\n2:\t" FILL CAUSE(head) "mov (%rsi), %rsi" END(
		     head) "jmp 3f\n\t.p2align 4\n3:\t" FILL FILL AGAIN);
/* The miss is right before a call, and right before a return. */
KERNEL(call, "jmp 0f\n1:\t" FILL "ret\n0:\t" FILL CAUSE(call) "mov (%rsi), %rsi" END(
		     call) "call 1b\n\t" FILL AGAIN);
KERNEL(ret, "jmp 0f\n1:\t" FILL CAUSE(ret) "mov (%rsi), %rsi" END(
		    ret) "ret\n0:\tcall 1b\n\t" FILL AGAIN);

#elif defined(__aarch64__)

/* x0: rounds, x1: line; x1 is returned. */
#define KERNEL(name, text)                                                    \
	__asm__(".text\n.globl " #name ", " #name "_cause, " #name "_end\n"   \
		".type " #name ", @function\n.p2align 6\n" #name ":\n\t" text \
		"\n\tmov x0, x1\n\tret\n.size " #name ", . - " #name "\n");   \
	kernel_fn name

#define AGAIN     "\n\tsubs x0, x0, #1\n\tb.ne 0b"
#define CAUSE(of) "\n" #of "_cause:\n\t"
#define END(of)   "\n" #of "_end:\n\t"
#define FILL      "add x8, x8, #1\n\tadd x9, x9, #1\n\tadd x10, x10, #1\n\t"

KERNEL(divide, "mov x3, #3\n0:\tmov x2, #-1" CAUSE(divide) "udiv x2, x2, x3" END(divide)
		       FILL FILL AGAIN);
KERNEL(miss, "0:\t" FILL CAUSE(miss) "ldr x1, [x1]" END(miss) FILL FILL AGAIN);
KERNEL(chain,
       "mov x2, #3\n0:\t" CAUSE(
	       chain) "mul x2, x2, x2\n\tmul x2, x2, x2\n\tmul x2, x2, x2" END(chain)
	       FILL FILL AGAIN);
KERNEL(mispredict, "mov x2, #12345\n\tmovz x3, #0x4c95, lsl #48\n\tmovk x3, #0x7f2d\n"
		   "0:\tmul x2, x2, x3\n\tadd x2, x2, #1027\n\tlsr x4, x2, #60" CAUSE(
			   mispredict) "tst x4, #1\n\tb.ne 1f" END(mispredict) FILL
       "1:\t" FILL AGAIN);
KERNEL(fused, "0:" CAUSE(fused) "ldr x1, [x1]" END(
		      fused) "cmn x1, #1\n\tb.eq 1f\n\t" FILL FILL AGAIN "\n1:");
KERNEL(head, "0:\ttbnz x0, #0, 1f\n\t" FILL "b 2f\n1:\t" FILL "b 2f\n2:\t" FILL CAUSE(
		     head) "ldr x1, [x1]" END(head) "b 3f\n3:\t" FILL FILL AGAIN);
KERNEL(call,
       "mov x7, x30\n\tb 0f\n1:\t" FILL
       "ret\n0:\t" FILL CAUSE(call) "ldr x1, [x1]" END(call) "bl 1b\n\t" FILL AGAIN
							     "\n\tmov x30, x7");
KERNEL(ret, "mov x7, x30\n\tb 0f\n1:\t" FILL CAUSE(ret) "ldr x1, [x1]" END(
		    ret) "ret\n0:\tbl 1b\n\t" FILL AGAIN "\n\tmov x30, x7");

#else
#error "no kernels for this machine"
#endif

static const struct {
	const char *name;
	kernel_fn *run;
} kernels[] = {
	{ "divide", divide }, { "miss", miss },
	{ "chain", chain },   { "mispredict", mispredict },
	{ "fused", fused },   { "head", head },
	{ "call", call },     { "ret", ret },
};

/* A cycle through all lines in an order that no prefetcher guesses (Sattolo). */
static struct line *make_lines(void)
{
	struct line *lines = aligned_alloc(64, LINES * sizeof(*lines));
	uint64_t state = 42;

	if (!lines)
		return NULL;
	for (uint32_t i = 0; i < LINES; i++)
		lines[i] = (struct line){ .next = &lines[i], .number = i };
	for (uint32_t i = LINES - 1; i > 0; i--) {
		struct line *next = lines[i].next;
		uint32_t k;

		state = state * 6364136223846793005ULL + 1442695040888963407ULL;
		k = (state >> 33) % i;
		lines[i].next = lines[k].next;
		lines[k].next = next;
	}
	return lines;
}

static double cpu_ms(void)
{
	return (double)clock() * 1e3 / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
	struct line *line;
	double end;

	for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++) {
		if (argc < 3) {
			puts(kernels[i].name);
			continue;
		}
		if (strcmp(argv[1], kernels[i].name))
			continue;
		line = make_lines();
		if (!line)
			return EXIT_FAILURE;
		for (end = cpu_ms() + atof(argv[2]); cpu_ms() < end;)
			line = kernels[i].run(100000, line);
		return line ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	return argc < 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
