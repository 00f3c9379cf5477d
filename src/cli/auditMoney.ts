import type { Hex } from 'viem'
import type { Database } from '../db/database.js'
import { type AuditEntry, audited } from '../tenants/audit.js'
import { commandActor } from './commandActor.js'

/** The object of a change, and the app that it concerns. */
type Subject = Pick<AuditEntry, 'action' | 'objectId' | 'accountId' | 'appId'>

/**
 * Sends a transaction that moves money or makes a contract. No transaction of the database covers it, so the
 * audit log has it twice: its intent before it is sent, and its end as `….done` or `….failed`. An intent without
 * an end is a command that was killed: its transaction may be on the chain.
 */
export async function auditMoney(
  database: Database,
  { action, ...object }: Subject,
  details: Readonly<Record<string, unknown>>,
  send: () => Promise<Hex | undefined>,
): Promise<void> {
  const write = (name: string, after: Readonly<Record<string, unknown>>) =>
    audited(database, commandActor(), ({ record }) =>
      record({ action: name, ...object, after: { ...details, ...after } }),
    )
  await write(action, {})
  let transactionHash: Hex | undefined
  try {
    transactionHash = await send()
  } catch (error) {
    await write(`${action}.failed`, { reason: (error as Error).message })
    throw error
  }
  await write(`${action}.done`, transactionHash === undefined ? {} : { transactionHash })
}
