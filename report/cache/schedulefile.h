/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedulefile.h - a cache of the schedules of blocks, kept between runs
 *
 * Simulating schedules takes a third of the time of an analysis, and users analyse the
 * same programs repeatedly. So schedules are kept in ~/.cache/cpi/schedules-CPU, or
 * below $XDG_CACHE_HOME: at most 32 MiB for each CPU model. Results do not depend on
 * the file. The file is not used without a home directory, or if another user may write
 * to its directory. Every failure only costs time.
 */
#ifndef CPI_REPORT_SCHEDULEFILE_H
#define CPI_REPORT_SCHEDULEFILE_H

#include "analysis/isa/isa.h"

/* Reads the file of isa's CPU model. 0 or -ENOMEM. */
int schedulefile_load(struct isa *isa);

/* Replaces the file if isa has schedules that are not in it. Accepts NULL. */
void schedulefile_save(struct isa *isa);

#endif
