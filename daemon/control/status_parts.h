/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_parts.h - the names of status lines as metrics: those of cpid, and those that
 * cpi status adds for the database
 */
#ifndef CPI_DAEMON_STATUS_PARTS_H
#define CPI_DAEMON_STATUS_PARTS_H

#include "service/prometheus.h"

enum status_part { STATUS_DAEMON, STATUS_DATABASE, STATUS_NR_PARTS };

extern const struct prometheus_part status_parts[STATUS_NR_PARTS];

#endif
