/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_table.c - the BPF programs' tables, of all NUMA nodes
 *
 * A program is attached to its event by ioctl, not by a link, so closing the event's
 * descriptor detaches it.
 */
#include "config.h"

#include "daemon/collect/bpf_table.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/collect/bpf_grace.h"
#include "daemon/collect/bpf_log.h"
#include "daemon/collect/bpf_node.h"
#include "daemon/os/nodes.h"

#define MAX_TABLE_BYTES (64u << 20)
#define NR_BUCKETS      64u /* 4 KiB */
/* 256 KiB; filled from the beginning, so unused pages are never touched */
#define NR_ENTRIES   16384u
#define MIN_ENTRIES  512u
#define MAX_EXEC_IDS (CPI_MAX_TGID + 1)

/* The counters of a CPU, and the node that holds its tables. */
struct cpu_tables {
	const struct bpf_node *node;
	struct cpi_bpf_cpu *cpu;
};

struct bpf_table {
	struct bpf_table_config cfg;
	struct bpf_node *node[NODES_MAX];
	int nr_nodes;
	struct cpu_tables *place; /* by CPU */
	uint32_t active;          /* the set, on all CPUs */
	struct bpf_grace *grace;
};

struct bpf_table_config bpf_table_default(int nr_events, uint32_t nr_cpus)
{
	struct bpf_table_config cfg = {
		.nr_events = nr_events,
		.nr_cpus = nr_cpus,
		.nr_buckets = NR_BUCKETS,
		.nr_entries = NR_ENTRIES,
		.outcome = true,
	};

	while (cfg.nr_entries > MIN_ENTRIES &&
	       (uint64_t)nr_cpus * CPI_BPF_SETS * cfg.nr_entries *
			       sizeof(struct cpi_entry) >
		       MAX_TABLE_BYTES)
		cfg.nr_entries /= 2;
	return cfg;
}

/* ---- loading ---- */

/* Returns how many entries in an overflow array cause a notice. */
static uint32_t nr_full(const struct bpf_table *t)
{
	return t->cfg.nr_entries - t->cfg.nr_entries / 4;
}

static int open_node(struct bpf_table *t, const struct nodes *nodes, int index)
{
	struct bpf_node_config cfg = {
		.node = nodes->nr > 1 ? nodes->id[index] : -1,
		.nr_slots = nodes->nr_cpus[index],
		.nr_events = t->cfg.nr_events,
		.nr_buckets = t->cfg.nr_buckets,
		.nr_entries = t->cfg.nr_entries,
		.nr_full = nr_full(t),
		.tick = t->cfg.tick,
		.outcome = t->cfg.outcome,
		.by_thread = t->cfg.by_thread,
		.exec_ids = !index,
		.notices_fd = index ? bpf_node_notices(t->node[0]) : -1,
		.pairs = t->cfg.pairs,
		.nr_all_cpus = t->cfg.nr_cpus,
		.pairs_fd = index ? bpf_node_pairs(t->node[0]) : -1,
	};
	int err;

	for (uint32_t i = 0; i < t->cfg.nr_cpus; i++)
		if (nodes->cpu[i].node == index)
			cfg.nr_cpus = i + 1;
	err = bpf_node_open(&cfg, &t->node[index]);
	if (err)
		return err;
	t->nr_nodes++;
	for (uint32_t i = 0; i < cfg.nr_cpus; i++)
		bpf_node_cpu(t->node[index], i)->slot = CPI_BPF_NO_SLOT;
	return 0;
}

static int open_nodes(struct bpf_table *t)
{
	struct nodes *nodes = malloc(sizeof(*nodes));
	int err = 0;

	if (!nodes)
		return -ENOMEM;
	nodes_read(NODES_DIR, t->cfg.nr_cpus, nodes);
	for (int i = 0; i < nodes->nr && !err; i++)
		err = open_node(t, nodes, i);
	for (uint32_t i = 0; i < t->cfg.nr_cpus && !err; i++) {
		struct cpu_tables *p = &t->place[i];

		p->node = t->node[nodes->cpu[i].node];
		p->cpu = bpf_node_cpu(p->node, i);
		p->cpu->slot = nodes->cpu[i].slot;
	}
	free(nodes);
	return err;
}

