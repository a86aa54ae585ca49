/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel.c - the symbols of kallsyms, sorted by address
 *
 * kallsyms has about 5 MB. At the start only its beginning is read. All of it is read
 * after a look-up that found nothing, but never during one; the first such look-up
 * comes soon after the start. A look-up is one binary search. There are about 120,000
 * symbols, so a symbol takes only 16 bytes: its end is computed from the next symbol
 * and from its image, and an image and its base are stored once for all the image's
 * symbols (struct symbol_place).
 */
#include "config.h"

#include "daemon/procmap/kernel.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/search.h"
#include "base/times.h"
#include "daemon/os/time_quota.h"
#include "decode/elfid.h"

#define KALLSYMS                   "/proc/kallsyms"
#define KALLSYMS_MAX_BYTES         (256u << 20)
#define SEARCH_BYTES               65536 /* of a read in search_address() */
#define RELOAD_INTERVAL_NS         (10 * NSEC_PER_SEC)
#define RELOAD_CHANGED_INTERVAL_NS NSEC_PER_SEC
#define VSYSCALL_PAGE              0xffffffffff600000
#ifdef __x86_64__
#define HAVE_VSYSCALL true
#else
#define HAVE_VSYSCALL false
#endif

#define MAX_MARKS 4096 /* of new text, between two readings */

/* CPU time of all readings after the first: one takes some 50 ms. */
static const struct time_quota_limit reload_limit = { 1, 200 * NSEC_PER_MSEC };

/* The image of some symbols, and the address of its offset 0. */
struct symbol_place {
	struct known_image *image;
	uint64_t base;
};

struct packed_symbol {
	uint64_t start;
	uint32_t name; /* offset in kernel.names */
	uint32_t place : 29;
	uint32_t idle : 1, captured : 1;
	uint32_t unknown : 1; /* other text began here or replaced it */
};

#define MAX_PLACES (1u << 29)

struct kernel {
	struct images *images;
	struct image_source source; /* the build id of the running kernel */
	struct known_image *image, *idle;
	struct packed_symbol *symbol; /* ascending starts */
	size_t nr;
	struct symbol_place *place;
	size_t nr_places;
	struct buf names;    /* own_names bytes are of the kernel's own symbols */
	size_t own_names;    /* 0: these were not read yet */
	uint64_t first, end; /* _text or _stext, _etext */
	uint64_t begun_ns;   /* when the last reading began */
	uint64_t read_ns;    /* 0: only its beginning was read */
	uint32_t nr_marks;   /* since then */
	bool changed;        /* since read_ns */
	struct time_quota reloads;
	bool missed; /* kernel_read_noted() is to read it anew */
	bool without_modules;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(a, *(const char *const *)b);
}

/*
 * Procedures of the idle loop: those that perf also treats as idle, and the code around
 * them.
 */
static bool is_idle_name(const char *name)
{
	static const char *const idle[] = {
		/* sorted */
		"acpi_idle_do_entry",
		"acpi_idle_enter",
		"acpi_processor_ffh_cstate_enter",
		"acpi_safe_halt",
		"arch_cpu_idle",
		"arch_cpu_idle_enter",
		"arch_cpu_idle_exit",
		"cpu_do_idle",
		"cpu_idle",
		"cpu_idle_poll",
		"cpu_startup_entry",
		"cpuidle_enter",
		"cpuidle_enter_state",
		"cpuidle_idle_call",
		"ct_cpuidle_enter",
		"ct_cpuidle_exit",
		"ct_idle_enter",
		"ct_idle_exit",
		"default_idle",
		"default_idle_call",
		"do_idle",
		"haltpoll_enter_idle",
		"intel_idle",
		"intel_idle_hlt",
		"intel_idle_ibrs",
		"intel_idle_irq",
		"mwait_idle",
		"mwait_idle_with_hints",
		"mwait_idle_with_hints.constprop.0",
		"native_safe_halt",
		"poll_idle",
		"psci_enter_idle_state",
		"pv_native_safe_halt",
		"tick_nohz_idle_enter",
		"tick_nohz_idle_exit",
		"tick_nohz_idle_stop_tick",
	};

	return bsearch(name, idle, sizeof(idle) / sizeof(idle[0]), sizeof(idle[0]),
		       compare_names);
}

/*
 * Compares only with the last place, because kallsyms lists the symbols of an image
 * together.
 */
static int add_place(struct kernel *k, struct known_image *image, uint64_t base)
{
	const struct symbol_place *last =
		k->nr_places ? &k->place[k->nr_places - 1] : NULL;

	if (last && last->image == image && last->base == base)
		return 0;
	if (k->nr_places == MAX_PLACES)
		return -ENOMEM;
	if (GROW(k->place, k->nr_places))
		return -ENOMEM;
	k->place[k->nr_places++] = (struct symbol_place){ image, base };
	return 0;
}

