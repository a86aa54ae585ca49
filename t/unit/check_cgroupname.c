/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/select/cgroupname.h"

#include <string.h>

#include "t/unit/unit.h"

#define ID    "4f1c9a3be07d8a55c2f6310e9b7d4c12a8e5f0637b9d1c4e2a6f8b3d5c7e9f01"
#define SHORT "4f1c9a3be07d"
#define UID   "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
#define UID_  "0a1b2c3d_4e5f_6071_8293_a4b5c6d7e8f9"

static const struct {
	const char *path;
	const char *runtime, *id; /* NULL: no container */
	const char *pod, *qos;
} containers[] = {
	{ "/", NULL, NULL, NULL, NULL },
	{ "", NULL, NULL, NULL, NULL },
	{ "/system.slice/docker-" ID ".scope", "docker", SHORT, NULL, NULL },
	{ "/docker/" ID, "docker", SHORT, NULL, NULL },
	{ "/docker/" ID "/init.scope", "docker", SHORT, NULL, NULL },
	{ "/docker/buildkit/k2v9x0", "buildkit", "k2v9x0", NULL, NULL },
	{ "/some/parent/" ID, "oci", SHORT, NULL, NULL },
	{ "/system.slice/docker.service", NULL, NULL, NULL, NULL },
	{ "/machine.slice/libpod-" ID ".scope", "podman", SHORT, NULL, NULL },
	{ "/machine.slice/libpod-" ID ".scope/container", "podman", SHORT, NULL, NULL },
	{ "/machine.slice/libpod-conmon-" ID ".scope", NULL, NULL, NULL, NULL },
	{ "/libpod_parent/libpod-" ID, "podman", SHORT, NULL, NULL },
	{ "/libpod_parent/" ID, "podman", SHORT, NULL, NULL },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
	  ".scope/container",
	  "podman", SHORT, NULL, NULL },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/x.service/"
	  "libpod-payload-" ID,
	  "podman", SHORT, NULL, NULL },
	{ "/kubepods/burstable/pod" UID "/" ID, "kubernetes", SHORT, UID, "burstable" },
	{ "/kubepods/pod" UID "/" ID, "kubernetes", SHORT, UID, "guaranteed" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  "containerd", SHORT, UID, "besteffort" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", "cri-o",
	  SHORT, UID, "guaranteed" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", NULL,
	  NULL, NULL, NULL },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/docker-" ID ".scope",
	  "docker", SHORT, UID, "burstable" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" ID,
	  "containerd", SHORT, UID, "burstable" },
	{ "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	  "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope",
	  "containerd", SHORT, UID, "burstable" },
	{ "/docker/" ID "/kubelet/kubepods/besteffort/"
	  "pod0123456789abcdef0123456789abcdef/" ID,
	  "kubernetes", SHORT, "0123456789abcdef0123456789abcdef", "besteffort" },
	{ "/kubepods/burstable/pod" UID, NULL, NULL, NULL, NULL },
	{ "/default/nerdctl-" ID ".scope", "containerd", SHORT, NULL, NULL },
	{ "/machine.slice/machine-my\\x2dbox.scope/payload", "nspawn", "my-box", NULL,
	  NULL },
	{ "/machine.slice/machine-my\\x2dbox.scope/supervisor", NULL, NULL, NULL,
	  NULL },
	{ "/machine.slice/systemd-nspawn@deb.service/payload/system.slice/ssh.service",
	  "nspawn", "deb", NULL, NULL },
	{ "/machine.slice/machine-qemu\\x2d3\\x2dwww.scope", "qemu", "3-www", NULL,
	  NULL },
	{ "/machine.slice/machine-lxc\\x2d7\\x2dweb.scope", "libvirt-lxc", "7-web",
	  NULL, NULL },
	{ "/lxc/web", "lxc", "web", NULL, NULL },
	{ "/lxc.payload/web", "lxc", "web", NULL, NULL },
	{ "/lxc.payload.web/system.slice/nginx.service", "lxc", "web", NULL, NULL },
	{ "/lxc.monitor.web", NULL, NULL, NULL, NULL },
	{ "/nomad.slice/share.slice/" UID ".web.scope", "nomad", "0a1b2c3d.web", NULL,
	  NULL },
	{ "/nomad/" UID ".web", "nomad", "0a1b2c3d.web", NULL, NULL },
	{ "/mesos/" UID, "mesos", UID, NULL, NULL },
	{ "/ecs/" ID "/" ID, "ecs", SHORT, NULL, NULL },
	{ "/ecs/0123456789abcdef0123456789abcdef/0123456789abcdef0123456789abcdef-42",
	  "ecs", "0123456789abcdef0123456789abcdef-42", NULL, NULL },
	{ "/garden/" ID, "garden", SHORT, NULL, NULL },
	{ "/system.slice/ssh.service", NULL, NULL, NULL, NULL },
	{ "/user.slice/user-0.slice/session-3.scope", NULL, NULL, NULL, NULL },
	{ "/system.slice/docker-abc.scope", NULL, NULL, NULL, NULL },
	{ "/docker-" ID "0.scope", NULL, NULL, NULL, NULL },
	{ "[other]", NULL, NULL, NULL, NULL },
};

