/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * options_private.h - shared by the files that implement options.h
 */
#ifndef CPI_SERVICE_OPTIONS_PRIVATE_H
#define CPI_SERVICE_OPTIONS_PRIVATE_H

#include "service/options.h"

/*
 * Whether the setting at i is used. The command line replaces files; of a list all
 * settings are used, otherwise the last one.
 */
bool service_setting_in_force(const struct service_program *p,
			      const struct service_settings *s, size_t i);

/* Prints the help or the version. */
void service_option_show(const struct service_program *p,
			 const struct service_option *o);

#endif
