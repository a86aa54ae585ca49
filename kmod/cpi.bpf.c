// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi.bpf.c - the table of the kernel module, where modules may not be loaded
 *
 * What happens at a counter's overflow: cpi_handler.c's job in BPF. abi/bpf.h
 * says how the daemon gets at the table. Arrays rather than hash maps or per-CPU
 * maps: a look-up in them is a few instructions in line, and the daemon reads them
 * without system calls.
 *
 * One program is loaded per event, all over the same maps: cpi_sample for perf's,
 * cpi_tick for the scheduler's ticks. The event's number, the
 * sizes and what is asked for are operands of its instructions: .rodata would be
 * a load from one more page, which other work has long driven out of the TLB.
 */
#include "kmod/cpi_bpf_kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/bpf.h"
#if defined(__TARGET_ARCH_x86)
#include "abi/branch_x86_64.h"
#else
#include "abi/branch_arm64.h"
#endif
#include "kmod/cpi_pair.h"
#include "kmod/table.h"

/* By CPU: struct cpi_bpf_cpu, and its tables; their size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, sizeof(struct cpi_bpf_cpu));
} cpi_cpus SEC(".maps");

/*
 * The overflow arrays, one after the other, in the order of cpi_bpf_slot(). The loader
 * sets their size.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct cpi_entry);
} cpi_overflow SEC(".maps");

/* Of cpi_bpf_notice; its size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
} cpi_notices SEC(".maps");

/* An operand that the loader patches; placeholder is a number of abi/bpf.h. */
#define LOADED(placeholder)                                       \
	({                                                        \
		uint64_t loaded;                                  \
		asm("%0 = %1" : "=r"(loaded) : "i"(placeholder)); \
		loaded;                                           \
	})

/* Likewise, of 64 bits. */
#define LOADED_WIDE(placeholder)                                     \
	({                                                           \
		uint64_t loaded;                                     \
		asm("%0 = %1 ll" : "=r"(loaded) : "i"(placeholder)); \
		loaded;                                              \
	})

/* Reads up to 16 bytes of code; fewer if the next page is not present. */
static __always_inline uint32_t read_code(uint64_t pc, bool user, uint8_t *code)
{
	const uint32_t size = CPI_BRANCH_MAX_BYTES;
	uint32_t in_page = 4096 - (pc & 4095);
	const void *at = (const void *)pc;

	if (!(user ? bpf_probe_read_user(code, size, at)
		   : bpf_probe_read_kernel(code, size, at)))
		return size;
	if (in_page >= size)
		return 0;
	in_page &= size - 1;
	return (user ? bpf_probe_read_user(code, in_page, at)
		     : bpf_probe_read_kernel(code, in_page, at))
		       ? 0
		       : in_page;
}

#if defined(__TARGET_ARCH_x86)

/*
 * The general registers, in the order of struct cpi_regs, with sp in the place of
 * orig_ax. Copies: the verifier wants constant offsets into what the kernel hands in.
 */
#define GENERAL_REGS(r)                                                             \
	{                                                                           \
		(r)->r15, (r)->r14, (r)->r13, (r)->r12, (r)->bp, (r)->bx, (r)->r11, \
			(r)->r10, (r)->r9, (r)->r8, (r)->ax, (r)->cx, (r)->dx,      \
			(r)->si, (r)->di, (r)->sp                                   \
	}
/*
 * Maps a register's number in instructions to its index in GENERAL_REGS, four bits
 * each.
 */
#define GENERAL_AT(number) (0x01236789ed4f5cbaULL >> 4 * (number)&15)
#define PC_OF(r)           ((r)->ip)

/*
 * Not static, so that the verifier goes through it once, with any arguments, and
 * not once for each way that leads here. what: the lowest bits of cpi_decode().
 */
__noinline uint32_t cpi_judge(uint32_t what, uint64_t flags, uint64_t left,
			      uint64_t right)
{
	const struct cpi_branch b = {
		.kind = what & 15,
		.arg = what >> 4 & 15,
		.op = what >> 8 & 15,
		.width = ((what >> 9 & 120) - 1 & 63) + 1,
	};

	return cpi_branch_outcome_x86_64(b, flags, left, right);
}

