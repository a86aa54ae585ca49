-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_2.sql - what version 2 of the database adds to schema.sql

CREATE INDEX epoch_from ON epoch (from_ns);
