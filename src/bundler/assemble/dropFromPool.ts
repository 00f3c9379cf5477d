import { type Drop, dropOperations } from '../../mempool/pool/operations.js'
import type { BundlingContext } from '../bundlingContext.js'

/** Drops pooled operations, and with them those of their senders that wait behind; logs the reasons. */
export async function dropFromPool(
  { database, definition, logger }: Pick<BundlingContext, 'database' | 'definition' | 'logger'>,
  drops: readonly Drop[],
): Promise<void> {
  await dropOperations(database, definition.chainId, drops)
  for (const { hash: op, code, reason } of drops)
    logger.warn({ op, code, reason }, 'operation dropped')
}