/*
 * Like cpi_branch_decode_x86_64(), but decodes no loop instructions and no prefixes
 * except 66 and REX, because compilers never emit the others. Each prefix would double
 * the verifier's work.
 */
static __always_inline struct cpi_branch decode(struct cpi_x86_code c)
{
	struct cpi_branch b = { .kind = CPI_BRANCH_UNKNOWN };
	struct cpi_x86_code first = c;
	int cc;

	if (!c.n)
		return b;
	cc = cpi_x86_decode_jcc(&first);
	if (cc < 0) {
		c.operand_16 = cpi_x86_byte(&c, 0) == 0x66;
		cpi_x86_skip(&c, c.operand_16);
		if (c.n && (cpi_x86_byte(&c, 0) & 0xf0) == 0x40) {
			c.rex = cpi_x86_byte(&c, 0);
			cpi_x86_skip(&c, 1);
		}
		b.kind = CPI_BRANCH_NOT;
		if (!c.n || cpi_x86_decode_first(&c, &b))
			return b;
		cc = cpi_x86_decode_jcc(&c);
		b.kind = cc < 0 ? CPI_BRANCH_NOT : CPI_BRANCH_X86_PAIR;
	} else {
		b.kind = CPI_BRANCH_X86_CC;
	}
	b.arg = cc;
	return b;
}

/*
 * Decodes the n bytes of low and high. Not static either. Returns struct cpi_branch in
 * a word, from its lowest bits on: kind, arg, op and an eighth of width, left and
 * right, four bits each; a bit each for left_shift, right_shift and
 * CPI_BRANCH_CONSTANT; value from bit 32 on.
 */
__noinline uint64_t cpi_decode(uint64_t low, uint64_t high, uint32_t n)
{
	const struct cpi_x86_code c = { .low = low, .high = high, .n = n };
	const struct cpi_branch b = decode(c);
	const uint32_t constant = b.right == CPI_BRANCH_CONSTANT;

	return b.kind | b.arg << 4 | b.op << 8 | b.width << 9 | b.left << 16 |
	       (b.right & 15) << 20 | (b.left_shift != 0) << 24 |
	       (b.right_shift != 0) << 25 | constant << 26 | b.value << 32;
}

static __always_inline enum cpi_outcome outcome_at(const uint64_t *code, uint32_t n,
						   const uint64_t *regs, uint64_t flags)
{
	const uint64_t b = cpi_decode(code[0], code[1], n);
	const uint64_t left = regs[GENERAL_AT(b >> 16 & 15)] >> (b >> 24 & 1) * 8;
	uint64_t right = (int64_t)b >> 32;

	if ((b & 15) == CPI_BRANCH_NOT)
		return CPI_OUTCOME_NONE;
	if (!(b >> 26 & 1))
		right = regs[GENERAL_AT(b >> 20 & 15)] >> (b >> 25 & 1) * 8;
	return cpi_judge(b, flags, left, right);
}

/* Registers are looked at where it takes more than a glance. */
#define OUTCOME(r, general)                                           \
	({                                                            \
		uint64_t code[CPI_BRANCH_MAX_BYTES / 8] = { 0 };      \
		int glance = CPI_X86_DECODE;                          \
		uint32_t n;                                           \
                                                                      \
		if (cpi_x86_is_compat((r)->cs))                       \
			return CPI_OUTCOME_UNREADABLE;                \
		n = read_code((r)->ip, (r)->cs & 3, (uint8_t *)code); \
		if (n == CPI_BRANCH_MAX_BYTES)                        \
			glance = cpi_x86_glance(code[0]);             \
		if (glance == CPI_X86_NO_BRANCH)                      \
			return CPI_OUTCOME_NONE;                      \
		if (glance != CPI_X86_DECODE)                         \
			return cpi_x86_condition(glance, (r)->flags)  \
				       ? CPI_OUTCOME_TAKEN            \
				       : CPI_OUTCOME_NOT_TAKEN;       \
		outcome_at(code, n, general, (r)->flags);             \
	})

