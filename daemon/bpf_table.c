/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_table.c - loading kmod/cpi.bpf.c, and its table's memory
 *
 * The object that clang made is in this program (cpi.skel.h), and is loaded once
 * per event over the same maps: a program then has its event as a constant, which
 * takes no helper call per sample, and works on kernels without BPF cookies. They
 * are attached by ioctl, not by a link: the event's descriptor is all that holds
 * them.
 */
#include "config.h"

#include "daemon/bpf_table.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "daemon/cpi.skel.h"
#include "kmod/table.h"

#define MAX_TABLE_BYTES (64u << 20)
#define MIN_BUCKETS     256u
#define MAX_EXEC_IDS    (CPI_MAX_TGID + 1)

/* A map that is mapped here. */
struct shared {
	void *at; /* NULL: not yet */
	size_t size;
};

struct bpf_table {
	struct bpf_table_config cfg;
	struct cpi_bpf *skel[CPI_MAX_EVENTS];
	struct shared cpus, buckets, overflow;
	uint32_t active;           /* the set, on all CPUs */
	struct bpf_link *exec_ids; /* NULL: the kernel cannot tell */
	struct bpf_link *ticks;    /* NULL: they are not counted */
	int grace_fd;              /* a map of maps, and the one that is in it */
	int inner_fd;
};

struct bpf_table_config bpf_table_default(int nr_events, uint32_t nr_cpus)
{
	struct bpf_table_config cfg = {
		.nr_events = nr_events,
		.nr_cpus = nr_cpus,
		.nr_buckets = CPI_TABLE_DEFAULT_BUCKETS,
		.nr_entries = CPI_TABLE_DEFAULT_OVERFLOW,
		.outcome = true,
	};

	while (cfg.nr_buckets > MIN_BUCKETS &&
	       (uint64_t)nr_cpus * CPI_BPF_SETS *
			       (cfg.nr_buckets * sizeof(struct cpi_bucket) +
				cfg.nr_entries * sizeof(struct cpi_entry)) >
		       MAX_TABLE_BYTES) {
		cfg.nr_buckets /= 2;
		cfg.nr_entries /= 2;
	}
	return cfg;
}

/* ---- loading ---- */

static int log_libbpf(enum libbpf_print_level level, const char *format, va_list args)
{
	char line[1024];
	int len = vsnprintf(line, sizeof(line), format, args);

	if (len > 0 && line[strcspn(line, "\n")])
		line[strcspn(line, "\n")] = 0;
	if (level != LIBBPF_DEBUG && len > 0)
		log_debug("%s", line);
	return len;
}

static bool is_tick(const struct bpf_table *t, int event)
{
	return t->cfg.tick.function && event == t->cfg.nr_events - 1;
}

/* The program that counts the event's samples. */
static struct bpf_program *program_of(const struct bpf_table *t, int event)
{
	const struct cpi_bpf *skel = t->skel[event];

	return is_tick(t, event) ? skel->progs.cpi_tick : skel->progs.cpi_sample;
}

/* As many entries make an overflow array worth emptying. */
static uint32_t nr_full(const struct bpf_table *t)
{
	return t->cfg.nr_entries - t->cfg.nr_entries / 4;
}

/* Writes a program's numbers into its instructions. */
static int set_numbers(const struct bpf_table *t, struct bpf_program *prog, int event)
{
	size_t nr = bpf_program__insn_cnt(prog);
	struct bpf_insn *code = malloc(nr * sizeof(*code));
	int err;

	if (!code)
		return -ENOMEM;
	memcpy(code, bpf_program__insns(prog), nr * sizeof(*code));
	for (struct bpf_insn *i = code; i < code + nr; i++) {
		if (i->code == (BPF_LD | BPF_DW | BPF_IMM) && i->imm == CPI_BPF_TICK) {
			i[0].imm = (int32_t)t->cfg.tick.function;
			i[1].imm = (int32_t)(t->cfg.tick.function >> 32);
		}
		if (i->code != (BPF_ALU64 | BPF_MOV | BPF_K))
			continue;
		if (i->imm == CPI_BPF_EVENT)
			i->imm = event;
		else if (i->imm == CPI_BPF_NR_BUCKETS)
			i->imm = t->cfg.nr_buckets;
		else if (i->imm == CPI_BPF_NR_ENTRIES)
			i->imm = t->cfg.nr_entries;
		else if (i->imm == CPI_BPF_OUTCOME)
			i->imm = t->cfg.outcome;
		else if (i->imm == CPI_BPF_TICK_REGS)
			i->imm = t->cfg.tick.to_regs;
		else if (i->imm == CPI_BPF_NR_FULL)
			i->imm = nr_full(t);
	}
	err = bpf_program__set_insns(prog, code, nr);
	free(code);
	return err;
}

