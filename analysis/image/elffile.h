/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elffile.h - an untrusted ELF file
 *
 * Wraps libelf with bounds on the number of headers and the bytes in memory. The file
 * is read, never mapped, so a file that shrinks while it is open gives an error and no
 * SIGBUS.
 *
 * Addresses are link-time addresses; offsets count from the file's first byte.
 */
#ifndef CPI_ANALYSIS_ELFFILE_H
#define CPI_ANALYSIS_ELFFILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/image.h"

/* A piece of the file that has an address. */
struct elfrange {
	uint64_t address, offset, size;
	bool exec;
};

struct elffile {
	Elf *elf;
	int fd;       /* -1: in memory */
	void *memory; /* NULL: in a file */
	uint64_t size;
	enum machine machine;
	struct elfrange *segment; /* loadable, clipped to the file's size */
	size_t nr_segments;
	struct elfrange *text; /* executable sections, else segments; by address */
	size_t nr_text;
	const char *names; /* of sections; NULL: none can be had */
	size_t names_size;
	uint64_t budget; /* bytes of sections that may still be loaded */
};

/*
 * Opens an executable or shared object. From success on fd, or the bytes (which
 * malloc gave), belong to the file. Returns 0, -errno, -CPI_EFORMAT,
 * -CPI_ECORRUPT, or -ENOMEM.
 */
int elffile_open_fd(int fd, struct elffile **out);
int elffile_open_memory(void *bytes, size_t size, struct elffile **out);
/* The same for a file of any type; an unlinked file has no segments. */
int elffile_open_object_fd(int fd, struct elffile **out);
int elffile_open_object_memory(void *bytes, size_t size, struct elffile **out);
void elffile_close(struct elffile *f); /* accepts NULL */

/* The file's current path, as a new string; NULL if it is not known. */
char *elffile_path(const struct elffile *f);

/* Translate through the loadable segments; false if no segment holds it. */
bool elffile_offset_of(const struct elffile *f, uint64_t address, uint64_t *offset);
bool elffile_address_of(const struct elffile *f, uint64_t offset, uint64_t *address);

/* The same with given segments. */
bool elfrange_offset_of(const struct elfrange *r, size_t nr, uint64_t address,
			uint64_t *offset);
bool elfrange_address_of(const struct elfrange *r, size_t nr, uint64_t offset,
			 uint64_t *address);

/* The executable section around address, or NULL. */
const struct elfrange *elffile_text_at(const struct elffile *f, uint64_t address);

/* The first section called name, with its header; NULL when there is none. */
Elf_Scn *elffile_section(const struct elffile *f, const char *name, GElf_Shdr *shdr);
const char *elffile_section_name(const struct elffile *f, const GElf_Shdr *shdr);

/*
 * A section's bytes, in host byte order where libelf knows the type. They stay until
 * the file is closed. NULL for a missing or damaged section, or too many bytes in all.
 */
Elf_Data *elffile_data(struct elffile *f, Elf_Scn *scn);

/* A string table's bytes and their number, up to and with the last NUL. */
const char *elffile_strings(struct elffile *f, Elf_Scn *scn, size_t *size);

/* Copies bytes of the file. 0, -errno, or -CPI_ETRUNCATED. */
int elffile_read(const struct elffile *f, uint64_t offset, void *out, size_t size);

/* Copies the build id and returns its size; 0 when there is none. */
size_t elffile_build_id(const struct elffile *f, uint8_t id[BUILD_ID_MAX]);

#endif
