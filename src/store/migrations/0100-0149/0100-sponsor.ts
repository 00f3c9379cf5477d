import { migration } from '../../migration.js'

/** The name and icon by which wallets show who pays (ERC-7677); null = the app names nobody. */
export const sponsor = migration([`alter table apps add column sponsor jsonb`])
