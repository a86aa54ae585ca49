// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_window.bpf.c - follows the interrupted program forward
 *
 * At the interrupts of a clock of its own, at a low rate, kmod/window.h interprets the
 * code that the program is about to execute, and the result goes to a ring. The program
 * reads the interrupted process's memory, with reads that fail at a page that is not
 * present, and writes only its own maps. abi/window_bpf.h says what the daemon has to
 * do.
 *
 * Three bounds limit its time: instructions, micro-ops (the rounds of bpf_loop()), and
 * reads. Everything that is not particular to BPF is in kmod/cpi_window_sample.h.
 */
#include "kmod/cpi_bpf_kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/window_bpf.h"
#include "kmod/cpi_pair.h"
#include "kmod/window_memory.h"

/* By CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct cpi_window_cpu);
} cpi_window_cpus SEC(".maps");

/* The set of a process begins at cpi_window_set() * CPI_WINDOW_WAYS. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CPI_WINDOW_PROCESSES);
	__type(key, uint32_t);
	__type(value, struct cpi_window_process);
} cpi_processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct cpi_window_entry);
} cpi_entries SEC(".maps");

/* Packed pages. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, union cpi_code_cell);
} cpi_cells SEC(".maps");

/* Forms of instructions; its size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, CPI_FORM_WAYS);
	__type(key, uint32_t);
	__type(value, struct cpi_form);
} cpi_forms SEC(".maps");

/* Of struct cpi_window_record; its size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
} cpi_records SEC(".maps");

/* Of struct cpi_pair_record; its size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
} cpi_pair_records SEC(".maps");

/* Excluded cgroups: processes in them, or below them, are not followed. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, CPI_WINDOW_CGROUPS);
	__type(key, uint32_t);
	__type(value, uint32_t);
} cpi_excluded SEC(".maps");

/* The loader's. */
const volatile uint32_t nr_excluded;
const volatile bool with_origins; /* of windows */
const volatile uint32_t nr_forms = CPI_FORM_WAYS;

uint64_t stranger_told_ns;  /* when the daemon was last woken for a new process */
uint64_t stranger_quiet_ns; /* the daemon sets it */

static __always_inline const struct cpi_uop *cell_at(uint32_t ip)
{
	const union cpi_code_cell *cell = bpf_map_lookup_elem(&cpi_cells, &ip);

	return cell ? &cell->uop : NULL;
}

/* The size in a register of its own, whose bound the verifier sees. */
static __always_inline long read_user(uint64_t *to, uint32_t size, uint64_t address)
{
	asm volatile("" : "+r"(size));
	size &= 15;
	return bpf_probe_read_user(to, size, (const void *)address);
}

/*
 * Puts the record and the code that forms interpreted into the ring; with origins, also
 * the origin up to the last load. In front of an origin the code has its full size, so
 * that the origin is at a fixed place.
 */
static __always_inline long put_record(const struct cpi_window_cpu *cpu, uint64_t wake)
{
	uint32_t nr = cpu->origin.nr_loads;

	if (!with_origins || !cpu->record.window.nr) {
		uint32_t words = cpi_window_code_words(&cpu->record.window);

		CPI_WINDOW_HIDE(words);
		if (words > CPI_WINDOW_CODE_WORDS)
			words = CPI_WINDOW_CODE_WORDS;
		return bpf_ringbuf_output(&cpi_records, (void *)&cpu->record,
					  sizeof(cpu->record) + 8 * words, wake);
	}
	CPI_WINDOW_HIDE(nr);
	if (nr > CPI_WINDOW_LOADS)
		nr = CPI_WINDOW_LOADS;
	return bpf_ringbuf_output(&cpi_records, (void *)&cpu->record,
				  sizeof(cpu->record) + sizeof(cpu->trace) +
					  offsetof(struct cpi_window_origin, load) +
					  nr * sizeof(uint64_t),
				  wake);
}

/*
 * Whether the process must not be read: because of its cgroup, or because it has
 * locked memory, which may hold keys (memfd_secret() counts as locked). Inherited
 * secret memory is not counted here; the daemon checks for it.
 */
static __always_inline bool is_excluded(void)
{
	const struct task_struct *task = bpf_get_current_task_btf();

	if (!task->mm || task->mm->locked_vm)
		return true;
	for (uint32_t i = 0; i < CPI_WINDOW_CGROUPS; i++) {
		if (i >= nr_excluded)
			return false;
		if (bpf_current_task_under_cgroup(&cpi_excluded, i) == 1)
			return true;
	}
	return false;
}

static __always_inline void *find_element(void *map, uint32_t number)
{
	return bpf_map_lookup_elem(map, &number);
}

/*
 * Wakes the daemon for a process that is not in the table, because it may exit soon;
 * but not again within stranger_quiet_ns.
 */
static __always_inline uint64_t wake_for(const struct cpi_window_record *r)
{
	if (r->process != CPI_WINDOW_PROCESSES ||
	    r->window.time - stranger_told_ns < stranger_quiet_ns)
		return BPF_RB_NO_WAKEUP;
	stranger_told_ns = r->window.time;
	return BPF_RB_FORCE_WAKEUP;
}

struct cpi_window_following;
static long step(uint32_t round, const struct cpi_window_following *f);

/*
 * x86-64 does not reorder reads. Elsewhere an exchange whose result is used is a full
 * barrier, as for the kernel's own atomics; BPF has no other.
 */
#if defined(__TARGET_ARCH_x86)
#define CPI_WINDOW_READ_BARRIER(cpu) asm volatile("" ::: "memory")
#else
#define CPI_WINDOW_READ_BARRIER(cpu) \
	((void)__sync_lock_test_and_set(&(cpu)->barrier, 1))