static int add_symbol(struct kernel *k, const struct kernel_symbol *s)
{
	const size_t name = k->names.len;
	int err = add_place(k, s->image, s->base);

	if (err || GROW(k->symbol, k->nr))
		return -ENOMEM;
	if (name > UINT32_MAX)
		return -ENOMEM;
	buf_put(&k->names, s->name, strlen(s->name) + 1);
	if (k->names.err)
		return k->names.err;
	k->symbol[k->nr++] =
		(struct packed_symbol){ .start = s->start,
					.name = (uint32_t)name,
					.place = (uint32_t)k->nr_places - 1,
					.idle = s->idle };
	return 0;
}

static const char *name_of(const struct kernel *k, const struct packed_symbol *p)
{
	return (const char *)k->names.data + p->name;
}

/*
 * A symbol ends where the next one begins, or where its image ends. The end of a
 * module is not known, so there a symbol has at most 1 MiB.
 */
static uint64_t end_of(const struct kernel *k, const struct packed_symbol *p)
{
	const uint64_t next = p + 1 < k->symbol + k->nr ? p[1].start : UINT64_MAX;
	uint64_t limit = p->start + (1u << 20);

	if (k->place[p->place].image == k->image)
		limit = k->end;
	if (p->start >= VSYSCALL_PAGE)
		limit = VSYSCALL_PAGE + 4096;
	return next < limit ? next : limit;
}

static void unpack(const struct kernel *k, const struct packed_symbol *p,
		   struct kernel_symbol *out)
{
	*out = (struct kernel_symbol){ .start = p->start,
				       .end = end_of(k, p),
				       .name = name_of(k, p),
				       .image = k->place[p->place].image,
				       .base = k->place[p->place].base,
				       .idle = p->idle };
}

/* Reads a number from a one-line sysfs file. Returns 0 on failure. */
static uint64_t read_address(const char *path)
{
	struct buf text = { 0 };
	uint64_t v = 0;

	if (!file_read_all(AT_FDCWD, path, 4096, &text))
		v = strtoull(buf_str(&text), NULL, 16);
	buf_fini(&text);
	return v;
}

static void read_notes(const char *path, struct image_source *source)
{
	struct buf notes = { 0 };

	*source = (struct image_source){ 0 };
	if (!file_read_all(AT_FDCWD, path, 65536, &notes) && notes.len)
		elfid_from_notes(notes.data, notes.len, source->build_id,
				 &source->build_id_size);
	buf_fini(&notes);
}

/*
 * Finds the image of the symbols of a module. *base is the address of the module's
 * text; 0: not known.
 */
static struct known_image *module_image(struct kernel *k, const char *module,
					uint64_t *base)
{
	struct image_source source;
	char path[256], name[128];

	snprintf(path, sizeof(path), "/sys/module/%s/sections/.text", module);
	*base = read_address(path);
	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", module);
	read_notes(path, &source);
	snprintf(name, sizeof(name), "[%s]", module);
	return images_get_special(k->images, IMAGE_MODULE, name, &source);
}

/*
 * Whether the symbol is code that the kernel generated at run time. Each such symbol is
 * an image of its own.
 */
