/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image.h - symbols, source lines and code bytes of one image
 *
 * Everything is addressed by image offset (db/profile/model.h says from where it counts
 * per kind). Symbols come from .symtab, .dynsym, .gnu_debugdata, and separate debug
 * files by build id and debuglink; PLT entries are named "NAME@plt"; code in an
 * executable section that no symbol covers belongs to the procedure that .eh_frame
 * describes there, which is named by its offset, "[0x…]". Names are demangled (C++,
 * Rust).
 *
 * An image file is hostile input: its sizes may be wrong, it may be truncated, or it
 * may not be a regular file.
 */
#ifndef CPI_ANALYSIS_IMAGE_H
#define CPI_ANALYSIS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"
#include "db/profile/model.h"

enum machine { MACHINE_UNKNOWN, MACHINE_X86_64, MACHINE_AARCH64 };

/* From uname -m's name. */
enum machine machine_of(const char *arch);

struct symbol {
	uint64_t start, end; /* image offsets; end is the first one after it */
	const char *name;    /* demangled; owned by the image */
	const char *raw;     /* as in the file; may be the same pointer */
};

struct line {
	const char *file; /* NULL if there is none; owned by the image */
	int line;         /* from 1 */
};

/* An inlined function; the image owns the strings. */
struct inlined {
	const char *name; /* demangled */
	struct line call; /* where it was called; { NULL, 0 } if not known */
	int column;       /* of the call, from 1; 0: not known */
};

/*
 * A place in a function on the stack of inlined calls, as compilers name it in
 * profiles: by linkage name and lines.
 */
struct origin {
	const char *function;       /* owned by the image; "" if it has none */
	const char *file;           /* that declares it, owned by the image; or NULL */
	int start;                  /* line of its declaration; 0: not known */
	int line;                   /* the place in it; 0: none */
	unsigned int discriminator; /* the base: distinguishes it from other code on the
				       line */
	unsigned int copies; /* copies of the line that run as one (unrolled, …) */
};

#define IMAGE_MAX_ORIGINS 128

struct image;

/*
 * Opens the file at path that desc, of kind IMAGE_FILE, describes. If desc has a build
 * id, the file must have the same one; otherwise size and mtime must be equal, if desc
 * has them. path NULL means desc->name. Returns 0, -errno (-ELOOP, or -ENODEV if it is
 * not a regular file), -CPI_EFORMAT if it is not an ELF file, -CPI_ECORRUPT, or
 * -CPI_EMISMATCH. Logs nothing, because the caller knows whether the error matters.
 */
int image_open(const struct image_desc *desc, const char *path, struct image **out);

/*
 * The same for a file that is already open. The image owns fd; on failure fd is closed.
 * Debug files are searched relative to path, which may be NULL.
 */
int image_open_fd(const struct image_desc *desc, int fd, const char *path,
		  struct image **out);

/*
 * The file and the debug file that the image has been read from so far. False if it
 * was not read from a file.
 */
bool image_origins(const struct image *im, struct file_stamp out[2]);

struct symtab;

/* Additional places for debug files, besides the image's folder and /usr/lib/debug. */
struct image_search {
	const char *directory; /* has the structure of /usr/lib/debug, and is searched
				  before it; or NULL */
	/*
	 * Gets the debug file of a build id from another source. Returns a descriptor,
	 * or a negative error.
	 */
	int (*fetch)(void *ctx, const uint8_t *id, size_t id_size);
	void *ctx;
	/*
	 * Is told of each path before a debug file is opened there, or is found
	 * missing. Symbolic links are followed only with follow. May be NULL.
	 */
	void (*look)(void *looked, const char *path, bool follow);
	void *looked;
	/*
	 * A cache of procedures. recall() fills the empty table and returns 0, or
	 * -ENOMEM. After any other error the procedures are read from the file and its
	 * debug file (origin), and passed to keep(). recall is NULL if there is no
	 * cache.
	 */
	int (*recall)(void *kept, const struct image_desc *desc,
		      const struct file_stamp origin[2], struct symtab *t);
	void (*keep)(void *kept, const struct image_desc *desc,
		     const struct file_stamp origin[2], const struct symtab *t);
	void *kept;
};

/* The same with additional places; search must outlive the image. */
int image_open_searching(const struct image_desc *desc, int fd, const char *path,
			 const struct image_search *search, struct image **out);

/* A captured symbol or piece of code, as db/query/query.h returns it. */
struct capture_symbol {
	uint64_t start, size;
	const char *name;
};

struct capture_code {
	uint64_t start;
	size_t size;
	const uint8_t *bytes;
};

