import { NodeRpcError } from '../chain/nodeErrors.js'
import { DevChainError } from '../devnet/devChainError.js'
import { ConfigError } from '../errors/configError.js'
import { ListenError } from '../errors/listenError.js'
import { PurserError } from '../errors/purserError.js'
import { ServiceLockLostError } from '../errors/serviceLockLostError.js'
import { SignerUnavailableError } from '../errors/signerErrors.js'

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
  return `Purser stopped: ${line}`
}
