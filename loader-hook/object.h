/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object.h - a loaded object, as a record of abi/announce.h
 */
#ifndef CPI_LOADER_HOOK_OBJECT_H
#define CPI_LOADER_HOOK_OBJECT_H

#include <elf.h>
#include <link.h>
#include <stddef.h>

#include "abi/announce.h"

/* The program's own headers; the kernel tells where they are. */
struct object_headers {
	const Elf64_Phdr *phdr;
	size_t nr;
};

/*
 * Writes a record of map into the size bytes at to. main is used for the program
 * itself, whose name is empty. Returns the record's size; 0 if there is no room, or map
 * cannot be described. Then the bytes at to are unspecified.
 */
size_t object_describe(const struct link_map *map, enum cpi_announce_what what,
		       const struct object_headers *main, char *to, size_t size);

#endif