static void explain(const struct bpf_table *t, int err)
{
	struct buf why = { 0 };

	buf_puts(&why, err_str(err));
	if (err == -EPERM || err == -EACCES)
		buf_puts(&why, ": run as root or grant CAP_BPF and CAP_PERFMON; the "
			       "kernel may also be locked down");
	else if (access("/sys/kernel/btf/vmlinux", R_OK))
		buf_puts(&why, ": the kernel shows no /sys/kernel/btf/vmlinux, which "
			       "its option DEBUG_INFO_BTF makes");
	else if (t->cfg.tick.function)
		buf_puts(&why, ": ticks take Linux 5.15 or newer");
	log_info("bpf: programs cannot be loaded: %s", buf_str(&why));
	buf_fini(&why);
}

int bpf_table_open(const struct bpf_table_config *cfg, struct bpf_table **out)
{
	struct bpf_table *t;
	int err;

	if (cfg->nr_cpus > CPUS_MAX)
		return -E2BIG;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	bpf_log_begin();
	t->place = calloc(cfg->nr_cpus, sizeof(*t->place));
	err = t->place ? open_nodes(t) : -ENOMEM;
	if (!err)
		err = bpf_grace_open(cfg->in_tasks ? BPF_GRACE_RCU : BPF_GRACE_IPI,
				     cfg->nr_cpus, &t->grace);
	if (err) {
		explain(t, err);
		bpf_table_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void bpf_table_close(struct bpf_table *t)
{
	if (!t)
		return;
	bpf_grace_close(t->grace);
	for (int i = 0; i < t->nr_nodes; i++)
		bpf_node_close(t->node[i]);
	free(t->place);
	free(t);
}

int bpf_table_program(const struct bpf_table *t, uint32_t cpu, int event)
{
	return bpf_node_program(t->place[cpu].node, event);
}

int bpf_table_attach(const struct bpf_table *t, int perf_fd, uint32_t cpu, int event)
{
	int prog = bpf_table_program(t, cpu, event);

	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
}

int bpf_table_start_ticks(struct bpf_table *t)
{
	int err = 0;

	for (int i = 0; i < t->nr_nodes && !err; i++)
		err = bpf_node_start_ticks(t->node[i]);
	return err;
}

void bpf_table_stop_ticks(struct bpf_table *t)
{
	for (int i = 0; i < t->nr_nodes; i++)
		bpf_node_stop_ticks(t->node[i]);
}

int bpf_table_runs(const struct bpf_table *t, int event, uint64_t *nr, uint64_t *ns)
{
	uint64_t sum_nr = 0, sum_ns = 0;

	for (int i = 0; i < t->nr_nodes; i++) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);
		int err = bpf_obj_get_info_by_fd(bpf_node_program(t->node[i], event),
						 &info, &size);

		if (err)
			return err;
		sum_nr += info.run_cnt;
		sum_ns += info.run_time_ns;
	}
	*nr = sum_nr;
	*ns = sum_ns;
	return 0;
}

/* ---- samples ---- */

uint64_t bpf_table_received(const struct bpf_table *t, uint32_t cpu, int event)
{
	return __atomic_load_n(&t->place[cpu].cpu->received[event][t->active],
			       __ATOMIC_RELAXED);
}

uint32_t bpf_table_overflow(const struct bpf_table *t, uint32_t cpu)
{
	return __atomic_load_n(&t->place[cpu].cpu->nr_overflow[t->active],
			       __ATOMIC_RELAXED);
}

uint32_t bpf_table_ticks_elsewhere(const struct bpf_table *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->cfg.nr_cpus; i++)
		n += __atomic_load_n(&t->place[i].cpu->ticks_elsewhere,
				     __ATOMIC_RELAXED);
	return n;
}

bool bpf_table_is_full(const struct bpf_table *t, uint32_t cpu)
{
	return bpf_table_overflow(t, cpu) >= nr_full(t);
}

int bpf_table_pairs(const struct bpf_table *t)
{
	return bpf_node_pairs(t->node[0]);
}

int bpf_table_notices(const struct bpf_table *t)
{
	return bpf_node_notices(t->node[0]);
}

uint32_t bpf_table_work(const struct bpf_table *t, uint32_t cpu)
{
	return __atomic_load_n(&t->place[cpu].cpu->nr_work, __ATOMIC_RELAXED);
}

void bpf_table_notify_at(const struct bpf_table *t, uint32_t cpu, uint32_t work)
{
	__atomic_store_n(&t->place[cpu].cpu->notice_at, work, __ATOMIC_RELAXED);
}

