/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_table.c on machines that this one is not: with several NUMA nodes, without
 * memory, without rights, with calls that fail. Nodes are plain memory here, and the
 * test writes what the BPF programs would; check_bpf_table.c has the real ones.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/collect/bpf_grace.h"
#include "daemon/collect/bpf_node.h"
#include "daemon/collect/bpf_table.h"
#include "daemon/os/nodes.h"
#include "t/unit/unit.h"

#include <bpf/bpf.h>

#define NR_CPUS    7
#define NR_NODES   3
#define NR_BUCKETS 4
#define NR_ENTRIES 8
#define ROUNDS     300

/* CPUs of three nodes, mixed; the last node has the lowest and no high one. */
static const uint16_t node_of[NR_CPUS] = { 2, 0, 1, 0, 2, 1, 1 };

struct bpf_node {
	struct bpf_node_config cfg;
	struct cpi_bpf_cpu cpu[NR_CPUS];
	struct cpi_bucket bucket[NR_CPUS][CPI_BPF_SETS][NR_BUCKETS];
	struct cpi_entry overflow[NR_CPUS * CPI_BPF_SETS][NR_ENTRIES];
	int nr_ticking;
};

/* What fails, by the number of the call from 1 on; 0: none. */
static struct {
	int node, grace, wait, iterate, memory, ticks, info, btf;
	int err;
} failing;

static int nr_opened, nr_open_nodes, nr_open_graces, nr_allocated;
static struct bpf_node *opened[NR_NODES];
static enum bpf_grace_way way;
static int exec_ids_fd, ioctl_fd, ioctl_program;

int bpf_node_open(const struct bpf_node_config *cfg, struct bpf_node **out)
{
	if (++nr_opened == failing.node)
		return failing.err;
	*out = calloc(1, sizeof(**out));
	(*out)->cfg = *cfg;
	opened[nr_opened - 1] = *out;
	nr_open_nodes++;
	return 0;
}

void bpf_node_close(struct bpf_node *n)
{
	nr_open_nodes -= n != NULL;
	free(n);
}

static int number_of(const struct bpf_node *n)
{
	int i = 0;

	while (opened[i] != n)
		i++;
	return i;
}

int bpf_node_program(const struct bpf_node *n, int event)
{
	return 100 * number_of(n) + event;
}

int bpf_node_start_ticks(struct bpf_node *n)
{
	if (failing.ticks == number_of(n) + 1)
		return failing.err;
	n->nr_ticking++;
	return 0;
}

void bpf_node_stop_ticks(struct bpf_node *n)
{
	n->nr_ticking--;
}

int bpf_node_notices(const struct bpf_node *n)
{
	return 1000 + number_of(n);
}

int bpf_node_pairs(const struct bpf_node *n)
{
	return 2000 + number_of(n);
}

struct cpi_bpf_cpu *bpf_node_cpu(const struct bpf_node *n, uint32_t cpu)
{
	ck_assert_uint_lt(cpu, n->cfg.nr_cpus);
	return (struct cpi_bpf_cpu *)&n->cpu[cpu];
}

struct cpi_bucket *bpf_node_buckets(const struct bpf_node *n, uint32_t cpu,
				    uint32_t set)
{
	ck_assert_uint_lt(cpu, n->cfg.nr_cpus);
	return (struct cpi_bucket *)n->bucket[cpu][set];
}

const struct cpi_entry *bpf_node_overflow(const struct bpf_node *n, uint32_t slot)
{
	ck_assert_uint_lt(slot, n->cfg.nr_slots * CPI_BPF_SETS);
	return n->overflow[slot];
}

int bpf_node_iterate(const struct bpf_node *n)
{
	ck_assert_ptr_eq(n, opened[0]);
	return failing.iterate ? failing.err : dup(exec_ids_fd);
}

int bpf_grace_open(enum bpf_grace_way asked, uint32_t nr_cpus, struct bpf_grace **out)
{
	ck_assert_uint_eq(nr_cpus, NR_CPUS);
	if (failing.grace)
		return failing.err;
	way = asked;
	*out = (struct bpf_grace *)&way;
	nr_open_graces++;
	return 0;
}

