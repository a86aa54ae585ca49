/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_form.c - the micro-ops of a form, and what an instruction fills in
 *
 * Which fields of the micro-ops depend on the displacement and the constant, and how,
 * is not written down anywhere: it is found out. The form is translated with many
 * displacements and constants, and each field must be the same in all of these, or
 * follow one of the rules of enum cpi_form_fill. If it does not, the form is refused,
 * or made with this one constant. So the rules of translation stay in one place.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "analysis/translate/translate_machine.h"

#define MAX_TRIES 17

/* The first one is the instruction itself. */
static const uint64_t numbers[MAX_TRIES - 1] = {
	0,
	1,
	2,
	4,
	8,
	0x10,
	0x20,
	0x40,
	0x80,
	~0ULL,
	0x1f,
	0x3f,
	0x7f,
	0x123456789abcdef0,
	0x55aa33cc55aa33ccULL,
	0x6fedcba987654321,
};

/* A translation with other numbers. */
struct trial {
	struct cpi_form_parts parts;
	struct translated one;
};

struct forming {
	const struct translate_machine *m;
	const void *state;
	struct trial trial[MAX_TRIES];
	unsigned int nr; /* trials */
	bool keeps_imm;
};

static void load(const uint8_t *code, uint64_t *low, uint64_t *high)
{
	memcpy(low, code, sizeof(*low));
	memcpy(high, code + sizeof(*low), sizeof(*high));
}

/* Whether the decoder finds an instruction of the length that was split. */
static bool try_code(struct forming *f, const uint8_t code[CPI_FORM_BYTES])
{
	struct trial *t = &f->trial[f->nr++];
	uint64_t low, high;

	load(code, &low, &high);
	if (!cpi_form_split(&t->parts, low, high))
		return false;
	f->m->instruction(f->state, code, CPI_FORM_BYTES, &t->one);
	return t->one.length == t->parts.length && t->one.nr == f->trial[0].one.nr;
}

/* The i-th trial: other numbers than the instruction's. */
static bool try_numbers(struct forming *f, const uint8_t *code, unsigned int i)
{
	const struct cpi_form_parts *p = &f->trial[0].parts;
	uint8_t changed[CPI_FORM_BYTES];

	memcpy(changed, code, sizeof(changed));
	memcpy(changed + p->nr_head, &numbers[(7 * i + 3) % (MAX_TRIES - 1)],
	       p->nr_disp);
	if (!f->keeps_imm)
		memcpy(changed + p->nr_head + p->nr_disp, &numbers[i], p->nr_imm);
	return try_code(f, changed);
}

/* Whether the instruction has the same length and number of micro-ops in all trials. */
static bool try_all(struct forming *f, const uint8_t *code)
{
	const struct cpi_form_parts *p = &f->trial[0].parts;
	bool good;

	f->nr = 0;
	good = try_code(f, code);
	if (!p->nr_disp && (!p->nr_imm || f->keeps_imm))
		return good;
	for (unsigned int i = 0; i < MAX_TRIES - 1 && good; i++)
		good = try_numbers(f, code, i);
	return good;
}

/* The value of a field of a trial's micro-op, minus what a rule adds to it. */
typedef uint32_t rest_fn(const struct trial *t, unsigned int at, unsigned int fill,
			 unsigned int how);

static uint32_t rest_of_disp(const struct trial *t, unsigned int at, unsigned int fill,
			     unsigned int how)
{
	const uint32_t disp = (uint32_t)t->one.uop[at].disp;

	if (fill == CPI_FORM_DISP)
		return disp -
		       (uint32_t)((uint64_t)t->parts.disp << (how & CPI_FORM_SCALE));
	return disp - (fill == CPI_FORM_IMM ? (uint32_t)t->parts.signed_imm : 0);
}

static uint32_t rest_of_imm(const struct trial *t, unsigned int at, unsigned int fill,
			    unsigned int how)
{
	const uint32_t imm = (uint32_t)t->one.uop[at].imm;

	(void)how;
	switch (fill) {
	case CPI_FORM_SIGNED:
		return imm - (uint32_t)t->parts.signed_imm;
	case CPI_FORM_ZERO:
		return imm - (uint32_t)t->parts.imm;
	case CPI_FORM_HIGH:
		return imm - (uint32_t)(t->parts.imm >> 32);
	default:
		return imm;
	}
}

/* What is the same in all trials, apart from the numbers. */
static bool is_alike(const struct cpi_uop *a, const struct cpi_uop *b)
{
	return a->op == b->op && a->dst == b->dst && a->left == b->left &&
	       a->src == b->src && a->address == b->address && a->flags == b->flags;
}

/* The first rule, up to last, by which *rest is the same in all trials, or -1. */
static int find_rule(const struct forming *f, rest_fn *rest_of, unsigned int last,
		     unsigned int at, unsigned int how, int32_t *rest)
{
	for (unsigned int fill = 0; fill <= last; fill++) {
		const uint32_t first = rest_of(&f->trial[0], at, fill, how);
		unsigned int i = 1;

		while (i < f->nr && rest_of(&f->trial[i], at, fill, how) == first)
			i++;
		*rest = (int32_t)first;
		if (i == f->nr)
			return (int)fill;
	}
	return -1;
}

static bool fit_uop(const struct forming *f, unsigned int at, unsigned int how,
		    struct cpi_uop *out)
{
	int disp, imm;

	for (unsigned int i = 1; i < f->nr; i++) {
		if (!is_alike(&f->trial[i].one.uop[at], &f->trial[0].one.uop[at]))
			return false;
	}
	*out = f->trial[0].one.uop[at];
	disp = find_rule(f, rest_of_disp, CPI_FORM_IMM, at, how, &out->disp);
	imm = find_rule(f, rest_of_imm, CPI_FORM_HIGH, at, how, &out->imm);
	if (disp < 0 || imm < 0)
		return false;
	out->flags |= (uint16_t)((disp | imm << 2) << CPI_UOP_LENGTH_SHIFT);
	return true;
}

/* EVEX multiplies displacements of one byte with the size of the operand. */
static bool fit(const struct forming *f, struct translator_form *out)
{
	for (unsigned int how = 0; how <= CPI_FORM_SCALE; how++) {
		unsigned int at = 0;

		while (at < f->trial[0].one.nr && fit_uop(f, at, how, &out->uop[at]))
			at++;
		out->how = (uint8_t)how;
		if (at == f->trial[0].one.nr)
			return true;
	}
	return false;
}

int translated_form(const struct translate_machine *m, const void *state,
		    const uint8_t code[CPI_FORM_BYTES], struct translator_form *out)
{
	struct forming f = { .m = m, .state = state };
	struct cpi_form_parts parts;
	uint64_t low, high;
	bool good;

	load(code, &low, &high);
	if (!cpi_form_split(&parts, low, high))
		return -EINVAL;
	good = try_all(&f, code) && fit(&f, out);
	if (!good && parts.nr_imm == 1 && !parts.is_near) {
		f.keeps_imm = true;
		good = try_all(&f, code) && fit(&f, out);
		cpi_form_add_constant(&parts);
	}
	out->nr = good ? (uint8_t)f.trial[0].one.nr : 0;
	out->how = good ? out->how : 0;
	if (f.keeps_imm)
		out->how |= CPI_FORM_CONSTANT;
	memcpy(out->key, parts.key, sizeof(out->key));
	return 0;
}