START_TEST(containers_are_known_by_their_cgroups)
{
	struct cgroup_container c;
	bool is = cgroupname_container(containers[_i].path, &c);

	ck_assert_msg(is == !!containers[_i].id, "%s: %s %s", containers[_i].path,
		      c.runtime, c.id);
	if (!is)
		return;
	ck_assert_str_eq(c.id, containers[_i].id);
	ck_assert_str_eq(c.whole_id, strcmp(c.id, SHORT) ? "" : ID);
	ck_assert_str_eq(c.name, "");
	ck_assert_str_eq(c.runtime, containers[_i].runtime);
	ck_assert_str_eq(c.pod, containers[_i].pod ? containers[_i].pod : "");
	ck_assert_pstr_eq(c.qos, containers[_i].qos);
}
END_TEST

static const struct {
	const char *path, *unit;
} units[] = {
	{ "/", NULL },
	{ "/docker/" ID, NULL },
	{ "/system.slice/ssh.service", "ssh.service" },
	{ "/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service" },
	{ "/system.slice/dev-disk-by\\x2duuid-1.swap", "dev-disk-by-uuid-1.swap" },
	{ "/system.slice/a\\x2", "system.slice" },
	{ "/system.slice/a\\x1b.service", "a\\x1b.service" },
	{ "/system.slice/_cgroup.service", "cgroup.service" },
	{ "/system.slice/ssh.service/worker", "ssh.service" },
	{ "/init.scope", "init.scope" },
	{ "/user.slice/user-1000.slice/session-3.scope", "session-3.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/init.scope",
	  "user@1000.service: init.scope" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/emacs.service",
	  "user@1000.service: emacs.service" },
	{ "/user.slice/user-1000.slice/user@1000.service", "user@1000.service" },
	{ "/user.slice", "user.slice" },
	{ "/nothing/of/it", NULL },
};

START_TEST(units_are_known_by_their_cgroups)
{
	char unit[CGROUPNAME_MAX];

	ck_assert_int_eq(cgroupname_unit(units[_i].path, unit), units[_i].unit != NULL);
	if (units[_i].unit)
		ck_assert_str_eq(unit, units[_i].unit);
}
END_TEST

/* A cgroup's maker chooses its name. */
START_TEST(any_path_is_read_without_harm)
{
	static const char *const piece[] = {
		"/",        "docker", "docker-", ID,
		".scope",   "\\x2d",  "\\x",     "kubepods",
		"pod",      UID,      "lxc",     "machine-",
		".service", "user@",  "nomad",   ":",
		"-",        "_",      "a",       "libpod-conmon-",
		"payload",  "\xff",   "[other]", "systemd-nspawn@",
		"mesos",
	};
	uint64_t state = unit_seed() | 1;

	for (int round = 0; round < 200000; round++) {
		char path[1024] = "", unit[CGROUPNAME_MAX];
		struct cgroup_container c;
		size_t nr = unit_random(&state) % 14;

		for (size_t i = 0; i < nr; i++)
			strcat(path, piece[unit_random(&state) % NR(piece)]);
		if (cgroupname_container(path, &c)) {
			ck_assert(*c.id && *c.runtime);
			ck_assert_uint_lt(strlen(c.id), sizeof(c.id));
		}
		if (cgroupname_unit(path, unit))
			ck_assert_uint_lt(strlen(unit), sizeof(unit));
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("cgroupname");
	TCase *tc = tcase_create("cgroupname");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, containers_are_known_by_their_cgroups, 0,
			    NR(containers));
	tcase_add_loop_test(tc, units_are_known_by_their_cgroups, 0, NR(units));
	tcase_add_test(tc, any_path_is_read_without_harm);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
