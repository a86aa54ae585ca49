// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_window.c - windows: their memory, a counter per CPU, accounting
 *
 * The memory is one piece that user space may write, so its content is checked when it
 * is read (cpi_follow.c). It exists before the first counter and until the last counter
 * is gone; its pages stay as long as they are mapped.
 */
#include <linux/cgroup.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "kmod/cpi.h"
#include "kmod/cpi_compat.h"

/* ---- memory ---- */

static int check_config(const struct cpi_kmod_windows *c)
{
	if (!c->nr_cells)
		return 0;
	if (!c->nr_entries || c->nr_entries > CPI_KMOD_MAX_WINDOW_ENTRIES ||
	    c->nr_cells > CPI_KMOD_MAX_WINDOW_CELLS || !is_power_of_2(c->nr_records) ||
	    c->nr_records > CPI_KMOD_MAX_WINDOW_RECORDS ||
	    c->nr_excluded > CPI_WINDOW_CGROUPS || c->flags & ~CPI_KMOD_WINDOW_FLAGS)
		return -EINVAL;
	return cpi_config_check_event(&c->event);
}

/* Says where everything is. */
static int lay_out(struct cpi_kmod_windows *c)
{
	c->nr_cpus = nr_cpu_ids;
	c->entries_at =
		PAGE_ALIGN(CPI_WINDOW_PROCESSES * sizeof(struct cpi_window_process));
	c->cells_at = c->entries_at +
		      PAGE_ALIGN((u64)c->nr_entries * sizeof(struct cpi_window_entry));
	c->rings_at = PAGE_ALIGN(c->cells_at +
				 (u64)c->nr_cells * sizeof(union cpi_code_cell));
	c->slot_bytes = cpi_window_slot_bytes(c->flags & CPI_KMOD_WINDOW_ORIGINS);
	c->ring_bytes = PAGE_ALIGN(sizeof(struct cpi_window_ring) +
				   c->nr_records * c->slot_bytes);
	c->bytes = PAGE_ALIGN(c->rings_at + (u64)c->nr_cpus * c->ring_bytes);
	return c->bytes > CPI_KMOD_MAX_WINDOW_BYTES ? -E2BIG : 0;
}

static int alloc_memory(void)
{
	struct cpi_windows *w = &cpi.windows;

	w->memory = vmalloc_user(w->config.bytes);
	w->followers = kcalloc(nr_cpu_ids, sizeof(*w->followers), GFP_KERNEL);
	if (!w->memory || !w->followers)
		return -ENOMEM;
	w->process = w->memory;
	w->entry = w->memory + w->config.entries_at;
	w->cell = w->memory + w->config.cells_at;
	return 0;
}

int cpi_window_mmap(struct vm_area_struct *vma)
{
	if (!cpi.windows.memory)
		return -ENXIO;
	if (vma->vm_end - vma->vm_start != cpi.windows.config.bytes)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	cpi_compat_private(vma, VM_MAYEXEC);
	return remap_vmalloc_range(vma, cpi.windows.memory, 0);
}

/* ---- excluded cgroups ---- */

#ifdef CONFIG_CGROUPS
static int hold_cgroups(void)
{
	for (u32 i = 0; i < cpi.windows.config.nr_excluded; i++) {
		struct cgroup *c = cgroup_get_from_fd(cpi.windows.config.excluded[i]);

		if (IS_ERR(c))
			return PTR_ERR(c);
		cpi.windows.excluded[i] = c;
	}
	return 0;
}

static void drop_cgroups(void)
{
	for (u32 i = 0; i < CPI_WINDOW_CGROUPS && cpi.windows.excluded[i]; i++)
		cgroup_put(cpi.windows.excluded[i]);
}
#else
static int hold_cgroups(void)
{
	return cpi.windows.config.nr_excluded ? -EOPNOTSUPP : 0;
}

static void drop_cgroups(void)
{
}
#endif

/* ---- one CPU ---- */

static struct cpi_follower *alloc_follower(unsigned int cpu)
{
	const struct cpi_kmod_windows *c = &cpi.windows.config;
	struct cpi_follower *f = kzalloc_node(sizeof(*f), GFP_KERNEL, cpu_to_node(cpu));

	if (!f)
		return NULL;
	f->ring = cpi.windows.memory + c->rings_at + (u64)cpu * c->ring_bytes;
	f->period.random = get_random_u32();
	cpi_period_set(&f->period, c->event.period, c->event.spread);
	return f;
}