static void set_active(struct bpf_table *t, uint32_t set)
{
	t->active = set;
	/*
	 * Pairs with the programs' read of `active`: after the grace period they see
	 * the new value.
	 */
	for (uint32_t i = 0; i < t->cfg.nr_cpus; i++)
		__atomic_store_n(&t->place[i].cpu->active, set, __ATOMIC_RELEASE);
}

int bpf_table_flip(struct bpf_table *t)
{
	int err;

	set_active(t, !t->active);
	err = bpf_grace_wait(t->grace);
	if (err)
		set_active(t, !t->active);
	return err;
}

size_t bpf_table_max_entries(const struct bpf_table *t)
{
	return t->cfg.nr_entries + (size_t)t->cfg.nr_buckets * CPI_TABLE_WAYS;
}

/* Returns whether there are any samples. */
static bool take_counts(struct cpi_bpf_cpu *cpu, uint32_t set,
			struct bpf_table_counts *counts)
{
	uint64_t any = 0;

	for (unsigned int i = 0; i < CPI_MAX_EVENTS; i++) {
		any |= cpu->received[i][set];
		counts->received[i] += cpu->received[i][set];
		counts->lost[i] += cpu->lost[i][set];
		cpu->received[i][set] = cpu->lost[i][set] = 0;
	}
	counts->evictions += cpu->nr_overflow[set];
	cpu->nr_overflow[set] = 0;
	return any;
}

size_t bpf_table_take(struct bpf_table *t, uint32_t number, struct cpi_entry *out,
		      struct bpf_table_counts *counts)
{
	const struct cpu_tables *p = &t->place[number];
	struct cpi_bpf_cpu *cpu = p->cpu;
	uint32_t set = !t->active, slot = cpi_bpf_slot(cpu->slot, set);
	struct cpi_bucket *b = bpf_node_buckets(p->node, number, set);
	const struct cpi_entry *overflow = bpf_node_overflow(p->node, slot);
	size_t nr = cpu->nr_overflow[set];

	if (nr > t->cfg.nr_entries)
		/* impossible: the program never counts further */
		nr = t->cfg.nr_entries;
	memcpy(out, overflow, nr * sizeof(*out));
	if (!take_counts(cpu, set, counts))
		return 0; /* no sample, so no entry */
	for (const struct cpi_bucket *end = b + t->cfg.nr_buckets; b < end; b++) {
		for (int w = 0; w < CPI_TABLE_WAYS; w++) {
			if (!cpi_entry_count(&b->way[w]))
				continue;
			out[nr++] = b->way[w];
			b->way[w].word1 = 0;
		}
	}
	return nr;
}

/* ---- exec ids ---- */

static int compare_tgid(const void *a, const void *b)
{
	uint32_t x = ((const struct cpi_bpf_exec_id *)a)->tgid;
	uint32_t y = ((const struct cpi_bpf_exec_id *)b)->tgid;

	return x < y ? -1 : x > y;
}

static int read_all(int fd, struct buf *out)
{
	struct cpi_bpf_exec_id ids[256];
	ssize_t n;

	while ((n = read(fd, ids, sizeof(ids))) > 0) {
		buf_put(out, ids, n);
		if (out->len > MAX_EXEC_IDS * sizeof(ids[0]))
			return -E2BIG;
	}
	return n < 0 ? -errno : out->err;
}

int bpf_table_exec_ids(const struct bpf_table *t, struct cpi_bpf_exec_id **out,
		       size_t *nr)
{
	struct buf all = { 0 };
	int fd, err;

	fd = bpf_node_iterate(t->node[0]);
	if (fd < 0)
		return fd;
	err = read_all(fd, &all);
	close(fd);
	if (err) {
		buf_fini(&all);
		return err;
	}
	*out = (struct cpi_bpf_exec_id *)all.data;
	*nr = all.len / sizeof(**out);
	if (*nr)
		qsort(*out, *nr, sizeof(**out), compare_tgid);
	return 0;
}

const struct cpi_bpf_exec_id *
bpf_table_find_exec_id(const struct cpi_bpf_exec_id *sorted, size_t nr, uint32_t tgid)
{
	const struct cpi_bpf_exec_id key = { .tgid = tgid };

	return nr ? bsearch(&key, sorted, nr, sizeof(key), compare_tgid) : NULL;
}
