/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpages.h - which code is translated, and where
 *
 * The code of an image has an entry per page, in the array that the program sees; a
 * page that was missed by a window is translated, and gets a slot. Where there is no
 * slot left, those go that nobody used since the last time.
 *
 * I1  As abi/window_bpf.h, I2: between windowpages_take_slots(), which takes slots
 * away, and the next windowpages_give_slots(), which gives them to others, everything
 * is taken in that was recorded in between.
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
	const struct windowsource *source; /* the first entry and slot are nobody's */
	struct codecache *codecache;
	struct jit *jit; /* NULL: nobody is asked for code that he made */
	struct translate_child *translator;
};

struct windowpages;

int windowpages_new(const struct windowpages_config *cfg, struct windowpages **out);
void windowpages_free(struct windowpages *wp); /* accepts NULL */

/*
 * The entry of the first page of an image's code, from offset on; the others follow.
 * Who wants it pays for it if it is new. 0; -CPI_ELIMIT when there are no entries left,
 * or none for who wants it (windowunits.h): see windowpages_is_full(); or -ENOMEM.
 */
int windowpages_get(struct windowpages *wp, const struct windowpages_owner *who,
		    struct known_image *image, uint64_t offset, uint64_t size,
		    uint32_t *first);

/* How many pages of the same are translated. */
uint32_t windowpages_nr_live(const struct windowpages *wp,
			     const struct known_image *image, uint64_t offset,
			     uint64_t size);

/*
 * The same of code that a process has made (daemon/jit/jit.h). What the owner has got,
 * and gets not again between begin and end, is given back.
 */
void windowpages_begin_private(struct windowpages *wp,
			       const struct windowpages_owner *owner);
int windowpages_get_private(struct windowpages *wp,
			    const struct windowpages_owner *owner, uint64_t address,
			    uint64_t size, uint32_t *first);
void windowpages_end_private(struct windowpages *wp,
			     const struct windowpages_owner *owner);

/*
 * An entry that can be given other code than it had, and its owner's number; or 0. It
 * is given by windowpages_publish() amid a change of the owner (abi/window_bpf.h, I3).
 */
uint32_t windowpages_next_ready(const struct windowpages *wp, uint32_t *number);
void windowpages_publish(struct windowpages *wp, uint32_t entry);

/* Whether code at pc at a moment is what a private entry was made of. */
bool windowpages_was_made_of(struct windowpages *wp, uint32_t entry, uint64_t pc,
			     uint64_t when_ns);

/*
 * Whether there was no room, and all may be forgotten, so that what is not used any
 * more goes: at most every ten minutes. Then nobody may have entries.
 */
bool windowpages_is_full(const struct windowpages *wp);
int windowpages_forget(struct windowpages *wp);

/*
 * A window wanted to go on at an offset of a page that is not translated there. Whether
 * that can be learnt.
 */
bool windowpages_miss(struct windowpages *wp, uint32_t entry, uint32_t offset);

/* A sample was of an image at an offset: windows will come there, if they are made. */
void windowpages_sampled(struct windowpages *wp, const struct known_image *image,
			 uint64_t offset);

/* Has translated what leads on from where windows have come to. */
void windowpages_look_ahead(struct windowpages *wp);

/*
 * An entry's page as it is translated, or was when what is being taken in was recorded;
 * NULL: it is not.
 */
const struct cpi_code_page *windowpages_code(const struct windowpages *wp,
					     uint32_t entry);

/* Asks for what is wanted and takes in what came. Whether there is more to come. */
bool windowpages_run(struct windowpages *wp);

/* I1. 0 or -errno: then nothing may be given away. */
int windowpages_take_slots(struct windowpages *wp);
void windowpages_give_slots(struct windowpages *wp);

void windowpages_mark_images(const struct windowpages *wp);
void windowpages_status(const struct windowpages *wp, struct buf *out);

#endif
