// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_buffer.c - a CPU's memory: state, table, the mapped pair of buffers
 *
 * All of it is on the CPU's own NUMA node, if that has memory left. The table is
 * physically contiguous if the allocator can do that: then one TLB entry of the
 * kernel's direct map covers it. Only the module accesses the table; user space maps
 * the pair, read-only.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "kmod/cpi.h"
#include "kmod/cpi_compat.h"

/* A power of two, so that the allocator aligns it to cache lines. */
#define STATE_BYTES roundup_pow_of_two(sizeof(struct cpi_cpu))

static void wake(struct irq_work *work)
{
	wake_up_interruptible(&cpi.wait);
}

static size_t table_bytes(void)
{
	return cpi.config.nr_buckets * sizeof(struct cpi_bucket);
}

u32 cpi_buffer_pair_bytes(void)
{
	return PAGE_ALIGN(2 * cpi.config.nr_entries * sizeof(struct cpi_entry));
}

u32 cpi_buffer_bytes(void)
{
	return STATE_BYTES + table_bytes() + cpi_buffer_pair_bytes();
}

static void init_table(struct cpi_cpu *cpu)
{
	struct cpi_table *t = &cpu->table;

	t->mask = cpi.config.nr_buckets - 1;
	t->lost = cpu->lost;
	for (int i = 0; i < 2; i++) {
		t->overflow[i].entries = cpu->pair + i * cpi.config.nr_entries;
		t->overflow[i].cap = cpi.config.nr_entries;
	}
}

struct cpi_cpu *cpi_buffer_alloc(unsigned int number)
{
	int node = cpu_to_node(number);
	struct cpi_cpu *cpu = kzalloc_node(STATE_BYTES, GFP_KERNEL, node);

	if (!cpu)
		return NULL;
	cpu->number = number;
	cpu->taken = -1;
	init_irq_work(&cpu->wake, wake);
	cpu->table.buckets = kvzalloc_node(table_bytes(), GFP_KERNEL, node);
	cpu->pair = vmalloc_user(cpi_buffer_pair_bytes());
	if (!cpu->table.buckets || !cpu->pair) {
		cpi_buffer_free(cpu);
		return NULL;
	}
	init_table(cpu);
	for (int i = 0; i < CPI_MAX_EVENTS; i++) {
		cpu->counter[i] = (struct cpi_counter){
			.period.random = get_random_u32(),
			.mask = cpu->table.mask,
			.buckets = cpu->table.buckets,
			.cpu = cpu,
			.word0 = (u64)i << CPI_PC_BITS,
		};
	}
	return cpu;
}

void cpi_buffer_free(struct cpi_cpu *cpu)
{
	if (!cpu)
		return;
	irq_work_sync(&cpu->wake);
	kvfree(cpu->table.buckets);
	vfree(cpu->pair); /* pages stay while they are mapped */
	kfree(cpu);
}

int cpi_buffer_mmap(struct vm_area_struct *vma)
{
	unsigned long pages, cpu;

	if (!cpi.config.nr_events)
		return -ENXIO;
	pages = cpi_buffer_pair_bytes() >> PAGE_SHIFT;
	cpu = vma->vm_pgoff / pages;
	if (vma->vm_pgoff % pages || vma_pages(vma) != pages || cpu >= nr_cpu_ids)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	if (!cpi.cpus[cpu])
		return -ENXIO;
	cpi_compat_private(vma, VM_MAYWRITE | VM_MAYEXEC);
	return remap_vmalloc_range(vma, cpi.cpus[cpu]->pair, 0);
}
