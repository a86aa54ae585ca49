/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * browser.h - opens the page in the browser of the user who started the server
 */
#ifndef CPI_WEB_BROWSER_H
#define CPI_WEB_BROWSER_H

/*
 * Writes into folder a private file that redirects the browser to the address, and
 * opens this file with xdg-open. The address is not an argument of the browser, because
 * it contains the token, and every user can read the arguments of a program. Returns 0,
 * -ENODEV if there is no display, or -errno.
 */
int browser_open(const char *folder, const char *address);

#endif
