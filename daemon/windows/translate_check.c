/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_check.c - checks that micro-ops are safe for the interpreter
 */
#include "config.h"

#include "daemon/windows/translate_check.h"

#include <stdbool.h>
#include <stddef.h>

#include "abi/window.h"
#include "base/err.h"

static bool is_constant(unsigned int reg)
{
	return reg == CPI_REG_ZERO || reg == CPI_REG_UNKNOWN;
}

/*
 * Whether a micro-op writes to a constant pseudo-register (ZERO or UNKNOWN), as
 * cpi_window_write() does it: some clear others of dst's group of four, too.
 */
static bool writes_constant(const struct cpi_uop *u)
{
	return is_constant(u->dst) ||
	       (u->flags & CPI_UOP_ZERO_UPPER && is_constant(u->dst | 3u)) ||
	       (u->flags & CPI_UOP_ZERO_NEXT && is_constant(u->dst | 1u));
}

static int check_uop(const struct cpi_uop *u, uint32_t nr_uops)
{
	if (u->op >= CPI_NR_UOPS)
		return -CPI_ECORRUPT;
	if (u->op == CPI_UOP_GOTO || cpi_uop_is_direct(u)) {
		if (u->address > nr_uops)
			return -CPI_ECORRUPT;
		if (u->op != CPI_UOP_CALL) /* which writes, too */
			return 0;
	}
	if (u->op == CPI_UOP_LEAD)
		return u->address && u->address <= nr_uops ? 0 : -CPI_ECORRUPT;
	if (u->op == CPI_UOP_STOP)
		return u->imm >= 0 && u->imm < CPI_NR_WINDOW_ENDS ? 0 : -CPI_ECORRUPT;
	return writes_constant(u) && !(u->flags & CPI_UOP_STORE) && u->op != CPI_UOP_NOP
		       ? -CPI_ECORRUPT
		       : 0;
}

/* A form has no place in a page. Its end is not filled in. */
static int check_form_uop(const struct cpi_uop *u)
{
	if (u->op == CPI_UOP_GOTO || u->op == CPI_UOP_LEAD ||
	    (u->op == CPI_UOP_STOP && u->flags >> CPI_UOP_LENGTH_SHIFT))
		return -CPI_ECORRUPT;
	return check_uop(u, 0);
}

int translate_check_forms(const struct cpi_translate_forms *forms, uint32_t nr_forms,
			  uint32_t nr_uops)
{
	int err = 0;

	for (uint32_t i = 0; i < nr_forms; i++) {
		const struct cpi_translate_form *f = &forms->form[i];

		if (f->nr > CPI_FORM_UOPS || f->first + f->nr > nr_uops)
			return -CPI_ECORRUPT;
	}
	for (uint32_t i = 0; !err && i < nr_uops; i++)
		err = check_form_uop(&forms->uop[i]);
	return err;
}

int translate_check_page(const struct cpi_code_page *page, uint32_t nr_uops)
{
	int err = 0;

	for (size_t i = 0; i < CPI_CODE_PAGE; i++) {
		if (page->index[i] > nr_uops)
			return -CPI_ECORRUPT;
	}
	for (uint32_t i = 0; !err && i < nr_uops; i++)
		err = check_uop(&page->uop[i], nr_uops);
	return err;
}
