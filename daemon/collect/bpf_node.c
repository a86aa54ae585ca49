/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_node.c - kmod/cpi.bpf.c, loaded for the CPUs of one NUMA node
 *
 * The compiled object is part of this program (cpi.skel.h). It is loaded once per
 * event, each time with the same maps. So the event is a constant of the program:
 * reading it takes no helper call, and works on kernels without BPF cookies. The object
 * also contains a separate program for ticks. It is loaded together with the first
 * event's program, because each load of the object parses the kernel's BTF again. The
 * memory of an array map is on one node, so each node has its own maps, and therefore
 * its own programs.
 */
#include "config.h"

#include "daemon/collect/bpf_node.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/cpi.skel.h"

/* A BPF map that is mapped into this process. */
struct shared {
	void *at; /* NULL: not mapped */
	size_t size;
};

struct bpf_node {
	struct bpf_node_config cfg;
	struct cpi_bpf *skel[CPI_MAX_EVENTS];
	struct shared cpus, overflow;
	struct bpf_link *exec_ids; /* NULL: the kernel has no task iterator */
	struct bpf_link *ticks;    /* NULL: ticks are not counted */
};

static bool is_tick(const struct bpf_node *n, int event)
{
	return n->cfg.tick.function && event == n->cfg.nr_events - 1;
}

/* The program that counts the event's samples. */
static struct bpf_program *program_of(const struct bpf_node *n, int event)
{
	return is_tick(n, event) ? n->skel[0]->progs.cpi_tick
				 : n->skel[event]->progs.cpi_sample;
}

int bpf_node_set_numbers(const struct bpf_node_config *cfg, struct bpf_program *prog,
			 int event)
{
	size_t nr = bpf_program__insn_cnt(prog);
	struct bpf_insn *code = malloc(nr * sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	memcpy(code, bpf_program__insns(prog), nr * sizeof(*code));
	for (struct bpf_insn *i = code; i < code + nr; i++) {
		if (i->code == (BPF_LD | BPF_DW | BPF_IMM) && i->imm == CPI_BPF_TICK) {
			i[0].imm = (int32_t)cfg->tick.function;
			i[1].imm = (int32_t)(cfg->tick.function >> 32);
		}
		if (i->code != (BPF_ALU64 | BPF_MOV | BPF_K))
			continue;
		if (i->imm == CPI_BPF_EVENT)
			i->imm = event;
		else if (i->imm == CPI_BPF_NR_BUCKETS)
			i->imm = cfg->nr_buckets;
		else if (i->imm == CPI_BPF_NR_ENTRIES)
			i->imm = cfg->nr_entries;
		else if (i->imm == CPI_BPF_OUTCOME)
			i->imm = cfg->outcome;
		else if (i->imm == CPI_BPF_BY_THREAD)
			i->imm = cfg->by_thread;
		else if (i->imm == CPI_BPF_TICK_REGS)
			i->imm = cfg->tick.to_regs;
		else if (i->imm == CPI_BPF_TICK_KERNEL)
			i->imm = cfg->tick.kernel;
		else if (i->imm == CPI_BPF_NR_FULL)
			i->imm = cfg->nr_full;
		else if (i->imm == CPI_BPF_PAIRS)
			i->imm = cfg->pairs;
	}
	err = bpf_program__set_insns(prog, code, nr);
	free(code);
	return err;
}

static int set_map(const struct bpf_node *n, struct bpf_map *map, uint32_t max_entries)
{
	int err = bpf_map__set_max_entries(map, max_entries);

	if (err || n->cfg.node < 0)
		return err;
	err = bpf_map__set_numa_node(map, n->cfg.node);
	return err ? err
		   : bpf_map__set_map_flags(map,
					    bpf_map__map_flags(map) | BPF_F_NUMA_NODE);
}

static size_t cpu_bytes(const struct bpf_node *n)
{
	return cpi_bpf_cpu_bytes(n->cfg.nr_buckets);
}

static int set_maps(const struct bpf_node *n, const struct cpi_bpf *skel)
{
	uint32_t nr_slots = n->cfg.nr_slots * CPI_BPF_SETS;
	int err = bpf_map__set_value_size(skel->maps.cpi_cpus, cpu_bytes(n));

	if (!err)
		err = set_map(n, skel->maps.cpi_cpus, n->cfg.nr_cpus);
	if (!err)
		err = set_map(n, skel->maps.cpi_overflow, nr_slots * n->cfg.nr_entries);
	if (!err && n->cfg.pairs_fd >= 0)
		err = bpf_map__reuse_fd(skel->maps.cpi_pairs, n->cfg.pairs_fd);
	else if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_pairs,
					       n->cfg.pairs ? n->cfg.nr_all_cpus : 1);
	if (err)
		return err;
	if (n->cfg.notices_fd >= 0)
		return bpf_map__reuse_fd(skel->maps.cpi_notices, n->cfg.notices_fd);
	return set_map(n, skel->maps.cpi_notices,
		       sysconf(_SC_PAGESIZE)); /* the smallest size */
}

/* Makes skel use the maps of the first event. */
static int share_maps(const struct cpi_bpf *first, const struct cpi_bpf *skel)
{
	int err = bpf_map__reuse_fd(skel->maps.cpi_cpus,
				    bpf_map__fd(first->maps.cpi_cpus));

	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_overflow,
					bpf_map__fd(first->maps.cpi_overflow));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_notices,
					bpf_map__fd(first->maps.cpi_notices));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_pairs,
					bpf_map__fd(first->maps.cpi_pairs));
	return err;
}

