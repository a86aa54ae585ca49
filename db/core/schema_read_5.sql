-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_read_5.sql - tables of version 6, for a connection that only reads version 5

CREATE TEMP VIEW mark AS SELECT '' AS host, 0 AS at_ns, '' AS text WHERE false;
