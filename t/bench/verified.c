/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * verified - what this kernel's verifier says of each BPF program
 *
 * Of each program: its instructions, how many the verifier went through (each as often
 * as it came by), that number's share of what the kernel allows, and bytes of machine
 * code. Fails when a program is above a tenth of the limit, when one that takes samples
 * is refused (that of ticks from Linux 5.15 on), or when the kernel refuses the
 * object's BTF: without it, functions are verified once for each call.
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/collect/bpf_node.h"
#include "daemon/collect/bpf_table.h"
#include "daemon/cpi.skel.h"

#define LOG_STATS 4 /* the verifier's summary alone */
#define LOG_STEPS 1 /* what it went through; of a refused program the last steps */
#define LOG_BYTES (1u << 20)
#define LOG_SHOWN 1500

static bool btf_refused;

/* libbpf goes on without BTF, and only says so. */
static int watch_btf(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)args;
	btf_refused |= level == LIBBPF_WARN && strstr(format, "BTF") != NULL;
	return 0;
}

/* Loads one program and no other. Returns 0 or -errno. */
static int load(struct cpi_bpf *skel, struct bpf_program *only, int level, char *log,
		size_t size)
{
	const struct bpf_table_config usual = bpf_table_default(1, 1);
	const struct bpf_node_config cfg = {
		.nr_buckets = usual.nr_buckets,
		.nr_entries = usual.nr_entries,
		.nr_full = usual.nr_entries / 4 * 3,
		.outcome = true,
	};
	struct bpf_program *p = NULL;
	int err = bpf_node_set_numbers(&cfg, only, 0);

	while (!err && (p = bpf_object__next_program(skel->obj, p)))
		err = bpf_program__set_autoload(p, p == only);
	if (!err)
		err = bpf_map__set_value_size(skel->maps.cpi_cpus,
					      cpi_bpf_cpu_bytes(cfg.nr_buckets));
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_notices,
					       sysconf(_SC_PAGESIZE));
	if (!err)
		err = bpf_program__set_log_level(only, level);
	if (!err)
		err = bpf_program__set_log_buf(only, log, size);
	return err ? err : cpi_bpf__load(skel);
}

/* Prints a program's line. Returns whether it is far from the limit. */
static bool print(const struct bpf_program *p, const char *log)
{
	const char *processed = strstr(log, "processed ");
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	unsigned int nr, limit;

	if (!processed ||
	    sscanf(processed, "processed %u insns (limit %u)", &nr, &limit) != 2 ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size)) {
		printf("%-16s no statistics\n", bpf_program__name(p));
		return false;
	}
	printf("%-16s %12zu %12u %7.2f %% %12u\n", bpf_program__name(p),
	       info.xlated_prog_len / sizeof(struct bpf_insn), nr, 100.0 * nr / limit,
	       info.jited_prog_len);
	return nr <= limit / 10;
}

/* Returns the program at this place of the object, or NULL. */
static struct bpf_program *program_at(struct cpi_bpf *skel, size_t at)
{
	struct bpf_program *p = bpf_object__next_program(skel->obj, NULL);

	while (p && at--)
		p = bpf_object__next_program(skel->obj, p);
	return p;
}

/* Prints the verifier's last steps through a program that is refused. */
static void print_why(size_t at)
{
	static char log[LOG_BYTES];
	struct cpi_bpf *skel = cpi_bpf__open();
	size_t length;

	if (!skel)
		return;
	log[0] = '\0';
	(void)load(skel, program_at(skel, at), LOG_STEPS, log, sizeof(log));
	length = strlen(log);
	printf("%s\n", log + (length > LOG_SHOWN ? length - LOG_SHOWN : 0));
	cpi_bpf__destroy(skel);
}

/* Whether this kernel (its release) has to accept the program. */
static bool is_needed(const char *program, const char *release)
{
	unsigned int major = 0, minor = 0;

	if (!strcmp(program, "cpi_sample"))
		return true;
	return !strcmp(program, "cpi_tick") &&
	       sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major > 5 || (major == 5 && minor >= 15));
}

/* Loads and prints one program of the object. Returns whether there is such. */
static bool verify(size_t at, const char *release, bool *far)
{
	struct cpi_bpf *skel = cpi_bpf__open();
	struct bpf_program *p = skel ? program_at(skel, at) : NULL;
	char log[4096] = "";
	int err;

	if (!skel)
		*far = false;
	if (!p)
		goto out;
	err = load(skel, p, LOG_STATS, log, sizeof(log));
	if (!err) {
		*far &= print(p, log);
	} else {
		printf("%-16s refused: %s\n", bpf_program__name(p), strerror(-err));
		print_why(at);
		*far &= !is_needed(bpf_program__name(p), release);
	}
out:
	cpi_bpf__destroy(skel);
	return p != NULL;
}

int main(void)
{
	struct utsname name;
	bool far = true;

	libbpf_set_print(watch_btf);
	uname(&name);
	printf("%-16s %12s %12s %9s %12s\n", name.release, "instructions", "verified",
	       "of limit", "machine code");
	for (size_t i = 0; verify(i, name.release, &far); i++)
		;
	if (btf_refused)
		printf("the kernel refused the BTF\n");
	return far && !btf_refused ? EXIT_SUCCESS : EXIT_FAILURE;
}
