/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * There are three kinds of image: an ELF file (also the captured vDSO), the captured
 * data of a file, and captured code that was never a file. Their bytes, addresses and
 * lines have different sources; the table of procedures is the same.
 */
#include "config.h"

#include "analysis/image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/image/captured.h"
#include "analysis/image/debugfile.h"
#include "analysis/image/elffile.h"
#include "analysis/image/elfsyms.h"
#include "analysis/image/inlines.h"
#include "analysis/image/lines.h"
#include "analysis/image/lsda.h"
#include "analysis/image/recorder.h"
#include "analysis/image/sums.h"
#include "analysis/image/symtab.h"
#include "base/err.h"
#include "base/file.h"
#include "base/search.h"
#include "base/times.h"

struct image_ops {
	struct line (*line_at)(struct image *im, uint64_t offset);
	size_t (*inlined_at)(struct image *im, uint64_t offset,
			     const struct inlined **out);
	int (*read)(struct image *im, uint64_t offset, void *out, size_t size);
	uint64_t (*address)(const struct image *im, uint64_t offset);
	bool (*offset)(const struct image *im, uint64_t address, uint64_t *offset);
};

struct code_piece {
	uint64_t start;
	size_t size;
	uint8_t *bytes;
};

struct image {
	const struct image_ops *ops;
	struct image_desc desc; /* its name is ours */
	enum machine machine;
	struct symtab symbols;
	struct recorder *recorder; /* NULL: nothing is recorded */
	/* An ELF file: */
	char *path;
	const struct image_search *search;
	struct elffile *elf, *debug, *unpacked, *alternate;
	struct debuginfo *dwarf; /* of elf or debug */
	int dwarf_err;           /* why there is none */
	struct inlines *inlines;
	struct landing_pads pads;
	bool looked_for_debug, looked_for_dwarf, looked_for_pads;
	/* What was captured of one: */
	struct captured *captured;
	/* What was never one: */
	char **names;
	size_t nr_names;
	struct code_piece *piece;
	size_t nr_pieces;
};

enum machine machine_of(const char *arch)
{
	if (strcmp(arch, "x86_64") == 0)
		return MACHINE_X86_64;
	if (strcmp(arch, "aarch64") == 0)
		return MACHINE_AARCH64;
	return MACHINE_UNKNOWN;
}

static int find_debug(struct image *im)
{
	int err = 0;

	if (!im->looked_for_debug && im->elf)
		err = debugfile_search(im->elf, im->path, im->search, &im->debug);
	else if (!im->looked_for_debug)
		err = debugfile_search_id(im->desc.build_id, im->desc.build_id_size,
					  im->search, &im->debug);
	im->looked_for_debug = true;
	return err == -ENOMEM ? err : 0;
}

static struct line no_line(void)
{
	return (struct line){ NULL, 0 };
}

static void open_dwarf_of(struct image *im, struct elffile *f)
{
	int err;

	if (!f || im->dwarf)
		return;
	if (!im->alternate)
		debugfile_search_alternate(f, im->path, im->search, &im->alternate);
	err = debuginfo_open(f, im->alternate, &im->dwarf);
	if (err != -ENOENT)
		im->dwarf_err = err;
}

/* If there is no memory, there is no debug information; nothing else depends on it. */
static struct debuginfo *open_dwarf(struct image *im)
{
	if (!im->looked_for_dwarf) {
		im->looked_for_dwarf = true;
		open_dwarf_of(im, im->elf);
		if (!im->dwarf && find_debug(im) == 0)
			open_dwarf_of(im, im->debug);
	}
	return im->dwarf;
}

static struct line elf_line_at(struct image *im, uint64_t offset)
{
	uint64_t address;

	if (!elffile_address_of(im->elf, offset, &address) || !open_dwarf(im))
		return no_line();
	return lines_at(im->dwarf, address);
}

static struct inlines *open_inlines(struct image *im)
{
	if (!im->inlines && open_dwarf(im))
		im->inlines = inlines_new(im->dwarf);
	return im->inlines;
}

static size_t elf_inlined_at(struct image *im, uint64_t offset,
			     const struct inlined **out)
{
	uint64_t address;

	if (!elffile_address_of(im->elf, offset, &address) || !open_inlines(im))
		return 0;
	return inlines_at(im->inlines, address, out);
}

