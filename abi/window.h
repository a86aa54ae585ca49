/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * window.h - a window: which instructions a program executes after an interrupt
 *
 * struct cpi_window is one window as the kernel side hands it to user space. It is
 * enough to find the same instructions again in the micro-ops
 * (analysis/windows/walk.h), and what data their loads and stores touched. struct
 * cpi_window_state is the state of the interpreter (kmod/window.h); it takes some KiB,
 * so it cannot be on the stack.
 */
#ifndef CPI_ABI_WINDOW_H
#define CPI_ABI_WINDOW_H

#include "abi/uop.h"

#define CPI_WINDOW_MAX     128 /* instructions; also the bits of taken and by_form */
#define CPI_WINDOW_TARGETS 28
#define CPI_WINDOW_DATA    (2 * CPI_WINDOW_TARGETS) /* words of data addresses */
#define CPI_WINDOW_NO_DATA 0xffffffffu              /* an address that is not known */
#define CPI_WINDOW_STORES  128                      /* a power of two */
#define CPI_WINDOW_CODE    640 /* bytes of instructions that forms interpreted */

/*
 * Why a window ended. If cpi_window_is_done() of the reason is true, the last
 * instruction was executed, and next is the address of the following one; otherwise
 * that address is not known.
 */
#define CPI_WINDOW_ENDS(X)                                                         \
	X(NONE, "none")                                                            \
	X(LENGTH, "length")           /* it is full */                             \
	X(UNSUPPORTED, "unsupported") /* an instruction */                         \
	X(SYSTEM_CALL, "system_call")                                              \
	X(TRAP, "trap")                     /* it raises an exception */           \
	X(REPEAT, "repeat")                 /* CMPS, SCAS, or a string backward */ \
	X(NO_CODE, "no_code")               /* next is not translated */           \
	X(UNKNOWN_BRANCH, "unknown_branch") /* its condition */                    \
	X(UNKNOWN_TARGET, "unknown_target") /* of an indirect jump */              \
	X(UNKNOWN_STORE, "unknown_store")   /* its address */                      \
	X(FAULT, "fault")                   /* memory that is not there */         \
	X(STORES_FULL, "stores_full")                                              \
	X(TARGETS_FULL, "targets_full")                                            \
	X(READS, "reads")     /* as many as are allowed */                         \
	X(STEPS, "steps")     /* likewise, micro-ops */                            \
	X(CHANGED, "changed") /* next is not the code that was translated */

#define CPI_WINDOW_ENUM(name, text) CPI_WINDOW_##name,
enum cpi_window_end { CPI_WINDOW_ENDS(CPI_WINDOW_ENUM) CPI_NR_WINDOW_ENDS };

static inline int cpi_window_is_done(unsigned int end)
{
	return end == CPI_WINDOW_LENGTH || end == CPI_WINDOW_NO_CODE ||
	       end == CPI_WINDOW_CHANGED;
}

/*
 * Targets and data share the record's last part. Targets grow from the front. Data
 * grows from the back: word k is data[CPI_WINDOW_DATA - 1 - k], for the first nr_data
 * instructions that touch data (cpi_uop_is_data()), in the order of execution. A word
 * is the low half of the address. A target that needs the room of words replaces the
 * last ones.
 */
struct cpi_window {
	uint64_t time;  /* the includer fills in start, time, tgid and tid */
	uint64_t start; /* address of the first instruction */
	uint64_t last;  /* address of the last instruction that was reached */
	uint64_t next;  /* address of the one after it, if known */
	uint32_t tgid;
	uint32_t tid;
	uint8_t nr_data;    /* words of data */
	uint8_t lacks_form; /* it ended where there is no form (abi/form.h) */
	uint16_t nr_code;   /* bytes of the instructions that forms interpreted */
	uint8_t nr;         /* instructions reached */
	uint8_t nr_jumps;   /* conditional jumps that were executed */
	uint8_t nr_targets; /* indirect jumps, calls and returns that were executed */
	uint8_t end;        /* enum cpi_window_end */
	uint64_t taken[CPI_WINDOW_MAX / 64];   /* a bit for each conditional jump */
	uint64_t by_form[CPI_WINDOW_MAX / 64]; /* a bit for each instruction that a form
						  interpreted */
	union {
		uint64_t target[CPI_WINDOW_TARGETS]; /* addresses */
		uint32_t data[CPI_WINDOW_DATA];
	};
};

_Static_assert(sizeof(struct cpi_window) == 304, "no padding");

/* Eight bytes that the window wrote. Masks have one bit per byte. */
struct cpi_window_store {
	uint64_t word; /* address / 8 */
	uint64_t value;
	uint32_t generation; /* an entry of another window's generation is free */
	uint8_t valid;
	uint8_t unknown;
	uint16_t unused;
};

_Static_assert(sizeof(struct cpi_window_store) == 24, "no padding");

struct cpi_window_state {
	uint64_t reg[CPI_NR_REGS];
	uint8_t unknown[CPI_NR_REGS]; /* a bit per byte of the register */
	uint32_t flags;
	uint32_t unknown_flags;
	uint32_t generation; /* of the store buffer; never 0 in a window */
	uint32_t nr_stores;
	uint32_t ip;   /* the micro-op */
	uint32_t base; /* of its page: a near jump goes to base + its address */
	uint32_t
		form_end; /* behind the last micro-op of the form; 0: it is of a page */
	uint32_t unused;
	uint32_t max; /* instructions, up to CPI_WINDOW_MAX */
	uint32_t nr_reads;
	uint32_t max_reads;
	uint32_t lead;         /* 1 within the lead-in (CPI_UOP_LEAD) */
	uint32_t lead_once;    /* integer registers that it writes once */
	uint32_t lead_flags;   /* flags at the window's start */
	uint32_t start_ip;     /* number of start's micro-op */
	uint32_t data_of;      /* the instruction of the last word of data: window.nr */
	uint64_t stored_lines; /* a set bit may mean a stored line: lines of 64 bytes
				  share 64 bits */
	/* The range that rep wrote: its bytes are unknown. */
	uint64_t blur_start;
	uint64_t blur_end;
	struct cpi_window window;
	struct cpi_window_store store[CPI_WINDOW_STORES];
};

#endif
