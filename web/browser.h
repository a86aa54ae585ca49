/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * browser.h - shows the page to the one who started the server
 */
#ifndef CPI_WEB_BROWSER_H
#define CPI_WEB_BROWSER_H

/*
 * Opens a browser, by xdg-open, on a file in folder that leads to the address. The
 * address has the token in it, and arguments of a program can be read by all users, a
 * file of one's own cannot. Returns 0, -ENODEV if there is no display, or -errno.
 */
int browser_open(const char *folder, const char *address);

#endif
