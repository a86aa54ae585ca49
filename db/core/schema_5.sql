-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_5.sql - what version 5 of the database adds to schema_4.sql

-- A roll-up makes one row of flushes that follow each other: seq - merged to seq.
ALTER TABLE flush ADD COLUMN merged INTEGER NOT NULL DEFAULT 0;