static int set_sizes(const struct bpf_table *t, const struct cpi_bpf *skel)
{
	uint32_t nr_slots = t->cfg.nr_cpus * CPI_BPF_SETS;
	int err = bpf_map__set_max_entries(skel->maps.cpi_cpus, t->cfg.nr_cpus);

	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_buckets,
					       nr_slots * t->cfg.nr_buckets);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_overflow,
					       nr_slots * t->cfg.nr_entries);
	if (!err) /* the least that there is */
		err = bpf_map__set_max_entries(skel->maps.cpi_notices,
					       sysconf(_SC_PAGESIZE));
	return err;
}

/* The first event's maps are everybody's. */
static int share_maps(const struct cpi_bpf *first, const struct cpi_bpf *skel)
{
	int err = bpf_map__reuse_fd(skel->maps.cpi_cpus,
				    bpf_map__fd(first->maps.cpi_cpus));

	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_buckets,
					bpf_map__fd(first->maps.cpi_buckets));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_overflow,
					bpf_map__fd(first->maps.cpi_overflow));
	if (!err)
		err = bpf_map__reuse_fd(skel->maps.cpi_notices,
					bpf_map__fd(first->maps.cpi_notices));
	return err;
}

static int load(struct bpf_table *t, int event, bool exec_ids)
{
	struct cpi_bpf *skel = cpi_bpf__open();
	int err;

	t->skel[event] = skel;
	if (!skel)
		return -errno;
	err = set_numbers(t, program_of(t, event), event);
	if (!err)
		err = bpf_program__set_autoload(is_tick(t, event)
							? skel->progs.cpi_sample
							: skel->progs.cpi_tick,
						false);
	if (!err)
		err = set_sizes(t, skel);
	if (!err && event)
		err = share_maps(t->skel[0], skel);
	if (!err)
		err = bpf_program__set_autoload(skel->progs.cpi_exec_ids, exec_ids);
	return err ? err : cpi_bpf__load(skel);
}

/* Where the kernel has no task iterator, everything else works. */
static int load_first(struct bpf_table *t)
{
	int err = load(t, 0, true);

	if (!err) {
		t->exec_ids =
			bpf_program__attach_iter(t->skel[0]->progs.cpi_exec_ids, NULL);
		return 0;
	}
	cpi_bpf__destroy(t->skel[0]);
	return load(t, 0, false);
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

static int create_grace(struct bpf_table *t)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	t->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cpi_grace", 4, 4, 1, NULL);
	if (t->inner_fd < 0)
		return t->inner_fd;
	opts.inner_map_fd = t->inner_fd;
	t->grace_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "cpi_graces", 4, 4, 1,
				     &opts);
	return t->grace_fd < 0 ? t->grace_fd : 0;
}

/* I2: returns when all programs that were running have ended. */
static int wait_for_programs(const struct bpf_table *t)
{
	const uint32_t key = 0;

	return bpf_map_update_elem(t->grace_fd, &key, &t->inner_fd, BPF_ANY);
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
	struct bpf_table *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->cfg = *cfg;
	t->grace_fd = t->inner_fd = -1;
	libbpf_set_print(log_libbpf);
	err = load_first(t);
	for (int i = 1; i < cfg->nr_events && !err; i++)
		err = load(t, i, false);
	if (!err)
		err = create_grace(t);
	if (!err)
		err = map_shared(t->skel[0]->maps.cpi_cpus, &t->cpus);
	if (!err)
		err = map_shared(t->skel[0]->maps.cpi_buckets, &t->buckets);
	if (!err)
		err = map_shared(t->skel[0]->maps.cpi_overflow, &t->overflow);
	if (err) {
		explain(t, err);
		bpf_table_close(t);
		return err;
	}
	*out = t;
	return 0;
}

static void unmap_shared(const struct shared *s)
{
	if (s->at)
		munmap(s->at, s->size);
}

void bpf_table_close(struct bpf_table *t)
{
	if (!t)
		return;
	bpf_table_stop_ticks(t);
	bpf_link__destroy(t->exec_ids);
	unmap_shared(&t->cpus);
	unmap_shared(&t->buckets);
	unmap_shared(&t->overflow);
	if (t->grace_fd >= 0)
		close(t->grace_fd);
	if (t->inner_fd >= 0)
		close(t->inner_fd);
	for (int i = 0; i < t->cfg.nr_events; i++)
		cpi_bpf__destroy(t->skel[i]);
	free(t);
}

