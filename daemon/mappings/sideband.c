/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband.c - reads the rings of mapping events
 *
 * When a ring is full, the kernel reports the loss in the next record that fits. Until
 * one does, only the event's own count shows the loss. So that count is read as well,
 * or samples of the meantime would be attributed to earlier mappings.
 */
#include "config.h"

#include "daemon/mappings/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/times.h"
#include "daemon/mappings/cgroupevents.h"
#include "daemon/mappings/labels.h"
#include "daemon/mappings/movedtext.h"
#include "daemon/mappings/procscan.h"
#include "daemon/mappings/threadscan.h"
#include "daemon/os/perfev.h"
#include "daemon/os/ring.h"

/*
 * Data bytes of all rings together, and of one ring. An exec writes some 2 KiB, and
 * lost records cost more than memory. The smallest ring fits into the default of
 * perf_event_mlock_kb beside the ring of samples.
 */
#define RINGS_TOTAL   (16u << 20)
#define RING_SIZE_MAX (4u << 20)
#define RING_SIZE_MIN (128u << 10)

#define SCAN_INTERVAL_NS NSEC_PER_SEC
/* the least time between two looks at whether an event has stopped */
#define LOOK_INTERVAL_NS (100 * NSEC_PER_MSEC)
#define STOPPED_NS       (500 * NSEC_PER_MSEC)
/* between two looks for users of root's new processes; most have ended by then */
#define OWNERS_INTERVAL_NS NSEC_PER_SEC
#define LEAST_RATE         0.875 /* of enabled time, by our clock */

/* A look at an event. A look is slow if the event's CPU does not answer at once. */
struct look {
	uint64_t enabled_ns;       /* the event's enabled time ... */
	uint64_t begin_ns, end_ns; /* ... at a moment between these */
};

struct source {
	struct perfthreads threads; /* the other threads of the target */
	int fd;                     /* -1: this CPU is offline */
	int cgroups_fd[CGROUPS_MAX_EVENTS], nr_cgroups;
	struct ring ring;
	const struct perf_event_header *record; /* the next record to apply, ... */
	uint64_t time;                          /* ... and its time */
	uint64_t lost_told;                     /* lost records by the LOST records */
	uint64_t lost_noted; /* lost records that nr_lost has counted */
	bool may_have_lost;  /* the ring was half full since the last reading */
	struct look look;    /* the last one ... */
	struct look now;     /* ... and the one that is compared with it */
	bool stopped;        /* the event had stopped before the last look */
};

struct sideband {
	struct sideband_config cfg;
	struct source *source; /* by CPU number */
	int nr_sources;
	struct source **queue; /* a heap: the source with the oldest record is first */
	int nr_queued;
	uint64_t nr_lost, nr_mended;
	bool had_news; /* since the last sideband_read() began */
	bool missed;   /* a CPU came online, and its first records are missing */
	uint64_t
		scanned_ns; /* when /proc was last scanned because of a gap; 0: never */
	uint64_t read_ns;   /* when all rings were last read */
	uint64_t owners_ns; /* when new processes were last asked for their user */
	uint64_t gap_ns; /* the time of the read before that, where a gap would begin */
};

/* What sample_id_all appends to each record: TID and TIME. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
};

/*
 * Does not ask for build ids. If it did, the kernel (5.12 to 6.18 at least) would also
 * mark the same MMAP2 record of events that did not ask, and perf record crashes on
 * such a mark. For the same reason apply_mmap2() ignores the mark.
 */
static void set_attr(const struct sideband_config *cfg, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = cfg->target.pid < 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.exclude_kernel =
			1, /* it counts nothing anyway, and needs less privilege so */
		.exclude_hv = 1,
		.inherit = cfg->target.pid >= 0,
		.disabled = cfg->target.enable_on_exec,
		.enable_on_exec = cfg->target.enable_on_exec,
	};
}

