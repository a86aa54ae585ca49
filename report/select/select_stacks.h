/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_stacks.h - selects call stacks
 */
#ifndef CPI_REPORT_SELECT_STACKS_H
#define CPI_REPORT_SELECT_STACKS_H

#include "report/select/select.h"

/*
 * Like select_open_epochs() with SELECT_TOGETHER, but streams, losses and --event are
 * those of call stacks. Returns -ENODATA if there are no stacks. Errors are logged.
 */
int select_stacks(const struct select_request *req, const char *spec,
		  struct selection *sel);

#endif