static __always_inline enum cpi_outcome outcome_of(const void *from)
{
	const struct cpi_regs *r = &((const struct bpf_perf_event_data *)from)->regs;

	return OUTCOME(r, ((const uint64_t[])GENERAL_REGS(r)));
}

/* There is no room on the stack for both the registers and a copy of them. */
static __always_inline enum cpi_outcome outcome_of_tick(const void *from)
{
	struct cpi_regs r;

	if (bpf_probe_read_kernel(&r, sizeof(r), from))
		return CPI_OUTCOME_UNREADABLE;
	r.orig_ax = r.sp;
	return OUTCOME(&r, (const uint64_t *)&r);
}

#elif defined(__TARGET_ARCH_arm64)

#define PSTATE_AARCH32 (1u << 4)
#define PSTATE_EL      0xcu

/* A copy: the verifier wants constant offsets into what the kernel hands in. */
static __always_inline void copy_regs(uint64_t *to, const uint64_t *from)
{
#pragma unroll
	for (int i = 0; i < 31; i++)
		to[i] = from[i];
	to[31] = 0; /* the zero register */
}
#define PC_OF(r) ((r)->pc)

static __always_inline uint32_t word_at(const uint8_t *code)
{
	return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
}

static __always_inline enum cpi_outcome outcome_at(uint64_t pc, const uint64_t *regs,
						   uint64_t pstate)
{
	uint8_t code[CPI_BRANCH_MAX_BYTES] = { 0 };
	struct cpi_branch branch;

	if (pstate & PSTATE_AARCH32 || read_code(pc, !(pstate & PSTATE_EL), code) < 4)
		return CPI_OUTCOME_UNREADABLE;
	branch = cpi_branch_decode_arm64(word_at(code), word_at(code + 4));
	return cpi_branch_outcome_arm64(branch, regs[branch.left & 31],
					regs[branch.right & 31], pstate);
}

static __noinline enum cpi_outcome outcome_of(const void *from)
{
	const struct cpi_regs *r = &((const struct bpf_perf_event_data *)from)->regs;
	uint64_t regs[32];

	copy_regs(regs, r->regs);
	return outcome_at(r->pc, regs, r->pstate);
}

static __noinline enum cpi_outcome outcome_of_tick(const void *from)
{
	struct cpi_regs r;

	if (bpf_probe_read_kernel(&r, sizeof(r), from))
		return CPI_OUTCOME_UNREADABLE;
	r.sp = 0; /* register 31 is the zero register */
	return outcome_at(r.pc, r.regs, r.pstate);
}

#endif

/*
 * Which process, or which thread of it, and which life of it: see who_is() in
 * cpi_handler.c. A process's threads have its exec id.
 */
static __always_inline uint64_t who_is(void)
{
	struct task_struct *task;
	uint32_t number;

	if (bpf_core_enum_value_exists(enum bpf_func_id,
				       BPF_FUNC_get_current_task_btf)) {
		task = bpf_get_current_task_btf();
		number = LOADED(CPI_BPF_BY_THREAD) ? task->pid : task->tgid;
		return number | (uint32_t)task->self_exec_id << CPI_TGID_BITS;
	}
	task = (struct task_struct *)bpf_get_current_task(); /* before 5.11 */
	number = LOADED(CPI_BPF_BY_THREAD) ? BPF_CORE_READ(task, pid)
					   : BPF_CORE_READ(task, tgid);
	return number | (uint32_t)BPF_CORE_READ(task, self_exec_id) << CPI_TGID_BITS;
}

/* If the ring is full, the notice is dropped: the daemon only wakes up later. */
static __noinline void notify(uint32_t cpu, enum cpi_bpf_notice_kind kind)
{
	struct cpi_bpf_notice notice = { cpu, kind };

	bpf_ringbuf_output(&cpi_notices, &notice, sizeof(notice), 0);
}

/*
 * Counts samples of processes, so that the daemon can be notified when there are new
 * ones.
 */
