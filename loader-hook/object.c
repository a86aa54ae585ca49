/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An unmapped address must never be read here, and asking the kernel for each object
 * would take too long. The dynamic section is mapped, because the linker has just read
 * it. So are the tables that it points to. In all files that linkers make, the first
 * page of these tables also has the ELF header. If that page does not begin with one,
 * the object is not described.
 */
#include "config.h"

#include "loader-hook/object.h"

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES 4096 /* the smallest page; a larger one is read only so far */

static bool is_table(Elf64_Sxword tag)
{
	return tag == DT_SYMTAB || tag == DT_STRTAB || tag == DT_GNU_HASH ||
	       tag == DT_HASH;
}

/* The page of the first of its tables, or 0. */
static uintptr_t first_page(const struct link_map *map)
{
	uintptr_t first = UINTPTR_MAX;

	if (!map->l_ld)
		return 0;
	for (const Elf64_Dyn *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		uintptr_t at = d->d_un.d_ptr;

		if (!is_table(d->d_tag))
			continue;
		if (at < map->l_addr) /* the linker left the section as it was */
			at += map->l_addr;
		if (at < first)
			first = at;
	}
	return first == UINTPTR_MAX ? 0 : first & ~(uintptr_t)(PAGE_BYTES - 1);
}

static bool find_headers(const struct link_map *map, struct object_headers *out)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)first_page(map);

	if (!e || e->e_ident[EI_MAG0] != ELFMAG0 || e->e_ident[EI_MAG1] != ELFMAG1 ||
	    e->e_ident[EI_MAG2] != ELFMAG2 || e->e_ident[EI_MAG3] != ELFMAG3 ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_phentsize != sizeof(Elf64_Phdr) || e->e_phoff > PAGE_BYTES ||
	    e->e_phnum > (PAGE_BYTES - e->e_phoff) / sizeof(Elf64_Phdr))
		return false;
	*out = (struct object_headers){
		.phdr = (const Elf64_Phdr *)((const char *)e + e->e_phoff),
		.nr = e->e_phnum,
	};
	return true;
}

struct bytes {
	const unsigned char *at;
	size_t size;
};

static struct bytes find_in_notes(const unsigned char *at, size_t size)
{
	while (size >= sizeof(Elf64_Nhdr)) {
		const Elf64_Nhdr *n = (const Elf64_Nhdr *)at;
		const unsigned char *name = at + sizeof(*n);
		size_t name_size = ((size_t)n->n_namesz + 3) & ~(size_t)3;
		size_t desc_size = ((size_t)n->n_descsz + 3) & ~(size_t)3;

		size -= sizeof(*n);
		if (name_size > size || desc_size > size - name_size)
			break;
		if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
		    name[0] == 'G' && name[1] == 'N' && name[2] == 'U' &&
		    n->n_descsz <= CPI_ANNOUNCE_MAX_BUILD_ID)
			return (struct bytes){ name + name_size, n->n_descsz };
		at = name + name_size + desc_size;
		size -= name_size + desc_size;
	}
	return (struct bytes){ NULL, 0 };
}

/* What a record has of the headers. */
struct summary {
	size_t nr_segments;
	struct bytes build_id;
};

/*
 * One pass, because this runs for each object of each program. Only notes in the first
 * segment are read, and its header comes before theirs. Returns false if there is no
 * code, or code that a record cannot describe.
 */
static bool summarise(const struct link_map *map, const struct object_headers *h,
		      struct cpi_announce_segment *to, struct summary *out)
{
	const Elf64_Phdr *first = NULL;
	struct summary s = { 0, { NULL, 0 } };

	for (size_t i = 0; i < h->nr; i++) {
		const Elf64_Phdr *p = &h->phdr[i];
		uint64_t skipped = first ? p->p_vaddr - first->p_vaddr : 0;

		if (p->p_type == PT_LOAD) {
			first = first ? first : p;
			if (!(p->p_flags & PF_X) || !p->p_filesz)
				continue;
			if (s.nr_segments == CPI_ANNOUNCE_MAX_SEGMENTS ||
			    (p->p_vaddr | p->p_offset | p->p_filesz) > UINT32_MAX)
				return false;
			to[s.nr_segments++] =
				(struct cpi_announce_segment){ (uint32_t)p->p_vaddr,
							       (uint32_t)p->p_offset,
							       (uint32_t)p->p_filesz };
		} else if (p->p_type == PT_NOTE && !s.build_id.size && first &&
			   first->p_flags & PF_R && !(p->p_vaddr & 3) &&
			   skipped <= first->p_filesz &&
			   p->p_filesz <= first->p_filesz - skipped) {
			s.build_id = find_in_notes((const unsigned char *)(map->l_addr +
									   p->p_vaddr),
						   p->p_filesz);
		}
	}
	*out = s;
	return s.nr_segments > 0;
}

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static char *put_bytes(char *to, const void *from, size_t size)
{
	const char *bytes = from;

	for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t)) {
		__builtin_memcpy(to, bytes, sizeof(uint64_t)); /* two instructions */
		to += sizeof(uint64_t);
		bytes += sizeof(uint64_t);
	}
	while (size--)
		*to++ = *bytes++;
	return to;
}

size_t object_describe(const struct link_map *map, enum cpi_announce_what what,
		       const struct object_headers *main, char *to, size_t size)
{
	struct cpi_announce_record *record = (struct cpi_announce_record *)to;
	struct cpi_announce_segment *segments = (void *)(record + 1);
	size_t path_size = map->l_name ? length(map->l_name) : 0;
	struct object_headers found = *main;
	struct summary summary;
	char *end;

	if (path_size > CPI_ANNOUNCE_MAX_PATH ||
	    size < sizeof(*record) + CPI_ANNOUNCE_MAX_SEGMENTS * sizeof(*segments) +
			    CPI_ANNOUNCE_MAX_BUILD_ID + path_size + sizeof(uint64_t) ||
	    (path_size && !find_headers(map, &found)) ||
	    !summarise(map, &found, segments, &summary))
		return 0;
	end = put_bytes((char *)(segments + summary.nr_segments), summary.build_id.at,
			summary.build_id.size);
	end = put_bytes(end, map->l_name, path_size);
	while ((end - to) % sizeof(uint64_t))
		*end++ = 0;
	*record = (struct cpi_announce_record){
		.size = (uint16_t)(end - to),
		.path_size = (uint16_t)path_size,
		.what = (uint8_t)what,
		.nr_segments = (uint8_t)summary.nr_segments,
		.build_id_size = (uint8_t)summary.build_id.size,
		.base = map->l_addr,
	};
	return record->size;
}