/* Kernels before 6.0 do not count lost records; then only LOST records tell. */
static int open_event(const struct sideband_config *cfg, int cpu, size_t wakes_at)
{
	struct perf_event_attr attr;
	int fd;

	set_attr(cfg, &attr);
	attr.wakeup_watermark = (uint32_t)wakes_at;
	fd = perfev_open(&attr, cfg->target.pid, cpu);
	if (fd == -EINVAL) {
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
		fd = perfev_open(&attr, cfg->target.pid, cpu);
	}
	return fd;
}

/* Opens events of the target's other threads, whose records go to the same ring. */
static int open_threads(const struct sideband *sb, struct source *s, int cpu,
			int ring_fd)
{
	struct perf_event_attr attr;
	int err;

	set_attr(&sb->cfg, &attr);
	attr.read_format = 0; /* then only LOST records tell */
	err = perfthreads_open(&sb->cfg.target, &attr, cpu, &s->threads);
	if (!err)
		err = perfthreads_ioctl(&s->threads, PERF_EVENT_IOC_SET_OUTPUT,
					ring_fd);
	if (err)
		perfthreads_close(&s->threads);
	return err;
}

/* The largest power of two that is possible for every CPU. */
static size_t ring_size(const struct sideband *sb)
{
	size_t size = RING_SIZE_MAX;

	while (size > RING_SIZE_MIN && size * sb->nr_sources > RINGS_TOTAL)
		size /= 2;
	return size;
}

static void close_cgroups(struct source *s)
{
	for (int i = 0; i < s->nr_cgroups; i++)
		close(s->cgroups_fd[i]);
	s->nr_cgroups = 0;
}

/*
 * Opens the events of cgroups, whose samples go into the same ring. Without these,
 * /proc is asked instead.
 */
static void open_cgroups(struct sideband *sb, struct source *s, int ring_fd, int cpu)
{
	struct perf_event_attr attr;
	int err = 0;

	for (int i = 0; !err && i < cgroups_nr_events(sb->cfg.cgroups); i++) {
		int fd;

		cgroups_attr(sb->cfg.cgroups, i, &attr);
		fd = perfev_open(&attr, -1, cpu);
		if (fd < 0) {
			err = fd;
			break;
		}
		s->cgroups_fd[s->nr_cgroups++] = fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring_fd) < 0)
			err = -errno;
	}
	if (!err)
		return;
	close_cgroups(s);
	cgroups_give_up(sb->cfg.cgroups, err);
}

/*
 * Opens an event with a ring of this size. It wakes the daemon when half of a smallest
 * ring, or an eighth of a larger one, is full. Returns a descriptor or -errno.
 */
