/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tls.c - reads certificates and keys, and checks them before use
 *
 * Files are tried in credentials of their own before libmicrohttpd gets them. So the
 * log names the file that is wrong, and a running server keeps its former certificate.
 */
#include "config.h"

#include "web/auth/tls.h"

#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "service/keyfile.h"

static int read_file(const char *path, bool is_secret, struct buf *out)
{
	int err = keyfile_read(path, is_secret, out);

	if (err == -EPERM)
		log_err("web: %s: other users can read or change it: chmod o= it",
			path);
	else if (err)
		log_err("web: %s: %s", path, err_str(err));
	else
		buf_str(out);
	return err;
}

static gnutls_datum_t datum(const struct buf *b)
{
	return (gnutls_datum_t){ .data = (unsigned char *)b->data,
				 .size = (unsigned int)b->len };
}

/* Clients refuse an expired certificate, unless they do not check it. */
static void warn_of_expiry(const struct buf *certificate, const char *path)
{
	const gnutls_datum_t text = datum(certificate);
	gnutls_x509_crt_t crt;

	if (gnutls_x509_crt_init(&crt))
		return;
	if (!gnutls_x509_crt_import(crt, &text, GNUTLS_X509_FMT_PEM) &&
	    gnutls_x509_crt_get_expiration_time(crt) < time(NULL))
		log_warn("web: %s: the certificate has expired", path);
	gnutls_x509_crt_deinit(crt);
}

static int check(const struct tls *t, const struct tls_files *files)
{
	const gnutls_datum_t certificate = datum(&t->certificate), key = datum(&t->key),
			     ca = datum(&t->ca);
	gnutls_certificate_credentials_t all;
	int err = gnutls_certificate_allocate_credentials(&all);

	if (err)
		return -ENOMEM;
	err = gnutls_certificate_set_x509_key_mem(all, &certificate, &key,
						  GNUTLS_X509_FMT_PEM);
	if (err < 0) {
		log_err("web: %s and %s: %s", files->certificate, files->key,
			gnutls_strerror(err));
	} else if (files->ca) {
		err = gnutls_certificate_set_x509_trust_mem(all, &ca,
							    GNUTLS_X509_FMT_PEM);
		if (err <= 0)
			log_err("web: %s: %s", files->ca,
				err ? gnutls_strerror(err) : "no certificate");
		err = err ? err : -1;
	}
	gnutls_certificate_free_credentials(all);
	return err < 0 ? -EINVAL : 0;
}

static void take_stamps(const struct tls_files *files, struct tls_stamp out[3])
{
	const char *const path[] = { files->certificate, files->key, files->ca };
	struct stat st;

	for (int i = 0; i < 3; i++) {
		out[i] = (struct tls_stamp){ 0 };
		if (path[i] && !stat(path[i], &st))
			out[i] = (struct tls_stamp){ st.st_ino, (uint64_t)st.st_size,
						     time_to_ns(&st.st_mtim) };
	}
}

bool tls_has_changed(const struct tls *t, const struct tls_files *files)
{
	struct tls_stamp now[3];

	take_stamps(files, now);
	for (int i = 0; i < 3; i++) {
		if (now[i].inode != t->stamp[i].inode ||
		    now[i].size != t->stamp[i].size ||
		    now[i].mtime_ns != t->stamp[i].mtime_ns)
			return true;
	}
	return false;
}

int tls_load(struct tls *t, const struct tls_files *files)
{
	int err;

	*t = (struct tls){ .ca = { 0 } };
	take_stamps(files, t->stamp);
	err = read_file(files->certificate, false, &t->certificate);
	if (!err)
		err = read_file(files->key, true, &t->key);
	if (!err && files->ca)
		err = read_file(files->ca, false, &t->ca);
	if (!err)
		err = check(t, files);
	if (!err)
		warn_of_expiry(&t->certificate, files->certificate);
	return err;
}

void tls_fini(struct tls *t)
{
	if (t->key.data)
		explicit_bzero(t->key.data, t->key.len);
	buf_fini(&t->certificate);
	buf_fini(&t->key);
	buf_fini(&t->ca);
}

bool tls_knows_client(void *session)
{
	gnutls_typed_vdata_st purpose = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (unsigned char *)GNUTLS_KP_TLS_WWW_CLIENT
	};
	unsigned int status = 0, nr = 0;

	if (!gnutls_certificate_get_peers(session, &nr) || !nr)
		return false;
	return !gnutls_certificate_verify_peers(session, &purpose, 1, &status) &&
	       !status;
}
