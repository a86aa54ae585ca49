/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * geometry.h - what the caches and TLBs of a profile's machine hold
 */
#ifndef CPI_REPORT_GEOMETRY_H
#define CPI_REPORT_GEOMETRY_H

#include "analysis/data/data_model.h"

/*
 * cpu is its name, boot_id its boot. If the profile is of this machine and this boot,
 * what sysfs says of the first CPU's caches; else those of the CPU's family, or of a
 * usual server. TLBs are always those of the family.
 */
void geometry_find(const char *cpu, const char *boot_id, struct data_geometry *out);

/* Reads a folder as /sys/devices/system/cpu/cpu0/cache; a level that is not there
 * stays. */
void geometry_read(const char *folder, struct data_geometry *g);

#endif
