/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpages.h - translated pages of code, and the memory that they take
 *
 * Each page of an image's code has an entry in the array that the program sees. A page
 * that a window lacked is translated and packed. If there is no room, the pages that
 * windows use least are evicted.
 *
 * I1  As I2 of abi/window_bpf.h: windowpages_take_room() evicts, and the next
 *     windowpages_give_room() gives the memory to others. Between these calls all
 *     records of that time are read.
 */
#ifndef CPI_DAEMON_WINDOWPAGES_H
#define CPI_DAEMON_WINDOWPAGES_H

#include "abi/window_bpf.h"
#include "base/buf.h"
#include "daemon/jit/jit.h"
#include "daemon/procmap/codecache.h"
#include "daemon/procmap/images.h"
#include "daemon/windows/translate_child.h"
#include "daemon/windows/windowsource.h"
#include "daemon/windows/windowunits.h"

struct windowpages_config {
	const struct windowsource *source; /* its first entry and cell are not used */
	struct codecache *codecache;
	struct jit *jit; /* NULL: code made at run time is not translated */
	struct translate_child *translator;
};

struct windowpages;

int windowpages_new(const struct windowpages_config *cfg, struct windowpages **out);
void windowpages_free(struct windowpages *wp); /* accepts NULL */

/*
 * The entry of the first page of an image's code, from offset on; the others follow. A
 * new entry is charged to who. 0; -CPI_ELIMIT if there are no entries left, or none for
 * who (windowunits.h): see windowpages_is_full(); or -ENOMEM.
 */
int windowpages_get(struct windowpages *wp, const struct windowpages_owner *who,
		    struct known_image *image, uint64_t offset, uint64_t size,
		    uint32_t *first);

/* The number of translated pages of that code. */
uint32_t windowpages_nr_live(const struct windowpages *wp,
			     const struct known_image *image, uint64_t offset,
			     uint64_t size);

/*
 * The same for code that a process has made (daemon/jit/jit.h). Entries that the owner
 * does not request again between begin and end are given back.
 */
void windowpages_begin_private(struct windowpages *wp,
			       const struct windowpages_owner *owner);
int windowpages_get_private(struct windowpages *wp,
			    const struct windowpages_owner *owner, uint64_t address,
			    uint64_t size, uint32_t *first);
void windowpages_end_private(struct windowpages *wp,
			     const struct windowpages_owner *owner);

/*
 * An entry whose new code is ready, and its owner's number; or 0. windowpages_publish()
 * installs the code, during a change of the owner (abi/window_bpf.h, I3).
 */
uint32_t windowpages_next_ready(const struct windowpages *wp, uint32_t *number);
void windowpages_publish(struct windowpages *wp, uint32_t entry);

/*
 * Whether the code at pc at a moment is the code from which a private entry was made.
 */
bool windowpages_was_made_of(struct windowpages *wp, uint32_t entry, uint64_t pc,
			     uint64_t when_ns);

/* Whether pages can be translated without evicting others. */
bool windowpages_has_room(const struct windowpages *wp);

/*
 * Whether there was no room, and all entries may be dropped to get rid of unused ones:
 * at most every ten minutes. Then no process may have entries.
 */
bool windowpages_is_full(const struct windowpages *wp);
int windowpages_forget(struct windowpages *wp);

/*
 * Notes that a window needed code that is not translated, at an offset of a page.
 * Returns whether it can be translated.
 */
bool windowpages_miss(struct windowpages *wp, uint32_t entry, uint32_t offset);

/* Notes that a window executed the instructions of an entry's page between offsets. */
void windowpages_passed(struct windowpages *wp, uint32_t entry, uint32_t from,
			uint32_t to);

/* Notes a sample at an offset of an image, where windows will come as well. */
void windowpages_sampled(struct windowpages *wp, const struct known_image *image,
			 uint64_t offset);

/* Requests translations of the pages to which known pages lead. */
void windowpages_look_ahead(struct windowpages *wp);

/*
 * The packed page of an entry, now or when the records that are being read were made;
 * NULL if there is none.
 */
const union cpi_code_cell *windowpages_code(const struct windowpages *wp,
					    uint32_t entry);

/* Sends requests and takes answers. Returns whether more answers will come. */
bool windowpages_run(struct windowpages *wp);

/* See I1. 0; or -errno, and no memory may be given to others. */
int windowpages_take_room(struct windowpages *wp);
void windowpages_give_room(struct windowpages *wp);

void windowpages_mark_images(const struct windowpages *wp);
void windowpages_status(const struct windowpages *wp, struct buf *out);

#endif
