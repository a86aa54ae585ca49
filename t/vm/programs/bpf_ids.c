/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpf_ids - the numbers of all BPF programs that the kernel has, a line each */
#include <linux/bpf.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	union bpf_attr attr = { .start_id = 0 };

	while (!syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr))) {
		printf("%u\n", attr.next_id);
		attr.start_id = attr.next_id;
	}
	return 0;
}
