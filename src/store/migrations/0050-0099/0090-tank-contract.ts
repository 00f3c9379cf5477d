import { migration } from '../../migration.js'

/** Tanks run the contract that they were made with; those that exist, and those of earlier processes, the first. */
export const tankContract = migration([
  `alter table tanks add column contract smallint not null default 1 check (contract in (1, 2))`,
])
