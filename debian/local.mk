# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's packages are built from the archive that make dist writes: doc/install.md.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/rules \
	debian/source/format debian/tests/control debian/tests/record debian/tests/service \
	debian/cpi-dkms.install debian/cpi-doc.install debian/cpi-ship.install debian/cpi-web.install debian/cpi.install \
	debian/cpi-web.postinst debian/cpi-web.postrm debian/cpi-web.prerm debian/cpi-ship.postinst debian/cpi-ship.prerm debian/cpi-ship.sysusers debian/cpi-web.sysusers debian/cpid.install debian/cpid.postinst debian/cpid.postrm debian/cpid.preinst debian/cpid.prerm \
	debian/sysctl.d/10-cpi.conf \
	debian/libcpi-audit0.install debian/libcpi-audit0.lintian-overrides

# The packages, in deb/: from the archive, as a builder gets it. Tests run before, by make
# check; DEB_BUILD_OPTIONS= runs those that need nothing of the machine once more.
DEB_FOLDER = deb
.PHONY: deb
deb: dist
	rm -rf $(DEB_FOLDER)
	$(MKDIR_P) $(DEB_FOLDER)
	tar -C $(DEB_FOLDER) -xf $(distdir).tar.xz
	cd $(DEB_FOLDER)/$(distdir) && env -u MAKEFLAGS -u MAKELEVEL \
		DEB_BUILD_OPTIONS="$${DEB_BUILD_OPTIONS-nocheck parallel=$$(nproc)}" \
		dpkg-buildpackage -b -us -uc
	rm -rf $(DEB_FOLDER)/$(distdir)

.PHONY: clean-deb
clean-deb:
	rm -rf $(DEB_FOLDER)
