/**
 * The deadline of a webhook in milliseconds, for name, connection, answer and retry together: the
 * standard one and its bounds. The column `deadline_ms` has the same default and the same bounds in
 * the schema; a test compares them.
 */
export const webhookDeadline = { standard: 2_000, shortest: 250, longest: 5_000 } as const
