/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_images.h - images whose files are looked at, as in the daemon
 */
#ifndef CPI_T_UNIT_UNIT_IMAGES_H
#define CPI_T_UNIT_UNIT_IMAGES_H

#include "daemon/procmap/images.h"
#include "t/unit/unit.h"

#define UNIT_PATIENCE_MS 30000 /* no test has a worker that hangs */

static inline struct timed_child *unit_timed_child(void)
{
	struct timed_child *a;

	ck_assert_int_eq(timed_child_new(&a), 0);
	timed_child_set_patience(a, UNIT_PATIENCE_MS);
	return a;
}

static inline struct images *unit_images(void)
{
	struct images *im = images_new(unit_timed_child());

	ck_assert_ptr_nonnull(im);
	return im;
}

static inline void unit_images_free(struct images *im)
{
	struct timed_child *a = images_timed_child(im);

	images_free(im);
	timed_child_free(a);
}

#endif