/*
 * Prepares the event's program for loading; for the first event also the program of
 * the ticks.
 */
static int set_programs(const struct bpf_node *n, int event)
{
	const int last = n->cfg.nr_events - 1;
	const struct cpi_bpf *skel = n->skel[event];
	const bool ticks = !event && is_tick(n, last);
	int err = bpf_program__set_autoload(skel->progs.cpi_tick, ticks);

	if (!err && ticks)
		err = bpf_node_set_numbers(&n->cfg, skel->progs.cpi_tick, last);
	if (is_tick(n, event))
		return err ? err
			   : bpf_program__set_autoload(skel->progs.cpi_sample, false);
	return err ? err : bpf_node_set_numbers(&n->cfg, skel->progs.cpi_sample, event);
}

static int load(struct bpf_node *n, int event, bool exec_ids)
{
	struct cpi_bpf *skel = cpi_bpf__open();
	int err;

	n->skel[event] = skel;
	if (!skel)
		return -errno;
	err = set_programs(n, event);
	if (!err)
		err = event ? share_maps(n->skel[0], skel) : set_maps(n, skel);
	if (!err)
		err = bpf_program__set_autoload(skel->progs.cpi_exec_ids, exec_ids);
	return err ? err : cpi_bpf__load(skel);
}

/*
 * Loads the first event's program. If the kernel has no task iterator, it loads the
 * program without it.
 */
static int load_first(struct bpf_node *n)
{
	int err = load(n, 0, n->cfg.exec_ids);

	if (!n->cfg.exec_ids)
		return err;
	if (!err) {
		n->exec_ids =
			bpf_program__attach_iter(n->skel[0]->progs.cpi_exec_ids, NULL);
		return 0;
	}
	cpi_bpf__destroy(n->skel[0]);
	return load(n, 0, false);
}

static int map_shared(const struct bpf_map *map, struct shared *out)
{
	size_t page = sysconf(_SC_PAGESIZE);
	size_t size = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at;

	size = (size + page - 1) / page * page;
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (at == MAP_FAILED)
		return -errno;
	*out = (struct shared){ at, size };
	return 0;
}

int bpf_node_open(const struct bpf_node_config *cfg, struct bpf_node **out)
{
	struct bpf_node *n = calloc(1, sizeof(*n));
	int err;

	if (!n)
		return -ENOMEM;
	n->cfg = *cfg;
	err = load_first(n);
	for (int i = 1; i < cfg->nr_events && !is_tick(n, i) && !err; i++)
		err = load(n, i, false);
	if (!err)
		err = map_shared(n->skel[0]->maps.cpi_cpus, &n->cpus);
	if (!err)
		err = map_shared(n->skel[0]->maps.cpi_overflow, &n->overflow);
	if (err) {
		bpf_node_close(n);
		return err;
	}
	*out = n;
	return 0;
}

static void unmap_shared(const struct shared *s)
{
	if (s->at)
		munmap(s->at, s->size);
}

void bpf_node_close(struct bpf_node *n)
{
	if (!n)
		return;
	bpf_node_stop_ticks(n);
	bpf_link__destroy(n->exec_ids);
	unmap_shared(&n->cpus);
	unmap_shared(&n->overflow);
	for (int i = 0; i < n->cfg.nr_events; i++)
		cpi_bpf__destroy(n->skel[i]);
	free(n);
}

int bpf_node_program(const struct bpf_node *n, int event)
{
	return bpf_program__fd(program_of(n, event));
}

int bpf_node_start_ticks(struct bpf_node *n)
{
	const int event = n->cfg.nr_events - 1;

	if (is_tick(n, event) && !n->ticks)
		n->ticks = bpf_program__attach(program_of(n, event));
	return is_tick(n, event) && !n->ticks ? -errno : 0;
}

void bpf_node_stop_ticks(struct bpf_node *n)
{
	bpf_link__destroy(n->ticks);
	n->ticks = NULL;
}

int bpf_node_notices(const struct bpf_node *n)
{
	return bpf_map__fd(n->skel[0]->maps.cpi_notices);
}

int bpf_node_pairs(const struct bpf_node *n)
{
	return bpf_map__fd(n->skel[0]->maps.cpi_pairs);
}

struct cpi_bpf_cpu *bpf_node_cpu(const struct bpf_node *n, uint32_t cpu)
{
	return (struct cpi_bpf_cpu *)((char *)n->cpus.at + cpu * cpu_bytes(n));
}

struct cpi_bucket *bpf_node_buckets(const struct bpf_node *n, uint32_t cpu,
				    uint32_t set)
{
	char *state = (char *)bpf_node_cpu(n, cpu);

	return (struct cpi_bucket *)(state + cpi_bpf_table_at(set, n->cfg.nr_buckets));
}

const struct cpi_entry *bpf_node_overflow(const struct bpf_node *n, uint32_t slot)
{
	return (struct cpi_entry *)n->overflow.at + (size_t)slot * n->cfg.nr_entries;
}

int bpf_node_iterate(const struct bpf_node *n)
{
	if (!n->exec_ids)
		return -EOPNOTSUPP;
	return bpf_iter_create(bpf_link__fd(n->exec_ids));
}
