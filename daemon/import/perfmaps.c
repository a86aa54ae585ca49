/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmaps.c - applies the mappings of a recording to the process map
 */
#include "config.h"

#include "daemon/import/perfmaps.h"

#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/path.h"
#include "daemon/procmap/kernel.h"

#define KERNEL_NAME "[kernel.kallsyms]"

/* The build id that the header has for a file; size 0: none. */
static void find_build_id(const struct perfdata_info *info, const char *name,
			  size_t len, struct image_source *source)
{
	for (size_t i = 0; i < info->nr_images; i++) {
		const struct perfdata_image *image = &info->image[i];

		if (strlen(image->name) != len || memcmp(image->name, name, len))
			continue;
		memcpy(source->build_id, image->build_id, image->build_id_size);
		source->build_id_size = image->build_id_size;
		return;
	}
}

static struct image_source source_of(const struct perfmaps *m,
				     const struct perf_mmap *r)
{
	struct image_source source = { .device = makedev(r->major, r->minor),
				       .inode = r->inode,
				       .inode_generation = r->inode_generation,
				       .build_id_size = r->build_id_size };

	memcpy(source.build_id, r->build_id, r->build_id_size);
	if (!r->build_id_size)
		find_build_id(m->info, r->name, strlen(r->name), &source);
	return source;
}

/* "[nf_tables]" of "/lib/modules/…/nf-tables.ko.xz", as the kernel calls it. */
static void module_name(const char *path, char *out, size_t size)
{
	const char *base = path_base(path);
	size_t len;

	len = strcspn(base, ".");
	if (base[0] == '[') {
		snprintf(out, size, "%s", base);
		return;
	}
	snprintf(out, size, "[%.*s]", (int)len, base);
	for (char *c = out; (c = strchr(c, '-'));)
		*c = '_';
}

struct image_source perfmaps_kernel_source(const struct perfmaps *m)
{
	struct image_source source = { 0 };

	find_build_id(m->info, KERNEL_NAME, strlen(KERNEL_NAME), &source);
	return source;
}

static struct known_image *kernel_image(struct perfmaps *m, const struct perf_mmap *r)
{
	struct image_source source = { 0 };
	char name[256];

	if (!strncmp(r->name, KERNEL_NAME, strlen(KERNEL_NAME))) {
		source = perfmaps_kernel_source(m);
		return images_get_special(m->images, IMAGE_KERNEL, "[kernel]", &source);
	}
	source = source_of(m, r);
	if (!strncmp(r->name, "bpf_", 4))
		return images_get_special(m->images, IMAGE_BPF, r->name, &source);
	module_name(r->name, name, sizeof(name));
	return images_get_special(m->images, IMAGE_MODULE, name, &source);
}

/* The kernel's own offsets count from _text or _stext, whose address is in the record.
 */
static void map_kernel(struct perfmaps *m, const struct perf_mmap *r)
{
	struct known_image *image = kernel_image(m, r);
	struct range range = { .start = r->address,
			       .end = r->address + r->size,
			       .bias = -r->address,
			       .value = image };

	if (image && image->desc.kind == IMAGE_KERNEL &&
	    r->page_offset - range.start < r->size)
		range.bias = -r->page_offset;
	if (range.end < range.start) /* to the end of all addresses */
		range.end = UINT64_MAX;
	if (image)
		rangemap_insert(&m->kernel, &range, NULL, NULL);
}

static void map_user(struct perfmaps *m, const struct perf_record *r, uint64_t when_ns)
{
	const struct image_source source = source_of(m, &r->mmap);
	struct known_image *image = images_get(m->images, r->mmap.name, &source);
	struct range range = { .start = r->mmap.address,
			       .end = r->mmap.address + r->mmap.size,
			       .bias = r->mmap.page_offset - r->mmap.address,
			       .since = when_ns,
			       .value = image };

	if (range.start >= range.end)
		return;
	if (!image) {
		procmap_add_gap(m->procmap, when_ns, when_ns);
		return;
	}
	image->state = IMAGE_FRESH; /* by what was recorded */
	if (image->unknown != SAMPLE_KEPT || image->desc.kind == IMAGE_VDSO)
		range.bias = -range.start;
	procmap_map(m->procmap, r->pid, &range);
}

static void apply_mmap(struct perfmaps *m, const struct perf_record *r,
		       uint64_t when_ns)
{
	if (!r->mmap.executable)
		return;
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		map_kernel(m, &r->mmap);
		break;
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
		map_user(m, r, when_ns);
		break;
	}
}

/*
 * For processes that ran before the recording, perf makes fork records, and mapping
 * records of all that they map. So these inherit nothing from their parents.
 */
static void apply_fork(struct perfmaps *m, const struct perf_record *r,
		       uint64_t when_ns)
{
	if (r->pid == r->task.ppid) {
		procmap_add_thread(m->procmap, r->pid);
		return;
	}
	procmap_fork(m->procmap, r->pid,
		     r->misc & PERF_RECORD_MISC_FORK_EXEC ? UINT32_MAX : r->task.ppid,
		     when_ns);
}

void perfmaps_apply(struct perfmaps *m, const struct perf_record *r, uint64_t when_ns)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		apply_mmap(m, r, when_ns);
		break;
	case PERF_RECORD_COMM:
		if (r->misc & PERF_RECORD_MISC_COMM_EXEC)
			procmap_exec(m->procmap, r->pid, r->comm, when_ns);
		else if (r->pid == r->tid)
			procmap_comm(m->procmap, r->pid, r->comm);
		break;
	case PERF_RECORD_FORK:
		apply_fork(m, r, when_ns);
		break;
	case PERF_RECORD_EXIT:
		procmap_exit_thread(m->procmap, r->pid, r->pid == r->tid, when_ns);
		break;
	}
}
