/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick.c - finds the running kernel's scheduler tick and per-CPU variables
 *
 * The tick is a timer with a known callback. The address of the callback is in
 * kallsyms, which the owner has read. The BPF program needs the interrupted
 * registers, to which the per-CPU variable __irq_regs points. kallsyms may not list
 * variables, but BTF has the per-CPU offsets of __irq_regs and of the timer
 * (tick_cpu_sched.sched_timer). The distance between the two is the same on each
 * CPU, so the program finds the pointer from the timer's address.
 */
#include "config.h"

#include "daemon/collect/tick.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"

#define NOHZ_FULL "/sys/devices/system/cpu/nohz_full"

/*
 * Whether the kernel uses high resolution timers. Otherwise the tick is the interrupt
 * of the clock device, and not a timer.
 */
static bool has_precise_timers(void)
{
	struct timespec t = { .tv_sec = 1 };

	clock_getres(CLOCK_MONOTONIC, &t);
	return !t.tv_sec && t.tv_nsec == 1;
}

/* Finds the per-CPU variable with this name, or NULL. */
static const struct btf_var_secinfo *find_variable(const struct btf *btf,
						   const char *name)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, id);
	const struct btf_var_secinfo *v = section ? btf_var_secinfos(section) : NULL;

	for (int i = 0; section && i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(btf, v[i].type);
		const char *its = btf__name_by_offset(btf, variable->name_off);

		if (its && !strcmp(its, name))
			return &v[i];
	}
	return NULL;
}

/* Returns the offset of a structure's member in bytes, or -ENOENT. */
static int find_member(const struct btf *btf, const char *structure, const char *member)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *t = id < 0 ? NULL : btf__type_by_id(btf, id);

	for (int i = 0; t && i < btf_vlen(t); i++) {
		const char *its = btf__name_by_offset(btf, btf_members(t)[i].name_off);

		if (its && !strcmp(its, member))
			return (int)(btf_member_bit_offset(t, i) / 8);
	}
	return -ENOENT;
}

/* A per-CPU variable, and a member of its type; NULL: the variable itself. */
struct per_cpu {
	const char *variable, *type, *member;
};

/* Returns its offset in the per-CPU area, or -ENOENT. */
static int64_t find_offset(const struct btf *btf, const struct per_cpu *what)
{
	const struct btf_var_secinfo *v = find_variable(btf, what->variable);
	const int member =
		what->member ? find_member(btf, what->type, what->member) : 0;

	return v && member >= 0 ? (int64_t)v->offset + member : -ENOENT;
}

/* Finds the distance in bytes from one to the other, which is the same on each CPU. */
static int find_distance(const struct btf *btf, const struct per_cpu *from,
			 const struct per_cpu *to, int32_t *distance)
{
	const int64_t begin = find_offset(btf, from), end = find_offset(btf, to);

	if (begin < 0 || end < 0)
		return -EOPNOTSUPP;
	*distance = (int32_t)(end - begin);
	return 0;
}

int tick_find_stolen(int32_t *from_queue)
{
	static const struct per_cpu queue = { .variable = "runqueues" };
	static const struct per_cpu stolen = { "steal_time", "kvm_steal_time",
					       "steal" };
	struct btf *btf = btf__load_vmlinux_btf();
	const int err =
		btf ? find_distance(btf, &queue, &stolen, from_queue) : -EOPNOTSUPP;

	btf__free(btf);
	return err;
}

static int find_regs(const struct btf *btf, int32_t *to_regs)
{
	static const struct per_cpu timer = { "tick_cpu_sched", "tick_sched",
					      "sched_timer" };
	static const struct per_cpu regs = { .variable = "__irq_regs" };

	return find_distance(btf, &timer, &regs, to_regs);
}

static bool has_function(const struct btf *btf, const char *name)
{
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC) > 0;
}

/*
 * Before Linux 6.9 the callback is tick_sched_timer. There tick_nohz_handler handles
 * ticks that do not come from a timer. To search kallsyms for a name that it does not
 * have takes long, so BTF is asked first.
 */
static uint64_t find_function(const struct btf *btf,
			      uint64_t (*address)(void *ctx, const char *name),
			      void *ctx)
{
	uint64_t timer = 0;

	if (!address)
		return 0;
	if (has_function(btf, "tick_sched_timer") ||
	    !has_function(btf, "tick_nohz_handler"))
		timer = address(ctx, "tick_sched_timer");
	return timer ? timer : address(ctx, "tick_nohz_handler");
}

int tick_find(uint64_t (*address)(void *ctx, const char *name), void *ctx,
	      struct tick *out)
{
	struct tick t = { 0 };
	struct btf *btf;
	int err;

	if (!has_precise_timers()) {
		log_info("ticks: this kernel has no high resolution timers, which the "
			 "scheduler's tick needs to be sampled (see highres= and nohz= "
			 "on the kernel's command line)");
		return -EOPNOTSUPP;
	}
	btf = btf__load_vmlinux_btf();
	err = btf ? find_regs(btf, &t.to_regs) : -EOPNOTSUPP;
	t.function = err ? 0 : find_function(btf, address, ctx);
	btf__free(btf);
	if (err) {
		log_info("ticks: /sys/kernel/btf/vmlinux does not have tick_cpu_sched "
			 "and __irq_regs, which say what a tick interrupted");
		return err;
	}
	if (!t.function) {
		log_info("ticks: /proc/kallsyms does not show the scheduler's tick: "
			 "where it hides addresses, run as root, grant CAP_SYSLOG, or "
			 "lower kernel.kptr_restrict");
		return -EOPNOTSUPP;
	}
	*out = t;
	return 0;
}

void tick_warn_stopped(void)
{
	struct buf cpus = { 0 };
	const char *text;

	if (!file_read_all(AT_FDCWD, NOHZ_FULL, 4096, &cpus)) {
		text = buf_str(&cpus);
		if (*text >= '0' && *text <= '9')
			log_warn("ticks: CPUs %.*s run without ticks (nohz_full): "
				 "only random interrupts sample them",
				 (int)strcspn(text, "\n"), text);
	}
	buf_fini(&cpus);
}
