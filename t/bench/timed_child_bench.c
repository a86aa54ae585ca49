/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apart_bench - what it takes to have something of another process read
 *(daemon/os/timed_child.h)
 *
 *	apart_bench [QUESTIONS]
 *
 * Prints the time of a question that asks for nothing, of one for the mappings of this
 * process, and of one for whether it has secret memory; and the worker's CPU time.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/times.h"
#include "daemon/mappings/procscan.h"
#include "daemon/os/timed_child.h"
#include "daemon/procmap/images.h"

static int answer_nothing(struct timed_child_job *job)
{
	(void)job;
	return 0;
}

static int ask_nothing(struct images *im)
{
	const struct timed_child_question q = { .fn = answer_nothing };

	return timed_child_ask(images_timed_child(im), &q, NULL);
}

static int ask_mappings(struct images *im)
{
	struct rangemap found = { 0 };
	char comm[PROCMAP_COMM_SIZE];
	int err = procscan_read(im, getpid(), comm, &found);

	rangemap_fini(&found);
	return err;
}

static int ask_secret(struct images *im)
{
	bool has;

	return procscan_secret(images_timed_child(im), getpid(), 0, &has);
}

static void measure(const char *name, int (*ask)(struct images *im), struct images *im,
		    int n)
{
	uint64_t begun_ns;
	int err = ask(im); /* which starts the worker */

	begun_ns = time_mono_ns();
	for (int i = 0; !err && i < n; i++)
		err = ask(im);
	if (err)
		printf("%s: error %d\n", name, err);
	else
		printf("%s: %.1f us\n", name,
		       (double)(time_mono_ns() - begun_ns) / 1000 / n);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 2000;
	struct images *im;
	struct timed_child *a;

	if (n <= 0 || timed_child_new(&a))
		return EXIT_FAILURE;
	im = images_new(a);
	if (!im)
		return EXIT_FAILURE;
	measure("nothing", ask_nothing, im, n);
	measure("mappings", ask_mappings, im, n);
	measure("secret memory", ask_secret, im, n);
	printf("CPU time of the worker: %.1f ms\n",
	       (double)timed_child_cpu_ns(a) / 1e6);
	images_free(im);
	timed_child_free(a);
	return EXIT_SUCCESS;
}
