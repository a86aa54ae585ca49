/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * See tools/perf/Documentation/jitdump-specification.txt in Linux. A dump in the
 * other byte order is refused, because it is from another machine. The specification
 * puts the .eh_frame_hdr before the .eh_frame, but perf and the programs that write
 * dumps put it behind.
 */
#include "config.h"

#include "daemon/jit/jitdump.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define MAGIC 0x4a695444u /* "DTiJ" */

#define FLAG_ARCH_TIMESTAMP 1u

struct header {
	uint32_t magic, version, total_size, elf_mach, pad, pid;
	uint64_t timestamp, flags;
};

_Static_assert(sizeof(struct header) == JITDUMP_HEADER_SIZE, "file format");

enum record_id { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_UNWINDING = 4 };

struct prefix {
	uint32_t id, total_size;
	uint64_t timestamp;
};

struct load { /* then the name, a NUL, and the code */
	struct prefix p;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
};

struct move {
	struct prefix p;
	uint32_t pid, tid;
	uint64_t vma, old_code_addr, new_code_addr, code_size, code_index;
};

struct unwinding { /* then the tables, and their header, which is not needed */
	struct prefix p;
	uint64_t size, header_size, mapped_size;
};

int jitdump_header(const void *data, size_t size, struct jitdump_header *out)
{
	struct header h;

	if (size < sizeof(h))
		return -CPI_EFORMAT;
	memcpy(&h, data, sizeof(h));
	if (h.magic != MAGIC || h.version != 1 || h.total_size < sizeof(h))
		return -CPI_EFORMAT;
	*out = (struct jitdump_header){
		.size = h.total_size,
		.machine = h.elf_mach,
		.has_other_clock = h.flags & FLAG_ARCH_TIMESTAMP,
	};
	return 0;
}

static int read_load(const void *data, size_t size, struct jitdump_record *out)
{
	const char *name = (const char *)data + sizeof(struct load), *end;
	struct load l;
	size_t left;

	if (out->size <= sizeof(l))
		return -CPI_ECORRUPT;
	if (size <= sizeof(l))
		return -EAGAIN;
	memcpy(&l, data, sizeof(l));
	left = (size < out->size ? size : out->size) - sizeof(l);
	end = memchr(name, '\0', left);
	if (!end && size < out->size && size < JITDUMP_RECORD_MAX)
		return -EAGAIN;
	if (!end) { /* too long a name for anybody */
		out->kind = JITDUMP_OTHER;
		return 0;
	}
	out->kind = JITDUMP_LOAD;
	out->address = l.code_addr;
	out->code_size = l.code_size;
	out->name = name;
	out->code_at = end + 1 - (const char *)data;
	if (l.code_size > out->size - out->code_at)
		return -CPI_ECORRUPT;
	return 0;
}

static int read_move(const void *data, size_t size, struct jitdump_record *out)
{
	struct move m;

	if (out->size < sizeof(m))
		return -CPI_ECORRUPT;
	if (size < sizeof(m))
		return -EAGAIN;
	memcpy(&m, data, sizeof(m));
	out->kind = JITDUMP_MOVE;
	out->address = m.new_code_addr;
	out->old_address = m.old_code_addr;
	out->code_size = m.code_size;
	return 0;
}

static int read_unwinding(const void *data, size_t size, struct jitdump_record *out)
{
	struct unwinding u;

	if (out->size < sizeof(u))
		return -CPI_ECORRUPT;
	if (size < sizeof(u))
		return -EAGAIN;
	memcpy(&u, data, sizeof(u));
	if (u.size > out->size - sizeof(u) || u.header_size > u.size)
		return -CPI_ECORRUPT;
	out->kind = JITDUMP_TABLES;
	out->tables_at = sizeof(u);
	out->tables_size = u.mapped_size ? u.size - u.header_size : 0;
	return 0;
}

int jitdump_record(const void *data, size_t size, struct jitdump_record *out)
{
	struct jitdump_record r = { .kind = JITDUMP_OTHER };
	struct prefix p;
	int err = 0;

	if (size < sizeof(p))
		return -EAGAIN;
	memcpy(&p, data, sizeof(p));
	if (p.total_size < sizeof(p))
		return -CPI_ECORRUPT;
	r.size = p.total_size;
	r.time_ns = p.timestamp;
	if (p.id == RECORD_LOAD)
		err = read_load(data, size, &r);
	else if (p.id == RECORD_MOVE)
		err = read_move(data, size, &r);
	else if (p.id == RECORD_UNWINDING)
		err = read_unwinding(data, size, &r);
	if (!err)
		*out = r;
	return err;
}
