import { migration } from '../../migration.js'

/** The newest attempts of a delivery, each with its time and end; the writer keeps their number small. */
export const deliveryAttempts = migration([
  `alter table event_deliveries add column recent_attempts jsonb not null default '[]'`,
])
