-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_read_4.sql - tables of version 5, for a connection that only reads version 4

CREATE TEMP VIEW flush AS SELECT *, 0 AS merged FROM main.flush;
