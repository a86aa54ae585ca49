/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model.h - the structs for images, streams and platforms
 */
#ifndef CPI_DB_MODEL_H
#define CPI_DB_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_MAX      20
#define CONTENT_HASH_SIZE 32

/* Stored: never renumber. The comment says where offsets of the kind begin. */
#define IMAGE_KINDS(X)                                                               \
	X(FILE, 0, "file")     /* the file's first byte */                           \
	X(KERNEL, 1, "kernel") /* _text */                                           \
	X(MODULE, 2, "module") /* the module's text section */                       \
	X(VDSO, 3, "vdso")     /* the vDSO's base */                                 \
	X(IDLE, 4, "idle")     /* _text: the kernel's idle loop, in the idle task */ \
	X(BPF, 5, "bpf")       /* the program's (or trampoline's) first byte */      \
	X(JIT, 6, "jit")       /* a hash that identifies the code object */          \
	X(TRACE, 7, "trace")   /* address 0: the program of a pipeline trace */

enum image_kind {
#define IMAGE_KIND_ENUM(name, value, text) IMAGE_##name = value,
	IMAGE_KINDS(IMAGE_KIND_ENUM)
#undef IMAGE_KIND_ENUM
};

const char *image_kind_str(enum image_kind kind); /* "file"; "?" for an unknown one */
bool image_kind_is_kernel(enum image_kind kind);  /* runs in kernel mode */

/*
 * The identity of an image. Two descriptions mean the same image if kind, name, build
 * id and content hash are equal. If neither hash nor build id is known, device, inode,
 * size and mtime have to be equal as well.
 */
struct image_desc {
	enum image_kind kind;
	const char *name; /* path as the process saw it, "[kernel]", "[vdso]", … */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none known */
	bool has_content;
	uint8_t content[CONTENT_HASH_SIZE];     /* SHA-256 of the executable segments */
	uint64_t device, inode, size, mtime_ns; /* 0 where not known */
};

/*
 * A hash that is equal for all descriptions of one image, in any database. Never
 * stored.
 */
uint64_t image_desc_hash(const struct image_desc *d);

/* Landing models: to which instruction a sample's PC points. */
#define LANDINGS(X)                                                                 \
	X(HEAD, 0, "head")               /* the stalled instruction itself */       \
	X(AFTER_GROUP, 1, "after-group") /* the one after the last retired group */ \
	X(PRECISE, 2,                                                               \
	  "precise") /* the sampled instruction, as the hardware recorded it */

enum landing {
#define LANDING_ENUM(name, value, text) LANDING_##name = value,
	LANDINGS(LANDING_ENUM)
#undef LANDING_ENUM
};

const char *landing_str(enum landing landing);

/*
 * One event, sampled by one source with one mean period. A profile belongs to one
 * stream.
 */
struct stream_desc {
	const char *event;    /* as perf names it: "cpu-clock", "cycles:u" */
	const char *source;   /* "perf", "kmod", "bpf", "tick", "import", "replay" */
	const char *cpu_type; /* "" on machines with one kind of core */
	const char *unit;     /* "ns", "cycles" or "events": what the period counts */
	uint64_t mean_period;
	enum landing landing;
};

/* The machine. cycles = ns * clock_hz / 1e9 in every conversion. */
struct platform_desc {
	const char *host;
	const char *arch;    /* uname -m */
	const char *cpu;     /* model name */
	const char *release; /* uname -r */
	const char *boot_id;
	uint64_t clock_hz;
	uint32_t nr_cpus;
};

#endif