static bool is_generated(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

/* The vsyscall page: each process has it at a fixed address in the kernel's half. */
static int add_vsyscall(struct kernel *k)
{
	static const struct image_source none;
	static const struct {
		uint64_t start;
		const char *name;
	} calls[] = {
		{ VSYSCALL_PAGE, "vsyscall_gettimeofday" },
		{ VSYSCALL_PAGE + 0x400, "vsyscall_time" },
		{ VSYSCALL_PAGE + 0x800, "vsyscall_getcpu" },
	};
	struct kernel_symbol s = {
		.image = images_get_special(k->images, IMAGE_MODULE, "[vsyscall]",
					    &none),
		.base = VSYSCALL_PAGE,
	};
	int err = 0;

	for (size_t i = 0; s.image && i < sizeof(calls) / sizeof(calls[0]) && !err;
	     i++) {
		s.start = calls[i].start;
		s.name = calls[i].name;
		err = add_symbol(k, &s);
	}
	return err;
}

struct module {
	char name[64];
	struct known_image *image;
	uint64_t base;
};

static int add_line(struct kernel *k, char *line, struct module *last)
{
	static const struct image_source none;
	struct kernel_symbol s = { 0 };
	char *name, *module;

	s.start = strtoull(line, &name, 16);
	if (name[0] != ' ' || !name[1] || !strchr("tTwW", name[1]) || name[2] != ' ')
		return 0;
	name += 3;
	if (*name == '$') /* an AArch64 mapping symbol, not a procedure */
		return 0;
	module = strchr(name, '\t');
	if (!module) {
		if (s.start < k->first || s.start >= k->end)
			return 0;
		s.image = k->image;
		s.base = k->first;
		s.idle = is_idle_name(name);
	} else if (k->without_modules) {
		return 0;
	} else {
		*module = '\0';
		module += 2; /* "\t[" */
		module[strcspn(module, "]")] = '\0';
		if (is_generated(module)) {
			s.image = images_get_special(k->images, IMAGE_BPF, name, &none);
			s.base = s.start;
		} else {
			if (strcmp(last->name, module)) {
				snprintf(last->name, sizeof(last->name), "%s", module);
				last->image = module_image(k, module, &last->base);
			}
			s.image = last->base ? last->image : NULL;
			s.base = last->base;
		}
	}
	s.name = name;
	return s.image && s.start ? add_symbol(k, &s) : 0;
}

/*
 * Ranks the names of one address: fewer leading underscores are better, then longer
 * names.
 */
static int name_rank(const char *name)
{
	int rank = (int)strlen(name);

	if (rank > 200)
		rank = 200;
	return rank - 1000 * (int)strspn(name, "_");
}

static int by_start(const void *a, const void *b, void *names)
{
	const struct packed_symbol *x = a, *y = b;
	const char *x_name = (const char *)names + x->name;
	const char *y_name = (const char *)names + y->name;
	int difference;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	difference = name_rank(y_name) - name_rank(x_name);
	return difference ? difference : strcmp(x_name, y_name);
}

/*
 * Sorts the symbols, and keeps the best name of each address. The first nr_sorted are
 * so already; on x86-64 all others follow them.
 */
static void tidy(struct kernel *k, size_t nr_sorted)
{
	size_t kept = nr_sorted;

	for (size_t i = nr_sorted; i < k->nr && kept; i++) {
		if (k->symbol[i].start <= k->symbol[nr_sorted - 1].start)
			kept = 0;
	}
	qsort_r(k->symbol + kept, k->nr - kept, sizeof(*k->symbol), by_start,
		k->names.data);
	for (size_t i = kept; i < k->nr; i++) {
		if (!kept || k->symbol[kept - 1].start != k->symbol[i].start)
			k->symbol[kept++] = k->symbol[i];
	}
	k->nr = kept;
}

/* Returns the address in the line with this end; 0 if there is none. */
static uint64_t find_address(const char *text, const char *line_end)
{
	const char *found = strstr(text, line_end);

	while (found && found > text && found[-1] != '\n')
		found--;
	return found ? strtoull(found, NULL, 16) : 0;
}

/*
 * Finds the bounds of the kernel's text; offsets count from the first address. On
 * AArch64 kallsyms has only symbols from _stext on, so _stext is used instead of
 * _text; its distance to the code is constant as well.
 */
static void find_bounds(struct kernel *k, const char *text)
{
	k->first = find_address(text, " _text\n");
	if (!k->first)
		k->first = find_address(text, " _stext\n");
	k->end = find_address(text, " _etext\n");
}

/*
 * Drops all symbols but the kernel's own, which stay the same until the next boot. They
 * are in the first place.
 */
static void keep_own(struct kernel *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < k->nr && k->own_names; i++) {
		if (!k->symbol[i].unknown && !k->symbol[i].place)
			k->symbol[kept++] = k->symbol[i];
	}
	k->nr = kept;
	k->nr_places = k->own_names ? 1 : 0;
	buf_reset(&k->names);
	k->names.len = k->own_names;
	k->nr_marks = 0;
}

/* Cuts the text before the first line of a module, or of generated text. */
static char *cut_others(char *text)
{
	char *others = strchr(text, '\t');

	while (others && others > text && others[-1] != '\n')
		others--;
	if (others && others > text)
		others[-1] = '\0';
	return others;
}

static int add_lines(struct kernel *k, char *text)
{
	struct module last = { "", NULL, 0 };
	char *line;
	int err = 0;

	while (!err && (line = strsep(&text, "\n")))
		err = add_line(k, line, &last);
	return err;
}

