/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * curlcall.c - finds libcurl's functions
 */
#include "config.h"

#include "db/clickhouse/curlcall.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"

int curlcall_load(struct curlcall *out)
{
	const struct {
		const char *name;
		void *function;
	} wanted[] = {
		{ "curl_global_init", &out->global_init },
		{ "curl_easy_init", &out->init },
		{ "curl_easy_cleanup", &out->cleanup },
		{ "curl_easy_setopt", &out->setopt },
		{ "curl_easy_getinfo", &out->getinfo },
		{ "curl_easy_perform", &out->perform },
		{ "curl_easy_strerror", &out->strerror },
		{ "curl_easy_escape", &out->escape },
		{ "curl_free", &out->free },
		{ "curl_slist_append", &out->slist_append },
		{ "curl_slist_free_all", &out->slist_free_all },
	};
	void *library = dlopen(CURL_SONAME, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		void *found = library ? dlsym(library, wanted[i].name) : NULL;

		if (!found) {
			log_err("libcurl cannot be loaded: install it, in Debian "
				"the package libcurl3-gnutls: %s",
				dlerror());
			return -ENOENT;
		}
		memcpy(wanted[i].function, &found, sizeof(found));
	}
	if (out->global_init(CURL_GLOBAL_DEFAULT)) {
		log_err("libcurl cannot be initialised: install it again");
		return -ENOENT;
	}
	return 0;
}

void curlcall_count(const struct curlcall *call, CURL *curl, uint64_t *sent,
		    uint64_t *carried)
{
	curl_off_t body = 0, answer = 0;
	long request = 0, header = 0;

	call->getinfo(curl, CURLINFO_SIZE_UPLOAD_T, &body);
	call->getinfo(curl, CURLINFO_SIZE_DOWNLOAD_T, &answer);
	call->getinfo(curl, CURLINFO_REQUEST_SIZE, &request);
	call->getinfo(curl, CURLINFO_HEADER_SIZE, &header);
	*sent += (uint64_t)body;
	/* The size of a request has no more than the first part of a large body. */
	*carried += (uint64_t)(request > body ? request : body);
	*carried += (uint64_t)answer + (uint64_t)header;
}