void bpf_grace_close(struct bpf_grace *g)
{
	nr_open_graces -= g != NULL;
}

int bpf_grace_wait(const struct bpf_grace *g)
{
	ck_assert_ptr_eq(g, (struct bpf_grace *)&way);
	return failing.wait ? failing.err : 0;
}

void bpf_log_begin(void);
void bpf_log_begin(void)
{
}

void nodes_read(const char *dir, int nr_cpus, struct nodes *out)
{
	ck_assert_str_eq(dir, NODES_DIR);
	ck_assert_int_eq(nr_cpus, NR_CPUS);
	*out = (struct nodes){ .nr = NR_NODES, .id = { 4, 0, 9 } };
	for (int i = 0; i < NR_CPUS; i++) {
		out->cpu[i].node = node_of[i];
		out->cpu[i].slot = (uint16_t)out->nr_cpus[node_of[i]]++;
	}
}

int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *size);
int __wrap_access(const char *path, int how);
int __wrap_ioctl(int fd, unsigned long request, int program);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);

/* Each program has run 3 times for 5 ns more than its number. */
int __wrap_bpf_obj_get_info_by_fd(int fd, void *info, uint32_t *size)
{
	struct bpf_prog_info *p = info;

	if (failing.info == fd / 100 + 1)
		return failing.err;
	ck_assert_uint_eq(*size, sizeof(*p));
	p->run_cnt = 3;
	p->run_time_ns = (uint64_t)fd + 5;
	return 0;
}

int __wrap_access(const char *path, int how)
{
	ck_assert_str_eq(path, "/sys/kernel/btf/vmlinux");
	ck_assert_int_eq(how, R_OK);
	return failing.btf ? -1 : 0;
}

int __wrap_ioctl(int fd, unsigned long request, int program)
{
	(void)request;
	ioctl_fd = fd;
	ioctl_program = program;
	errno = EEXIST;
	return fd == 77 ? -1 : 0;
}

static bool is_out_of_memory(void)
{
	return failing.memory && ++nr_allocated == failing.memory;
}

void *__wrap_malloc(size_t size)
{
	return is_out_of_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t nr, size_t size)
{
	return is_out_of_memory() ? NULL : __real_calloc(nr, size);
}

static const struct bpf_table_config config = {
	.nr_events = 2,
	.nr_cpus = NR_CPUS,
	.nr_buckets = NR_BUCKETS,
	.nr_entries = NR_ENTRIES,
	.tick = { .function = 0x1234 },
	.outcome = true,
	.pairs = true,
	.by_thread = true,
};

static void begin(void)
{
	memset(&failing, 0, sizeof(failing));
	nr_opened = nr_allocated = 0;
}

static struct bpf_table *open_table(void)
{
	struct bpf_table *t;

	begin();
	ck_assert_int_eq(bpf_table_open(&config, &t), 0);
	ck_assert_int_eq(nr_open_nodes, NR_NODES);
	return t;
}

static void close_table(struct bpf_table *t)
{
	bpf_table_close(t);
	ck_assert_int_eq(nr_open_nodes, 0);
	ck_assert_int_eq(nr_open_graces, 0);
}

