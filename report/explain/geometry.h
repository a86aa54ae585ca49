/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * geometry.h - sizes of the caches and TLBs of a profile's machine
 */
#ifndef CPI_REPORT_GEOMETRY_H
#define CPI_REPORT_GEOMETRY_H

#include "analysis/data/data_model.h"

/*
 * cpu is the name of the profile's CPU, boot_id the machine's boot. For the present
 * boot of this machine, *out gets the first CPU's caches from sysfs; otherwise those of
 * the CPU's family, or of a usual server. TLBs never come from sysfs.
 */
void geometry_find(const char *cpu, const char *boot_id, struct data_geometry *out);

/* Reads a folder such as /sys/devices/system/cpu/cpu0/cache. A level that is not there
 * keeps its value in *g. */
void geometry_read(const char *folder, struct data_geometry *g);

#endif