static int elf_read(struct image *im, uint64_t offset, void *out, size_t size)
{
	const int err = elffile_read(im->elf, offset, out, size);

	return err == -CPI_ETRUNCATED ? -CPI_ENOCODE : err;
}

static uint64_t elf_address(const struct image *im, uint64_t offset)
{
	uint64_t address;

	return elffile_address_of(im->elf, offset, &address) ? address : offset;
}

static bool elf_offset(const struct image *im, uint64_t address, uint64_t *offset)
{
	return elffile_offset_of(im->elf, address, offset);
}

static const struct image_ops elf_ops = {
	.line_at = elf_line_at,
	.inlined_at = elf_inlined_at,
	.read = elf_read,
	.address = elf_address,
	.offset = elf_offset,
};

static struct line capture_line_at(struct image *im, uint64_t offset)
{
	return no_line();
}

static size_t capture_inlined_at(struct image *im, uint64_t offset,
				 const struct inlined **out)
{
	return 0;
}

static const struct code_piece *piece_at(const struct image *im, uint64_t offset)
{
	for (size_t i = 0; i < im->nr_pieces; i++)
		if (offset - im->piece[i].start < im->piece[i].size)
			return &im->piece[i];
	return NULL;
}

/* Pieces may adjoin. */
static int capture_read(struct image *im, uint64_t offset, void *out, size_t size)
{
	uint8_t *to = out;

	while (size) {
		const struct code_piece *p = piece_at(im, offset);
		size_t n;

		if (!p)
			return -CPI_ENOCODE;
		n = p->size - (size_t)(offset - p->start);
		if (n > size)
			n = size;
		memcpy(to, p->bytes + (offset - p->start), n);
		to += n;
		offset += n;
		size -= n;
	}
	return 0;
}

static uint64_t capture_address(const struct image *im, uint64_t offset)
{
	return offset;
}

static bool capture_offset(const struct image *im, uint64_t address, uint64_t *offset)
{
	if (!piece_at(im, address))
		return false;
	*offset = address;
	return true;
}

static const struct image_ops capture_ops = {
	.line_at = capture_line_at,
	.inlined_at = capture_inlined_at,
	.read = capture_read,
	.address = capture_address,
	.offset = capture_offset,
};

static struct line captured_file_line_at(struct image *im, uint64_t offset)
{
	return captured_line_at(im->captured, offset);
}

static size_t captured_file_inlined_at(struct image *im, uint64_t offset,
				       const struct inlined **out)
{
	return captured_inlined_at(im->captured, offset, out);
}

static int captured_file_read(struct image *im, uint64_t offset, void *out, size_t size)
{
	return captured_read(im->captured, offset, out, size);
}

static uint64_t captured_file_address(const struct image *im, uint64_t offset)
{
	uint64_t address;

	return captured_address(im->captured, offset, &address) ? address : offset;
}

static bool captured_file_offset(const struct image *im, uint64_t address,
				 uint64_t *offset)
{
	return captured_offset(im->captured, address, offset);
}

static const struct image_ops captured_file_ops = {
	.line_at = captured_file_line_at,
	.inlined_at = captured_file_inlined_at,
	.read = captured_file_read,
	.address = captured_file_address,
	.offset = captured_file_offset,
};

static int image_new(const struct image_desc *desc, struct image **out)
{
	struct image *im = calloc(1, sizeof(*im));

	if (!im)
		return -ENOMEM;
	im->desc = *desc;
	im->desc.name = strdup(desc->name ? desc->name : "");
	if (!im->desc.name) {
		free(im);
		return -ENOMEM;
	}
	*out = im;
	return 0;
}

void image_close(struct image *im)
{
	if (!im)
		return;
	symtab_fini(&im->symbols);
	free(im->pads.offset);
	inlines_free(im->inlines);
	debuginfo_close(im->dwarf);
	elffile_close(im->alternate);
	elffile_close(im->unpacked);
	elffile_close(im->debug);
	elffile_close(im->elf);
	if (im->captured)
		captured_fini(im->captured);
	free(im->captured);
	for (size_t i = 0; i < im->nr_names; i++)
		free(im->names[i]);
	free(im->names);
	for (size_t i = 0; i < im->nr_pieces; i++)
		free(im->piece[i].bytes);
	free(im->piece);
	free(im->path);
	free((char *)im->desc.name);
	free(im);
}