START_TEST(each_node_has_its_own_cpus_and_shares_the_rings_of_the_first)
{
	static const int ids[] = { 4, 0, 9 }, nr_slots[] = { 2, 3, 2 };
	static const uint32_t highest[] = { 3, 6, 4 };
	struct bpf_table *t = open_table();

	ck_assert_int_eq(way, BPF_GRACE_IPI);
	for (int i = 0; i < NR_NODES; i++) {
		const struct bpf_node_config *c = &opened[i]->cfg;

		ck_assert_int_eq(c->node, ids[i]);
		ck_assert_int_eq(c->nr_slots, nr_slots[i]);
		ck_assert_uint_eq(c->nr_cpus, highest[i] + 1);
		ck_assert_int_eq(c->nr_events, 2);
		ck_assert_uint_eq(c->nr_buckets, NR_BUCKETS);
		ck_assert_uint_eq(c->nr_entries, NR_ENTRIES);
		ck_assert_uint_eq(c->nr_full, NR_ENTRIES * 3 / 4);
		ck_assert_uint_eq(c->tick.function, 0x1234);
		ck_assert(c->outcome && c->by_thread && c->pairs);
		ck_assert_int_eq(c->exec_ids, !i);
		ck_assert_int_eq(c->notices_fd, i ? 1000 : -1);
		ck_assert_int_eq(c->pairs_fd, i ? 2000 : -1);
		ck_assert_uint_eq(c->nr_all_cpus, NR_CPUS);
		for (uint32_t cpu = 0, slot = 0; cpu < c->nr_cpus; cpu++)
			ck_assert_uint_eq(opened[i]->cpu[cpu].slot,
					  node_of[cpu] == i ? slot++ : CPI_BPF_NO_SLOT);
	}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++)
		ck_assert_int_eq(bpf_table_program(t, cpu, 1), 100 * node_of[cpu] + 1);
	ck_assert_int_eq(bpf_table_notices(t), 1000);
	ck_assert_int_eq(bpf_table_pairs(t), 2000);
	ck_assert_uint_eq(bpf_table_max_entries(t),
			  NR_ENTRIES + NR_BUCKETS * CPI_TABLE_WAYS);
	close_table(t);
}
END_TEST

/* What the model expects of a CPU's set. */
struct expected {
	uint64_t received[2], lost[2], counted, nr, evictions;
};

static struct cpi_bpf_cpu *cpu_of(uint32_t cpu)
{
	return &opened[node_of[cpu]]->cpu[cpu];
}

/* A sample as the BPF program counts it, in the set that its CPU's word names. */
static void sample(uint32_t cpu, uint64_t *seed, struct expected *all)
{
	struct bpf_node *n = opened[node_of[cpu]];
	struct cpi_bpf_cpu *c = cpu_of(cpu);
	const uint32_t set = c->active, event = unit_random(seed) % 2;
	const struct cpi_entry e = { .word0 = unit_random(seed) | 1,
				     .word1 = cpi_entry_who(12, 3) |
					      (1 + unit_random(seed) % 9)
						      << CPI_COUNT_SHIFT };
	struct cpi_entry *place = &n->bucket[cpu][set][unit_random(seed) % NR_BUCKETS]
					   .way[unit_random(seed) % CPI_TABLE_WAYS];
	struct expected *x = &all[set];

	c->received[event][set]++;
	x->received[event]++;
	if (place->word1 && c->nr_overflow[set] == NR_ENTRIES) {
		c->lost[event][set]++;
		x->lost[event]++;
		return;
	}
	if (place->word1) {
		n->overflow[cpi_bpf_slot(c->slot, set)][c->nr_overflow[set]++] = *place;
		x->evictions++;
	}
	*place = e;
	x->counted += cpi_entry_count(&e);
	x->nr++;
}

/* Takes what is there of a CPU, and compares it. The counts are added to others. */
static void take(struct bpf_table *t, uint32_t cpu, struct expected *x)
{
	struct cpi_entry out[NR_ENTRIES + NR_BUCKETS * CPI_TABLE_WAYS];
	struct bpf_table_counts counts = { .received = { 7 },
					   .lost = { 0, 8 },
					   .evictions = 9 };
	const size_t nr = bpf_table_take(t, cpu, out, &counts);
	uint64_t counted = 0;

	ck_assert_uint_eq(nr, x->nr);
	for (size_t i = 0; i < nr; i++)
		counted += cpi_entry_count(&out[i]);
	ck_assert_uint_eq(counted, x->counted);
	for (int e = 0; e < 2; e++) {
		ck_assert_uint_eq(counts.received[e], x->received[e] + (e ? 0 : 7));
		ck_assert_uint_eq(counts.lost[e], x->lost[e] + (e ? 8 : 0));
	}
	ck_assert_uint_eq(counts.evictions, x->evictions + 9);
	memset(x, 0, sizeof(*x));
	/* And only once. */
	counts = (struct bpf_table_counts){ 0 };
	ck_assert_uint_eq(bpf_table_take(t, cpu, out, &counts), 0);
	ck_assert_uint_eq(counts.received[0] + counts.received[1] + counts.evictions,
			  0);
}