static int open_ring(struct sideband *sb, struct source *s, int cpu, size_t size)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	const size_t wakes_at =
		size / 8 > RING_SIZE_MIN / 2 ? size / 8 : RING_SIZE_MIN / 2;
	const int fd = open_event(&sb->cfg, cpu, wakes_at);
	int err;

	if (fd < 0)
		return fd;
	err = ring_open(&s->ring, fd, size);
	ev.data.fd = fd;
	if (!err)
		err = open_threads(sb, s, cpu, fd);
	if (!err && epoll_ctl(sb->cfg.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		err = -errno;
	if (!err)
		return fd;
	perfthreads_close(&s->threads);
	ring_close(&s->ring);
	close(fd);
	return err;
}

static int source_open(struct sideband *sb, int cpu)
{
	struct source *s = &sb->source[cpu];
	const uint64_t begin_ns = time_mono_ns();
	int fd = open_ring(sb, s, cpu, ring_size(sb));

	if (fd < 0)
		fd = open_ring(sb, s, cpu, RING_SIZE_MIN);
	if (fd < 0)
		return fd;
	s->fd = fd;
	open_cgroups(sb, s, fd, cpu);
	s->lost_told = s->lost_noted = 0;
	s->may_have_lost = false;
	s->look = (struct look){ 0, begin_ns, time_mono_ns() };
	s->stopped = false;
	return 0;
}

static void source_close(struct source *s)
{
	if (s->fd < 0)
		return;
	close_cgroups(s);
	perfthreads_close(&s->threads);
	ring_close(&s->ring);
	close(s->fd);
	s->fd = -1;
}

static int grow_sources(struct sideband *sb, int nr)
{
	struct source **queue, *grown;

	if (nr <= sb->nr_sources)
		return 0;
	queue = realloc(sb->queue, nr * sizeof(*queue));
	if (!queue)
		return -ENOMEM;
	sb->queue = queue;
	grown = realloc(sb->source, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	sb->source = grown;
	for (; sb->nr_sources < nr; sb->nr_sources++)
		sb->source[sb->nr_sources] = (struct source){ .fd = -1 };
	return 0;
}

int sideband_set_cpus(struct sideband *sb, const struct cpus *cpus)
{
	int err = 0;

	err = grow_sources(sb, cpus->highest + 1);
	if (err)
		return err;
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		bool wanted = cpu <= cpus->highest && cpus->online[cpu];

		if (!wanted) {
			source_close(&sb->source[cpu]);
		} else if (sb->source[cpu].fd < 0) {
			int e = source_open(sb, cpu);

			err = e ? e : err;
			sb->missed = true;
		}
	}
	return err;
}

void sideband_leave_out_stopped(const struct sideband *sb, struct cpus *cpus)
{
	for (int cpu = 0; cpu < sb->nr_sources && cpu <= cpus->highest; cpu++) {
		const struct source *s = &sb->source[cpu];

		if (s->fd < 0 || !s->stopped || !cpus->online[cpu])
			continue;
		cpus->online[cpu] = false;
		cpus->nr--;
	}
}

int sideband_open(const struct sideband_config *cfg, const struct cpus *cpus,
		  struct sideband **out)
{
	struct sideband *sb = calloc(1, sizeof(*sb));
	int err;

	if (!sb)
		return -ENOMEM;
	sb->cfg = *cfg;
	sb->read_ns = time_mono_ns();
	err = sideband_set_cpus(sb, cpus);
	if (err) {
		sideband_close(sb);
		return err;
	}
	sb->missed = false; /* the caller scans /proc at the beginning */
	*out = sb;
	return 0;
}

void sideband_close(struct sideband *sb)
{
	if (!sb)
		return;
	for (int cpu = 0; cpu < sb->nr_sources; cpu++)
		source_close(&sb->source[cpu]);
	free(sb->source);
	free(sb->queue);
	free(sb);
}

static void note_lost(struct sideband *sb, struct source *s, uint64_t lost)
{
	if (lost <= s->lost_noted)
		return;
	sb->nr_lost += lost - s->lost_noted;
	s->lost_noted = lost;
}

/*
 * Reads an event's counts, and notes the lost records. Returns the time in ns for which
 * the event was enabled. A read interrupts the event's CPU, so there are few of them.
 */
static uint64_t read_event(struct sideband *sb, struct source *s)
{
	uint64_t count[3] = {
		0
	}; /* the count, which is always 0; enabled time in ns; lost records */

	if (read(s->fd, count, sizeof(count)) == sizeof(count))
		note_lost(sb, s, count[2]);
	return count[1];
}

static struct look look_at(struct sideband *sb, struct source *s)
{
	struct look l = { .begin_ns = time_mono_ns() };

	l.enabled_ns = read_event(sb, s);
	l.end_ns = time_mono_ns();
	return l;
}

/* How fast enabled time passed between two looks, by this process's clock, at least. */
static double rate_between(const struct look *from, const struct look *to)
{
	return to->enabled_ns <= from->enabled_ns
		       ? 0
		       : (double)(to->enabled_ns - from->enabled_ns) /
				 (double)(to->end_ns - from->begin_ns);
}

/*
 * Returns whether an event has stopped between two looks: it was not enabled for an
 * eighth of the time, or for STOPPED_NS. The time is the least that can have passed,
 * however slow a look is.
 */
static bool has_stopped(const struct look *from, const struct look *to, double rate)
{
	const double ns = (double)(to->begin_ns - from->end_ns) * rate;
	const double missing_ns = ns / 8 < STOPPED_NS ? ns / 8 : STOPPED_NS;

	return (double)to->enabled_ns < (double)from->enabled_ns + ns - missing_ns;
}

/*
 * Notices events that have stopped. When a CPU goes offline, its events stop, and they
 * do not start again when the CPU comes back. An event of a process runs only while
 * that process does, so it is not judged.
 *
 * Our clock is adjusted to wall-clock time, and the clock of enabled time is not. So
 * the fastest event tells how fast enabled time passes. The kernel makes our clock at
 * most 11 % faster, so a rate below LEAST_RATE means that all events have stopped. A
 * rate above 1 may be an error of one CPU's clock, so it counts as 1.
 */
void sideband_look_at_events(struct sideband *sb)
{
	double rate = LEAST_RATE;

	if (sb->cfg.target.pid >= 0)
		return;
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		struct source *s = &sb->source[cpu];

		s->now = s->look;
		if (s->fd < 0 || time_mono_ns() < s->look.end_ns + LOOK_INTERVAL_NS)
			continue;
		s->now = look_at(sb, s);
		if (rate_between(&s->look, &s->now) > rate)
			rate = rate_between(&s->look, &s->now);
	}
	if (rate > 1)
		rate = 1;
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		struct source *s = &sb->source[cpu];

		if (s->now.end_ns == s->look.end_ns)
			continue;
		s->stopped = has_stopped(&s->look, &s->now, rate);
		s->look = s->now;
	}
}

