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

/* Of the program itself the kernel says where the headers are. */
struct object_headers {
	const Elf64_Phdr *phdr;
	size_t nr;
};

/*
 * Writes a record of map into the size bytes at to. main is for the program itself,
 * whose name is empty. Returns the record's bytes; 0 when it has no room, or map is
 * nothing that can be told of: then what is at to does not matter.
 */
size_t object_describe(const struct link_map *map, enum cpi_announce_what what,
		       const struct object_headers *main, char *to, size_t size);

#endif