static __always_inline void note_work(struct cpi_bpf_cpu *cpu, uint32_t number,
				      uint64_t who)
{
	if (who & CPI_MAX_TGID && ++cpu->nr_work == cpu->notice_at)
		notify(number, CPI_BPF_NOTICE_WORK);
}

static __always_inline void spill(struct cpi_bpf_cpu *cpu, uint32_t active,
				  uint32_t number, const struct cpi_entry *evicted)
{
	uint32_t nr_entries = LOADED(CPI_BPF_NR_ENTRIES), nr = cpu->nr_overflow[active];
	uint32_t at = cpi_bpf_slot(cpu->slot, active) * nr_entries + nr;
	struct cpi_entry *e = NULL;

	if (nr < nr_entries)
		e = bpf_map_lookup_elem(&cpi_overflow, &at);
	if (!e) {
		cpu->lost[cpi_entry_event(evicted)][active] += cpi_entry_count(evicted);
		return;
	}
	*e = *evicted;
	cpu->nr_overflow[active] = ++nr;
	if (nr == LOADED(CPI_BPF_NR_FULL))
		notify(number, CPI_BPF_NOTICE_FULL);
}

static __always_inline struct cpi_bucket *
bucket_of(struct cpi_bpf_cpu *cpu, uint32_t active, uint64_t word0, uint64_t who)
{
	uint64_t nr_buckets = LOADED(CPI_BPF_NR_BUCKETS);
	uint64_t at =
		active * nr_buckets + (cpi_table_hash(word0, who) & (nr_buckets - 1));

	/* The verifiers of old kernels want to see a bound. */
	asm volatile("" : "+r"(at));
	at &= CPI_BPF_SETS * nr_buckets - 1;
	return (struct cpi_bucket *)(cpu + 1) + at;
}

/*
 * Counts a sample at pc; outcome_of reads the registers at from.
 *
 * If the table has an entry without outcome for this PC, the instruction is known to
 * be neither a conditional jump nor a compare before one. So most samples are
 * counted without a look at the code. Code that is changed in place is seen as
 * changed after the next sweep.
 */
static __always_inline int
count_sample(struct cpi_bpf_cpu *cpu, uint32_t number, uint64_t pc, const void *from,
	     enum cpi_outcome (*outcome_of)(const void *from))
{
	uint32_t event = LOADED(CPI_BPF_EVENT);
	enum cpi_outcome outcome = CPI_OUTCOME_NONE;
	uint64_t word0 = cpi_entry_word0(pc, event, outcome);
	uint64_t who = who_is();
	uint32_t active;
	struct cpi_entry evicted;
	struct cpi_bucket *b;

	active = *(volatile uint32_t *)&cpu->active & (CPI_BPF_SETS - 1);
	cpu->received[event][active]++;
	note_work(cpu, number, who);
	b = bucket_of(cpu, active, word0, who);
	if (cpi_table_hit(b, word0, who))
		return 0;
	if (LOADED(CPI_BPF_OUTCOME))
		outcome = outcome_of(from);
	if (outcome != CPI_OUTCOME_NONE) {
		word0 = cpi_entry_word0(pc, event, outcome);
		b = bucket_of(cpu, active, word0, who);
		if (cpi_table_hit(b, word0, who))
			return 0;
	}
	if (cpi_table_place(b, word0, who, &cpu->next_way, &evicted) == CPI_TABLE_EVICT)
		spill(cpu, active, number, &evicted);
	return 0; /* nothing goes to a perf ring */
}

/* The register behind the PC has the mode. */
#if defined(__TARGET_ARCH_x86)
#define IS_USER_MODE(cs) ((cs)&3)
#define IN_USER_MODE(r)  IS_USER_MODE((r)->cs)
#define PC_AT            offsetof(struct cpi_regs, ip)
#else
#define IS_USER_MODE(pstate) (!((pstate)&PSTATE_EL))
#define IN_USER_MODE(r)      IS_USER_MODE((r)->pstate)
#define PC_AT                offsetof(struct cpi_regs, pc)
#endif

