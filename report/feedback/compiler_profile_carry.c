/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_carry.c - carries the counts of older builds over to the build of
 * --to
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "analysis/feedback/feedback_carry.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "report/feedback/compiler_profile.h"

#define MAX_NAMED 10 /* functions that lost counts */

int compiler_profile_open_to(struct compiler_profile *f)
{
	const char *path = f->to_path;
	const struct image_desc desc = { .kind = IMAGE_FILE, .name = path };
	int fd, err;

	if (!path)
		return 0;
	fd = file_keep_regular(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), NULL);
	err = fd < 0 ? fd : elfid_read(fd, &f->to_id);
	if (!err)
		err = image_open_searching(
			&desc, fd, path,
			image_cache_places(explainer_scope(f->x)->images), &f->to);
	else if (fd >= 0)
		close(fd);
	if (err)
		log_err("--to=%s: %s", path, err_str(err));
	return err;
}

/* Whether a build is the file of --to. */
static bool is_to(const struct compiler_profile *f,
		  const struct compiler_profile_build *b)
{
	const struct image_desc *desc = &b->image.desc;

	if (desc->build_id_size)
		return desc->build_id_size == f->to_id.build_id_size &&
		       memcmp(desc->build_id, f->to_id.build_id, desc->build_id_size) ==
			       0;
	return desc->has_content &&
	       memcmp(desc->content, f->to_id.content, sizeof(desc->content)) == 0;
}

static void say_lost(const char *path, const struct feedback_carried *c, size_t nr)
{
	double all = 0, lost = 0;
	size_t gone = 0;

	for (size_t i = 0; i < nr; i++) {
		all += c[i].all;
		lost += c[i].lost;
		gone += c[i].gone;
	}
	if (!(lost > 0) && !gone)
		return;
	log_warn("%s has no lines for %.1f %% of the counts; %zu of %zu functions are "
		 "gone",
		 path, all > 0 ? 100 * lost / all : 0, gone, nr);
	for (size_t i = 0; i < nr && i < MAX_NAMED && c[i].lost > 0; i++)
		log_warn("  %s: %s %.1f %% of its counts", c[i].name,
			 c[i].gone ? "gone, with" : "lost lines with",
			 100 * c[i].lost / c[i].all);
}

int compiler_profile_carry(struct compiler_profile *f)
{
	const char *path = f->to_path;
	const struct feedback_carried *carried;
	size_t nr;
	int err;

	if (!f->to || f->by_address || (f->nr_builds == 1 && is_to(f, f->build)))
		return 0;
	err = feedback_carry(f->tree, f->to, &carried, &nr);
	if (!err)
		say_lost(path, carried, nr);
	else if (err == -CPI_EEMPTY)
		log_err("--to=%s: it has no debug information that names lines", path);
	return err;
}

int compiler_profile_choose(struct compiler_profile *f)
{
	const struct compiler_profile_build *b =
		f->to || f->nr_builds > 1 ? NULL : f->build;
	int err;

	for (size_t i = 0; f->to && i < f->nr_builds; i++) {
		if (is_to(f, &f->build[i]))
			b = &f->build[i];
	}
	if (!b) {
		log_err("%s: this format needs one build, and there are %zu%s: name "
			"one with --to=FILE, or choose its epochs with --epoch",
			f->build->image.desc.name, f->nr_builds,
			f->to ? ", none of them the file of --to" : "");
		return -CPI_ETOOMANY;
	}
	err = image_cache_get(explainer_scope(f->x)->images, &b->image, &f->im);
	if (err)
		log_err("%s: %s", b->image.desc.name,
			image_cache_why(&b->image.desc, err));
	f->traffic = &b->traffic;
	return err;
}
