// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_follow.c - the overflow handler that follows the interrupted program forward
 *
 * kmod/cpi_window_sample.h does the work, as for BPF. BPF has a verifier; the module
 * must check for itself. User space may change the mapped memory at any time. So a
 * number from there is read once, compared with its limit and then used, and a micro-op
 * is copied before it is examined. The state and the ring's head are in the module's
 * own memory.
 *
 * The program's memory is read only where the program itself may read it and the page
 * is present: copy_from_user_nofault() disables page faults and refuses kernel
 * addresses.
 *
 * The ring has two pairs of barriers. The other side is daemon/windows/windowkmod.c:
 *
 *	put_record()				consume_ring()
 *
 *	acquire tail		<-	release tail	(the record's place is free)
 *	write the record
 *	release head		->	acquire head	(the record is whole)
 *					read the record
 */
#include <linux/cgroup.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <asm/fsgsbase.h>

#include "kmod/cpi.h"

/* An element of an array that is mapped; NULL beyond its end. */
static __always_inline void *element(void *array, u32 number, u32 nr, size_t size)
{
	if (number >= nr)
		return NULL;
	return array + array_index_nospec(number, nr) * size;
}

#define ELEMENT(array, number, nr) element(array, number, nr, sizeof(*(array)))

struct cpi_window_following;
static const struct cpi_uop *uop_at(const struct cpi_window_following *f, u32 ip);
static void run_steps(const struct cpi_window_following *f);
static bool is_excluded(void);
static bool has_origins(void);
static int put_record(struct cpi_window_cpu *cpu, const struct cpi_window_record *r);

static __always_inline long read_user(u64 *to, u32 size, u64 address)
{
	return copy_from_user_nofault(to, (const void __user *)address, size);
}

#define CPI_WINDOW_REGS struct pt_regs
#define CPI_WINDOW_PROCESS(number) \
	ELEMENT(cpi.windows.process, number, CPI_WINDOW_PROCESSES)
#define CPI_WINDOW_ENTRY(number) \
	ELEMENT(cpi.windows.entry, number, cpi.windows.config.nr_entries)
#define CPI_WINDOW_CELL(number)                                   \
	((union cpi_code_cell *)ELEMENT(cpi.windows.cell, number, \
					cpi.windows.config.nr_cells))
#define CPI_WINDOW_READ_CODE(to, size, address)      read_user(to, size, address)
#define CPI_WINDOW_UOP(ctx, ip)                      uop_at(ctx, ip)
#define CPI_WINDOW_READ_DATA(ctx, to, size, address) read_user(to, size, address)
#define CPI_WINDOW_WITH_ORIGINS()                    has_origins()
#define CPI_WINDOW_READ_BARRIER(cpu)                 smp_rmb()
#define CPI_WINDOW_NOW()                             ktime_get_mono_fast_ns()
#define CPI_WINDOW_IS_EXCLUDED()                     is_excluded()
#define CPI_WINDOW_RUN(ctx)                          run_steps(ctx)
#define CPI_WINDOW_PUT(cpu, r)                       put_record(cpu, r)
#include "kmod/cpi_window_sample.h"

static struct cpi_follower *follower_of(const struct cpi_window_following *f)
{
	return container_of(f->state, struct cpi_follower, cpu.state);
}

static const struct cpi_uop *uop_at(const struct cpi_window_following *f, u32 ip)
{
	const union cpi_code_cell *from = CPI_WINDOW_CELL(ip);
	struct cpi_uop *uop = &follower_of(f)->uop;

	if (!from)
		return NULL;
	((u64 *)uop)[0] = READ_ONCE(from->word[0]);
	((u64 *)uop)[1] = READ_ONCE(from->word[1]);
	return uop;
}

static noinline void run_steps(const struct cpi_window_following *f)
{
	for (u32 i = 0; i < CPI_WINDOW_UOPS; i++) {
		if (cpi_window_step(f->state, f))
			break;
	}
}
NOKPROBE_SYMBOL(run_steps);

NOKPROBE_SYMBOL(cpi_window_find_code);
NOKPROBE_SYMBOL(cpi_window_find_lead);
NOKPROBE_SYMBOL(cpi_window_compare_line);

/*
 * Whether the process must not be read: because of its cgroup, or because it has locked
 * memory, which may hold keys (memfd_secret() counts as locked).
 */
static bool is_excluded(void)
{
	bool found = !current->mm || READ_ONCE(current->mm->locked_vm);

#ifdef CONFIG_CGROUPS
	rcu_read_lock();
	for (u32 i = 0; i < cpi.windows.config.nr_excluded && !found; i++)
		found = task_under_cgroup_hierarchy(current, cpi.windows.excluded[i]);
	rcu_read_unlock();
#endif
	return found;
}

static bool has_origins(void)
{
	return cpi.windows.config.flags & CPI_KMOD_WINDOW_ORIGINS;
}

static int put_record(struct cpi_window_cpu *cpu, const struct cpi_window_record *r)
{
	struct cpi_follower *f = container_of(cpu, struct cpi_follower, cpu);
	const u32 nr = cpi.windows.config.nr_records;
	struct cpi_window_record *slot;

	/* Pairs with the release of tail in daemon/windows/windowkmod.c. */
	if (f->head - smp_load_acquire(&f->ring->tail) >= nr)
		return -ENOSPC;
	slot = cpi_window_slot(f->ring, f->head, nr, cpi.windows.config.slot_bytes);
	*slot = *r;
	if (has_origins() && r->window.nr)
		memcpy(cpi_window_slot_origin(slot), &cpu->origin,
		       cpi_window_origin_bytes(&cpu->origin));
	/* Pairs with the acquire of head there. */
	smp_store_release(&f->ring->head, ++f->head);
	return 0;
}

static noinline void follow(struct cpi_follower *f, const struct pt_regs *regs)
{
	const struct cpi_window_who who = {
		.started_ns = current->group_leader->start_time,
		.thread = x86_fsbase_read_cpu(),
		.pc = regs->ip,
		.exec_id = (u32)current->self_exec_id,
		.tgid = current->tgid,
		.tid = current->pid,
		.compat = !user_64bit_mode((struct pt_regs *)regs),
	};

	cpi_window_take(&f->cpu, &who, regs);
}
NOKPROBE_SYMBOL(follow);

void cpi_follow_handle(struct perf_event *event, struct perf_sample_data *data,
		       struct pt_regs *regs)
{
	struct cpi_follower *f = event->overflow_handler_context;

	cpi_period_draw(&f->period, event);
	if (user_mode(regs))
		follow(f, regs);
	else
		f->cpu.counts.elsewhere++;
}
NOKPROBE_SYMBOL(cpi_follow_handle);
