/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowunits.h - assigns entries to pages of code
 *
 * A unit is a contiguous mapping of code; its entries are consecutive. It is
 * either a part of an image (identified by offset, shared by all processes) or
 * code that one process made at run time (identified by address). Entries are
 * handed out in order and taken back all at once; only those of code made at run
 * time are reused.
 *
 * I1  Units are found by image or by process through hash maps. Only
 *     windowunits_forget() and windowunits_for_each_image() visit all units.
 * I2  A unit counts against the process that was the first to request it. A process
 *     has at most a quarter of all entries, and the processes of one user have at most
 *     half. A process requests at most 16 units of one image.
 */
#ifndef CPI_DAEMON_WINDOWUNITS_H
#define CPI_DAEMON_WINDOWUNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "daemon/procmap/images.h"

#define WINDOWUNITS_OF_IMAGE  16         /* by one process */
#define WINDOWUNITS_MAX_PAGES (1u << 16) /* of one mapping */
#define WINDOWUNITS_MAX_MADE  (1u << 14) /* of a unit made at run time ... */
#define WINDOWUNITS_MIN_MADE  16         /* ... and the smallest size of one */
#define WINDOWUNITS_SIZES     11         /* sizes between these, by doubling */
#define WINDOWUNITS_LOOKED_AT 64         /* units of an image searched for a sample */

/* The process that made the code, or that requests an image's code. */
struct windowpages_owner {
	uint32_t number; /* index in the BPF program's process table; for the caller */
	uint32_t tgid;
	uint64_t start_ns; /* of the incarnation */
	uint32_t uid;      /* the user to whom the entries are charged */
};

struct unit_group;

struct unit {
	struct hnode node;         /* by image, offset and size */
	struct known_image *image; /* NULL: it was made at run time */
	struct windowpages_owner
		owner;   /* owner of code made at run time; tgid 0: none */
	bool used;       /* requested since windowpages_begin_private() */
	uint64_t offset; /* an address, if it was made at run time */
	uint32_t first, nr_pages;
	uint32_t nr_live;            /* pages that are translated */
	uint64_t scanned;            /* bytes whose forms are known */
	uint32_t nr_unread;          /* times that its code could not be read */
	struct unit *next;           /* in the group that it is in, or of free ones */
	struct unit_group *payer[2]; /* the process, and the user */
};

struct windowunits {
	struct hmap by_range;
	struct hmap groups; /* of an image, a process or a user: struct unit_group */
	struct unit **unit; /* ascending */
	size_t nr;
	struct unit *unused[WINDOWUNITS_SIZES];
	uint32_t nr_entries, next_entry;
	bool full;
};

/* The first entry is never used. */
void windowunits_init(struct windowunits *wu, uint32_t nr_entries);
void windowunits_fini(struct windowunits *wu);

/* Frees all entries. */
void windowunits_forget(struct windowunits *wu);

/* Returns an image's unit, or NULL if there is none. */
struct unit *windowunits_find(const struct windowunits *wu,
			      const struct known_image *image, uint64_t offset,
			      uint32_t nr_pages);

/*
 * Finds the unit, or makes one that counts against owner. Returns 0; -ENOMEM; or
 * -CPI_ELIMIT if the process, its user or the table is at its limit. If it is the user
 * or the table, wu->full is set.
 */
int windowunits_get(struct windowunits *wu, const struct windowpages_owner *owner,
		    struct known_image *image, uint64_t offset, uint32_t nr_pages,
		    struct unit **out);

/* Returns the unit that has this entry; NULL if no unit has it. */
struct unit *windowunits_of(const struct windowunits *wu, uint32_t entry);

/*
 * Calls fn with units of an image that hold an offset, at most WINDOWUNITS_LOOKED_AT.
 */
void windowunits_at(const struct windowunits *wu, const struct known_image *image,
		    uint64_t offset, void (*fn)(void *ctx, const struct unit *u),
		    void *ctx);

/* Returns the first unit of an owner, or NULL; u->next leads to the others. */
struct unit *windowunits_owned(const struct windowunits *wu,
			       const struct windowpages_owner *owner);

/* Finds or makes the owner's unit of these addresses; returns as windowunits_get(). */
int windowunits_get_made(struct windowunits *wu, const struct windowpages_owner *owner,
			 uint64_t address, uint32_t nr_pages, struct unit **out);

/* Calls fn with each unit of the owner that was not used, then frees the unit. */
void windowunits_give_back(struct windowunits *wu,
			   const struct windowpages_owner *owner,
			   void (*fn)(void *ctx, struct unit *u), void *ctx);

/* Calls fn with the image of each unit that has one. */
void windowunits_for_each_image(const struct windowunits *wu,
				void (*fn)(struct known_image *image));

#endif
