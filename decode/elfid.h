/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elfid.h - identifies an ELF file: build id and content hash
 */
#ifndef CPI_DECODE_ELFID_H
#define CPI_DECODE_ELFID_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile/model.h"

struct elfid {
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;              /* 0: the file has none */
	uint8_t content[CONTENT_HASH_SIZE]; /* SHA-256 over the executable segments */
};

/*
 * If the file has no build id, its executable segments are hashed completely while
 * their sum is at most ELFID_WHOLE_BYTES; the limit exists because the owner of the
 * file chooses its size. Beyond it, and in a file with a build id, of a large segment
 * only ELFID_SPREAD chunks of 4 KiB are hashed, evenly spread. With a build id the hash
 * need not distinguish builds; it only has to reveal a forged or wrong build id.
 */
#define ELFID_SPREAD      64
#define ELFID_WHOLE_BYTES (32ULL << 20)

/* A file with larger or more executable segments gets no identity. */
#define ELFID_MAX_BYTES    (1ULL << 30)
#define ELFID_MAX_SEGMENTS 64

/*
 * Identifies the file fd. Returns 0, -errno, -CPI_EFORMAT (no ELF file), -CPI_ELIMIT,
 * -CPI_ECORRUPT, or -CPI_ETRUNCATED if a segment extends beyond the end of the file.
 */
int elfid_read(int fd, struct elfid *out);

/*
 * Finds the build id in a sequence of ELF notes, such as PT_NOTE or /sys/kernel/notes.
 * Returns 0 or -ENOENT.
 */
int elfid_from_notes(const void *notes, size_t size, uint8_t build_id[BUILD_ID_MAX],
		     uint8_t *build_id_size);

#endif
