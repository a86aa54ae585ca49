/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * translate.h - requests to cpi-translate and its replies
 *
 * The socket preserves message boundaries. A request is a page of code, or some
 * instructions of CPI_FORM_BYTES each; its reply is the translated page, or the forms
 * of these instructions (abi/form.h). Both programs are of one build; still, each reply
 * is checked before it is used (daemon/windows/translate_check.c).
 */
#ifndef CPI_ABI_TRANSLATE_H
#define CPI_ABI_TRANSLATE_H

#include "abi/form.h"
#include "abi/uop.h"

#define CPI_TRANSLATE_MAGIC   0x34786475 /* "udx4" */
#define CPI_TRANSLATE_ENTRIES 8
#define CPI_TRANSLATE_FORMS   256

struct cpi_translate_request {
	uint32_t magic;
	uint32_t cookie; /* copied to the reply */
	uint32_t size;   /* bytes of code: up to a page, and CPI_CODE_MORE after it */
	uint32_t nr_entries;
	uint32_t reach;    /* how many instructions to translate from an entry on;
			      UINT32_MAX: the whole page */
	uint32_t nr_forms; /* instructions; 0: code is of a page */
	uint64_t starts[CPI_CODE_LINES]; /* bits: translate at these offsets, too */
	uint16_t entry[CPI_TRANSLATE_ENTRIES]; /* offsets at which an instruction surely
						  begins */
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE + 1];
};

/* The form of one instruction: micro-ops from first on. */
struct cpi_translate_form {
	uint64_t key[2]; /* 0: the instruction has none */
	uint16_t first;
	uint8_t nr;
	uint8_t how;
	uint32_t unused;
};

struct cpi_translate_forms {
	struct cpi_translate_form form[CPI_TRANSLATE_FORMS];
	struct cpi_uop uop[CPI_UOPS_PER_PAGE];
};

/* Only the first nr_uops of page.uop or forms.uop are sent. */
struct cpi_translate_reply {
	uint32_t magic;
	uint32_t cookie;
	int32_t err; /* 0, or a negative error; then nothing else is valid */
	uint32_t nr_uops;
	uint32_t nr_forms; /* 0: of a page; else the first ones that were asked for */
	uint32_t cpu_us;   /* CPU time that this took, as the worker says */
	union {
		struct cpi_code_page page;
		struct cpi_translate_forms forms;
	};
};

#endif