int bpf_table_program(const struct bpf_table *t, int event)
{
	return bpf_program__fd(program_of(t, event));
}

int bpf_table_attach(const struct bpf_table *t, int perf_fd, int event)
{
	int prog = bpf_table_program(t, event);

	return ioctl(perf_fd, PERF_EVENT_IOC_SET_BPF, prog) ? -errno : 0;
}

int bpf_table_start_ticks(struct bpf_table *t)
{
	if (!t->ticks)
		t->ticks = bpf_program__attach(program_of(t, t->cfg.nr_events - 1));
	return t->ticks ? 0 : -errno;
}

void bpf_table_stop_ticks(struct bpf_table *t)
{
	bpf_link__destroy(t->ticks);
	t->ticks = NULL;
}

/* ---- samples ---- */

static struct cpi_bpf_cpu *cpu_of(const struct bpf_table *t, uint32_t cpu)
{
	return (struct cpi_bpf_cpu *)t->cpus.at + cpu;
}

uint64_t bpf_table_received(const struct bpf_table *t, uint32_t cpu, int event)
{
	return __atomic_load_n(&cpu_of(t, cpu)->received[event][t->active],
			       __ATOMIC_RELAXED);
}

uint32_t bpf_table_overflow(const struct bpf_table *t, uint32_t cpu)
{
	return __atomic_load_n(&cpu_of(t, cpu)->set[t->active].nr_overflow,
			       __ATOMIC_RELAXED);
}

uint32_t bpf_table_ticks_elsewhere(const struct bpf_table *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->cfg.nr_cpus; i++)
		n += __atomic_load_n(&cpu_of(t, i)->ticks_elsewhere, __ATOMIC_RELAXED);
	return n;
}

bool bpf_table_is_full(const struct bpf_table *t, uint32_t cpu)
{
	return bpf_table_overflow(t, cpu) >= nr_full(t);
}

int bpf_table_notices(const struct bpf_table *t)
{
	return bpf_map__fd(t->skel[0]->maps.cpi_notices);
}

uint32_t bpf_table_work(const struct bpf_table *t, uint32_t cpu)
{
	return __atomic_load_n(&cpu_of(t, cpu)->nr_work, __ATOMIC_RELAXED);
}

void bpf_table_notify_at(const struct bpf_table *t, uint32_t cpu, uint32_t work)
{
	__atomic_store_n(&cpu_of(t, cpu)->notice_at, work, __ATOMIC_RELAXED);
}

static void set_active(struct bpf_table *t, uint32_t set)
{
	t->active = set;
	for (uint32_t i = 0; i < t->cfg.nr_cpus;
	     i++) /* its partner: the program's read */
		__atomic_store_n(&cpu_of(t, i)->active, set, __ATOMIC_RELEASE);
}

int bpf_table_flip(struct bpf_table *t)
{
	int err;

	set_active(t, !t->active);
	err = wait_for_programs(t);
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
		counts->lost[i] += cpu->set[set].lost[i];
		cpu->received[i][set] = 0;
	}
	counts->evictions += cpu->set[set].evictions;
	memset(&cpu->set[set], 0, sizeof(cpu->set[set]));
	return any;
}

size_t bpf_table_take(struct bpf_table *t, uint32_t number, struct cpi_entry *out,
		      struct bpf_table_counts *counts)
{
	uint32_t set = !t->active, slot = cpi_bpf_slot(number, set);
	struct cpi_bpf_cpu *cpu = cpu_of(t, number);
	struct cpi_bucket *b =
		(struct cpi_bucket *)t->buckets.at + (size_t)slot * t->cfg.nr_buckets;
	const struct cpi_entry *overflow =
		(struct cpi_entry *)t->overflow.at + (size_t)slot * t->cfg.nr_entries;
	size_t nr = cpu->set[set].nr_overflow;

	if (nr > t->cfg.nr_entries)
		nr = t->cfg.nr_entries; /* cannot be: the program stops there */
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

	if (!t->exec_ids)
		return -EOPNOTSUPP;
	fd = bpf_iter_create(bpf_link__fd(t->exec_ids));
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
	qsort(*out, *nr, sizeof(**out), compare_tgid);
	return 0;
}

const struct cpi_bpf_exec_id *
bpf_table_find_exec_id(const struct cpi_bpf_exec_id *sorted, size_t nr, uint32_t tgid)
{
	const struct cpi_bpf_exec_id key = { .tgid = tgid };

	return nr ? bsearch(&key, sorted, nr, sizeof(key), compare_tgid) : NULL;
}
