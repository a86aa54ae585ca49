# SPDX-License-Identifier: GPL-2.0-or-later
# alone.sh - for tests that change a setting of the machine; after tap.sh

need flock

# alone FILE: waits until no other test holds this file of the kernel, which has the
# setting, and holds it until the script ends.
alone()
{
	exec 8<"$1" && flock 8
}