/*
 * Finds the ring's next record to apply. The kernel writes the records of a CPU in time
 * order: in process context, with preemption off.
 */
static void find_next(struct sideband *sb, struct source *s)
{
	const struct perf_event_header *h;

	for (; (h = ring_peek(&s->ring)); ring_next(&s->ring, h)) {
		const struct sample_id *id;

		if (h->type == PERF_RECORD_SAMPLE) {
			if (cgroupevents_time(h, &s->time))
				break;
			continue;
		}
		if (h->size < sizeof(*h) + sizeof(*id))
			continue;
		if (h->type != PERF_RECORD_LOST) {
			id = (const void *)((const char *)h + h->size - sizeof(*id));
			s->time = id->time;
			break;
		}
		s->lost_told += ((const uint64_t *)(h + 1))[1];
		note_lost(sb, s, s->lost_told);
	}
	s->record = h;
}

/* Moves the heap's element at i down to its place. */
static void sift_down(struct sideband *sb, int i)
{
	struct source **q = sb->queue, *s = q[i];

	for (;;) {
		int child = 2 * i + 1;

		if (child + 1 < sb->nr_queued && q[child + 1]->time < q[child]->time)
			child++;
		if (child >= sb->nr_queued || s->time <= q[child]->time)
			break;
		q[i] = q[child];
		i = child;
	}
	q[i] = s;
}

/* Queues the rings that have records. */
static void queue_sources(struct sideband *sb)
{
	sb->nr_queued = 0;
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		struct source *s = &sb->source[cpu];

		if (s->fd < 0)
			continue;
		ring_snapshot(&s->ring);
		find_next(sb, s);
		if (s->record)
			sb->queue[sb->nr_queued++] = s;
	}
	for (int i = sb->nr_queued / 2 - 1; i >= 0; i--)
		sift_down(sb, i);
}

/*
 * Drops the oldest record, which was applied. A ring is released to the kernel when the
 * turn goes to another ring.
 */
static void dequeue(struct sideband *sb)
{
	struct source *s = sb->queue[0];

	ring_next(&s->ring, s->record);
	find_next(sb, s);
	if (!s->record)
		sb->queue[0] = sb->queue[--sb->nr_queued];
	if (sb->nr_queued)
		sift_down(sb, 0);
	if (!sb->nr_queued || sb->queue[0] != s)
		s->may_have_lost |= ring_release(&s->ring);
}

struct record_task {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[];
};

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, len, page_offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	char name[];
};

struct record_ksymbol {
	struct perf_event_header header;
	uint64_t address;
	uint32_t len;
	uint16_t type, flags;
};

