import type { Hex } from 'viem'
import type { OperationProgress } from '../../bundler/operationNews.js'
import type { Dialect } from '../dialects/dialect.js'
import { methods } from '../methods/methodList.js'

/** News of an operation: its status as `biconomy_getUserOperationStatus` answers it, and whether more may follow. */
export function encodeNews(
  userOpHash: Hex,
  { status, isDone }: OperationProgress,
  { name }: Dialect,
) {
  const { reasonCode } = status
  return {
    userOpHash,
    isLast: isDone,
    ...(reasonCode !== undefined && { reasonCode }),
    ...(methods.biconomy_getUserOperationStatus.encode[name](status) as object),
  }
}
