/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values_operands.c - the operands of a procedure that windows saw, and what to
 * specialise for
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/explain/explainer_private.h"
#include "report/explain/values.h"

static const char *const kind_names[] = {
#define KIND_NAME(name, text) [OPERAND_##name] = text,
	OPERANDS_KINDS(KIND_NAME)
#undef KIND_NAME
};

const char *values_operand_kind(enum operand_kind kind)
{
	return kind_names[kind];
}

/*
 * For each instruction: the share of the procedure's time in stalls that have it as
 * their first culprit. These may be stalls of other instructions.
 */
static double *find_stalls(struct explainer *x, const struct explained *e)
{
	double *share =
		arena_array(&x->arena, (size_t)e->cfg->nr_insns + 1, sizeof(*share));
	double all = 0;

	for (int i = 0; share && i < e->cfg->nr_insns; i++) {
		const struct blame_insn *b = &e->blame->insn[i];

		all += e->blamed[i];
		for (int k = 0; k < b->nr_stalls && b->cycles > 0; k++) {
			const struct culprit *c = b->stall[k].culprit;

			if (c->insn < 0 || c->reason == BLAME_ICACHE ||
			    c->reason == BLAME_ITLB)
				continue;
			share[c->insn] += e->blamed[i] *
					  fmin(b->stall[k].cycles, c->most) / b->cycles;
		}
	}
	for (int i = 0; share && i < e->cfg->nr_insns; i++)
		share[i] = all > 0 ? fmin(share[i] / all, 1) : NAN;
	return share;
}

/* "73 %", or "55 to 80 %" if other executions may have the value, too. */
static void put_share(const struct operand_value *v, struct buf *out)
{
	const long least = lround(100 * v->share.value), most = lround(100 * v->most);

	if (most > least)
		buf_printf(out, "%ld to %ld %%", least, most);
	else
		buf_printf(out, "%ld %%", least);
}

/* "the divisor is 10 in 73 %" */
static void put_value(const char *what, const struct operand_value *v, struct buf *out)
{
	buf_printf(out, "the %s is %" PRId64 " in ", what, v->value);
	put_share(v, out);
	buf_puts(out, ": test for it first");
}

static void put_test(const struct operand_site *s, bool is_repeat, struct buf *out)
{
	const struct operand_value *v = s->nr ? &s->value[0] : NULL;

	switch ((enum operand_kind)s->from->kind) {
	case OPERAND_DIVISOR:
		put_value("divisor", v, out);
		buf_puts(out, ", and divide by the constant");
		break;
	case OPERAND_DIVIDEND:
		buf_puts(out,
			 "most dividends have at most 31 bits: if the divisor does, "
			 "too, divide 32 bits");
		break;
	case OPERAND_SHIFT:
		put_value("shift count", v, out);
		break;
	case OPERAND_SIZE:
		put_value("size", v, out);
		buf_puts(out, is_repeat ? ", and copy without a loop"
					: ", and pass the constant");
		break;
	case OPERAND_LOADED:
		buf_printf(out,
			   "%.0f %% of the loads return what the load before did: keep "
			   "the value in a register",
			   100 * s->same.value);
		break;
	default:
		put_value("factor", v, out);
		break;
	}
}

/* NULL if there is nothing to suggest, or no memory. */
static char *make_hint(const struct operand_site *s, bool is_repeat)
{
	struct buf text = { 0 };
	char *hint;

	if (s->saves < 0.005)
		return NULL;
	put_test(s, is_repeat, &text);
	buf_printf(&text, "; this saves at most %.0f %% of the procedure's time",
		   100 * s->saves);
	hint = strdup(buf_str(&text));
	buf_fini(&text);
	return hint;
}

static int set_operand(struct explainer *x, const struct explanation *ex,
		       const struct operand_site *from, size_t limit,
		       struct values_operand *out)
{
	const bool is_repeat = ex->e->cfg->insn[from->insn].kind & INSN_REPEAT;

	*out = (struct values_operand){
		.from = from,
		.is_repeat = is_repeat,
		.nr = from->nr < limit ? from->nr : limit,
		.text = values_insn_text(x, ex, from->insn),
		.hint = make_hint(from, is_repeat),
	};
	for (size_t i = out->nr; i < from->nr; i++)
		out->others += from->value[i].share.value;
	return out->text ? 0 : -ENOMEM;
}

int values_operands_find(struct explainer *x, const struct explanation *ex,
			 size_t limit, struct values_operand **out, size_t *nr)
{
	const struct operands *set;
	struct operand_sites found;
	uint32_t image;
	int err;

	*out = NULL;
	*nr = 0;
	set = selected_accesses_operands(x->accesses, x->image.id, &image);
	if (!set)
		return 0;
	err = operand_values_find(ex->e->cfg, set, image,
				  ex->e->blame ? find_stalls(x, ex->e) : NULL,
				  &x->arena, &found);
	if (err)
		return err;
	*out = calloc(found.nr + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; !err && i < found.nr; i++)
		err = set_operand(x, ex, &found.site[i], limit, &(*out)[(*nr)++]);
	return err;
}

void values_operands_free(struct values_operand *operand, size_t nr)
{
	for (size_t i = 0; operand && i < nr; i++) {
		free(operand[i].text);
		free(operand[i].hint);
	}
	free(operand);
}
