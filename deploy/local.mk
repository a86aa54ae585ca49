# SPDX-License-Identifier: GPL-2.0-or-later
# Examples for whoever runs the service: they are installed beside the documents.
nobase_dist_doc_DATA += deploy/README.md deploy/apparmor/usr.sbin.cpi-ship \
	deploy/apparmor/usr.sbin.cpi-web deploy/apparmor/usr.sbin.cpid \
	deploy/apparmor/usr.libexec.cpi.cpi-containers \
	deploy/kubernetes/daemonset.yaml deploy/kubernetes/kustomization.yaml \
	deploy/kubernetes/names/container.yaml deploy/kubernetes/names/kustomization.yaml \
	deploy/kubernetes/ship/container.yaml deploy/kubernetes/ship/kustomization.yaml \
	deploy/kubernetes/namespace.yaml deploy/kubernetes/serviceaccount.yaml \
	deploy/selinux/cpi_ship.fc deploy/selinux/cpi_ship.te \
	deploy/selinux/cpi_web.fc deploy/selinux/cpi_web.te \
	deploy/selinux/cpid.fc deploy/selinux/cpid.te
EXTRA_DIST += deploy/image/build deploy/rpm/cpi.spec