/* Whether the open file is the one that was profiled. */
static int check_identity(const struct image_desc *desc, const struct elffile *f)
{
	uint8_t id[BUILD_ID_MAX];
	struct stat st;
	uint64_t mtime_ns;

	if (desc->build_id_size)
		return elffile_build_id(f, id) == desc->build_id_size &&
				       memcmp(id, desc->build_id,
					      desc->build_id_size) == 0
			       ? 0
			       : -CPI_EMISMATCH;
	if (!desc->size || !desc->mtime_ns)
		return 0;
	if (fstat(f->fd, &st) < 0)
		return -errno;
	mtime_ns = time_to_ns(&st.st_mtim);
	return (uint64_t)st.st_size == desc->size && mtime_ns == desc->mtime_ns
		       ? 0
		       : -CPI_EMISMATCH;
}

static bool has_symtab(const struct elffile *f)
{
	GElf_Shdr shdr;

	return elffile_section(f, ".symtab", &shdr);
}

/* Fills out from f, which may be NULL. Returns false if f is not a file. */
static bool find_origin(const struct elffile *f, struct file_stamp *out)
{
	struct stat st;

	if (!f)
		return true;
	if (f->fd < 0 || fstat(f->fd, &st))
		return false;
	*out = file_stamp_of(&st);
	return true;
}

bool image_origins(const struct image *im, struct file_stamp out[2])
{
	memset(out, 0, 2 * sizeof(*out));
	return im->elf && find_origin(im->elf, &out[0]) &&
	       find_origin(im->debug, &out[1]);
}

/* Reads the symbols of the file, its debug file and what it has compressed in it. */
static int read_symbols(struct image *im)
{
	struct elffile *others[2] = { im->debug, NULL };
	int err = 0;

	if (!im->debug && !has_symtab(im->elf))
		err = debugfile_unpack(im->elf, &im->unpacked);
	if (err && err != -ENOENT)
		return err;
	others[1] = im->unpacked;
	return elfsyms_load(im->elf, others, 2, &im->symbols);
}

static int load_symbols(struct image *im)
{
	const struct image_search *kept =
		im->search && im->search->recall ? im->search : NULL;
	struct file_stamp origin[2] = { 0 };
	int err = has_symtab(im->elf) ? 0 : find_debug(im);

	if (err)
		return err;
	if (kept &&
	    (!find_origin(im->elf, &origin[0]) || !find_origin(im->debug, &origin[1])))
		kept = NULL;
	if (kept) {
		err = kept->recall(kept->kept, &im->desc, origin, &im->symbols);
		if (!err || err == -ENOMEM)
			return err ? err : symtab_build(&im->symbols);
	}
	err = read_symbols(im);
	if (!err && kept)
		kept->keep(kept->kept, &im->desc, origin, &im->symbols);
	return err;
}

/* From success on, f belongs to the image. */
static int open_elf(const struct image_desc *desc, struct elffile *f, const char *path,
		    const struct image_search *search, struct image **out)
{
	struct image *im;
	int err;

	err = image_new(desc, &im);
	if (err)
		return err;
	im->ops = &elf_ops;
	im->elf = f;
	im->search = search;
	im->machine = f->machine;
	im->path = path ? strdup(path) : NULL;
	err = path && !im->path ? -ENOMEM : load_symbols(im);
	if (err) {
		im->elf = NULL;
		image_close(im);
		return err;
	}
	*out = im;
	return 0;
}

int image_open_searching(const struct image_desc *desc, int fd, const char *path,
			 const struct image_search *search, struct image **out)
{
	struct elffile *f;
	int err;

	err = elffile_open_fd(fd, &f);
	if (err) {
		close(fd);
		return err;
	}
	err = check_identity(desc, f);
	if (!err)
		err = open_elf(desc, f, path, search, out);
	if (err)
		elffile_close(f);
	return err;
}

int image_open_fd(const struct image_desc *desc, int fd, const char *path,
		  struct image **out)
{
	return image_open_searching(desc, fd, path, NULL, out);
}

int image_open(const struct image_desc *desc, const char *path, struct image **out)
{
	int fd;

	if (!path)
		path = desc->name;
	fd = file_open_regular(AT_FDCWD, path, NULL);
	return fd < 0 ? fd : image_open_fd(desc, fd, path, out);
}

