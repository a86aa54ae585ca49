/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_machine.h - what a translator needs of a machine
 *
 * Private to analysis/translate/translate*.c.
 */
#ifndef CPI_ANALYSIS_TRANSLATE_MACHINE_H
#define CPI_ANALYSIS_TRANSLATE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/translate/translate.h"

/* The micro-ops of one instruction; a vector of 64 bytes takes two per lane. */
#define TRANSLATED_MOST CPI_FORM_UOPS

struct translated {
	struct cpi_uop uop[TRANSLATED_MOST];
	unsigned int nr;
	unsigned int length; /* bytes, 1 to CPI_CODE_MORE */
	bool ends;           /* control never goes on behind it, unless it is a call */
};

struct translate_machine {
	unsigned int machine; /* EM_… */
	size_t state_size;    /* of the decoder */
	bool has_leads;       /* lead-ins are made for it */
	bool has_forms;       /* likewise, forms */
	void (*init)(void *state);
	/*
	 * Translates the instruction at code, which has size bytes, at least 1. Bytes
	 * that are no instruction, or a cut one, become a STOP. A direct jump has its
	 * target in disp only.
	 */
	void (*instruction)(const void *state, const uint8_t *code, size_t size,
			    struct translated *out);
};

/*
 * Appends a micro-op of 1 << size bytes that reads and writes nothing yet. If there are
 * TRANSLATED_MOST already, it replaces the last one and sets *failed.
 */
struct cpi_uop *translated_add(struct translated *out, unsigned int op,
			       unsigned int size, bool *failed);
/*
 * Set a micro-op's source (a constant, or a size other than the op's) and its address.
 */
void uop_src_imm(struct cpi_uop *u, int32_t value);
void uop_src_size(struct cpi_uop *u, unsigned int size);
void uop_base(struct cpi_uop *u, unsigned int reg);
void uop_index(struct cpi_uop *u, unsigned int reg, unsigned int scale);

/*
 * Appends the lead-ins of a page's nr micro-ops, whose jumps are linked
 * (translate_lead.c). Returns the new number.
 */
size_t translated_leads(const struct translate_machine *m, const void *state,
			const uint8_t *code, size_t size, struct cpi_code_page *page,
			size_t nr);

/* translator_form() of a machine (translate_form.c). */
int translated_form(const struct translate_machine *m, const void *state,
		    const uint8_t code[CPI_FORM_BYTES], struct translator_form *out);

extern const struct translate_machine translate_x86_64, translate_aarch64;

#endif
