// SPDX-License-Identifier: GPL-2.0-only
/*
 * stock.bpf.c - how samples are counted by the kernel's own maps
 *
 * What kmod/cpi.bpf.c is measured against, at the same interrupts: the maps that
 * BPF profilers use, keyed by process and PC, and a program that does nothing, whose
 * time is the measurement's own.
 */
#include "kmod/cpi_bpf_kernel.h"

#include <bpf/bpf_helpers.h>

#include "kmod/table.h"

#define NR_KEYS 65536

/* <linux/bpf.h> */
enum {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
};
enum { BPF_NOEXIST = 1 };

struct key {
	uint64_t pc, tgid;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NR_KEYS);
	__type(key, struct key);
	__type(value, uint64_t);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, NR_KEYS);
	__type(key, struct key);
	__type(value, uint64_t);
} lru SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CPI_TABLE_DEFAULT_BUCKETS);
	__type(key, uint32_t);
	__type(value, struct cpi_bucket);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} evicted SEC(".maps");

static __always_inline struct key key_of(const struct bpf_perf_event_data *ctx)
{
#if defined(__TARGET_ARCH_x86)
	uint64_t pc = ctx->regs.ip;
#else
	uint64_t pc = ctx->regs.pc;
#endif
	return (struct key){ pc, bpf_get_current_pid_tgid() >> 32 };
}

SEC("perf_event")
int count_nothing(struct bpf_perf_event_data *ctx)
{
	return 0;
}

SEC("perf_event")
int count_hash(struct bpf_perf_event_data *ctx)
{
	struct key key = key_of(ctx);
	uint64_t *count = bpf_map_lookup_elem(&hash, &key), one = 1;

	if (count)
		__sync_fetch_and_add(count, 1);
	else
		bpf_map_update_elem(&hash, &key, &one, BPF_NOEXIST);
	return 0;
}

SEC("perf_event")
int count_lru(struct bpf_perf_event_data *ctx)
{
	struct key key = key_of(ctx);
	uint64_t *count = bpf_map_lookup_elem(&lru, &key), one = 1;

	if (count)
		++*count;
	else
		bpf_map_update_elem(&lru, &key, &one, BPF_NOEXIST);
	return 0;
}

/* CPI's own buckets, in the map that is the CPU's by itself. */
SEC("perf_event")
int count_buckets(struct bpf_perf_event_data *ctx)
{
	struct key key = key_of(ctx);
	uint64_t word0 = cpi_entry_word0(key.pc, 0, CPI_OUTCOME_NONE);
	uint32_t at = cpi_table_hash(word0, key.tgid) & (CPI_TABLE_DEFAULT_BUCKETS - 1);
	struct cpi_bucket *b = bpf_map_lookup_elem(&buckets, &at);
	uint32_t way = at ^ (uint32_t)key.pc;
	struct cpi_entry victim;

	if (!b || cpi_table_hit(b, word0, key.tgid))
		return 0;
	if (cpi_table_place(b, word0, key.tgid, &way, &victim) == CPI_TABLE_EVICT)
		bpf_ringbuf_output(&evicted, &victim, sizeof(victim), BPF_RB_NO_WAKEUP);
	return 0;
}

char _license[] SEC("license") = "GPL";