static int copy_pieces(struct image *im, const struct capture_code *codes, size_t nr)
{
	im->piece = calloc(nr + 1, sizeof(*im->piece));
	if (!im->piece)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct code_piece *p = &im->piece[i];

		*p = (struct code_piece){ codes[i].start, codes[i].size,
					  malloc(codes[i].size + 1) };
		if (!p->bytes)
			return -ENOMEM;
		im->nr_pieces++;
		memcpy(p->bytes, codes[i].bytes, codes[i].size);
	}
	return 0;
}

/* The piece that is a whole file becomes one; another stays a piece. */
static int adopt_elf(struct image *im)
{
	struct code_piece *p = im->piece;
	int err;

	if (im->nr_pieces != 1 || p->start != 0)
		return 0;
	err = elffile_open_memory(p->bytes, p->size, &im->elf);
	if (err)
		return err == -ENOMEM ? err : 0;
	im->nr_pieces = 0;
	im->ops = &elf_ops;
	return elfsyms_load(im->elf, NULL, 0, &im->symbols);
}

static int copy_symbols(struct image *im, const struct capture_symbol *symbols,
			size_t nr)
{
	int err = 0;

	im->names = calloc(nr + 1, sizeof(*im->names));
	if (!im->names)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		struct symtab_entry e = { .start = symbols[i].start,
					  .size = symbols[i].size,
					  .limit = UINT64_MAX,
					  .binding = SYMTAB_GLOBAL };

		im->names[i] = strdup(symbols[i].name);
		if (!im->names[i])
			return -ENOMEM;
		im->nr_names++;
		e.raw = im->names[i];
		err = symtab_add(&im->symbols, &e);
	}
	return err ? err : symtab_build(&im->symbols);
}

int image_open_capture(const struct image_desc *desc, enum machine machine,
		       const struct capture_symbol *symbols, size_t nr_symbols,
		       const struct capture_code *codes, size_t nr_codes,
		       struct image **out)
{
	struct image *im;
	int err;

	err = image_new(desc, &im);
	if (err)
		return err;
	im->ops = &capture_ops;
	im->machine = machine;
	err = copy_pieces(im, codes, nr_codes);
	if (!err && desc->kind == IMAGE_VDSO)
		err = adopt_elf(im);
	if (!err)
		err = copy_symbols(im, symbols, nr_symbols);
	if (err) {
		image_close(im);
		return err;
	}
	*out = im;
	return 0;
}

/* Of the names at one start the first is the one that the file's table chose. */
static int add_captured_names(struct image *im)
{
	const struct buf *names = &im->captured->names;
	const struct captured_name *n = (const struct captured_name *)names->data;
	int err = 0;

	for (size_t i = 0; i < names->len / sizeof(*n) && !err; i++) {
		const bool alias = i && n[i].start == n[i - 1].start;

		err = symtab_add(&im->symbols,
				 &(struct symtab_entry){
					 .start = n[i].start,
					 .size = n[i].end - n[i].start,
					 .limit = n[i].end,
					 .raw = n[i].raw,
					 .binding =
						 alias ? SYMTAB_WEAK : SYMTAB_GLOBAL });
	}
	return err ? err : symtab_build(&im->symbols);
}

static int add_captured_pads(struct image *im)
{
	const struct buf *pads = &im->captured->pads;

	im->pads.offset = malloc(pads->len + 1);
	if (!im->pads.offset)
		return -ENOMEM;
	if (pads->len)
		memcpy(im->pads.offset, pads->data, pads->len);
	im->pads.nr = pads->len / sizeof(*im->pads.offset);
	landing_pads_sort(&im->pads);
	im->looked_for_pads = true;
	return 0;
}

int image_open_captured(const struct image_desc *desc, struct captured *captured,
			struct image **out)
{
	struct image *im;
	int err = image_new(desc, &im);

	if (err)
		return err;
	im->ops = &captured_file_ops;
	im->machine = captured->machine;
	im->captured = captured;
	err = captured_index(captured);
	if (!err)
		err = add_captured_names(im);
	if (!err)
		err = add_captured_pads(im);
	if (err) {
		im->captured = NULL;
		image_close(im);
		return err;
	}
	*out = im;
	return 0;
}

void image_set_search(struct image *im, const struct image_search *search)
{
	im->search = search;
}

void image_record(struct image *im, struct recorder *r)
{
	im->recorder = r;
}

enum machine image_machine(const struct image *im)
{
	return im->machine;
}

const struct image_desc *image_desc(const struct image *im)
{
	return &im->desc;
}

