/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpages.h - translated pages of code, and the memory that they take
 *
 * Each page of an image's code has an entry in the array that the BPF program sees. A
 * page is translated and packed after a window needed it. If there is no room, the
 * pages that windows use least are evicted.
 *
 * I1  Implements I2 of abi/window_bpf.h: windowpages_take_room() evicts pages and waits
 *     for a grace period. After it no new window uses these pages. The caller then
 *     walks all records that may have used them, and calls windowpages_give_room(),
 *     which frees the memory.
 */
#ifndef CPI_DAEMON_WINDOWPAGES_H
#define CPI_DAEMON_WINDOWPAGES_H

#include "abi/window_bpf.h"
#include "base/buf.h"
#include "base/times.h"
#include "daemon/jit/jit.h"
#include "daemon/procmap/codecache.h"
#include "daemon/procmap/images.h"
#include "daemon/windows/translate_child.h"
#include "daemon/windows/windowforms.h"
#include "daemon/windows/windowsource.h"
#include "daemon/windows/windowunits.h"

struct windowpages_config {
	const struct windowsource *source; /* its first entry and cell are not used */
	struct codecache *codecache;
	struct jit *jit; /* NULL: code made at run time is not translated */
	struct translate_child *translator;
	struct windowforms *forms; /* of the same translator, or NULL */
};

struct windowpages;

int windowpages_new(const struct windowpages_config *cfg, struct windowpages **out);
void windowpages_free(struct windowpages *wp); /* accepts NULL */

/*
 * Finds or makes the entries of an image's code from offset on; *first is the
 * entry of its first page, the others follow. New entries count against owner.
 * Returns 0; -CPI_ELIMIT if there are no entries left, or none for owner
 * (windowunits.h): see windowpages_is_full(); or -ENOMEM.
 */
int windowpages_get(struct windowpages *wp, const struct windowpages_owner *owner,
		    struct known_image *image, uint64_t offset, uint64_t size,
		    uint32_t *first);

/* The number of translated pages of that code. */
uint32_t windowpages_nr_live(const struct windowpages *wp,
			     const struct known_image *image, uint64_t offset,
			     uint64_t size);

/*
 * windowpages_get() for code that a process made at run time (daemon/jit/jit.h). Call
 * begin, then get for each mapping, then end. Entries that are not requested in between
 * are freed.
 */
void windowpages_begin_private(struct windowpages *wp,
			       const struct windowpages_owner *owner);
int windowpages_get_private(struct windowpages *wp,
			    const struct windowpages_owner *owner, uint64_t address,
			    uint64_t size, uint32_t *first);
void windowpages_end_private(struct windowpages *wp,
			     const struct windowpages_owner *owner);

/*
 * Returns an entry whose new translation is ready, or 0; *number is the number of
 * its owner. windowpages_publish() installs the translation; call it only while
 * the sequence of the owner is odd (abi/window_bpf.h, I3).
 */
uint32_t windowpages_next_ready(const struct windowpages *wp, uint32_t *number);
void windowpages_publish(struct windowpages *wp, uint32_t entry);

/*
 * Of an entry of code made at run time: whether the process still had, at when_ns, the
 * code from which the entry was translated.
 */
bool windowpages_was_made_of(struct windowpages *wp, uint32_t entry, uint64_t pc,
			     uint64_t when_ns);

/* Whether pages can be translated without evicting others. */
bool windowpages_has_room(const struct windowpages *wp);

/*
 * Whether all entries, or those of a user, ran out, and the last
 * windowpages_forget() is at least ten minutes ago. windowpages_forget() drops all
 * entries; remove all processes first (windowprocs_forget()).
 */
bool windowpages_is_full(const struct windowpages *wp);
int windowpages_forget(struct windowpages *wp);

/*
 * Notes that a window needed code that is not translated, at an offset of a page.
 * Returns whether it can be translated.
 */
bool windowpages_miss(struct windowpages *wp, uint32_t entry, uint32_t offset);

/*
 * Requests the forms of a page's code for a user, once: those from an offset on, then
 * those before it. Returns whether there is such code.
 */
bool windowpages_scan(struct windowpages *wp, uint32_t entry, uint32_t offset,
		      uint32_t uid);

/* Notes that a window interpreted the instructions of an entry's page between offsets.
 */
void windowpages_passed(struct windowpages *wp, uint32_t entry, uint32_t from,
			uint32_t to);

/*
 * Requests the translation of a sample's page, because windows are likely to start
 * there.
 */
void windowpages_sampled(struct windowpages *wp, const struct known_image *image,
			 uint64_t offset);

/*
 * Pages that windows can do without are translated only while there is credit: pages
 * ahead, and pages of code that forms can interpret (windowforms.h). Windows pay for
 * them, WINDOWPAGES_PAID_NS each, so that this work becomes less with the rate of
 * windows; the time of all translations is subtracted (ns < 0). The first credit is
 * WINDOWPAGES_FIRST_NS; what is paid makes at most WINDOWPAGES_CREDIT_NS.
 */
#define WINDOWPAGES_FIRST_NS  ((int64_t)NSEC_PER_SEC)
#define WINDOWPAGES_PAID_NS   (100 * 1000)
#define WINDOWPAGES_CREDIT_NS (100 * (int64_t)NSEC_PER_MSEC)
void windowpages_pay(struct windowpages *wp, int64_t ns);
bool windowpages_has_credit(const struct windowpages *wp);

/* Requests translations of the pages to which known pages lead. */
void windowpages_look_ahead(struct windowpages *wp);

/*
 * The packed page of an entry. If the entry has none now, the one that it had last, as
 * long as records may have been made with it (I1). NULL if there is none.
 */
const union cpi_code_cell *windowpages_code(const struct windowpages *wp,
					    uint32_t entry);

/* Sends requests and takes answers. Returns how many answers are still to come. */
uint32_t windowpages_run(struct windowpages *wp);

/*
 * See I1. Returns 0 or -errno; after an error windowpages_give_room() frees nothing.
 */
int windowpages_take_room(struct windowpages *wp);
void windowpages_give_room(struct windowpages *wp);

void windowpages_mark_images(const struct windowpages *wp);
void windowpages_status(const struct windowpages *wp, struct buf *out);

#endif
