/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowforms.h - the table of forms: micro-ops for code that is not translated
 *
 * Windows look up the form of each instruction of a page that is not translated
 * (abi/form.h). A form that is lacking is requested from cpi-translate, and with it all
 * other new forms of the page, because windows will come there again.
 *
 * I1  Memory is bounded: the table, its micro-ops, and the forms that are requested.
 *     Each form is charged to the user whose process was the first to need it. A user
 *     has at most half of the entries and half of the micro-ops.
 * I2  As for pages (windowpages.h, I1): an evicted form may still be used by windows
 *     that have begun, and by their records. windowforms_take_room() waits for a grace
 *     period, and windowforms_give_room() frees what was evicted before it. Walks find
 *     evicted forms until then.
 */
#ifndef CPI_DAEMON_WINDOWFORMS_H
#define CPI_DAEMON_WINDOWFORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/form.h"
#include "base/buf.h"
#include "daemon/windows/translate_child.h"
#include "daemon/windows/windowsource.h"

struct windowforms;

/* For a source with forms. NULL when out of memory. */
struct windowforms *windowforms_new(const struct windowsource *source,
				    struct translate_child *translator);
void windowforms_free(struct windowforms *wf); /* accepts NULL */

/* Requests the form of an instruction for a user, if it is new. */
void windowforms_want(struct windowforms *wf, uint32_t uid,
		      const uint8_t code[CPI_FORM_BYTES]);

/* Whether a scan can request anything: few forms wait, and the user has room. */
bool windowforms_may_scan(struct windowforms *wf, uint32_t uid);

/*
 * Requests the new forms of all instructions that begin at offset or later, but before
 * end. code must have CPI_FORM_BYTES bytes from each of them on. Returns where it
 * stopped: before end only if too many forms wait, or the user has no room.
 */
size_t windowforms_scan(struct windowforms *wf, uint32_t uid, const uint8_t *code,
			size_t offset, size_t end);

/*
 * The micro-ops of the instruction at the begin of code, filled in. Returns their
 * number, or 0 if the form is gone.
 */
uint32_t windowforms_fill(const struct windowforms *wf,
			  const uint8_t code[CPI_FORM_BYTES],
			  struct cpi_uop out[CPI_FORM_UOPS]);

/* Sends a request, unless one is under way. Returns whether an answer is to come. */
bool windowforms_run(struct windowforms *wf);

/*
 * Takes the answer with this cookie; err as translate_child_take() has it. Returns
 * whether it was an answer for this table.
 */
bool windowforms_answer(struct windowforms *wf, uint32_t cookie, int err,
			const struct cpi_translate_reply *reply);

/* See I2. Returns 0 or -errno; after an error windowforms_give_room() does nothing. */
int windowforms_take_room(struct windowforms *wf);
void windowforms_give_room(struct windowforms *wf);

void windowforms_status(const struct windowforms *wf, struct buf *out);

#endif