const struct symbol *image_symbol_at(struct image *im, uint64_t offset)
{
	const struct symbol *s = symtab_at(&im->symbols, offset);

	if (s && im->recorder)
		recorder_symbol(im->recorder, s);
	return s;
}

int image_symbol_named(struct image *im, const char *name, const struct symbol **out)
{
	return symtab_named(&im->symbols, name, out);
}

const struct symbol *const *image_symbols(struct image *im, size_t *nr)
{
	return symtab_all(&im->symbols, nr);
}

const char *image_alias(const struct image *im, const struct symbol *s, size_t i)
{
	return symtab_alias(&im->symbols, s, i);
}

bool image_is_local(const struct image *im, const struct symbol *s)
{
	return symtab_is_local(&im->symbols, s);
}

struct line image_line_at(struct image *im, uint64_t offset)
{
	return im->ops->line_at(im, offset);
}

size_t image_inlined_at(struct image *im, uint64_t offset, const struct inlined **out)
{
	return im->ops->inlined_at(im, offset, out);
}

size_t image_origins_at(struct image *im, uint64_t offset,
			struct origin out[IMAGE_MAX_ORIGINS])
{
	uint64_t address;
	bool found = false;

	if (im->elf)
		found = elffile_address_of(im->elf, offset, &address);
	else if (im->captured)
		found = captured_address(im->captured, offset, &address);
	return found && open_inlines(im) ? inlines_origins_at(im->inlines, address, out)
					 : 0;
}

struct each_row {
	struct image *im;
	int (*fn)(void *ctx, uint64_t offset);
	void *ctx;
};

static int on_row(void *ctx, uint64_t address)
{
	const struct each_row *e = ctx;
	uint64_t offset;

	return elffile_offset_of(e->im->elf, address, &offset) ? e->fn(e->ctx, offset)
							       : 0;
}

int image_each_row(struct image *im, int (*fn)(void *ctx, uint64_t offset), void *ctx)
{
	struct each_row e = { im, fn, ctx };

	return im->elf && open_dwarf(im) ? lines_each(im->dwarf, on_row, &e) : 0;
}

int image_each_sum(struct image *im, image_sum_fn fn, void *ctx)
{
	return (im->elf || im->captured) && open_dwarf(im)
		       ? sums_each(im->dwarf, fn, ctx)
		       : 0;
}

const char *image_missing_lines(const struct image *im)
{
	if (im->dwarf)
		return debuginfo_lacks_units(im->dwarf)
			       ? "some of its .dwo files, or its .dwp, cannot be found"
			       : NULL;
	switch (im->dwarf_err) {
	case 0:
		return NULL;
	case -ENOTSUP:
		return "its debug information is compressed in a way that libelf "
		       "cannot unpack (zstd needs elfutils 0.189)";
	case -EFBIG:
		return "its debug information takes more than 1 GB of memory";
	case -CPI_ENOIMAGE:
		return "the file to which dwz moved parts of its debug information "
		       "cannot be found";
	}
	return err_str(im->dwarf_err);
}

int image_read(struct image *im, uint64_t offset, void *out, size_t size)
{
	const int err = im->ops->read(im, offset, out, size);

	if (!err && im->recorder)
		recorder_read(im->recorder, offset, offset + size);
	return err;
}

uint64_t image_address(const struct image *im, uint64_t offset)
{
	return im->ops->address(im, offset);
}

const struct elfrange *image_segments(const struct image *im, size_t *nr)
{
	*nr = im->elf ? im->elf->nr_segments : 0;
	return im->elf ? im->elf->segment : NULL;
}

bool image_offset(const struct image *im, uint64_t address, uint64_t *offset)
{
	return im->ops->offset(im, address, offset);
}

/* The first pad at offset or behind it. */
static size_t pad_from(const struct landing_pads *pads, uint64_t offset)
{
	return SEARCH(i, pads->nr, pads->offset[i] >= offset);
}

int image_landing_pads(struct image *im, uint64_t start, uint64_t end,
		       const uint64_t **out, size_t *nr)
{
	size_t first;
	int err = 0;

	if (!im->looked_for_pads && im->elf)
		err = lsda_load(im->elf, &im->pads);
	if (err)
		return err;
	im->looked_for_pads = true;
	first = pad_from(&im->pads, start);
	*nr = pad_from(&im->pads, end) - first;
	*out = *nr ? &im->pads.offset[first] : NULL;
	if (im->recorder)
		recorder_pads(im->recorder, *out, *nr);
	return 0;
}
