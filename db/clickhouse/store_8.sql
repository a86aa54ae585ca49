-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_8.sql - version 8: shipments that are sums, or a random part, of a machine's samples
--
-- one_in: 0 if a shipment has all that its epoch had; else its samples were added up, without
-- contexts, call stacks, branches and windows, and of one_in samples one was kept. Its streams
-- have one_in times the period of the machine's.

ALTER TABLE epoch ADD COLUMN one_in UInt32;
