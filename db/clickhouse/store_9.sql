-- SPDX-License-Identifier: GPL-2.0-or-later
-- store_9.sql - version 9: which of two shipments of a host was read later
--
-- turn: a shipment that was read from the machine's database after another one was complete
-- has a higher number. Equal numbers tell nothing about the order. Older shipments have 0.

ALTER TABLE epoch ADD COLUMN turn UInt32;