int kernel_parse(struct kernel *k, char *text)
{
	size_t nr_sorted;
	char *others;
	int err = 0;

	find_bounds(k, text);
	if (!k->first)
		k->own_names = 0;
	keep_own(k);
	if (!k->first)
		return 0;
	nr_sorted = k->nr;
	others = cut_others(text);
	if (!k->own_names && others != text) {
		err = add_lines(k, text);
		k->own_names = err ? 0 : k->names.len;
	}
	if (!err && others)
		err = add_lines(k, others);
	if (!err && HAVE_VSYSCALL)
		err = add_vsyscall(k);
	tidy(k, nr_sorted);
	return err;
}

static int read_and_parse(struct kernel *k)
{
	struct buf text = { 0 };
	int err;

	k->begun_ns = time_mono_ns();
	err = file_read_all(AT_FDCWD, KALLSYMS, KALLSYMS_MAX_BYTES, &text);
	k->read_ns = time_mono_ns();
	k->changed = false;
	if (!err) {
		buf_str(&text); /* ends with NUL */
		err = text.err;
	}
	if (!err)
		err = kernel_parse(k, (char *)text.data);
	buf_fini(&text);
	return err;
}

static int load(struct kernel *k)
{
	const bool is_first = !k->read_ns;
	const uint64_t begun_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const int err = read_and_parse(k);

	if (!is_first)
		time_quota_spend(&k->reloads,
				 time_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun_ns);
	return err;
}

/*
 * Reads kallsyms until a line ends with one of two texts. Returns the address in this
 * line; 0 if there is none, or kallsyms hides it.
 */
static uint64_t search_address(const char *line_end, const char *or_line_end)
{
	const int fd = open(KALLSYMS, O_RDONLY | O_CLOEXEC);
	char text[SEARCH_BYTES + 1];
	const char *found = NULL, *last;
	uint64_t address = 0;
	size_t len = 0;
	ssize_t got = 1;

	while (fd >= 0 && !found && got > 0) {
		got = read(fd, text + len, SEARCH_BYTES - len);
		len += got > 0 ? (size_t)got : 0;
		text[len] = '\0';
		found = strstr(text, line_end);
		if (!found)
			found = strstr(text, or_line_end);
		if (found) {
			address = find_address(text, found);
			break;
		}
		last = memrchr(text, '\n', len); /* the rest is a part of a line */
		len = last ? len - (size_t)(last - text) : 0;
		memmove(text, last ? last : text, len);
	}
	if (fd >= 0)
		close(fd);
	return address;
}

struct kernel *kernel_new(struct images *im, const struct image_source *source)
{
	struct kernel *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->images = im;
	k->source = *source;
	k->image = images_get_special(im, IMAGE_KERNEL, "[kernel]", source);
	k->idle = images_get_special(im, IMAGE_IDLE, "[idle]", source);
	if (!k->image || !k->idle) {
		free(k);
		return NULL;
	}
	return k;
}

int kernel_open(struct images *im, struct kernel **out)
{
	struct image_source source;
	struct kernel *k;

	read_notes("/sys/kernel/notes", &source);
	k = kernel_new(im, &source);
	if (!k)
		return -ENOMEM;
	k->first = search_address(" _text\n", " _stext\n");
	*out = k;
	return 0;
}

