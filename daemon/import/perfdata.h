/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata.h - perf.data files, record by record
 *
 * Files and what perf writes to a pipe, of all versions of the format, in either byte
 * order, compressed or not. Records are handed out in the order of their times, which
 * the file has only within rounds; those without a time at once. Everything is in this
 * machine's byte order then, but what is called raw or aux: these are bytes of the
 * machine that was sampled.
 *
 * Addresses of a 32-bit kernel, in samples, chains and mappings, get 32 bits set above
 * them, as if extended by their sign: so the kernel has the upper half of all
 * addresses, as on 64-bit machines, and differs from the processes, by their addresses
 * alone.
 *
 * I1  Nothing that is handed out lies outside of its record: a record that says
 *     otherwise is corrupt, and ends the reading.
 * I2  Memory: PERFDATA_MAX_QUEUED bytes of records that wait for others, and what the
 *     limits below allow of the header.
 */
#ifndef CPI_DAEMON_PERFDATA_H
#define CPI_DAEMON_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/profile/model.h"

#define PERFDATA_MAX_EVENTS  4096
#define PERFDATA_MAX_IDS     (1u << 20) /* of all events */
#define PERFDATA_MAX_IMAGES  65536      /* that build ids are known of */
#define PERFDATA_MAX_FEATURE (16u << 20)
#define PERFDATA_MAX_QUEUED  (64u << 20)
#define PERFDATA_MAX_STRING  4096

/* Record types that only files have, beside the kernel's PERF_RECORD_…. */
enum perfdata_type {
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_EVENT_TYPE,
	PERFDATA_TRACING_DATA,
	PERFDATA_BUILD_ID,
	PERFDATA_FINISHED_ROUND,
	PERFDATA_ID_INDEX,
	PERFDATA_AUXTRACE_INFO,
	PERFDATA_AUXTRACE,
	PERFDATA_AUXTRACE_ERROR,
	PERFDATA_THREAD_MAP,
	PERFDATA_CPU_MAP,
	PERFDATA_STAT_CONFIG,
	PERFDATA_STAT,
	PERFDATA_STAT_ROUND,
	PERFDATA_EVENT_UPDATE,
	PERFDATA_TIME_CONV,
	PERFDATA_HEADER_FEATURE,
	PERFDATA_COMPRESSED,
	PERFDATA_FINISHED_INIT,
	PERFDATA_COMPRESSED2,
};

struct perfdata_event {
	char *name; /* as perf calls it; "" where the file does not say */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint64_t sample_period; /* or frequency, with is_freq */
	bool is_freq, sample_id_all;
	bool exclude_user, exclude_kernel, exclude_hv;
	bool use_clockid; /* times are of a clock that was chosen */
	uint8_t precise_ip;
	uint16_t max_stack; /* frames of a chain; 0: the machine's own limit */
};

struct perfdata_image {
	char *name;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint16_t misc; /* PERF_RECORD_MISC_CPUMODE_MASK: whose it is */
};

struct perfdata_pmu {
	uint32_t type;
	char *name;
};

/* What the header says; in a pipe's file, what it has said so far. */
struct perfdata_info {
	char *host, *release, *arch, *cpu, *cpuid, *command, *version; /* or NULL */
	uint32_t nr_cpus;
	uint64_t clock_ns, wall_ns; /* one moment by both; 0: not known */
	struct perfdata_event *event;
	size_t nr_events;
	struct perfdata_image *image;
	size_t nr_images;
	struct perfdata_pmu *pmu;
	size_t nr_pmus;
	uint64_t damaged; /* features of the header that are left out, a bit each */
	bool is_big;      /* the file's byte order */
	bool is_pipe;     /* written to a pipe */
};

/* A taken branch, as the hardware recorded it. */
struct perf_branch {
	uint64_t from, to;
	bool mispredicted, predicted; /* neither: not known */
	bool in_transaction, abort;
	uint16_t cycles; /* since the branch before; 0: not known */
};

struct perf_read {
	uint64_t value, id;
};

/*
 * What an import needs; other fields are skipped. What sample_type has no bit for is 0.
 * Pointers are into the record.
 */
