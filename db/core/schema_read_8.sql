-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_read_8.sql - tables of version 9, for a connection that only reads version 8

CREATE TEMP VIEW container AS SELECT '' AS id, '' AS name, 0 AS seen_ns WHERE false;