#endif

#define CPI_WINDOW_REGS            struct cpi_regs
#define CPI_WINDOW_PROCESS(number) find_element(&cpi_processes, number)
#define CPI_WINDOW_ENTRY(number)   find_element(&cpi_entries, number)
#define CPI_WINDOW_CELL(number)    find_element(&cpi_cells, number)
#if defined(__TARGET_ARCH_x86)
#define CPI_WINDOW_FORM_AT(number) ((struct cpi_form *)find_element(&cpi_forms, number))
#define CPI_WINDOW_NR_FORMS        nr_forms
#define CPI_WINDOW_UOP(ctx, ip)    cpi_window_fill(ctx, cell_at(ip))
#else
#define CPI_WINDOW_UOP(ctx, ip) cell_at(ip)
#endif
#define CPI_WINDOW_READ_DATA(ctx, to, size, address) read_user(to, size, address)
#define CPI_WINDOW_READ_CODE(to, size, address) \
	bpf_probe_read_user(to, size, (const void *)(address))
#define CPI_WINDOW_WITH_ORIGINS() with_origins
#define CPI_WINDOW_NOW()          bpf_ktime_get_ns()
#define CPI_WINDOW_IS_EXCLUDED()  is_excluded()
#define CPI_WINDOW_RUN(ctx)       bpf_loop(CPI_WINDOW_UOPS, step, ctx, 0)
#define CPI_WINDOW_PUT(cpu, r)    put_record(cpu, wake_for(r))
#include "kmod/cpi_window_sample.h"

static long step(uint32_t round, const struct cpi_window_following *f)
{
	return cpi_window_step(f->state, f);
}

/* On arm64 this is the value from when the thread was last switched out. */
static __always_inline uint64_t thread_register(const struct task_struct *task)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread.fsbase;
#else
	return task->thread.uw.tp_value;
#endif
}

/* Hands a closed pair over. An open one that no sample closed is closed here. */
static __always_inline void finish_pair(struct cpi_pair_cpu *pair,
					const struct bpf_perf_event_data *ctx)
{
	if (pair->state == CPI_PAIR_OPEN)
		cpi_pair_close(pair, &ctx->regs, cpi_window_pc(&ctx->regs));
	if (pair->state == CPI_PAIR_OPEN)
		cpi_pair_drop(pair, CPI_PAIR_DROP_SWITCHED);
	if (pair->state != CPI_PAIR_CLOSED)
		return;
	if (bpf_ringbuf_output(&cpi_pair_records, &pair->record, sizeof(pair->record),
			       BPF_RB_NO_WAKEUP)) {
		cpi_pair_drop(pair, CPI_PAIR_DROP_RING);
		return;
	}
	pair->counts.recorded++;
	pair->state = CPI_PAIR_NONE;
}

/* Opens a pair for the thread that was followed just now. */
static __always_inline void open_pair(struct cpi_pair_cpu *pair,
				      const struct bpf_perf_event_data *ctx,
				      const struct cpi_window_record *window)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	struct cpi_pair_record *r = &pair->record;

	r->from = window->window.start;
	for (int i = 0; i < CPI_PAIR_BACK; i++)
		r->back[i] =
			i < window->window.nr_targets ? window->window.target[i] : 0;
	r->started_ns = window->started_ns;
	r->sequence = window->sequence;
	r->exec_id = window->exec_id;
	r->process = window->process;
	r->tgid = window->window.tgid;
	r->tid = window->window.tid;
	__builtin_memset(r->change, 0, sizeof(r->change));
	cpi_pair_subtract(r->change, &ctx->regs); /* from 0: the values */
	pair->switches = cpi_pair_switches(task);
	pair->ran = cpi_pair_ran(task);
	pair->stolen = cpi_pair_stolen(pair, task);
	pair->counts.received++;
	r->time = bpf_ktime_get_ns();
	*(volatile uint32_t *)&pair->state = CPI_PAIR_OPEN;
}

static __always_inline void take_sample(struct bpf_perf_event_data *ctx,
					struct cpi_window_cpu *cpu,
					struct cpi_pair_cpu *pair)
{
	const uint64_t nr_recorded = cpu->counts.recorded;
	const struct task_struct *task;
	struct cpi_window_who who;

	if (!cpi_window_is_user(&ctx->regs)) {
		cpu->counts.elsewhere++;
		return;
	}
	if (pair && *(volatile uint64_t *)&pair->is_at_tick)
		pair = NULL;
	if (pair)
		finish_pair(pair, ctx);
	task = bpf_get_current_task_btf();
	who = (struct cpi_window_who){
		.started_ns = task->group_leader->start_time,
		.thread = thread_register(task),
		.pc = cpi_window_pc(&ctx->regs),
		.exec_id = (uint32_t)task->self_exec_id,
		.tgid = (uint32_t)task->tgid,
		.tid = (uint32_t)task->pid,
		.compat = cpi_window_is_compat(&ctx->regs),
	};
	cpi_window_take(cpu, &who, &ctx->regs);
	if (pair && cpu->counts.recorded != nr_recorded &&
	    cpu->record.process != CPI_WINDOW_PROCESSES)
		open_pair(pair, ctx, &cpu->record);
}

SEC("perf_event")
int cpi_window(struct bpf_perf_event_data *ctx)
{
	const uint32_t number = bpf_get_smp_processor_id();
	struct cpi_window_cpu *cpu = bpf_map_lookup_elem(&cpi_window_cpus, &number);

	if (cpu) /* there is always one */
		take_sample(ctx, cpu, bpf_map_lookup_elem(&cpi_pairs, &number));
	return 0; /* nothing goes to a perf ring */
}

char _license[] SEC("license") = "GPL";