/* Whether the text at the end of the record has its NUL inside the record. */
static bool has_text(const struct perf_event_header *h, const char *text)
{
	const char *end = (const char *)h + h->size - sizeof(struct sample_id);

	return text < end && memchr(text, '\0', end - text);
}

/* Takes the label in a mapping's name, also if the mapping itself is skipped. */
static void apply_label(struct sideband *sb, const struct record_mmap2 *r)
{
	char label[CPI_LABEL_MAX + 1];

	if (sb->cfg.labels && has_text(&r->header, r->name) &&
	    labels_parse_mapping(r->name, label))
		procmap_set_label(sb->cfg.procmap, r->pid, label);
}

static void apply_mmap2(struct sideband *sb, const struct record_mmap2 *r,
			uint64_t time)
{
	const struct image_source source = { .device = makedev(r->major, r->minor),
					     .inode = r->inode,
					     .inode_generation = r->inode_generation };
	struct known_image *image;
	struct range range = { .start = r->address,
			       .end = r->address + r->len,
			       .bias = r->page_offset - r->address,
			       .since = time };

	if (range.start >= range.end)
		return;
	image = images_get(sb->cfg.images, r->name, &source);
	if (!image) {
		procmap_add_gap(sb->cfg.procmap, time, time);
		return;
	}
	if (image->unknown != SAMPLE_KEPT || image->desc.kind == IMAGE_VDSO)
		range.bias = -range.start;
	range.value = image;
	if (image->unknown == SAMPLE_ANONYMOUS &&
	    movedtext_check(sb->cfg.procmap, sb->cfg.images, r->pid, &range, time))
		return; /* the samples there remain the file's */
	procmap_map(sb->cfg.procmap, r->pid, &range);
	if (images_meet(sb->cfg.images, image, r->pid))
		sb->had_news = true;
	if (sb->cfg.jit && jit_may_hold(image)) {
		const struct process *p =
			procmap_find(sb->cfg.procmap, r->pid, 0, time);

		if (p && jit_note(sb->cfg.jit, p))
			sb->had_news = true;
	}
}

/*
 * A process may map as fast as it can, so records that are not needed must cost little.
 */
static void take_mmap2(struct sideband *sb, const struct record_mmap2 *r, uint64_t time)
{
	if (r->header.size < sizeof(*r))
		return;
	apply_label(sb, r);
	if (procmap_skip_map(sb->cfg.procmap, r->pid, time))
		return;
	if (has_text(&r->header, r->name))
		apply_mmap2(sb, r, time);
}

static void apply_exec(struct sideband *sb, const struct record_comm *r, uint64_t time)
{
	procmap_exec(sb->cfg.procmap, r->pid, r->comm, time);
	if (sb->cfg.cgroups)
		cgroups_note_exec(sb->cfg.cgroups, r->pid);
}

/* The name that a thread gives to those that it makes. */
static const char *comm_of(const struct sideband *sb, const struct record_task *r,
			   uint64_t time)
{
	const struct thread *t;
	const struct process *p;

	if (!threadmap_find(sb->cfg.threads, r->ptid, time, time, &t))
		return t->comm;
	p = procmap_find(sb->cfg.procmap, r->ppid, 0, time);
	return p ? p->comm : "";
}

/* If there is no memory for a thread, it is not told apart. */
static void apply_thread_fork(struct sideband *sb, const struct record_task *r,
			      uint64_t time)
{
	struct threadmap *tm = sb->cfg.threads;

	if (tm && r->pid != r->ppid)
		threadmap_process(tm, r->pid, time);
	else if (tm && threadmap_fork(tm, r->tid, r->pid, comm_of(sb, r, time), time))
		tm->nr_refused++;
}

static void apply_ksymbol(struct sideband *sb, const struct record_ksymbol *r,
			  uint64_t time)
{
	uint64_t size;

	if (!sb->cfg.kernel || r->header.size < sizeof(*r))
		return;
	size = r->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? 0 : r->len;
	kernel_text_changed(sb->cfg.kernel, r->address, size, time);
}

