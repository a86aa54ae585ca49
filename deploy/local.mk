# SPDX-License-Identifier: GPL-2.0-or-later
EXTRA_DIST += deploy/README.md deploy/apparmor/usr.sbin.cpid deploy/image/build \
	deploy/kubernetes/daemonset.yaml deploy/kubernetes/kustomization.yaml \
	deploy/kubernetes/namespace.yaml deploy/kubernetes/serviceaccount.yaml \
	deploy/rpm/cpi.spec deploy/selinux/cpid.fc deploy/selinux/cpid.te