struct perf_sample {
	uint64_t ip, addr, period;
	uint64_t read_format;
	const uint64_t *reads; /* perfdata_read_value() */
	size_t nr_reads;       /* the first is this event's */
	uint64_t *callchain;   /* with PERF_CONTEXT_… among them */
	size_t nr_callchain;
	const void *raw;
	size_t raw_size;
	const uint64_t *branches; /* the newest first: perfdata_branch() */
	size_t nr_branches;
	size_t stack_size; /* bytes of the stack that were copied */
	uint64_t weight;   /* the whole word */
	uint64_t data_source, phys_addr;
};

struct perf_mmap {
	uint64_t address, size, page_offset;
	bool executable;
	uint8_t build_id_size;
	uint8_t build_id[BUILD_ID_MAX];
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	const char *name;
};

/* Bytes of an AUX buffer, which stay where they are. */
struct perf_aux {
	uint64_t offset, reference;
	uint32_t index, tid, cpu; /* UINT32_MAX: of none */
	uint64_t at, size;        /* in the file */
};

/* How perf makes times of the processor's ticks. */
struct perf_time_conv {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask; /* with is_short */
	bool is_short;         /* the counter has only the bits of mask */
};

/* Of which kind AUX data is, and what else its decoder wants to know. */
struct perf_aux_info {
	uint32_t type; /* PERFDATA_AUX_… */
	const uint64_t *word;
	size_t nr;
};
#define PERFDATA_AUX_ARM_SPE 4

struct perf_record {
	uint64_t
		offset; /* in the file, for messages; of the compressed one around it */
	uint32_t type;  /* PERF_RECORD_…, or PERFDATA_… */
	uint16_t misc;
	int event; /* index; -1: none that the file describes */
	uint64_t time, id;
	uint32_t pid, tid;
	uint32_t cpu; /* of other records than samples; UINT32_MAX: not known */
	union {
		struct perf_sample sample;
		struct perf_mmap mmap; /* also for PERF_RECORD_MMAP2 */
		const char *comm;
		struct {
			uint32_t ppid, ptid;
		} task;        /* fork, exit */
		uint64_t lost; /* LOST, LOST_SAMPLES */
		struct {
			uint64_t id;
			const char *path;
		} cgroup;
		struct {
			uint64_t offset, size, flags;
		} aux_part;          /* PERF_RECORD_AUX */
		struct perf_aux aux; /* PERFDATA_AUXTRACE */
		struct perf_aux_info aux_info;
		struct perf_time_conv time_conv;
	};
	const void *body; /* raw, without the header: of other types all there is */
	size_t size;
};

struct perfdata;

/*
 * Opens what fd (which stays the caller's) reads, a regular file or a pipe; name is for
 * messages. Returns 0, -CPI_EFORMAT for no perf.data at all, -CPI_ECORRUPT,
 * -CPI_ETRUNCATED, -CPI_ELIMIT, -ENOMEM or -errno; each is logged, with the offset.
 */
int perfdata_open(int fd, const char *name, struct perfdata **out);
void perfdata_close(struct perfdata *pd); /* accepts NULL */

const struct perfdata_info *perfdata_info(const struct perfdata *pd);

/*
 * Calls fn for each record, but those that are about the file itself: attributes,
 * features, rounds. A sample that has counts of several events (:S) is one of each.
 * Stops at fn's first non-zero return, which it returns; else as perfdata_open(). What
 * came before an error has been handed out. Once only.
 */
typedef int (*perfdata_fn)(void *ctx, const struct perf_record *r);
int perfdata_read(struct perfdata *pd, perfdata_fn fn, void *ctx);

/* Branch i of a sample of this file. */
struct perf_branch perfdata_branch(const struct perfdata *pd,
				   const struct perf_sample *s, size_t i);

/* The i-th of a sample's nr_reads. */
struct perf_read perfdata_read_value(const struct perf_sample *s, size_t i);

/* The name of the PMU that an event is of, where the file has several; or "". */
const char *perfdata_pmu_name(const struct perfdata *pd, int event);

#endif
