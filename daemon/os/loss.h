/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loss.h - every way in which a sample does not end up at an instruction
 *
 * received = stored + Σ of these, per stream. The names are stored in the
 * database and documented in cpid(8): never rename one.
 */
#ifndef CPI_DAEMON_LOSS_H
#define CPI_DAEMON_LOSS_H

#include "db/profile/stacktree.h"
#include "db/store/store.h"

#define LOSSES(X)                                                                      \
	X(AMBIGUOUS, UNKNOWN,                                                          \
	  "ambiguous")                 /* two images were mapped there at the time */  \
	X(MAP_GAP, UNKNOWN, "map_gap") /* mapping events were lost at the time */      \
	X(NO_PROCESS, UNKNOWN, "no_process") /* nothing is known of the tgid */        \
	X(NO_MAPPING, UNKNOWN, "no_mapping") /* nothing executable is mapped there */  \
	X(ANONYMOUS, UNKNOWN, "anonymous")   /* executable memory without a file */    \
	X(SPECIAL, UNKNOWN, "special") /* the kernel's own mappings, [vsyscall] */     \
	X(IMAGE_LIMIT, UNKNOWN, "image_limit")     /* more images than are kept */     \
	X(KERNEL_HIDDEN, UNKNOWN, "kernel_hidden") /* kallsyms shows no addresses */   \
	X(KERNEL_UNMAPPED, UNKNOWN, "kernel_unmapped") /* no kernel symbol there */    \
	X(GUEST, UNKNOWN, "guest")      /* in a virtual machine, or the hypervisor */  \
	X(RING_LOST, LOST, "ring_lost") /* the ring buffer was full */                 \
	X(TABLE_LOST, LOST, "table_lost")       /* the table's overflow was full */    \
	X(AUX_TRUNCATED, LOST, "aux_truncated") /* no room in the AUX buffer */        \
	X(AUX_COLLISION, LOST, "aux_collision") /* while another was in flight */      \
	X(AUX_PARTIAL, LOST, "aux_partial")     /* the AUX data has a gap */           \
	X(AUX_DAMAGED, LOST, "aux_damaged")     /* the AUX data is no record */        \
	X(NO_SPACE, LOST, "no_space")           /* the database failed for too long */ \
	X(UNWIND_FULL, LOST,                                                           \
	  "unwind_full") /* too many stacks waited for cpi-unwind */                   \
	X(UNWIND_DIED, LOST, "unwind_died") /* cpi-unwind failed or did not run */     \
	/* Only for windows: */                                                        \
	X(NOT_ENTERED, LOST, "not_entered") /* not in the interrupt's tables yet */    \
	X(NOT_TRANSLATED, LOST, "not_translated") /* its code, not yet */              \
	X(STALE, LOST, "stale")       /* mappings changed, or could have */            \
	X(EXCLUDED, LOST, "excluded") /* the process is left alone */                  \
	X(COMPAT, LOST, "compat")     /* 32-bit code */                                \
	X(NESTED, LOST, "nested")     /* an interrupt during another's window */

enum loss {
#define LOSS_ENUM(name, class, text) SAMPLE_##name,
	LOSSES(LOSS_ENUM)
#undef LOSS_ENUM
		NR_LOSSES,
	SAMPLE_KEPT = NR_LOSSES, /* not lost at all */
};

const char *loss_name(enum loss loss);
enum loss_class loss_class_of(enum loss loss);

/* How the database names a reason why a sample is of no image; false: it names none. */
bool loss_unknown(enum loss loss, enum stack_unknown *out);

/* Lists those of n[NR_LOSSES] that are not 0, as a flush wants them; returns how many.
 */
size_t loss_list(const uint64_t *n, int stream, struct flush_loss *out);

#endif
