import { ConfigError } from '../base/errors/configError.js'
import {
  ListenError,
  ServiceLockLostError,
  SignerUnavailableError,
} from '../base/errors/processErrors.js'
import { PurserError } from '../base/errors/purserError.js'
import { NodeRpcError } from '../chain/nodeErrors.js'
import { DevChainError } from './devnet/devChainError.js'

/** Errors whose messages are written for the user of the command. */
const expected = [
  ConfigError,
  ListenError,
  DevChainError,
  PurserError,
  ServiceLockLostError,
  SignerUnavailableError,
]

/** The message of a command that failed: one line, never a stack. */
export function explainFailure(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  if (expected.some((kind) => error instanceof kind)) return line
  if (error instanceof NodeRpcError) return `The chain's node refused: ${line}`
  if (error instanceof Error && 'code' in error && error.code === 'ENOSPC')
    return 'Purser stopped: the disk of its data folder is full. Free space on it, or make it larger.'
  return `Purser stopped: ${line}`
}