START_TEST(each_set_is_read_once_and_whole_wherever_its_cpu_is)
{
	struct expected expected[NR_CPUS][CPI_BPF_SETS] = { 0 };
	struct bpf_table *t = open_table();
	uint64_t seed = unit_seed();
	uint32_t active = 0;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = (int)(unit_random(&seed) % 200); i; i--) {
			const uint32_t cpu = unit_random(&seed) % NR_CPUS;

			sample(cpu, &seed, expected[cpu]);
		}
		for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
			const struct cpi_bpf_cpu *c = cpu_of(cpu);

			ck_assert_uint_eq(c->active, active);
			ck_assert_uint_eq(bpf_table_received(t, cpu, 1),
					  expected[cpu][active].received[1]);
			ck_assert_uint_eq(bpf_table_overflow(t, cpu),
					  expected[cpu][active].evictions);
			ck_assert_int_eq(bpf_table_is_full(t, cpu),
					 c->nr_overflow[active] >= NR_ENTRIES * 3 / 4);
		}
		failing.wait = unit_random(&seed) % 4 == 0;
		failing.err = -EINTR;
		ck_assert_int_eq(bpf_table_flip(t), failing.wait ? -EINTR : 0);
		active ^= !failing.wait;
		for (uint32_t cpu = 0; cpu < NR_CPUS && !failing.wait; cpu++)
			take(t, cpu, &expected[cpu][!active]);
	}
	close_table(t);
}
END_TEST

START_TEST(what_cpus_say_is_said_of_the_right_cpu)
{
	struct bpf_table *t = open_table();
	uint64_t nr = 0, ns = 0;

	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		cpu_of(cpu)->nr_work = 10 + cpu;
		cpu_of(cpu)->ticks_elsewhere = 1u << cpu;
		bpf_table_notify_at(t, cpu, 20 + cpu);
	}
	for (uint32_t cpu = 0; cpu < NR_CPUS; cpu++) {
		ck_assert_uint_eq(bpf_table_work(t, cpu), 10 + cpu);
		ck_assert_uint_eq(cpu_of(cpu)->notice_at, 20 + cpu);
	}
	ck_assert_uint_eq(bpf_table_ticks_elsewhere(t), (1u << NR_CPUS) - 1);
	ck_assert_int_eq(bpf_table_runs(t, 1, &nr, &ns), 0);
	ck_assert_uint_eq(nr, 3 * NR_NODES);
	ck_assert_uint_eq(ns, 1 + 101 + 201 + 5 * NR_NODES);
	for (failing.info = 1; failing.info <= NR_NODES; failing.info++) {
		failing.err = -EPERM;
		ck_assert_int_eq(bpf_table_runs(t, 1, &nr, &ns), -EPERM);
		ck_assert_uint_eq(nr, 3 * NR_NODES);
	}
	ck_assert_int_eq(bpf_table_attach(t, 76, 0, 1), 0);
	ck_assert_int_eq(ioctl_fd, 76);
	ck_assert_int_eq(ioctl_program, 201);
	ck_assert_int_eq(bpf_table_attach(t, 77, 1, 0), -EEXIST);
	close_table(t);
}
END_TEST

START_TEST(ticks_start_and_stop_on_each_node)
{
	struct bpf_table *t = open_table();

	ck_assert_int_eq(bpf_table_start_ticks(t), 0);
	for (int i = 0; i < NR_NODES; i++)
		ck_assert_int_eq(opened[i]->nr_ticking, 1);
	bpf_table_stop_ticks(t);
	for (int i = 0; i < NR_NODES; i++)
		ck_assert_int_eq(opened[i]->nr_ticking, 0);
	failing.ticks = 2;
	failing.err = -ENODEV;
	ck_assert_int_eq(bpf_table_start_ticks(t), -ENODEV);
	ck_assert_int_eq(opened[2]->nr_ticking, 0); /* the rest is not tried */
	close_table(t);
}
END_TEST