static int open_follower(unsigned int cpu)
{
	const struct cpi_kmod_event *e = &cpi.windows.config.event;
	struct cpi_follower *f = cpi.windows.followers[cpu];
	struct perf_event *event;

	if (!f)
		f = alloc_follower(cpu);
	if (!f)
		return -ENOMEM;
	cpi.windows.followers[cpu] = f;
	event = cpi_counter_create(e, cpu, cpi_config_is_clock(e), cpi_follow_handle,
				   f);
	if (IS_ERR(event))
		return PTR_ERR(event);
	f->event = event;
	cpi_period_draw(&f->period, event);
	return 0;
}

static void close_follower(unsigned int cpu)
{
	struct cpi_follower *f = cpi.windows.followers[cpu];

	if (!f || !f->event)
		return;
	perf_event_disable(f->event);
	cpi_counter_add_value(f->event, &cpi.windows.gone);
	perf_event_release_kernel(f->event);
	f->event = NULL;
}

static void switch_follower(unsigned int cpu, bool on)
{
	struct cpi_follower *f = cpi.windows.followers[cpu];

	if (!f || !f->event)
		return;
	if (on)
		perf_event_enable(f->event);
	else
		perf_event_disable(f->event);
}

/* ---- all CPUs ---- */

static int open_all(void)
{
	int err, missing = -ENOENT;
	unsigned int cpu;
	bool any = false;

	for_each_cpu (cpu, &cpi.online) {
		err = open_follower(cpu);
		if (err && !cpi_counter_is_missing(err))
			return err;
		if (err)
			missing = err;
		else
			any = true;
	}
	return any ? 0 : missing;
}

int cpi_window_configure(struct cpi_kmod_windows *config)
{
	int err = check_config(config);

	if (cpi.windows.running)
		return -EBUSY;
	if (!err && config->nr_cells)
		err = lay_out(config);
	if (err)
		return err;
	cpi_window_close();
	if (!config->nr_cells)
		return 0;
	cpi.windows.config = *config;
	err = alloc_memory();
	if (!err)
		err = hold_cgroups();
	if (!err)
		err = open_all();
	if (err)
		cpi_window_close();
	return err;
}

/* Ends everything, and frees all memory. */
void cpi_window_close(void)
{
	struct cpi_windows *w = &cpi.windows;

	for (unsigned int i = 0; i < nr_cpu_ids && w->followers; i++) {
		close_follower(i);
		kfree(w->followers[i]);
	}
	drop_cgroups();
	kfree(w->followers);
	vfree(w->memory);
	*w = (struct cpi_windows){};
}

static void switch_all(bool on)
{
	for (unsigned int i = 0; i < nr_cpu_ids; i++)
		switch_follower(i, on);
}

int cpi_window_switch(bool on)
{
	if (!cpi.windows.memory)
		return -ENXIO;
	cpi.windows.running = on;
	switch_all(on);
	return 0;
}

void cpi_window_suspend(void)
{
	if (cpi.windows.running)
		switch_all(false);
}

void cpi_window_resume(void)
{
	if (cpi.windows.running)
		switch_all(true);
}

void cpi_window_online(unsigned int cpu)
{
	int err;

	if (!cpi.windows.memory)
		return;
	err = open_follower(cpu);
	if (err && !cpi_counter_is_missing(err))
		pr_warn("cpi: CPU %u: error %d: no windows\n", cpu, err);
	if (cpi.windows.running)
		switch_follower(cpu, true);
}

void cpi_window_offline(unsigned int cpu)
{
	if (cpi.windows.memory)
		close_follower(cpu);
}

int cpi_window_followed(struct cpi_kmod_followed *out)
{
	struct cpi_gone sum = cpi.windows.gone;

	if (!cpi.windows.memory)
		return -ENXIO;
	for (unsigned int i = 0; i < nr_cpu_ids; i++) {
		const struct cpi_follower *f = cpi.windows.followers[i];

		if (!f)
			continue;
		cpi_window_add_counts(&out->counts, &f->cpu.counts);
		if (f->event)
			cpi_counter_add_value(f->event, &sum);
	}
	out->event_count = sum.event_count;
	out->enabled_ns = sum.enabled_ns;
	out->running_ns = sum.running_ns;
	return 0;
}
