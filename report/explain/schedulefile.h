/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schedulefile.h - the schedules of blocks that earlier runs of this user simulated
 *
 * Simulation takes a third of an analysis. Programs are analysed again and again, so
 * their blocks' schedules are kept in ~/.cache/cpi/schedules-CPU, or below
 * $XDG_CACHE_HOME: at most 32 MiB a CPU model. Results are the same without the file.
 * It is left out if there is no home, or if anybody else may write to the folder; any
 * failure only costs time.
 */
#ifndef CPI_REPORT_SCHEDULEFILE_H
#define CPI_REPORT_SCHEDULEFILE_H

#include "analysis/isa/isa.h"

/* Reads the file of isa's CPU model. 0 or -ENOMEM. */
int schedulefile_load(struct isa *isa);

/* Replaces it, if isa has schedules that were not in it; accepts NULL. */
void schedulefile_save(const struct isa *isa);

#endif
