/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kmodevent.h - converts an event to the form that the kernel module takes
 */
#ifndef CPI_DAEMON_KMODEVENT_H
#define CPI_DAEMON_KMODEVENT_H

#include "abi/kmod.h"
#include "daemon/collect/event.h"

#define KMODEVENT_SPREAD 8 /* periods are within an eighth of their mean */

static inline void kmodevent_set(const struct event *e, uint64_t period,
				 struct cpi_kmod_event *out)
{
	*out = (struct cpi_kmod_event){
		.type = e->type,
		.config = e->config,
		.config1 = e->config1,
		.config2 = e->config2,
		.period = period,
		.spread = period / KMODEVENT_SPREAD,
		.flags = (e->exclude_user ? CPI_KMOD_EXCLUDE_USER : 0) |
			 (e->exclude_kernel ? CPI_KMOD_EXCLUDE_KERNEL : 0) |
			 (e->exclude_hv ? CPI_KMOD_EXCLUDE_HV : 0),
	};
}

#endif
