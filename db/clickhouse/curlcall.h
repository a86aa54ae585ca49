/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curlcall.h - loads libcurl when a store is used
 *
 * libcurl depends on two dozen other libraries, so linking it would slow down every
 * command.
 */
#ifndef CPI_DB_CURLCALL_H
#define CPI_DB_CURLCALL_H

#include <curl/curl.h>
#include <stdint.h>

/* The functions of libcurl that are used. */
struct curlcall {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *init;
	__typeof__(curl_easy_cleanup) *cleanup;
	__typeof__((curl_easy_setopt)) *setopt;
	__typeof__((curl_easy_getinfo)) *getinfo;
	__typeof__(curl_easy_perform) *perform;
	__typeof__(curl_easy_strerror) *strerror;
	__typeof__(curl_easy_escape) *escape;
	__typeof__(curl_free) *free;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
};

/*
 * Loads and initialises the library; it stays loaded. Call it before the program has
 * threads. Returns 0, or -ENOENT, logged.
 */
int curlcall_load(struct curlcall *out);

/*
 * Adds what the last request carried: *sent, the bytes of its body; *carried, those of
 * the body, the answer and the headers.
 */
void curlcall_count(const struct curlcall *call, CURL *curl, uint64_t *sent,
		    uint64_t *carried);

#endif
