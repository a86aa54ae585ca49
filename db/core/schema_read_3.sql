-- SPDX-License-Identifier: GPL-2.0-or-later
-- schema_read_3.sql - tables of version 4, for a connection that only reads version 3

CREATE TEMP VIEW tally AS
	SELECT epoch, 0 AS kind, stream, received, stored, not_delivered, enabled_ns,
		running_ns, throttled FROM main.tally
	UNION ALL SELECT epoch, 1, stream, received, stored, not_delivered, enabled_ns,
		running_ns, throttled FROM main.stack_tally
	UNION ALL SELECT epoch, 2, stream, received, stored, not_delivered, enabled_ns,
		running_ns, throttled FROM main.window_tally;
CREATE TEMP VIEW loss AS
	SELECT epoch, 0 AS kind, stream, class, name, n FROM main.loss
	UNION ALL SELECT epoch, 1, stream, class, name, n FROM main.stack_loss
	UNION ALL SELECT epoch, 2, stream, class, name, n FROM main.window_loss;