static void apply(struct sideband *sb, const struct perf_event_header *h, uint64_t time)
{
	struct procmap *pm = sb->cfg.procmap;

	switch (h->type) {
	case PERF_RECORD_FORK: {
		const struct record_task *r = (const void *)h;

		if (r->pid != r->ppid) /* equal: a thread */
			procmap_fork(pm, r->pid, r->ppid, time);
		apply_thread_fork(sb, r, time);
		break;
	}
	case PERF_RECORD_EXIT: {
		const struct record_task *r = (const void *)h;

		if (r->pid == r->tid)
			procmap_exit(pm, r->pid, time);
		else if (sb->cfg.threads)
			threadmap_exit(sb->cfg.threads, r->tid, time);
		break;
	}
	case PERF_RECORD_COMM: {
		const struct record_comm *r = (const void *)h;

		if (!has_text(h, r->comm))
			break;
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			apply_exec(sb, r, time);
		else if (r->pid == r->tid)
			procmap_comm(pm, r->pid, r->comm);
		else if (sb->cfg.threads)
			threadmap_comm(sb->cfg.threads, r->tid, r->comm);
		break;
	}
	case PERF_RECORD_MMAP2:
		take_mmap2(sb, (const void *)h, time);
		break;
	case PERF_RECORD_SAMPLE:
		cgroups_apply(sb->cfg.cgroups, h);
		break;
	case PERF_RECORD_KSYMBOL:
		apply_ksymbol(sb, (const void *)h, time);
		break;
	}
}

bool sideband_read(struct sideband *sb)
{
	sb->gap_ns = sb->read_ns;
	sb->read_ns = time_mono_ns();
	sb->had_news = false;
	images_next_reading(sb->cfg.images);
	for (queue_sources(sb); sb->nr_queued; dequeue(sb))
		apply(sb, sb->queue[0]->record, sb->queue[0]->time);
	if (sb->read_ns >= sb->owners_ns + OWNERS_INTERVAL_NS) {
		sb->owners_ns = sb->read_ns;
		procmap_ask_owners(sb->cfg.procmap);
	}
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		struct source *s = &sb->source[cpu];

		if (s->fd < 0)
			continue;
		s->may_have_lost |= ring_release(&s->ring);
		if (s->may_have_lost)
			read_event(sb, s);
		s->may_have_lost = false;
	}
	return sb->nr_lost != sb->nr_mended || sb->missed;
}

/*
 * Extends the gap to now and ends it with a scan of /proc. A scan takes milliseconds,
 * so there is at most one a second.
 */
void sideband_mend(struct sideband *sb)
{
	uint64_t now = time_mono_ns();
	struct procscan_result scan;

	procmap_add_gap(sb->cfg.procmap, sb->gap_ns, now);
	if (sb->scanned_ns && now < sb->scanned_ns + SCAN_INTERVAL_NS)
		return;
	if (!procscan_all(sb->cfg.procmap, sb->cfg.images, &scan))
		procmap_end_unseen(sb->cfg.procmap, now);
	if (sb->cfg.threads)
		threadscan(sb->cfg.threads, 0);
	if (sb->cfg.cgroups)
		cgroups_read_all(sb->cfg.cgroups);
	if (sb->cfg.labels)
		labels_scan(sb->cfg.procmap, images_timed_child(sb->cfg.images), now);
	if (sb->nr_lost != sb->nr_mended)
		log_warn("sideband: %llu mapping records lost: /proc was scanned again",
			 (unsigned long long)(sb->nr_lost - sb->nr_mended));
	sb->missed = false;
	sb->nr_mended = sb->nr_lost;
	sb->scanned_ns = now;
}

bool sideband_has_news(const struct sideband *sb)
{
	for (int cpu = 0; cpu < sb->nr_sources; cpu++) {
		const struct source *s = &sb->source[cpu];

		if (s->fd >= 0 && ring_unread(&s->ring))
			return true;
	}
	return false;
}

bool sideband_had_news(const struct sideband *sb)
{
	return sb->had_news;
}

uint64_t sideband_nr_lost(const struct sideband *sb)
{
	return sb->nr_lost;
}
