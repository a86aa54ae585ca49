/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsampler_none.c - where windows are not built in
 */
#include "config.h"

#include "daemon/windowsampler.h"

#include <errno.h>

#include "base/log.h"

int windowsampler_open(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct windowsampler **out)
{
	log_info("windows: not available: they are not built in");
	return -EOPNOTSUPP;
}

/* There is none that could be told to do anything. */

void windowsampler_close(struct windowsampler *ws)
{
}

int windowsampler_wait_ms(const struct windowsampler *ws)
{
	return 60000;
}

void windowsampler_snapshot(struct windowsampler *ws)
{
}

void windowsampler_drain(struct windowsampler *ws, struct windowtally *to)
{
}

void windowsampler_run(struct windowsampler *ws)
{
}

void windowsampler_counts(const struct windowsampler *ws, struct collector_counts *out)
{
}

double windowsampler_mean_ns(const struct windowsampler *ws)
{
	return 0;
}

void windowsampler_randomise(struct windowsampler *ws)
{
}

int windowsampler_set_cpus(struct windowsampler *ws, const struct cpus *cpus)
{
	return 0;
}

void windowsampler_stop(struct windowsampler *ws)
{
}

const char *windowsampler_source(const struct windowsampler *ws)
{
	return "";
}

void windowsampler_mark_images(const struct windowsampler *ws)
{
}

void windowsampler_status(const struct windowsampler *ws, struct buf *out)
{
}