/* Reads the line of the log that explains why a table could not be opened. */
static void expect_failure(const struct bpf_table_config *cfg, int err, const char *why)
{
	struct bpf_table *t = (struct bpf_table *)&failing;
	char line[512] = "", path[] = "/tmp/check_bpf_nodes.XXXXXX";
	const int log = mkstemp(path);

	ck_assert_int_ge(log, 0);
	ck_assert_int_eq(log_open(path), 0);
	unlink(path);
	log_set_level(LOG_LEVEL_INFO);
	ck_assert_int_eq(bpf_table_open(cfg, &t), err);
	(void)!read(log, line, sizeof(line) - 1);
	close(log);
	ck_assert_ptr_eq(t, (struct bpf_table *)&failing);
	ck_assert_msg(why ? strstr(line, why) != NULL
			  : !strchr(line, ';') && !strstr(line, "which its") &&
				      !strstr(line, "5.15"),
		      "%s", line);
	ck_assert_int_eq(nr_open_nodes, 0);
	ck_assert_int_eq(nr_open_graces, 0);
}

static const struct {
	int err, btf;
	bool ticks;
	const char *why;
} reasons[] = {
	{ -EPERM, 0, true, "run as root or grant CAP_BPF" },
	{ -EACCES, 1, true, "run as root or grant CAP_BPF" },
	{ -EINVAL, 1, true, "the kernel shows no /sys/kernel/btf/vmlinux" },
	{ -EINVAL, 0, true, "ticks take Linux 5.15" },
	{ -EINVAL, 0, false, NULL },
};

START_TEST(whatever_does_not_open_leaves_nothing_and_says_why)
{
	struct bpf_table_config cfg = config;

	if (!reasons[_i].ticks)
		cfg.tick.function = 0;
	for (int node = 1; node <= NR_NODES + 1; node++) {
		begin();
		failing.node = node;
		failing.grace = node > NR_NODES;
		failing.err = reasons[_i].err;
		failing.btf = reasons[_i].btf;
		expect_failure(&cfg, reasons[_i].err, reasons[_i].why);
	}
}
END_TEST

START_TEST(without_memory_or_with_too_many_cpus_it_does_not_open)
{
	struct bpf_table_config cfg = config;
	struct bpf_table *t = NULL;

	for (int n = 1; n <= 3; n++) { /* the table, its CPUs, the nodes */
		begin();
		failing.memory = n;
		ck_assert_int_eq(bpf_table_open(&config, &t), -ENOMEM);
		ck_assert_ptr_null(t);
		ck_assert_int_eq(nr_open_nodes, 0);
	}
	begin();
	cfg.nr_cpus = CPUS_MAX + 1;
	ck_assert_int_eq(bpf_table_open(&cfg, &t), -E2BIG);
	bpf_table_close(NULL);
	cfg = config;
	cfg.in_tasks = true;
	ck_assert_int_eq(bpf_table_open(&cfg, &t), 0);
	ck_assert_int_eq(way, BPF_GRACE_RCU);
	close_table(t);
}
END_TEST

/* At most 64 MiB of overflow arrays, of at least 512 entries. */
static const struct {
	uint32_t nr_cpus, nr_entries;
} defaults[] = {
	{ 1, 16384 },   { 128, 16384 }, { 129, 8192 }, { 256, 8192 },  { 257, 4096 },
	{ 1024, 2048 }, { 1025, 1024 }, { 4096, 512 }, { 65536, 512 },
};

START_TEST(the_size_of_a_table_depends_on_the_number_of_cpus)
{
	const struct bpf_table_config c = bpf_table_default(3, defaults[_i].nr_cpus);

	ck_assert_int_eq(c.nr_events, 3);
	ck_assert_uint_eq(c.nr_cpus, defaults[_i].nr_cpus);
	ck_assert_uint_eq(c.nr_entries, defaults[_i].nr_entries);
	ck_assert_uint_eq(c.nr_buckets, 64);
	ck_assert(c.outcome && !c.pairs && !c.by_thread && !c.in_tasks);
	ck_assert_uint_eq(c.tick.function, 0);
}
END_TEST

