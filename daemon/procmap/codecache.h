/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codecache.h - instruction bytes at sampled PCs, read from image files
 *
 * Some collectors get registers but not code. For them the image's file shows whether a
 * sampled instruction is a conditional jump. The file is read in small blocks, because
 * hot code is small and scattered. At most CODECACHE_BLOCKS blocks are kept (4 MiB),
 * including blocks that cannot be read.
 *
 * A look-up reads no file. Call codecache_note() for each sample first, and then
 * codecache_read_noted(), which reads the blocks.
 */
#ifndef CPI_DAEMON_CODECACHE_H
#define CPI_DAEMON_CODECACHE_H

#include <stddef.h>
#include <stdint.h>

#include "abi/branch.h"
#include "daemon/procmap/images.h"

#define CODECACHE_BLOCKS 8192

struct codecache;

struct codecache *codecache_new(struct images *im); /* NULL when out of memory */
void codecache_free(struct codecache *c);           /* accepts NULL */

/*
 * Notes that the instruction at an offset will be looked up. The instruction is in
 * image; or, if the file was overwritten before the mapping was made at mapped_ns, in
 * its successor (images_known()).
 */
void codecache_note(struct codecache *c, struct known_image *image, uint64_t mapped_ns,
		    uint64_t offset);

/* Reads the blocks that were noted. Call it after images_resolve_noted(). */
void codecache_read_noted(struct codecache *c);

/*
 * Decodes the instruction at an offset of a resolved image. The kind is
 * CPI_BRANCH_UNKNOWN if its bytes were not noted or could not be read.
 */
struct cpi_branch codecache_branch(struct codecache *c, const struct known_image *image,
				   uint64_t offset);

/*
 * Reads bytes of a resolved image from off on, without the cache. Returns how many were
 * read; 0 on failure.
 */
size_t codecache_read(struct codecache *c, const struct known_image *image,
		      uint64_t off, void *to, size_t size);

/*
 * Drops all blocks. Call it before images are freed, because another image may get the
 * same address.
 */
void codecache_clear(struct codecache *c);

#endif