/* Closes the CPU's pair, if one is open. A sample in the kernel leaves it open. */
static __always_inline void close_pair(const struct bpf_perf_event_data *ctx,
				       uint32_t number)
{
	struct cpi_pair_cpu *pair = bpf_map_lookup_elem(&cpi_pairs, &number);

	if (pair && !*(volatile uint64_t *)&pair->is_at_tick &&
	    *(volatile uint32_t *)&pair->state == CPI_PAIR_OPEN &&
	    IN_USER_MODE(&ctx->regs))
		cpi_pair_close(pair, &ctx->regs, PC_OF(&ctx->regs));
}

/* The same at a tick in user mode, whose registers are at regs in the kernel. */
static __always_inline void close_pair_at_tick(const char *regs, uint32_t number)
{
	struct cpi_pair_cpu *pair = bpf_map_lookup_elem(&cpi_pairs, &number);
	const struct cpi_regs *copy;

	if (!pair || *(volatile uint32_t *)&pair->state != CPI_PAIR_OPEN)
		return;
	*(volatile uint64_t *)&pair->is_at_tick = 1;
	copy = (const struct cpi_regs *)pair->at_tick;
	/* Again: a program that interrupted this one before may have closed it. */
	if (*(volatile uint32_t *)&pair->state == CPI_PAIR_OPEN &&
	    !bpf_probe_read_kernel(pair->at_tick, sizeof(*copy), regs))
		cpi_pair_close(pair, copy, PC_OF(copy));
	*(volatile uint64_t *)&pair->is_at_tick = 0;
}

SEC("perf_event")
int cpi_sample(struct bpf_perf_event_data *ctx)
{
	uint32_t number = bpf_get_smp_processor_id();
	struct cpi_bpf_cpu *cpu = bpf_map_lookup_elem(&cpi_cpus, &number);

	if (!cpu)
		return 0; /* cannot be: there is one for each of the node's CPUs */
	if (LOADED(CPI_BPF_PAIRS))
		close_pair(ctx, number);
	return count_sample(cpu, number, PC_OF(&ctx->regs), ctx, outcome_of);
}

/*
 * The scheduler's tick, which happens anyway. The registers are those that the timer's
 * interrupt saved. If interrupts were disabled when the timer expired, they are of the
 * place that enabled them, like those of any other timer.
 */
SEC("tp_btf/hrtimer_expire_entry")
int cpi_tick(const uint64_t *args)
{
	const struct hrtimer *timer = (const struct hrtimer *)args[0];
	uint32_t number = bpf_get_smp_processor_id();
	struct cpi_bpf_cpu *cpu;
	const char *regs;
	uint64_t at[2]; /* the PC, and the register with the mode */

	if ((uint64_t)timer->function != LOADED_WIDE(CPI_BPF_TICK))
		return 0;
	cpu = bpf_map_lookup_elem(&cpi_cpus, &number);
	if (!cpu || cpu->slot == CPI_BPF_NO_SLOT)
		return 0; /* another node's program counts it */
	if (!bpf_probe_read_kernel(&regs, sizeof(regs),
				   (const char *)timer + LOADED(CPI_BPF_TICK_REGS)) &&
	    !bpf_probe_read_kernel(at, sizeof(at), regs + PC_AT) &&
	    (LOADED(CPI_BPF_TICK_KERNEL) || IS_USER_MODE(at[1]))) {
		if (LOADED(CPI_BPF_PAIRS) && IS_USER_MODE(at[1]))
			close_pair_at_tick(regs, number);
		return count_sample(cpu, number, at[0], regs, outcome_of_tick);
	}
	cpu->ticks_elsewhere++;
	return 0;
}

/* Lists the exec ids of all processes, except of those that are in an exec. */
SEC("iter/task")
int cpi_exec_ids(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct cpi_bpf_exec_id e;

	if (!task || task->pid != task->tgid)
		return 0;
	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD(task, in_execve))
		return 0;
	e.when_ns = bpf_ktime_get_ns();
	e.tgid = task->tgid;
	e.exec_id = task->self_exec_id;
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}

char _license[] SEC("license") = "GPL";
