/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsource.h - the kernel side of windows: a BPF program or the kernel module
 *
 * Both read the same tables, which the daemon writes (abi/window_bpf.h), and make the
 * same records. A source has a separate clock on each CPU.
 */
#ifndef CPI_DAEMON_WINDOWSOURCE_H
#define CPI_DAEMON_WINDOWSOURCE_H

#include <stdbool.h>

#include "abi/pair.h"
#include "abi/window_bpf.h"
#include "daemon/collect/collector.h"

struct windowlate;

struct windowsource_config {
	const struct event *event;
	const uint64_t *period; /* the stream's mean; the owner's */
	struct perftarget target;
	int device;          /* of the module: the owner's; -1: there is none */
	int pairs_fd;        /* the collector's map of pairs; -1: one of its own */
	int epoll_fd;        /* becomes readable if a process is not in the tables */
	uint32_t nr_entries; /* of pages */
	uint64_t max_bytes;  /* of shared memory; cells get what the tables leave. 0:
				usual */
	const char *const *exclude; /* windowexclude.h: the cgroups */
	int nr_excluded;
	bool with_origins;       /* records of windows have origins */
	struct windowlate *late; /* holds the opened events; NULL: start() opens them */
	bool is_patient;         /* windowlate loads the program at a low priority */
};

struct windowsource {
	const struct windowsource_ops *ops;
	struct windowsource_config cfg;
	/* The tables that the kernel side reads. */
	struct cpi_window_process *process;
	struct cpi_window_entry *entry;
	union cpi_code_cell *cell;
	uint32_t nr_cells;      /* of pages */
	struct cpi_form *form;  /* abi/form.h */
	uint32_t nr_forms;      /* a power of two; 0: the source interprets none */
	uint32_t nr_form_cells; /* of their micro-ops; they follow those of pages */
	uint32_t nr_records;    /* capacity of the ring, or of each CPU's ring */
	bool ring_per_cpu;      /* each CPU has a ring */
};

/*
 * Of a record; the cpi_window_code_words() of its code, or NULL if there are none; and
 * its origin, of which cpi_window_origin_bytes() are there, or NULL if it has none.
 */
typedef void windowsource_take_fn(void *ctx, const struct cpi_window_record *r,
				  const uint64_t *code,
				  const struct cpi_window_origin *origin);

struct windowsource_ops {
	const char *name; /* source of streams */
	/*
	 * Makes the tables. 0; -EOPNOTSUPP if there is no such source; or another
	 * -errno, logged.
	 */
	int (*open)(const struct windowsource_config *cfg, const struct cpus *cpus,
		    struct windowsource **out);
	void (*close)(struct windowsource *ws);
	/* Starts the event on the CPUs, or cfg.late. 0 or -errno. */
	int (*start)(struct windowsource *ws, const struct cpus *cpus);
	void (*stop)(struct windowsource *ws); /* then call consume once more, for the
						  records that are left */
	/* After stop(): starts again, with the periods that cfg has now. 0 or -errno.
	 */
	int (*restart)(struct windowsource *ws);
	bool has_fixed_rate; /* then cfg.period must stay, and restart is NULL */
	int (*set_cpus)(struct windowsource *ws, const struct cpus *cpus);
	/*
	 * Draws new sampling periods; does nothing if the source draws one at
	 * each interrupt.
	 */
	void (*randomise)(struct windowsource *ws, const uint64_t *received);
	/*
	 * The grace period: waits until all windows that began before the call have
	 * ended. Later ones see all earlier writes. Returns 0 or -errno.
	 */
	int (*synchronize)(const struct windowsource *ws);
	/*
	 * Calls take with each record. 0 or -errno. Makes no system call, because each
	 * turn of the daemon's loop calls it.
	 */
	int (*consume)(struct windowsource *ws, windowsource_take_fn *take, void *ctx);
	/*
	 * Calls take with each pair of samples (abi/pair.h), and adds the source's
	 * counters to *sum. 0 or -errno; -EOPNOTSUPP if the source makes none.
	 */
	int (*pairs)(struct windowsource *ws,
		     void (*take)(void *ctx, const struct cpi_pair_record *r),
		     void *ctx, struct cpi_pair_counts *sum);
	void (*counts)(const struct windowsource *ws, struct cpi_window_counts *sum);
	/* Sets only the event's count and times in out. */
	void (*event)(const struct windowsource *ws, struct collector_counts *out);
};

extern const struct windowsource_ops windowsource_bpf;
extern const struct windowsource_ops windowsource_kmod;

/*
 * The numbers of forms and of their cells: forms get at most a fifth of the memory, and
 * their micro-ops as much. Also sets the usual max_bytes of a source with forms, beside
 * rings of so many bytes.
 */
void windowsource_size_forms(struct windowsource *ws, uint64_t rings);

/* The number of cells that fit beside the tables and this many other bytes. */
uint32_t windowsource_nr_cells(const struct windowsource_config *cfg, uint64_t others);

/* Bytes of all rings, a power of two. Origins need more room. */
uint32_t windowsource_ring_bytes(uint32_t nr_cpus, bool with_origins);

#endif