static bool same_build_id(const struct image_source *a, const struct image_source *b)
{
	return a->build_id_size && a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/*
 * Offsets of the kernel's own text count from the same symbol here and in a recording,
 * but those of a module may count from different sections.
 */
int kernel_open_recorded(struct images *im, const struct image_source *source,
			 struct kernel **out)
{
	struct image_source running;
	struct kernel *k;
	int err;

	read_notes("/sys/kernel/notes", &running);
	if (!same_build_id(&running, source))
		return -ENOENT;
	k = kernel_new(im, source);
	if (!k)
		return -ENOMEM;
	k->without_modules = true;
	err = load(k);
	if (!err && !k->first)
		err = -EACCES;
	if (err)
		kernel_close(k);
	else
		*out = k;
	return err;
}

void kernel_close(struct kernel *k)
{
	if (!k)
		return;
	free(k->symbol);
	free(k->place);
	buf_fini(&k->names);
	free(k);
}

static struct packed_symbol *find_symbol(const struct kernel *k, uint64_t pc)
{
	const size_t next = SEARCH(i, k->nr, k->symbol[i].start > pc);
	struct packed_symbol *p = next ? &k->symbol[next - 1] : NULL;

	return p && !p->unknown && pc < end_of(k, p) ? p : NULL;
}

bool kernel_find(const struct kernel *k, uint64_t pc, struct kernel_symbol *out)
{
	const struct packed_symbol *p = find_symbol(k, pc);

	if (p)
		unpack(k, p, out);
	return p;
}

uint64_t kernel_address_of(const struct kernel *k, const char *name)
{
	char line_end[128];

	if (!k->read_ns && !k->nr) {
		snprintf(line_end, sizeof(line_end), " %s\n", name);
		return k->first ? search_address(line_end, line_end) : 0;
	}
	for (size_t i = 0; i < k->nr; i++) {
		const struct packed_symbol *p = &k->symbol[i];

		if (!p->unknown && k->place[p->place].image == k->image &&
		    !strcmp(name_of(k, p), name))
			return p->start;
	}
	return 0;
}

bool kernel_note_miss(struct kernel *k, uint64_t now_ns)
{
	uint64_t wait = k->changed ? RELOAD_CHANGED_INTERVAL_NS : RELOAD_INTERVAL_NS;

	if (k->first &&
	    (!k->read_ns || (now_ns >= k->read_ns + wait &&
			     time_quota_has(&k->reloads, &reload_limit, now_ns))))
		k->missed = true;
	return k->missed;
}

void kernel_read_noted(struct kernel *k)
{
	const int err = k->missed ? load(k) : 0;

	if (err)
		log_warn("kernel: " KALLSYMS ": %s", err_str(err));
	k->missed = false;
}

struct known_image *kernel_idle_image(const struct kernel *k)
{
	return k->first ? k->idle : NULL;
}

/* Finds the symbol at an offset of an image, or NULL. */
static struct packed_symbol *
find_in_image(const struct kernel *k, const struct known_image *image, uint64_t offset)
{
	struct packed_symbol *p = NULL;

	if (image == k->image || image == k->idle)
		return find_symbol(k, k->first + offset);
	for (size_t i = 0; i < k->nr_places && !p; i++) {
		if (k->place[i].image == image)
			p = find_symbol(k, k->place[i].base + offset);
	}
	return p && k->place[p->place].image == image ? p : NULL;
}

bool kernel_capture(struct kernel *k, const struct known_image *image, uint64_t offset,
		    struct kernel_symbol *out)
{
	struct packed_symbol *p = find_in_image(k, image, offset);

	if (!p || p->captured)
		return false;
	p->captured = true;
	unpack(k, p, out);
	return true;
}

void kernel_capture_again(struct kernel *k)
{
	for (size_t i = 0; i < k->nr; i++)
		k->symbol[i].captured = false;
}

static bool is_generated_symbol(const struct kernel *k, size_t i)
{
	return k->place[k->symbol[i].place].image->desc.kind == IMAGE_BPF;
}

/*
 * kallsyms has no sizes, so without a mark of its own new text would also get the name
 * of a symbol before it. If there is no room for a mark, generated text before it is
 * unknown, too.
 */
static void mark_new_text(struct kernel *k, size_t at, uint64_t start)
{
	if (at < k->nr && k->symbol[at].start == start)
		return;
	if (k->nr_marks == MAX_MARKS || GROW(k->symbol, k->nr)) {
		if (at && is_generated_symbol(k, at - 1))
			k->symbol[at - 1].unknown = 1;
		return;
	}
	k->nr_marks++;
	memmove(k->symbol + at + 1, k->symbol + at, (k->nr - at) * sizeof(*k->symbol));
	k->symbol[at] = (struct packed_symbol){ .start = start, .unknown = 1 };
	k->nr++;
}

/* Symbols of the kernel itself and of modules stay: their text is not generated. */
void kernel_text_changed(struct kernel *k, uint64_t start, uint64_t size,
			 uint64_t when_ns)
{
	const size_t at = SEARCH(i, k->nr, k->symbol[i].start >= start);

	k->changed = true;
	if (!size || !k->nr || when_ns < k->begun_ns ||
	    (start >= k->first && start < k->end))
		return;
	for (size_t i = at; i < k->nr && k->symbol[i].start - start < size; i++) {
		if (is_generated_symbol(k, i))
			k->symbol[i].unknown = 1;
	}
	mark_new_text(k, at, start);
}

int kernel_vdso(const void **bytes, size_t *size)
{
	const Elf64_Ehdr *h = (const void *)getauxval(AT_SYSINFO_EHDR);
	size_t end;

	if (!h)
		return -ENOENT;
	end = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
	for (int i = 0; i < h->e_phnum; i++) {
		const Elf64_Phdr *ph = (const void *)((const char *)h + h->e_phoff);

		if (ph[i].p_type == PT_LOAD && ph[i].p_offset + ph[i].p_filesz > end)
			end = ph[i].p_offset + ph[i].p_filesz;
	}
	*bytes = h;
	*size = end;
	return 0;
}

void kernel_mark_images(struct kernel *k)
{
	k->image->marked = k->idle->marked = true;
	for (size_t i = 0; i < k->nr_places; i++)
		k->place[i].image->marked = true;
}
