-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_read_6.sql - tables of version 7, for a connection that only reads version 6

CREATE TEMP VIEW access_set AS SELECT 0 AS epoch, 0 AS image, 0 AS stream, 0 AS context,
	0 AS seen, 0 AS kept, x'' AS accesses WHERE false;
