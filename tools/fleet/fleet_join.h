/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_join.h - lets this machine send its profiles to a store
 */
#ifndef CPI_TOOLS_FLEET_JOIN_H
#define CPI_TOOLS_FLEET_JOIN_H

/*
 * Asks whether the store answers and has the tables of this version, names it in
 * cpi-ship.conf.d/store.conf, and enables and starts cpid and cpi-ship by systemctl. A
 * file of that name with other settings is kept as store.conf.old. It may be repeated.
 * Prints what it did. Returns 0 or a negative error, logged.
 */
int fleet_join(const char *url);

#endif
