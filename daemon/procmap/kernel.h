/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.h - the kernel's own images: kernel text, modules, BPF programs, vDSO
 *
 * Symbols come from /proc/kallsyms and are lost at a reboot, so the symbols of sampled
 * procedures are stored with the profile. Offsets count from _text (_stext if kallsyms
 * has no _text) or from the start of a module's text. So the profiles of boots with
 * different KASLR offsets can be merged.
 */
#ifndef CPI_DAEMON_KERNEL_H
#define CPI_DAEMON_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/procmap/images.h"

struct kernel_symbol {
	uint64_t start, end; /* addresses; end is at most the next symbol's start */
	const char *name;
	struct known_image *image;
	uint64_t base; /* address of the image's offset 0 */
	bool idle;     /* part of the idle loop */
};

struct kernel;

/*
 * Reads the beginning of kallsyms; the first kernel_read_noted() after a miss reads
 * all. If kallsyms hides addresses, this succeeds, but every look-up fails. Returns 0
 * or -ENOMEM.
 */
int kernel_open(struct images *im, struct kernel **out);
void kernel_close(struct kernel *k); /* accepts NULL */

/*
 * Opens the running kernel's symbols, without those of modules, for samples that were
 * recorded elsewhere or earlier. source is the recorded kernel's. Returns 0, -ENOENT if
 * another kernel runs or its build id is unknown, -EACCES if kallsyms hides addresses,
 * or -ENOMEM.
 */
int kernel_open_recorded(struct images *im, const struct image_source *source,
			 struct kernel **out);

/*
 * Finds the symbol around a kernel address; its name is valid until the symbols are
 * read again. Reads no file.
 */
bool kernel_find(const struct kernel *k, uint64_t pc, struct kernel_symbol *out);

/*
 * Returns the address of a function of the kernel itself, by its name; 0 if it is not
 * known. Before all of kallsyms was read, this reads it up to the function.
 */
uint64_t kernel_address_of(const struct kernel *k, const char *name);

/*
 * Notes that a look-up found nothing, which may be due to a module that was loaded
 * later. Returns whether kernel_read_noted() will read kallsyms again: the first time
 * at once, then at most once in ten seconds, by now_ns; after kernel_text_changed() at
 * most once a second. All readings after the first take at most 1/1000 of a CPU in the
 * long run, and 200 ms at once: where BPF programs come and go all the time, samples in
 * new ones have no name for up to a minute or two. Reading makes all symbols that were
 * found before invalid.
 */
bool kernel_note_miss(struct kernel *k, uint64_t now_ns);
void kernel_read_noted(struct kernel *k);

/* Returns the image of idle samples; NULL if symbols are not visible. */
struct known_image *kernel_idle_image(const struct kernel *k);

/*
 * Finds the symbol at an offset of one of the kernel's images. Returns false if there
 * is none, or if this symbol was returned before.
 */
bool kernel_capture(struct kernel *k, const struct known_image *image, uint64_t offset,
		    struct kernel_symbol *out);

/* Makes kernel_capture() find all symbols again, for another database. */
void kernel_capture_again(struct kernel *k);

/*
 * Notes that kernel text was generated at an address (PERF_RECORD_KSYMBOL), or freed
 * there if size is 0: see kernel_note_miss(). Until all is read again, look-ups find
 * nothing there, and nothing in generated text that it has replaced, unless all was
 * read after that (when_ns, monotonic).
 */
void kernel_text_changed(struct kernel *k, uint64_t start, uint64_t size,
			 uint64_t when_ns);

/*
 * Gets the vDSO of this kernel, a complete ELF file. Returns 0, or -ENOENT if there is
 * none.
 */
int kernel_vdso(const void **bytes, size_t *size);

void kernel_mark_images(struct kernel *k);

/*
 * For kernel_open() and the tests: kernel_parse() reads symbols from the text of
 * kallsyms, which it changes. Returns 0 or -ENOMEM.
 */
int kernel_parse(struct kernel *k, char *text);
struct kernel *kernel_new(struct images *im, const struct image_source *source);

/* Whether a PC is in the kernel's half of the address space. */
static inline bool kernel_address(uint64_t pc)
{
	return pc >> 63;
}

#endif
