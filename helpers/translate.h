/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - the parts of cpi-translate
 *
 * translate_main.c starts workers. translate_work.c answers the messages of a worker.
 */
#ifndef CPI_HELPERS_TRANSLATE_H
#define CPI_HELPERS_TRANSLATE_H

#include <stddef.h>

/*
 * A server_take_fn: translates the page in a struct cpi_translate_request. worker is a
 * struct translator. The answer is valid until the next call.
 */
int translate_take(void *worker, const void *message, size_t size, const void **answer,
		   size_t *answer_size);

#endif