/*
 * Opens an image of which only captured parts exist: the kernel, modules, BPF programs,
 * the vDSO (one code piece that is a whole ELF file, whose symbols are read, too).
 * Copies its arguments. Returns 0 or -ENOMEM.
 */
int image_open_capture(const struct image_desc *desc, enum machine machine,
		       const struct capture_symbol *symbols, size_t nr_symbols,
		       const struct capture_code *codes, size_t nr_codes,
		       struct image **out);

/*
 * Opens a file that is gone or was replaced, from what was captured of it. The image
 * owns captured after success. Returns 0 or -ENOMEM.
 */
struct captured;
int image_open_captured(const struct image_desc *desc, struct captured *captured,
			struct image **out);

/*
 * Sets where the debug files of a missing file are searched; search must outlive the
 * image.
 */
void image_set_search(struct image *im, const struct image_search *search);

void image_close(struct image *im); /* accepts NULL */

/* From now on r notes the image's answers; NULL stops that. */
struct recorder;
void image_record(struct image *im, struct recorder *r);

enum machine image_machine(const struct image *im);
const struct image_desc *image_desc(const struct image *im); /* the image's copy */

/* The procedure that holds offset; NULL if it is not known. */
const struct symbol *image_symbol_at(struct image *im, uint64_t offset);

/*
 * The procedure called name (exactly, demangled or raw; else the only one whose
 * demangled name without its argument list is name). Returns 0,
 * -CPI_ENOSYMBOL, or -CPI_ETOOMANY.
 */
int image_symbol_named(struct image *im, const char *name, const struct symbol **out);

/* All procedures, ascending; the image owns the array. */
const struct symbol *const *image_symbols(struct image *im, size_t *nr);

/* The i-th name of a procedure, as in the file; NULL if it has fewer. */
const char *image_alias(const struct image *im, const struct symbol *s, size_t i);

/* Whether the procedure's name is local to its source file. */
bool image_is_local(const struct image *im, const struct symbol *s);

/* The source line of offset: { NULL, 0 } when there is none. */
struct line image_line_at(struct image *im, uint64_t offset);

/*
 * A message about debug information that is referred to but missing; NULL if nothing is
 * missing. It is known only after lines or inlined functions were requested.
 */
const char *image_missing_lines(const struct image *im);

/*
 * The functions that were inlined around offset, the innermost first: each was called
 * by the next, the last by the procedure. Returns how many (0 for none); the image owns
 * the array. image_line_at() is a line of the innermost.
 */
size_t image_inlined_at(struct image *im, uint64_t offset, const struct inlined **out);

/*
 * The stack of inlined calls at offset: first the procedure, last the innermost
 * function. Returns how many; 0 if the debug information does not have it. If the file
 * is gone, that of its build id's debug file is used.
 */
size_t image_origins_at(struct image *im, uint64_t offset,
			struct origin out[IMAGE_MAX_ORIGINS]);

/*
 * Calls fn with the offset of each row of the line tables. Stops at fn's first non-zero
 * result and returns it.
 */
int image_each_row(struct image *im, int (*fn)(void *ctx, uint64_t offset), void *ctx);

/*
 * Calls fn with each source file that has an MD5 sum in the debug information; a file
 * may come several times. Stops at fn's first non-zero result and returns it.
 */
#define IMAGE_SUM_SIZE 16
typedef int (*image_sum_fn)(void *ctx, const char *file,
			    const uint8_t sum[IMAGE_SUM_SIZE]);
int image_each_sum(struct image *im, image_sum_fn fn, void *ctx);

/* Copies code bytes. Returns 0, or -CPI_ENOCODE if not all are known. */
int image_read(struct image *im, uint64_t offset, void *out, size_t size);

/*
 * The offsets in [start, end) where unwinding enters: catch clauses and clean-ups, from
 * the exception tables, ascending. The array belongs to the image. Returns 0, -ENOMEM,
 * or another -errno if the file cannot be read.
 */
int image_landing_pads(struct image *im, uint64_t start, uint64_t end,
		       const uint64_t **out, size_t *nr);

/* The link-time address of offset (what a disassembly shows), or offset itself. */
uint64_t image_address(const struct image *im, uint64_t offset);

/* The file's loadable segments; nr is 0 if the image is no file. */
struct elfrange;
const struct elfrange *image_segments(const struct image *im, size_t *nr);

/* The offset of a link-time address; false if no byte of the file has it. */
bool image_offset(const struct image *im, uint64_t address, uint64_t *offset);

#endif
