/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata.h - reads perf.data files record by record
 *
 * It reads files and output to pipes, all versions of the format, both byte orders,
 * compressed or not. It passes on records in the order of their times; the file is in
 * this order only within rounds. Records without a time are passed on at once. All
 * numbers are converted to this machine's byte order, except data that is called raw or
 * aux: these bytes are as on the sampled machine.
 *
 * Addresses of a 32-bit kernel, in samples, chains and mappings, get their upper 32
 * bits set. So the kernel has the upper half of the addresses, as on 64-bit machines,
 * and an address alone shows whether it is of the kernel or of a process.
 *
 * I1  Everything that is passed on is inside its record. A record with a wrong size or
 *     offset is corrupt, and ends the reading.
 * I2  Memory: PERFDATA_MAX_QUEUED bytes for records that wait for earlier ones, and for
 *     the header what the limits below allow.
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
#define PERFDATA_MAX_IMAGES  65536      /* images with known build ids */
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
	char *name; /* perf's name for it; "" if the file has none */
	uint32_t type;
	uint64_t config, config1, config2;
	uint64_t sample_type, read_format, branch_sample_type, regs_user, regs_intr;
	uint64_t sample_period; /* or the frequency, with is_freq */
	bool is_freq, sample_id_all;
	bool inherits; /* each thread has counts of its own, with the same ids */
	bool exclude_user, exclude_kernel, exclude_hv;
	bool use_clockid; /* times are of a clock that the user chose */
	uint8_t precise_ip;
	uint16_t max_stack; /* limit of frames in a chain; 0: the default of the machine
			     */
};

struct perfdata_image {
	char *name;
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_size;
	uint16_t misc; /* PERF_RECORD_MISC_CPUMODE_MASK: kernel, user or guest */
};

struct perfdata_pmu {
	uint32_t type;
	char *name;
};

/* The contents of the header; for output to a pipe, as far as it has been read. */
struct perfdata_info {
	char *host, *release, *arch, *cpu, *cpuid, *command, *version; /* or NULL */
	uint32_t nr_cpus;
	uint64_t clock_ns, wall_ns; /* the same moment by both clocks; 0: not known */
	struct perfdata_event *event;
	size_t nr_events;
	struct perfdata_image *image;
	size_t nr_images;
	struct perfdata_pmu *pmu;
	size_t nr_pmus;
	uint64_t damaged; /* a bit for each damaged feature of the header, which is left
			     out */
	bool is_big;      /* the file's byte order */
	bool is_pipe;     /* written to a pipe */
};

/* A taken branch, as the hardware recorded it. */
struct perf_branch {
	uint64_t from, to;
	bool mispredicted, predicted; /* neither: not known */
	bool in_transaction, abort;
	uint16_t cycles; /* since the previous branch; 0: not known */
};

struct perf_read {
	uint64_t value, id;
};

/*
 * The fields that an import needs; others are skipped. A field without its bit in
 * sample_type is 0. Pointers point into the record.
 */
struct perf_sample {
	uint64_t ip, addr, period;
	uint64_t read_format;
	const uint64_t *reads; /* perfdata_read_value() */
	size_t nr_reads;       /* the first belongs to this event */
	uint64_t *callchain;   /* includes PERF_CONTEXT_… markers */
	size_t nr_callchain;
	const void *raw;
	size_t raw_size;
	const uint64_t *branches; /* newest first; read them with perfdata_branch() */
	size_t nr_branches;
	size_t stack_size; /* bytes of the copy of the stack */
	uint64_t weight;   /* the whole 64-bit word */
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

/* A piece of an AUX buffer, which stays in the file. */
struct perf_aux {
	uint64_t offset, reference;
	uint32_t index, tid, cpu; /* UINT32_MAX: none */
	uint64_t at, size;        /* in the file */
};

/* How to convert the processor's time stamps to perf's times. */
struct perf_time_conv {
	uint64_t shift, mult, zero;
	uint64_t cycles, mask; /* with is_short */
	bool is_short;         /* the counter has only the bits in mask */
};

/* The kind of AUX data, and other data that its decoder needs. */
struct perf_aux_info {
	uint32_t type; /* PERFDATA_AUX_… */
	const uint64_t *word;
	size_t nr;
};
#define PERFDATA_AUX_ARM_SPE 4

struct perf_record {
	uint64_t offset; /* in the file, for messages; for a compressed record, that of
			    the record around it */
	uint32_t type;   /* PERF_RECORD_…, or PERFDATA_… */
	uint16_t misc;
	int event; /* index; -1: an event that the file does not describe */
	uint64_t time, id;
	uint32_t pid, tid;
	uint32_t cpu; /* only for records other than samples; UINT32_MAX: not known */
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
	const void *body; /* the raw bytes without the header; the only data of other
			     types */
	size_t size;
};

struct perfdata;

/*
 * Opens a regular file or a pipe; the caller still owns fd. name is for messages.
 * Returns 0, -CPI_EFORMAT if it is not a perf.data file, -CPI_ECORRUPT,
 * -CPI_ETRUNCATED, -CPI_ELIMIT, -ENOMEM or -errno; each is logged with the offset.
 */
int perfdata_open(int fd, const char *name, struct perfdata **out);
void perfdata_close(struct perfdata *pd); /* accepts NULL */

const struct perfdata_info *perfdata_info(const struct perfdata *pd);

/*
 * Calls fn for each record, except those about the file itself: attributes, features,
 * rounds. A sample with counts of several events (:S) becomes one sample of each. Stops
 * at fn's first non-zero result, and returns it; otherwise returns the same errors as
 * perfdata_open(). Records before an error have been passed on. May be called only
 * once.
 */
typedef int (*perfdata_fn)(void *ctx, const struct perf_record *r);
int perfdata_read(struct perfdata *pd, perfdata_fn fn, void *ctx);

/* Branch i of a sample of this file. */
struct perf_branch perfdata_branch(const struct perfdata *pd,
				   const struct perf_sample *s, size_t i);

/* The i-th of a sample's nr_reads. */
struct perf_read perfdata_read_value(const struct perf_sample *s, size_t i);

/* The name of the PMU of an event if the file has several PMUs; otherwise "". */
const char *perfdata_pmu_name(const struct perfdata *pd, int event);

#endif
