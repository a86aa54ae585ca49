/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * select_stacks.h - a selection of call stacks
 */
#ifndef CPI_REPORT_SELECT_STACKS_H
#define CPI_REPORT_SELECT_STACKS_H

#include "report/select/select.h"

/*
 * As select_open_epochs() of epochs that are added up, but streams, losses and --event
 * are those of call stacks. -ENODATA where there are none; what fails is logged.
 */
int select_stacks(const struct select_request *req, const char *spec,
		  struct selection *sel);

#endif
