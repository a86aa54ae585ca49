/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpi_compat.h - what differs between kernel versions and between machines
 */
#ifndef CPI_KMOD_COMPAT_H
#define CPI_KMOD_COMPAT_H

#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "abi/branch_arm64.h"
#include "abi/branch_x86_64.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "cpi: kernels before 6.1 are not supported"
#endif

/*
 * A child does not inherit the mapping, a core dump does not contain it, and the VM_MAY
 * flags in never are cleared. Since Linux 6.3 a function must set the flags of a
 * mapping.
 */
static inline void cpi_compat_private(struct vm_area_struct *vma, unsigned long never)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTDUMP, never);
#else
	vma->vm_flags |= VM_DONTCOPY | VM_DONTDUMP;
	vma->vm_flags &= ~never;
#endif
}

/*
 * cpi_arch_outcome() tells whether the interrupted instruction is a conditional
 * jump, or a compare in front of one, that is about to be taken. It never sleeps and
 * never faults a page in.
 */
#ifdef CONFIG_X86_64
/*
 * Reads at most CPI_BRANCH_MAX_BYTES of code. Fewer are there if the next page is not
 * mapped.
 */
static inline unsigned int cpi_arch_code(struct pt_regs *regs, u8 *code,
					 unsigned int size)
{
	unsigned long pc = instruction_pointer(regs);
	unsigned int in_page = PAGE_SIZE - offset_in_page(pc);

	if (user_mode(regs))
		return size - copy_from_user_nmi(code, (void __user *)pc, size);
	if (size > in_page)
		size = in_page;
	return copy_from_kernel_nofault(code, (void *)pc, size) ? 0 : size;
}

/*
 * The value of a register, by its number in instructions. For other numbers the result
 * is undefined.
 */
static inline u64 cpi_arch_register(const struct pt_regs *regs, unsigned int nr)
{
	static const u8 offset[] = {
		offsetof(struct pt_regs, ax),  offsetof(struct pt_regs, cx),
		offsetof(struct pt_regs, dx),  offsetof(struct pt_regs, bx),
		offsetof(struct pt_regs, sp),  offsetof(struct pt_regs, bp),
		offsetof(struct pt_regs, si),  offsetof(struct pt_regs, di),
		offsetof(struct pt_regs, r8),  offsetof(struct pt_regs, r9),
		offsetof(struct pt_regs, r10), offsetof(struct pt_regs, r11),
		offsetof(struct pt_regs, r12), offsetof(struct pt_regs, r13),
		offsetof(struct pt_regs, r14), offsetof(struct pt_regs, r15),
	};

	return *(const unsigned long *)((const char *)regs + offset[nr & 15]);
}

static inline enum cpi_outcome cpi_arch_outcome(struct pt_regs *regs)
{
	u8 code[CPI_BRANCH_MAX_BYTES];
	struct cpi_branch branch;
	unsigned int n;

	if (user_mode(regs) && !user_64bit_mode(regs))
		return CPI_OUTCOME_UNREADABLE;
	n = cpi_arch_code(regs, code, sizeof(code));
	branch = cpi_branch_decode_x86_64(code, n);
	return cpi_branch_outcome_x86_64(branch, regs->flags,
					 cpi_arch_register(regs, branch.left),
					 cpi_arch_register(regs, branch.right));
}
#elif defined(CONFIG_ARM64)
static inline enum cpi_outcome cpi_arch_outcome(struct pt_regs *regs)
{
	unsigned long pc = instruction_pointer(regs);
	/*
	 * The next page may not be mapped. So a pair that crosses the border of two
	 * pages is not recognised.
	 */
	unsigned int size = offset_in_page(pc) > PAGE_SIZE - 8 ? 4 : 8;
	struct cpi_branch branch;
	__le32 word[2] = { 0, 0 };
	long err;

	if (user_mode(regs) && compat_user_mode(regs))
		return CPI_OUTCOME_UNREADABLE;
	if (user_mode(regs))
		err = copy_from_user_nofault(word, (void __user *)pc, size);
	else
		err = copy_from_kernel_nofault(word, (void *)pc, size);
	if (err)
		return CPI_OUTCOME_UNREADABLE;
	branch = cpi_branch_decode_arm64(le32_to_cpu(word[0]), le32_to_cpu(word[1]));
	return cpi_branch_outcome_arm64(branch,
					pt_regs_read_reg(regs, branch.left & 31),
					pt_regs_read_reg(regs, branch.right & 31),
					regs->pstate);
}
#else
#error "cpi: x86-64 and arm64 only"
#endif

#endif
