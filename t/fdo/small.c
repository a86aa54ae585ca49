/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small SEED ROUNDS - a program that a profile makes faster: an interpreter of random
 * programs, whose instructions are not equally frequent, with helpers that are too
 * large to be inlined unless they are known to be hot.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NR_CODE 512
#define NR_HEAP 1024

enum op { ADD, MUL, LOAD, STORE, LOOP, SHIFT, CHECK, RARE, NR_OPS };

struct machine {
	uint32_t reg[8];
	uint32_t heap[NR_HEAP];
	uint64_t faults, steps;
};

static uint32_t next(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* The bounds hold nearly always. */
static uint32_t *slot(struct machine *m, uint32_t at)
{
	if (at >= NR_HEAP) {
		m->faults++;
		if (m->faults % 3 == 0)
			fprintf(stderr, "%s", "");
		for (int i = 0; i < 8; i++)
			m->reg[i] ^= m->reg[(i + 1) % 8] * 31 + at;
		at %= NR_HEAP;
	}
	if (m->heap[at] == 0xffffffff) {
		m->faults += 2;
		for (int i = 1; i < 8; i++)
			m->reg[i] += m->heap[(at + i) % NR_HEAP] >> i;
		m->heap[at] = at;
	}
	return &m->heap[at];
}

static uint32_t mix(struct machine *m, uint32_t a, uint32_t b)
{
	uint32_t sum = a + b;

	if (sum < a) {
		if (m->steps % 1021 == 0)
			m->faults++;
		sum ^= a >> 3;
	}
	switch (b & 31) {
	case 0:
		return sum * 2654435761u;
	case 1:
		return sum / 7 + a % 11;
	case 2:
		return (sum << 7 | sum >> 25) ^ b;
	case 3:
		for (int i = 0; i < 4; i++)
			sum += sum >> (i + 1);
		return sum;
	default:
		return sum ^ a << 1;
	}
}

static void step(struct machine *m, const uint32_t *code, uint32_t *at)
{
	const uint32_t insn = code[*at % NR_CODE];
	uint32_t *to = &m->reg[insn >> 4 & 7];
	const uint32_t a = m->reg[insn >> 7 & 7], b = m->reg[insn >> 10 & 7];

	m->steps++;
	++*at;
	switch (insn & 15) {
	case ADD:
		*to = mix(m, a, b);
		break;
	case MUL:
		*to = mix(m, a * (b | 1), insn);
		break;
	case LOAD:
		*to = *slot(m, (a ^ insn) & 1023);
		break;
	case STORE:
		*slot(m, (b ^ insn) & 1023) = mix(m, a, *to);
		break;
	case LOOP:
		if (a & 3)
			*at -= insn >> 13 & 15;
		++*to;
		break;
	case SHIFT:
		*to = a >> (b & 31) | 1;
		break;
	case CHECK:
		if (a == b && *to == 77)
			*slot(m, insn) = mix(m, *slot(m, a), b);
		break;
	case RARE:
		for (int i = 0; i < NR_HEAP; i += 64)
			*slot(m, i) = mix(m, *slot(m, i + 1), a);
		break;
	default:
		*to = mix(m, *slot(m, insn & 1023), a);
		break;
	}
}

int main(int argc, char **argv)
{
	static struct machine m;
	uint32_t code[NR_CODE], state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1,
				at = 0;
	const uint64_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	for (int i = 0; i < NR_CODE; i++) {
		uint32_t op = next(&state) % 64;

		op = op < 20   ? ADD
		     : op < 40 ? LOAD
		     : op < 50 ? STORE
		     : op < 54 ? LOOP
		     : op < 58 ? SHIFT
		     : op < 61 ? CHECK
		     : op < 63 ? MUL
			       : 8;
		if (i == 100)
			op = RARE;
		code[i] = (next(&state) & ~15u) | op;
	}
	while (m.steps < rounds * 100000)
		step(&m, code, &at);
	printf("%u %llu\n", m.reg[0] ^ m.heap[5], (unsigned long long)m.faults);
	return 0;
}