static void put_ids(uint32_t nr)
{
	ck_assert_int_eq(ftruncate(exec_ids_fd, 0), 0);
	for (uint32_t i = 0; i < nr; i++) {
		const struct cpi_bpf_exec_id id = {
			.tgid = (i * 7919 + 13) % nr * 2 + 1, /* each odd one once */
			.exec_id = i,
			.when_ns = 5,
		};

		ck_assert_int_eq(pwrite(exec_ids_fd, &id, sizeof(id),
					(off_t)(i * sizeof(id))),
				 sizeof(id));
	}
	ck_assert_int_eq(lseek(exec_ids_fd, 0, SEEK_SET), 0);
}

START_TEST(exec_ids_are_sorted_and_found)
{
	static const uint32_t numbers[] = { 0, 1, 2, 255, 256, 257, 1000 };
	struct bpf_table *t = open_table();

	exec_ids_fd = memfd_create("ids", MFD_CLOEXEC);
	for (size_t k = 0; k < NR(numbers); k++) {
		struct cpi_bpf_exec_id *ids;
		size_t nr;

		put_ids(numbers[k]);
		ck_assert_int_eq(bpf_table_exec_ids(t, &ids, &nr), 0);
		ck_assert_uint_eq(nr, numbers[k]);
		for (uint32_t i = 0; i < 2 * nr + 3; i++) {
			const struct cpi_bpf_exec_id *found =
				bpf_table_find_exec_id(ids, nr, i);

			if (i % 2 && i < 2 * nr)
				ck_assert_ptr_eq(found, &ids[i / 2]);
			else
				ck_assert_ptr_null(found);
		}
		free(ids);
	}
	close(exec_ids_fd);
	close_table(t);
}
END_TEST

/* A sparse file of zeros has as many as its size says. */
START_TEST(exec_ids_that_cannot_be_are_refused)
{
	const off_t max =
		(off_t)(CPI_MAX_TGID + 1) * (off_t)sizeof(struct cpi_bpf_exec_id);
	struct bpf_table *t = open_table();
	struct cpi_bpf_exec_id *ids = NULL;
	size_t nr = 1;
	int before = dup(0);

	close(before);
	exec_ids_fd = memfd_create("ids", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(exec_ids_fd, max + 4096), 0);
	ck_assert_int_eq(bpf_table_exec_ids(t, &ids, &nr), -E2BIG);
	close(exec_ids_fd);
	exec_ids_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(bpf_table_exec_ids(t, &ids, &nr), -EISDIR);
	close(exec_ids_fd);
	failing.iterate = 1;
	failing.err = -EOPNOTSUPP;
	ck_assert_int_eq(bpf_table_exec_ids(t, &ids, &nr), -EOPNOTSUPP);
	ck_assert_ptr_null(ids);
	ck_assert_uint_eq(nr, 1);
	/* No descriptor stays open. */
	ck_assert_int_eq(dup(0), before);
	close(before);
	close_table(t);
}
END_TEST

static Suite *nodes_suite(void)
{
	Suite *s = suite_create("bpf_nodes");
	TCase *t = tcase_create("bpf_nodes");

	tcase_set_timeout(t, 120);
	tcase_add_test(t, each_node_has_its_own_cpus_and_shares_the_rings_of_the_first);
	tcase_add_test(t, each_set_is_read_once_and_whole_wherever_its_cpu_is);
	tcase_add_test(t, what_cpus_say_is_said_of_the_right_cpu);
	tcase_add_test(t, ticks_start_and_stop_on_each_node);
	tcase_add_loop_test(t, whatever_does_not_open_leaves_nothing_and_says_why, 0,
			    NR(reasons));
	tcase_add_test(t, without_memory_or_with_too_many_cpus_it_does_not_open);
	tcase_add_loop_test(t, the_size_of_a_table_depends_on_the_number_of_cpus, 0,
			    NR(defaults));
	tcase_add_test(t, exec_ids_are_sorted_and_found);
	tcase_add_test(t, exec_ids_that_cannot_be_are_refused);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(nodes_suite)
